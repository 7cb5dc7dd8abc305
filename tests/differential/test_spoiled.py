"""Scripts with one mistake, and settings that nobody set, fare as under the real MindSpore."""

from __future__ import annotations

import ast
import random
from collections import Counter

import pytest

from tests.differential import settings, spoiled
from tests.differential.mistakes import PRELUDE, Outcome
from tests.differential.side import Side
from tests.differential.sides import Pair


@pytest.mark.long
def test_draws_are_those_of_their_seed_and_parse() -> None:
    first = list(spoiled.draws(60, 5))
    assert first == list(spoiled.draws(60, 5))
    assert first != list(spoiled.draws(60, 6))
    known = spoiled.scripts()
    for name, told, source in first:
        ast.parse(source)
        base, _, mode = name.partition(" ")
        assert source != ast.unparse(ast.parse(spoiled.with_mode(known[base], 0 if mode else None))) + "\n", told


def test_every_kind_of_mistake_is_drawn() -> None:
    source = spoiled.scripts()["lr_groups"]
    kinds = {change for change, _ in spoiled._changes(ast.parse(source))}
    told = {spoiled.spoiled(source, random.Random(seed))[0] for seed in range(200)}
    assert len(kinds) >= 11
    assert len(told) > 60


def test_bases_are_pythons() -> None:
    assert spoiled.bases("harness.errors.ShapeError") == {"ValueError"}
    assert spoiled.bases("TypeError") == {"TypeError"}
    assert spoiled.bases("mindspore.Unknown") == {"Unknown"}


@pytest.mark.parametrize(
    ("own", "real", "kind"),
    [("1", "1", ""), ("1", "2", "ignored"), ("2", "3", "another result"), ("2", "1", "another result")],
)
def test_what_a_setting_does(own: str, real: str, kind: str) -> None:
    found = settings.kind(Outcome(frozenset(), own, True), Outcome(frozenset(), real, True), ("1", "1"))
    assert found[0] == kind


def test_preludes_compile_and_kinds_of_defaults_are_known() -> None:
    compile(PRELUDE + settings.OWN_PRELUDE, "prelude", "exec")
    assert [settings.kind_of(text) for text in ("True", "None", "'same'", "1", "0.5", "(1,)", "<class 'x'>")] == [
        "bool", "None", "str", "int", "float", "other", "other",
    ]  # fmt: skip


@pytest.mark.interop
def test_spoiled_scripts_fare_alike(both: tuple[Side, Side]) -> None:
    kinds: Counter[str] = Counter()
    lines = []
    with Pair(both, limit=120) as pair:
        for name, told, source in spoiled.draws(40, 15):
            kind, text = spoiled.difference(pair, source)
            kinds[kind or "agree"] += 1
            lines += [f"{kind} [{name}] {told}: {text[:300]}"] if kind else []
    assert kinds["agree"] >= 32, "\n".join(lines)
    assert kinds["names no line"] + kinds["importer"] + kinds["ends"] == 0, "\n".join(lines)


@pytest.mark.interop
def test_no_setting_is_ignored(both: tuple[Side, Side]) -> None:
    chooser = random.Random(15)
    with Pair(both, limit=120) as pair:
        found = chooser.sample(sorted(settings.of_forms(pair, chooser), key=str), 150)
        plain = {
            call: (own.text if own else "", real.text if real else "")
            for call, own, real in settings.compared(pair, sorted({each.plain for each in found}))
        }
        by_call = {each.call: each.plain for each in found}
        kinds = {
            call: settings.kind(own, real, plain[by_call[call]])
            for call, own, real in settings.compared(pair, list(by_call))
        }
    ignored = [f"{call}: {text}" for call, (kind, text) in kinds.items() if kind == "ignored"]
    assert not ignored, "\n".join(ignored)
    assert sum(not kind for kind, _ in kinds.values()) >= 0.8 * len(kinds)
