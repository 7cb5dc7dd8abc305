"""Measures which kinds of arguments the real MindSpore refuses: ``harness/framework/kinds.json``.

``python -m tests.interop.refused_kinds REAL`` makes every call of ``tests/differential/mistakes.txt`` under the real
one (REAL is its Python) with each argument replaced by values of each kind, also those that only the signatures of
either side name, and keeps the kinds for which every value is a ``TypeError``, or an ``AttributeError`` (``/A``).
"""

from __future__ import annotations

import ast
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from harness.framework.kinds import refused_kinds
from tests.differential.mistakes import FORMS, changed, outcomes, program, spine
from tests.differential.settings import parameters
from tests.differential.side import Side
from tests.differential.sides import Pair

KINDS = {
    "None": ("None",), "bool": ("True", "False"), "int": ("3", "1", "0", "-7", "99"), "float": ("2.5", "1.0", "-0.5"),
    "str": ("'foo'", "''"), "tuple": ("()", "(1, 2)", "(0,)", "(1, 2, 3, 4, 5)", "(f, g)", "('a',)"),
    "list": ("[]", "[1, 2]", "[0]", "[1, 2, 3, 4, 5]", "[f, g]", "['a']"), "dict": ("{}", "{'a': 1}"),
    "Tensor": ("f", "i", "b", "h", "s", "c", "far"), "ndarray": ("f.asnumpy()", "c.asnumpy()"),
    "dtype": ("ms.float32", "ms.int32"), "type": ("nn.ReLU", "int"), "object": ("object()",),
}  # fmt: skip
#: what the first name of a call stands for
OWNERS = {"f": "Tensor", "": "ms", "s": "Tensor", "b": "Tensor", "six()": "Dataset", "net": "Cell"}
#: what only the programs define
_HELPERS = ("groups", "judged", "step")
TABLE = Path(__file__).resolve().parents[2] / "harness" / "framework" / "kinds.json"


def called(call: ast.Call) -> str:
    """What a call calls: ``ops.softmax``, ``nn.Dense``, ``nn.Dense()`` (a made one), ``Tensor.sum``."""
    if isinstance(call.func, ast.Call):
        return f"{called(call.func)}()"
    owner, _, name = ast.unparse(call.func).rpartition(".")
    made = call.func.value if isinstance(call.func, ast.Attribute) else None
    if isinstance(made, ast.Call) and owner not in OWNERS:
        return f"{called(made)}().{name}"
    return f"{OWNERS.get(owner, owner)}.{name}"


def trials(form: str) -> Iterator[tuple[str, int | str, str, str]]:
    """What is called, which argument is tried, of which kind, and the call."""
    tree = ast.parse(form, mode="eval").body
    for at, call in enumerate(spine(tree)):
        for place in (*range(len(call.args)), *(str(k.arg) for k in call.keywords)):
            for kind, values in KINDS.items():
                for value in values:
                    yield called(call), place, kind, changed(tree, at, place, value)


def more_trials(python: str) -> Iterator[tuple[str, int | str, str, str]]:
    """The same for the parameters with a default that no call has."""
    with Pair(python) as pair:
        places, known = parameters(pair)
    for n, (form, at, call) in enumerate(places):
        tree = ast.parse(form, mode="eval").body
        for name in known.get(n, ({}, []))[0]:
            for kind, values in KINDS.items():
                for value in values:
                    yield called(call), name, kind, changed(tree, at, name, value)


