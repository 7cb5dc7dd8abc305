"""Bad calls: a valid one of ``mistakes.txt`` with one argument that is wrong, missing, too many or of an unknown name.

``python -m tests.differential.mistakes REAL [PART OF A NAME [EVERY]]`` runs all of them (one in EVERY) here and under
the real MindSpore (REAL is its Python) and prints what differs; ``--drawn N --seed S`` takes N drawn ones, and with
``--graphs`` each is the body of a network's ``construct``, in graph mode.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import copy
import json
import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.differential.sides import Pair

#: what stands in place of an argument: numbers out of range, other types, other shapes, other dtypes
WRONG = (
    "None", "True", "'foo'", "3", "-7", "0", "2.5", "-0.5", "99", "()", "(1, 2, 3, 4, 5)", "[1, 2]", "{}", "f", "i",
    "b", "h", "s", "far", "f.asnumpy()", "ms.float32", "nn.ReLU", "object()",
)  # fmt: skip
#: helpers of the programs: what is wrong is wrong in their first argument
_HELPERS = frozenset({"rows", "list", "trained", "loaded"})
FORMS = tuple(
    line for line in (Path(__file__).parent / "mistakes.txt").read_text(encoding="utf-8").splitlines() if line[0] != "#"
)
PRELUDE = (Path(__file__).parent / "mistakes_prelude.py").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Outcome:
    """What one call came to.

    Attributes:
        error: names of Python's own classes its error is of; empty if it raised none.
        text: the error's class and text, or the result.
        names_line: whether the error's traceback passes the line of the call.
    """

    error: frozenset[str]
    text: str
    names_line: bool


def spine(tree: ast.AST) -> Iterator[ast.Call]:
    """The calls a statement consists of, from the last one made to the first."""
    while True:
        if isinstance(tree, ast.Call):
            if isinstance(tree.func, ast.Name) and tree.func.id in _HELPERS:
                tree = tree.args[0]
                continue
            yield tree
            tree = tree.func
        elif isinstance(tree, (ast.Attribute, ast.Subscript)):
            tree = tree.value
        elif isinstance(tree, ast.ListComp):
            tree = tree.generators[0].iter
        else:
            return


def mistakes(form: str) -> Iterator[str]:
    """Every bad call of a valid one (and some that are not bad, such as a number for another)."""
    tree = ast.parse(form, mode="eval").body
    for at, call in enumerate(spine(tree)):
        for place in (*range(len(call.args)), *(k.arg for k in call.keywords)):
            for wrong in (None, *WRONG):
                yield changed(tree, at, place, wrong)
        yield changed(tree, at, len(call.args), "1")
        yield changed(tree, at, "nosuch", "1")


def changed(tree: ast.expr, at: int, place: int | str | None, wrong: str | None) -> str:
    """``tree`` with the argument ``place`` of its call ``at`` left out (None), replaced or added."""
    copied = copy.deepcopy(tree)
    call = list(spine(copied))[at]
    value = None if wrong is None else ast.parse(wrong, mode="eval").body
    if isinstance(place, int):
        call.args[place : place + 1] = [] if value is None else [value]
    else:
        others = [k for k in call.keywords if k.arg != place]
        call.keywords = others if value is None else [*others, ast.keyword(place, value)]
    return ast.unparse(copied)


def all_mistakes(forms: tuple[str, ...] = FORMS) -> list[str]:
    """The bad calls of all forms, each once."""
    return list(dict.fromkeys(call for form in forms for call in mistakes(form)))


def drawn(number: int, seed: int) -> list[str]:
    """A sample of all: of as many forms as there are, then the next of each."""
    chooser = random.Random(seed)
    forms = [form for form in FORMS if any(spine(ast.parse(form, mode="eval").body))]
    return [chooser.choice(list(mistakes(form))) for form in chooser.choices(forms, k=number)]


def program(calls: list[str]) -> str:
    """A program that makes each call and prints a line of JSON about each."""
    lines = [PRELUDE]
    for number, call in enumerate(calls):
        lines.append(f"tell({number}, lambda:\n    {call})")
    return "\n".join(lines) + "\n"


#: a bad call as the body of a network, which a graph is made of
NETWORK = """def build{number}():
    class Net(nn.Cell):
        def construct(self):
            return {call}
    ms.set_context(mode=0)
    return Net()()"""


def within_graphs(calls: Sequence[str], prelude: str = PRELUDE) -> str:
    """``program`` of calls that each are the body of a network's ``construct``, in graph mode."""
    lines = [prelude]
    for number, call in enumerate(calls):
        lines.append(NETWORK.format(number=number, call=call))
        lines.append(f"tell({number}, build{number}, 3)")
    return "\n".join(lines) + "\n"


