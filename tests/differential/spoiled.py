"""Scripts of users with one mistake: each of ``tests/interop/users`` with a name misspelled, an argument changed, left
out, added or exchanged, a line left out, a ``return`` lost, a width or an axis changed, a label of another dtype.

``python -m tests.differential.spoiled REAL --seed S --count N`` runs each here and under the real MindSpore (REAL is
its Python), half of them in graph mode, and prints what differs: whether it fails, its error's base class, the line it
names, what it prints if it does not fail.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import copy
import os
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from harness import errors
from tests.differential.sides import Pair, compare_texts

USERS = Path(__file__).resolve().parents[1] / "interop" / "users"
_ERROR = re.compile(r"^([\w.]*(?:Error|Exception|Stop\w*))\b:?", re.MULTILINE)
_FRAME = re.compile(r'File "[^"]*program\.py", line (\d+)|program\.py:(\d+)')
#: frames that no user may see
_IMPORTER = re.compile(r"harness/(?:cli|framework/names)/\w+\.py")
#: what stands in place of an argument, and of a number
WRONG = ("None", "'foo'", "2.5", "-1", "7", "()", "[1, 2]", "True", "object()", "{}")
NUMBERS = (0, -1, 1, 2, 3, 5, 7, 100)
DTYPES = ("float16", "int32", "int64", "float64", "bool_")


def bases(error: str) -> set[str]:
    """Names of Python's own classes that an error, by its name as a traceback has it, is of."""
    name = error.rpartition(".")[2]
    found = getattr(errors, name, None) or getattr(builtins, name, None)
    if found is None:
        return {name}
    return {b.__name__ for b in found.__mro__ if b.__module__ == "builtins"} - {"object", "Exception", "BaseException"}


def last_error(out: Path) -> str:
    """The error a run ended with, by name."""
    found = _ERROR.findall((out / "stderr").read_text(errors="replace"))
    return str(found[-1]) if found else ""


def scripts() -> dict[str, str]:
    """The scripts that get mistakes, by name."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(USERS.glob("*.py"))}


def with_mode(source: str, mode: int | None) -> str:
    """``source`` in another mode than its own; as it is for None."""
    if mode is None or "set_context" in source or "set_device" in source:
        return source
    tree = ast.parse(source)
    last = max(at for at, node in enumerate(tree.body) if isinstance(node, (ast.Import, ast.ImportFrom)))
    tree.body[last + 1 : last + 1] = ast.parse(f"import mindspore as ms\nms.set_context(mode={mode})").body
    return ast.unparse(tree)


Change = Callable[[ast.AST, random.Random], str]


def _misspelled(text: str) -> str:
    return text[:-1] if len(text) > 3 else text + "x"


def _attribute(node: ast.AST, chooser: random.Random) -> str:
    assert isinstance(node, ast.Attribute)
    told, node.attr = f".{node.attr} is misspelled", _misspelled(node.attr)
    return told


def _name(node: ast.AST, chooser: random.Random) -> str:
    assert isinstance(node, ast.Name)
    told, node.id = f"{node.id} is misspelled", _misspelled(node.id)
    return told


def _number(node: ast.AST, chooser: random.Random) -> str:
    assert isinstance(node, ast.Constant)
    old, node.value = node.value, chooser.choice([n for n in NUMBERS if n != node.value])
    return f"{old} becomes {node.value}"


def _argument(node: ast.AST, chooser: random.Random) -> str:
    assert isinstance(node, ast.Call)
    at = chooser.randrange(len(node.args))
    wrong = chooser.choice(WRONG)
    told = f"{ast.unparse(node)[:60]}: argument {at} becomes {wrong}"
    node.args[at] = ast.parse(wrong, mode="eval").body
    return told


def _left_out(node: ast.AST, chooser: random.Random) -> str:
    assert isinstance(node, ast.Call)
    at = chooser.randrange(len(node.args))
    told = f"{ast.unparse(node)[:60]}: argument {at} is missing"
    del node.args[at]
    return told


def _added(node: ast.AST, chooser: random.Random) -> str:
    assert isinstance(node, ast.Call)
    told = f"{ast.unparse(node)[:60]}: one more argument"
    node.args.append(ast.Constant(chooser.choice((1, None, "foo"))))
    return told


def _unknown(node: ast.AST, chooser: random.Random) -> str:
    assert isinstance(node, ast.Call)
    told = f"{ast.unparse(node)[:60]}: an unknown keyword"
    node.keywords.append(ast.keyword("nosuch", ast.Constant(1)))
    return told


def _keyword(node: ast.AST, chooser: random.Random) -> str:
    assert isinstance(node, ast.Call)
    keyword = chooser.choice([k for k in node.keywords if k.arg is not None])
    wrong = chooser.choice(WRONG)
    told = f"{ast.unparse(node)[:60]}: {keyword.arg} becomes {wrong}"
    keyword.value = ast.parse(wrong, mode="eval").body
    return told


def _exchanged(node: ast.AST, chooser: random.Random) -> str:
    assert isinstance(node, ast.Call)
    told = f"{ast.unparse(node)[:60]}: arguments are exchanged"
    node.args[0], node.args[1] = node.args[1], node.args[0]
    return told


def _dtype(node: ast.AST, chooser: random.Random) -> str:
    assert isinstance(node, ast.Attribute)
    old, node.attr = node.attr, chooser.choice([d for d in DTYPES if d != node.attr])
    return f"{old} becomes {node.attr}"


def _operator(node: ast.AST, chooser: random.Random) -> str:
    assert isinstance(node, ast.BinOp)
    told = f"{ast.unparse(node)[:60]} becomes a matrix product"
    node.op = ast.MatMult()
    return told


def _no_value(node: ast.AST, chooser: random.Random) -> str:
    assert isinstance(node, ast.Return)
    told, node.value = f"`{ast.unparse(node)[:60]}` gives nothing", None
    return told


def _no_line(node: ast.AST, chooser: random.Random) -> str:
    body = node.body  # type: ignore[attr-defined]
    at = chooser.randrange(len(body))
    told, body[at] = f"`{ast.unparse(body[at]).splitlines()[0][:60]}` is missing", ast.Pass()
    return told


def _changes(tree: ast.Module) -> Iterator[tuple[Change, ast.AST]]:
    """Every change that ``tree`` admits, with where."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield (_dtype if node.attr in DTYPES or node.attr == "float32" else _attribute), node
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield _name, node
        elif isinstance(node, ast.Constant) and type(node.value) is int:
            yield _number, node
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mult, ast.Sub)):
            yield _operator, node
        elif isinstance(node, ast.Return) and node.value is not None:
            yield _no_value, node
        elif isinstance(node, (ast.FunctionDef, ast.For, ast.Module)) and len(node.body) > 1:
            yield _no_line, node
        if isinstance(node, ast.Call):
            yield from ((change, node) for change in (_added, _unknown))
            if node.args:
                yield from ((change, node) for change in (_argument, _left_out))
            if len(node.args) > 1 and ast.dump(node.args[0]) != ast.dump(node.args[1]):
                yield _exchanged, node
            if any(k.arg for k in node.keywords):
                yield _keyword, node