class Real:
    """Calls under the real MindSpore, many in a process."""

    def __init__(self, python: str, folder: Path) -> None:
        self._side, self._folder = Side(python, own=False), folder

    def errors(self, calls: list[str], batch: int = 50) -> Iterator[frozenset[str]]:
        """The classes of each call's error; empty for none, and for a call that ended the process."""
        for start in range(0, len(calls), batch):
            part = calls[start : start + batch]
            script = self._folder / "program.py"
            script.write_text(program(part))
            self._side.begin(script, self._folder, 120)
            self._side.end()
            told = outcomes(self._folder)
            if batch > 1 and len(told) < len(part):
                yield from self.errors(part, max(1, batch // 7))
            else:
                yield from (told[n].error if n in told else frozenset() for n in range(len(part)))


def own_kind(node: ast.expr | None) -> str:
    """The kind of an argument as it is written; empty for what only a run can tell."""
    if isinstance(node, ast.Constant):
        return "None" if node.value is None else type(node.value).__name__
    if isinstance(node, ast.UnaryOp):
        return own_kind(node.operand)
    if isinstance(node, (ast.Tuple, ast.List, ast.Dict)):
        return type(node).__name__.lower()
    if isinstance(node, ast.Attribute) and ast.unparse(node).startswith("ms."):
        return "dtype"
    return "Tensor" if isinstance(node, ast.Name) else ""


def taken() -> set[tuple[str, str, str]]:
    """What is called, which argument it has in a valid call, of which kind."""
    found = set()
    for form in FORMS:
        for call in spine(ast.parse(form, mode="eval").body):
            given = {str(at): node for at, node in enumerate(call.args)}
            given |= {str(k.arg): k.value for k in call.keywords}
            found |= {(called(call), place, own_kind(node)) for place, node in given.items()}
    return found


#: arguments that must be of the kind of another one
_PAIRED = {
    (name, place)
    for name in ("one_hot", "OneHot()", "clamp", "clip", "clip_by_value")
    for place in ("1", "2", "3", "on_value", "off_value", "min", "max", "clip_value_min", "clip_value_max")
}
#: what hangs on which other names are given; so does what takes no kind at all
_COMBINED = frozenset({("Tensor.argsort", "stable"), ("Tensor.sort", "stable")})
#: where containers hold names, layers or functions, of which no value that is tried consists
_HOLDING = ("ops.", "nn.", "Tensor.")


def table(raw: dict[tuple[str, str], list[str]]) -> dict[str, dict[str, str]]:
    """For each callable its arguments (positions or names), each with the kinds that are refused for certain: those of
    valid calls are not, nor are containers that may hold something else."""
    valid = taken()
    rows: dict[str, dict[str, str]] = defaultdict(dict)
    for (name, place), kinds in sorted(raw.items()):
        if len(kinds) == len(KINDS) or (name, place) in _COMBINED:
            continue
        held = {"tuple", "list", "dict"}
        # What takes a number or a flag, and no container that was tried, takes none.
        takes_one = held <= set(kinds) and not {"bool", "int", "float"} <= set(kinds)
        spared = held if not name.startswith(_HOLDING) and not takes_one else set()
        if "dtype" not in kinds or place == "ord":  # a dtype's name may stand for it; norms have names
            spared |= {"str"}
        if name.startswith(("ops.", "Tensor.")):  # which number it must be hangs on a tensor's dtype
            spared |= {"int"} if "float" not in kinds else set()
        if (name.rpartition(".")[2], place) in _PAIRED:
            spared |= {"int", "float", "bool", "Tensor", "None"}
        refused = [
            kind for kind in kinds
            if kind.removesuffix("/A") not in spared and (name, place, kind.removesuffix("/A")) not in valid
        ]  # fmt: skip
        if refused:
            rows[name][place] = " ".join(refused)
    return dict(rows)


def measure(python: str, tried: list[tuple[str, int | str, str, str]]) -> dict[tuple[str, str], list[str]]:
    """For each callable and argument the kinds of which every value is a ``TypeError``, or, with ``/A`` behind, of
    which every value is an ``AttributeError``."""
    kinds: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(dict)
    with tempfile.TemporaryDirectory() as folder:
        found = Real(python, Path(folder)).errors([call for *_, call in tried])
        for (name, place, kind, _), error in zip(tried, found, strict=True):
            known = {"TypeError", "AttributeError"} & error
            row = kinds[name, str(place)]
            row[kind] = row.get(kind, known) & known
    told = {"TypeError": "", "AttributeError": "/A"}
    return {
        key: [kind + told[min(classes)] for kind, classes in row.items() if classes] for key, row in kinds.items()
    }  # fmt: skip


def main(real: str) -> None:
    """Measures, and writes the table; what it says of arguments that no call has stays."""
    tried = [trial for form in FORMS for trial in trials(form)]
    rows = dict(refused_kinds())
    for name, row in table(measure(real, list(dict.fromkeys([*tried, *more_trials(real)])))).items():
        if name.partition(".")[2] not in _HELPERS:
            rows[name] = {**rows.get(name, {}), **row}
    alike: dict[str, list[str]] = defaultdict(list)
    for name, row in sorted(rows.items()):
        alike[json.dumps(row)].append(name)
    shared = {" ".join(names): json.loads(row) for row, names in alike.items()}
    TABLE.write_text(json.dumps(shared, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