def outcomes(out: Path) -> dict[int, Outcome]:
    """What a run of ``program`` printed."""
    told = {}
    for line in (out / "stdout").read_text(errors="replace").splitlines():
        if line.startswith('{"number": '):
            row: dict[str, Any] = json.loads(line)
            told[row["number"]] = Outcome(frozenset(row["error"]), row["text"], row["named"])
    return told


def compared(
    pair: Pair, calls: list[str], batch: int = 20, told: Callable[[list[str]], str] = program
) -> Iterator[tuple[str, Outcome | None, Outcome | None]]:
    """Makes the calls on both sides, some in one process; None for one that ended the process."""
    for start in range(0, len(calls), batch):
        part = calls[start : start + batch]
        own, _, real, _ = pair.run(told(part))
        ours, theirs = outcomes(own), outcomes(real)
        if batch > 1 and min(len(ours), len(theirs)) < len(part):
            yield from compared(pair, part, 1, told)
            continue
        for number, call in enumerate(part):
            yield call, ours.get(number), theirs.get(number)


def difference(own: Outcome | None, real: Outcome | None) -> str:
    """How two outcomes differ; empty if they do not. What ended a process there is no example."""
    if real is None:
        return ""
    if own is None:
        return f"ends the process; there {real.text}"
    if bool(own.error) != bool(real.error):
        return f"fails {'here' if own.error else 'there'} only: {own.text} || {real.text}"
    if own.error and not own.error & real.error:
        return f"another class: {own.text} || {real.text}"
    if own.error and not own.names_line:
        return f"names no line: {own.text}"
    if not own.error and own.text != real.text:
        return f"another result: {own.text} || {real.text}"
    return ""


def is_builtin(name: str) -> bool:
    """Whether an error's class is Python's own: one that nobody here raised on purpose, unless a user did."""
    return hasattr(builtins, name.partition(":")[0])


def main(argv: Sequence[str] | None = None) -> int:
    """Makes the calls and prints what differs; gives how many do."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("real")
    parser.add_argument("part", nargs="?", default="", help="part of the forms' text")
    parser.add_argument("every", nargs="?", type=int, default=1, help="one in so many")
    parser.add_argument("--drawn", type=int, default=0, help="so many, drawn, in place of all")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "big"))
    parser.add_argument("--graphs", action="store_true", help="each is the body of a network's construct")
    given = parser.parse_args(argv)
    calls = all_mistakes(tuple(form for form in FORMS if given.part in form))[:: given.every]
    if given.drawn:
        calls = list(dict.fromkeys(drawn(given.drawn, given.seed)))
    count = failed = raw = 0
    with Pair(given.real) as pair:
        for call, own, theirs in compared(pair, calls, told=within_graphs if given.graphs else program):
            failed += bool(theirs and theirs.error)
            raw += bool(own and own.error and is_builtin(own.text))
            why = difference(own, theirs)
            count += bool(why)
            if why:
                print(f"{call}\n    {why}", flush=True)
    drawn_by = f"seed {given.seed}: " if given.drawn else ""
    print(
        f"{drawn_by}{count} of {len(calls)} calls differ; {failed} fail there; {raw} fail here with an error of "
        "Python's own"
    )
    return count


if __name__ == "__main__":
    main()