def spoiled(source: str, chooser: random.Random) -> tuple[str, str]:
    """``source`` with one mistake, and what it is; each kind of mistake is as likely as another."""
    tree = copy.deepcopy(ast.parse(source))
    found: dict[Change, list[ast.AST]] = {}
    for change, node in _changes(tree):
        found.setdefault(change, []).append(node)
    change = chooser.choice(list(found))
    node = chooser.choice(found[change])
    line = getattr(node, "lineno", 0)
    told = change(node, chooser)
    return f"line {line}: {told}", ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def difference(pair: Pair, source: str) -> tuple[str, str]:
    """How ``source`` differs between the sides, as a kind and a text; empty if it does not, ``both fail`` first."""
    own, own_code, real, real_code = pair.run(source)
    if real_code < 0:
        return "", ""  # it ends the process there
    if own_code < 0:
        return "ends", f"ends the process here with {own_code}"
    ours, theirs = last_error(own), last_error(real)
    told = [(out / "stderr").read_text(errors="replace") for out in (own, real)]
    short = " || ".join(" ".join(text.strip().splitlines()[-1:])[:300] for text in told)
    if bool(own_code) != bool(real_code):
        return f"fails {'here' if own_code else 'there'} only", f"{ours or theirs}: {told[0 if own_code else 1][-400:]}"
    if not own_code:
        found = compare_texts((own / "stdout").read_text(), (real / "stdout").read_text())
        return ("another result", " | ".join(found.details[:4])) if found else ("", "")
    if theirs and not bases(ours) & bases(theirs):
        return "another class", f"{ours}, there {theirs}: {short}"
    if not _FRAME.search(told[0]):
        return "names no line", f"{ours}: {short}"
    if _IMPORTER.search(told[0]):
        return "importer", f"{ours}: a frame of the importer"
    places = [set().union(*_FRAME.findall(text)) - {""} for text in told]
    if places[1] and not places[0] & places[1]:
        return "another line", f"{ours}: {sorted(places[0])}, there {sorted(places[1])}"
    return "", ""


def draws(count: int, seed: int, part: str = "") -> Iterator[tuple[str, str, str]]:
    """``count`` spoiled scripts: name, what is wrong, source."""
    chooser = random.Random(seed)
    known = {name: text for name, text in scripts().items() if part in name}
    for at in range(count):
        name = chooser.choice(list(known))
        told, source = spoiled(with_mode(known[name], (0, None)[at % 2]), chooser)
        yield f"{name}{' in graph mode' if at % 2 == 0 else ''}", told, source


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the scripts and prints what differs; gives how many do."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("real")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "big"))
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--part", default="")
    parser.add_argument("--out", type=Path, default=None, help="where scripts that differ are written")
    given = parser.parse_args(argv)
    kinds: Counter[str] = Counter()
    with Pair(given.real, limit=60) as pair:
        for at, (name, told, source) in enumerate(draws(given.count, given.seed, given.part)):
            kind, text = difference(pair, source)
            kinds[kind or "agree"] += 1
            if kind:
                print(f"{at} {kind} [{name}] {told}\n    {text}", flush=True)
                if given.out is not None:
                    given.out.mkdir(parents=True, exist_ok=True)
                    (given.out / f"{at}.py").write_text(source)
    print(f"seed {given.seed}: {dict(sorted(kinds.items()))}")
    return sum(n for kind, n in kinds.items() if kind != "agree")


if __name__ == "__main__":
    main()
