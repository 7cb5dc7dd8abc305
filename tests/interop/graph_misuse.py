"""Measures of which class wrong calls within graphs are: ``harness/framework/compile/misuse.json``.

``python -m tests.interop.graph_misuse REAL`` makes the calls as bodies of networks under the real one (REAL is its
Python) and writes, for each primitive of ``tests/differential/mistakes.txt``, the class of the error that an unknown
keyword, one argument too many, no argument, and one argument too few are; and the methods of a tensor whose arguments
MindSpore's parser binds: there an unknown keyword is a ``RuntimeError``, of the others a ``TypeError``. It also records
where a class or an empty dict in place of an argument is no ``TypeError`` (``refused_in_graphs.json``), and
what the calls of ``graph_calls.txt`` come to, in ``tests/data/misuse/graph_calls.json``; with ``calls`` behind REAL
that alone. ``tests/framework/compile/test_misuse.py`` makes the same calls here.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from harness.framework.names import members
from tests.differential.mistakes import FORMS, PRELUDE, Outcome, changed, outcomes, spine, within_graphs
from tests.differential.side import Side
from tests.interop.refused_kinds import called

TABLE = Path(__file__).resolve().parents[2] / "harness" / "framework" / "compile" / "misuse.json"
HERE = Path(__file__).parent
REFUSED = TABLE.parents[1] / "tensor" / "refused_in_graphs.json"
CALLS = tuple(
    line for line in (HERE / "graph_calls.txt").read_text(encoding="utf-8").splitlines() if not line.startswith("#")
)
RECORDED = HERE.parent / "data" / "misuse" / "graph_calls.json"
KINDS = ("keyword", "many", "none", "few")
_LETTERS = {"TypeError": "T", "ValueError": "V", "KeyError": "K", "RuntimeError": "R"}
_REFUSED = _LETTERS | {"AttributeError": "A", "NameError": "N"}
#: of functions and methods, and of primitives, calls of what they make, too
_SPACES = re.compile(r"ops\.|Tensor\.|nn\.[^()]*$")
#: what stands in place of an argument, by kind
GIVEN = {"class": "nn.ReLU", "dict": "{}"}


def primitives() -> Iterator[tuple[str, dict[str, str]]]:
    """Each primitive's name, and its wrong calls by kind."""
    seen = set()
    for form in FORMS:
        call = ast.parse(form, mode="eval").body
        made = call.func if isinstance(call, ast.Call) else None
        if not isinstance(made, ast.Call) or not isinstance(call, ast.Call):
            continue
        owner, _, name = ast.unparse(made.func).rpartition(".")
        if owner != "ops" or name in seen or call.keywords:
            continue
        seen.add(name)
        args, text = [ast.unparse(each) for each in call.args], ast.unparse(made)
        wrong = {
            "keyword": f"{text}({', '.join([*args, 'nosuch=1'])})",
            "many": f"{text}({', '.join([*args, *['1'] * 6])})",
            "none": f"{text}()",
        }
        yield name, wrong | ({"few": f"{text}({', '.join(args[:-1])})"} if len(args) > 1 else {})


def told(python: str, calls: Sequence[str], batch: int = 40, own: bool = False) -> Iterator[Outcome | None]:
    """The outcome of each call within a graph of the real one; None for one that ends the process.

    Args:
        python: the interpreter.
        calls: the calls.
        batch: how many share a process.
        own: they are made with this project in place of MindSpore.
    """
    prelude = f"{PRELUDE}\n{(HERE / 'graph_calls_prelude.py').read_text(encoding='utf-8')}"
    with tempfile.TemporaryDirectory() as folder:
        side, script = Side(python, own), Path(folder) / "program.py"
        try:
            for start in range(0, len(calls), batch):
                part = calls[start : start + batch]
                script.write_text(within_graphs(part, prelude))
                side.begin(script, Path(folder), 300)
                side.end()
                found = outcomes(Path(folder))
                if batch > 1 and len(found) < len(part):
                    yield from told(python, part, 1, own)
                else:
                    yield from (found.get(n) for n in range(len(part)))
        finally:
            side.close()


def letter(outcome: Outcome | None, letters: Mapping[str, str] = _LETTERS) -> str:
    """The letter of an error's class; ``-`` for none, or another one."""
    return next((letters[name] for name in sorted(outcome.error) if name in letters), "-") if outcome else "-"


def record(real: str) -> None:
    """Records the calls: the classes of the error, or the result."""
    found = zip(CALLS, told(real, CALLS), strict=True)
    rows = {call: sorted(each.error) or each.text for call, each in found if each is not None}
    RECORDED.write_text(json.dumps(rows, indent=0) + "\n", encoding="utf-8")


def given_kinds() -> Iterator[tuple[str, str, str, str]]:
    """Each call with a class or an empty dict in place of an argument: what is called, the argument, the kind."""
    for form in FORMS:
        tree = ast.parse(form, mode="eval").body
        for at, call in enumerate(spine(tree)):
            for place in (*range(len(call.args)), *(k.arg for k in call.keywords)):
                for kind, value in GIVEN.items():
                    yield changed(tree, at, place, value), called(call), str(place), kind


def record_kinds(outcome: Callable[[Sequence[str]], Iterator[Outcome | None]]) -> None:
    """Writes where each of ``given_kinds`` fails with another error than a ``TypeError``, always the same one."""
    rows = [row for row in given_kinds() if _SPACES.match(row[1])]
    letters: dict[tuple[str, str, str], set[str]] = {}
    for row, found in zip(rows, outcome([row[0] for row in rows]), strict=True):
        letters.setdefault(row[1:], set()).add(letter(found, _REFUSED))
    table: dict[str, list[str]] = {}
    for (name, place, kind), found in sorted(letters.items()):
        if len(found) == 1 and not found & {"-", "T"}:
            table.setdefault(f"{found.pop()} {kind}", []).append(f"{name}:{place}")
    text = json.dumps({key: " ".join(names) for key, names in sorted(table.items())}, indent=0)
    REFUSED.write_text(f"{text}\n", encoding="utf-8")


def main(real: str) -> None:
    """Measures, and writes the table."""
    rows = list(primitives())
    calls = [call for _, wrong in rows for call in wrong.values()]
    letters = dict(zip(calls, map(letter, told(real, calls)), strict=True))
    counts = {name: "".join(letters[wrong[k]] if k in wrong else "-" for k in KINDS) for name, wrong in rows}
    methods = sorted(name for name in members("Tensor:") if not name.startswith("_"))
    found = told(real, [f"f.{name}(nosuch=1)" for name in methods])
    bound = [n for n, each in zip(methods, found, strict=True) if each and "unexpected keyword" in each.text]
    by_letters: dict[str, list[str]] = {}
    for name, text in sorted(counts.items()):
        by_letters.setdefault(text, []).append(name)
    record_kinds(lambda calls: told(real, calls))
    table = {"methods": " ".join(bound), "primitives": {k: " ".join(v) for k, v in sorted(by_letters.items())}}
    TABLE.write_text(json.dumps(table, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[2:] != ["calls"]:
        main(sys.argv[1])
    record(sys.argv[1])
