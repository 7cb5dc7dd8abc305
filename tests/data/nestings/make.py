"""Follows the calls of ``forms`` under a real MindSpore and writes ``nestings.json``.

``python make.py PYTHON DIRECTORY``: PYTHON is an interpreter that has MindSpore 2.10.0; DIRECTORY a scratch directory.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT))
TABLE = ROOT / "harness" / "framework" / "compile" / "nestings.json"
#: the text of the graphs before the pass
PASS = "opt_substep_opt_a_r1_j0_2_loop_unroll"
#: how many forms one program has
MANY = 80

Row = list[Any]


def real(python: str, scratch: Path) -> dict[int, list[Any]]:
    """The calls of each form under the real one."""
    from tests.data.nestings.early import Early
    from tests.data.nestings.forms import forms, script
    from tests.data.nestings.steps import Walk, graphs_of

    found: dict[int, list[Any]] = {}
    numbered = list(enumerate(forms()))
    waiting = [numbered[at : at + MANY] for at in range(0, len(numbered), MANY)]
    for turn, chosen in enumerate(waiting):  # grows: what fails is tried in halves
        out = scratch / str(turn)
        out.mkdir(parents=True)
        program = out / "forms.py"
        program.write_text(script(chosen))
        environment = os.environ | {
            "GLOG_v": "4", "MS_DEV_SAVE_GRAPHS": "2", "MS_DEV_SAVE_GRAPHS_PATH": str(out),
            "MS_DEV_DUMP_IR_PASSES": PASS,
        }  # fmt: skip
        subprocess.run([python, str(program)], env=environment, cwd=out, timeout=600, capture_output=True, check=False)
        texts = list(out.glob(f"{PASS}*.ir"))
        if not texts and len(chosen) > 1:
            half = len(chosen) // 2
            waiting += [chosen[:half], chosen[half:]]
        graphs = graphs_of(texts[0].read_text()) if texts else {}
        for name in graphs:
            if match := re.fullmatch(r"\d+___main___Net(\d+)_construct_\d+", name):
                found[int(match[1])] = calls = Walk(graphs, name).calls()
                for number, (_, steps) in enumerate(calls):
                    if steps is not None and steps.operators:
                        steps.early = Early(graphs, name).levels(number)
    return found


def own(scratch: Path) -> dict[int, list[tuple[str, list[str]]]]:
    """The calls of each form here: their texts, and the operators each adds."""
    import harness.framework.compile.closures as closures
    from harness.cli.importing import install
    from harness.errors import HarnessError
    from harness.framework.compile.nestings import call_of
    from harness.framework.compile.trace import Tracer
    from tests.data.nestings.forms import forms, script

    install()
    entered: list[tuple[str, closures.Closure]] = []
    added: list[Any] = []
    enter, add = closures._enter, Tracer._add

    def entering(frame: Any, call: Any, caller: closures.Closure) -> Any:
        activation = enter(frame, call, caller)
        text = call_of(frame, call)
        first = activation.closure
        while first is not caller and first.parent is not caller and first.parent is not None:
            first = first.parent
        inside = any(known in caller.path() for _, known in entered)
        if text is not None and first is not caller and not inside:
            entered.append((text, first))
        return activation

    def adding(self: Tracer, *args: Any) -> Any:
        before = len(self.created)
        result = add(self, *args)
        added.extend(self.created[before:])
        return result

    closures._enter, Tracer._add = entering, adding  # type: ignore[method-assign]
    found = {}
    for number, form in enumerate(forms()):
        entered.clear()
        added.clear()
        program = scratch / f"form{number}.py"
        program.write_text(script([(number, form)]))
        with contextlib.suppress(HarnessError):  # what is not supported here has no row
            exec(compile(program.read_text(), str(program), "exec"), {"__name__": "forms"})
        found[number] = [(t, [n.op for n in added if c in n.extra.closure.path()]) for t, c in entered]
    closures._enter, Tracer._add = enter, add  # type: ignore[method-assign]
    return found


def joined(theirs: dict[int, list[Any]], ours: dict[int, list[tuple[str, list[str]]]]) -> dict[str, Row]:
    """The rows: calls that both sides have, in their order, with the operators here."""
    from tests.data.nestings.forms import LEFT_OUT

    rows: dict[str, Row] = {}
    for number, calls in ours.items():
        known = theirs.get(number, [])
        if len(known) != len(calls):
            known = [call for call in known if call[1] is not None and call[1].operators]
        if len(known) != len(calls) or any(steps is None for _, steps in known):
            continue
        for (text, operators), (name, steps) in zip(calls, known, strict=True):
            is_layer = name.startswith("mindspore_nn")
            is_function = text.startswith(("ops.", "Tensor."))
            if is_layer == is_function or not operators or Counter(operators) - Counter(o[0] for o in steps.operators):
                continue
            if text.partition("(")[0] not in LEFT_OUT:
                rows.setdefault(text, _row(text, operators, steps))
    return dict(sorted(rows.items()))


def _row(text: str, operators: list[str], steps: Any) -> Row:
    """A row in the order the operators run; a tuple of tensors is one step more."""
    tuples = any(bracket in text for bracket in ("((tensor", ", (tensor"))
    kept = [operator for operator in reversed(steps.operators) if operator[0] in operators]
    graphs = sorted({operator[1] for operator in kept}, key=lambda g: (steps.graphs[g], g))
    row: Row = [
        [steps.graphs[g] for g in graphs],
        [[op, graphs.index(graph), seen, left + tuples] for op, graph, seen, left in kept],
    ]
    early = [[at, *steps.early[steps.names[g]]] for at, g in enumerate(graphs) if steps.names[g] in steps.early]
    return [*row, early]


if __name__ == "__main__":
    directory = Path(sys.argv[2]).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    rows = joined(real(sys.argv[1], directory), own(directory))
    TABLE.write_text("{\n" + ",\n".join(f"{json.dumps(t)}: {json.dumps(row)}" for t, row in rows.items()) + "\n}\n")
    print(len(rows), "calls")
