"""Goldens, manifests and comparisons in which one value has another type or size: each command ends in one line, and
prints no more than it would of a whole one."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.attributes import MAX_DEPTH, checked_attributes, checked_rules
from harness.capture import read_tree
from harness.cli.text import table
from harness.errors import StoreError, TreeError
from harness.store import GoldenStore, RunData, update
from tests.dump.build import dumped, one_op
from tests.faults.hostile import (
    ATTRS,
    ODD,
    Hostile,
    Nested,
    changed,
    odd_attributes,
    odd_contents,
    odd_rows,
    odd_values,
    paths,
    whole_golden,
)  # fmt: skip
from tests.faults.hostile_place import Place, findings, main_quietly, wrong
from tests.store.helpers import CPU, record, run_data

pytestmark = pytest.mark.faults

KNOWN = ("emulated", "imported", "rules", "tolerance", "learned")


def test_an_attribute_of_another_type_is_refused_where_it_is_read(tmp_path: Path) -> None:
    path, taken, refused = tmp_path / "x.h5", Counter[str](), Counter[str]()
    for each in odd_attributes():
        path.write_bytes(each.raw)
        where = each.where.removeprefix("attrs").strip(".")
        told = ""
        try:
            with GoldenStore.open(path) as store:
                checked_attributes(dict(store.run(*CPU).attrs), StoreError)
        except StoreError as error:
            told = str(error)
        (refused if told else taken)[where] += 1
        assert not told or (told.startswith(f"{path}") and "\n" not in told)
    assert refused.total() > 400
    for where in KNOWN:
        # A truth value, an object, a tolerance: what else there is in ODD is refused.
        assert refused[where] > len(ODD) // 2 or where == "tolerance", where
    assert taken["rules.settings"] > 15  # of what is not known any value is kept, as long as it can be


@pytest.mark.parametrize(
    ("attrs", "told"),
    [
        ({"rules": "text"}, "attribute 'rules' is a text, where an object is needed"),
        ({"rules": {"compiled": "net"}}, "'compiled' is a text, where a list of texts is needed"),
        ({"rules": {"ms_version": 2.7}}, "'ms_version' is a number, where a text is needed"),
        ({"emulated": 1}, "'emulated' is a whole number, where a truth value is needed"),
        ({"learned": {"runs": 3, "margin": 2.0}}, "without the tolerance"),
        ({"tolerance": 1, "learned": {"runs": True, "margin": 2.0}}, "'runs'"),
        ({"tolerance": 1, "learned": {"runs": 3, "margin": 0.5}}, "'margin'"),
        ({"tolerance": [[1]]}, "a list that is not a tolerance"),
        ({"mine": json.loads("[" * 40 + "]" * 40)}, f"nested deeper than {MAX_DEPTH} values"),
    ],
)
def test_what_could_not_be_read_is_not_written(attrs: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=told):
        update(tmp_path / "x.h5", "net", {CPU: run_data(attrs=attrs)})
    assert not (tmp_path / "x.h5").exists()


def test_attributes_that_are_written_are_read(tmp_path: Path) -> None:
    for attrs in (ATTRS, {}, {"mine": [1, {"a": None}]}, {"tolerance": None}, {"tolerance": 10**400}):
        assert checked_attributes(attrs, StoreError) is attrs
        update(tmp_path / "x.h5", "net", {CPU: run_data(attrs=attrs)})
        with GoldenStore.open(tmp_path / "x.h5") as store:
            assert store.run(*CPU).attrs == attrs


def test_rules_of_a_tree_are_held_to_the_same_types(tmp_path: Path) -> None:
    dumped(tmp_path / "tree", one_op())
    (stated,) = (tmp_path / "tree").rglob("config.json")
    whole = json.loads(stated.read_text())
    stated.chmod(0o600)
    for value in (1, ["2.7"], {"a": 1}):
        stated.write_text(json.dumps(whole | {"ms_version": value}))
        capture = read_tree(tmp_path / "tree")
        list(capture.records())
        assert "ms_version" not in capture.rules
        assert ["rule 'ms_version' is" in each.why for each in capture.problems] == [True]
    with pytest.raises(TreeError, match="rules are a list"):
        checked_rules([], TreeError)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, whole_golden)


def sample(inputs: Iterable[Hostile], count: int) -> Iterator[Hostile]:
    drawn = list(inputs)
    return iter(random.Random(44).sample(drawn, min(count, len(drawn))))


@pytest.mark.parametrize(
    "count", [1, pytest.param(8, marks=pytest.mark.long), pytest.param(60, marks=pytest.mark.deep)]
)
def test_every_command_ends_in_one_line(count: int, place: Place) -> None:
    refused: Counter[str] = Counter()
    for inputs in (odd_contents(), odd_attributes(), odd_rows())[: 1 if count == 1 else 3]:
        for each in sample(inputs, count):
            assert list(findings(each, place.golden(each.raw), refused)) == []
    whole = [(words[0], code, err) for words, code, _, err in place.golden(whole_golden())]
    assert {(name, err.partition("(")[2]) for name, code, err in whole if code == 2} == {
        ("extract", "its tensors are not known)\n")
    }
    assert {*refused} == {name for name, _, _ in whole}


def test_manifests_and_comparisons_end_in_one_line(place: Place) -> None:
    described = json.loads((place.home / "golden/x.manifest.json").read_bytes())
    compared = json.loads((place.home / "d.json").read_bytes())
    compared["slots"] = compared["slots"][:1]
    refused: Counter[str] = Counter()
    for whole, give, count in ((described, place.manifest, 8), (compared, place.comparison, 30)):
        for each in sample((Hostile(*odd) for odd in odd_values(whole, "")), count):
            assert list(findings(each, give(each.raw), refused)) == []


def test_what_must_not_be_is_told() -> None:
    assert wrong(0, "fine\n", "") == wrong(2, "", "msdump: one line\n") == ""
    for ended in ((-1, "", "x"), (3, "", ""), (2, "", ""), (2, "", "msdump: a\nb\n"), (2, "", "Traceback\n"),
                  (0, "x" * 10**6, ""), (0, "\x1b", "")):  # fmt: skip
        assert wrong(*ended)
    assert changed({"a": [1]}, ("a", 0), Nested(2)) == b'{"a": [[[]]]}'
    assert list(paths({"a": [1]})) == [(), ("a",), ("a", 0)]


# --- output ---------------------------------------------------------------------------------------------------------


def test_a_table_grows_with_its_rows_not_with_one_cell_times_its_rows() -> None:
    short = [("a", "b")] * 1000
    lines = list(table(("one", "other"), [("x" * 100_000, "y"), *short]))
    assert sum(map(len, lines)) < 300 * 1000 + 2000
    assert "characters)..." in lines[1]
    assert list(table(("n",), [("x" * 300,)]))[1] == "x" * 300  # names of some hundred characters stay whole


def test_a_mapping_with_one_very_long_name_makes_no_long_output(tmp_path: Path) -> None:
    """Three mutated mapping files of 201 made more than 2 MB of output: a table as wide as its longest name."""
    tree = tmp_path / "tree"
    dumped(tree, one_op())
    first = next(path for path in sorted(tree.rglob("*.npy")))
    kept, folder = first.read_bytes(), first.parent
    names = [f"Add.Default_{'n' * (200_000 if at == 7 else 9)}{at}-op0.0.0.{at}.output.0.DefaultFormat.npy"
             for at in range(200)]  # fmt: skip
    folder.chmod(0o700)
    (folder / "mapping.csv").write_text("".join(f"{at}.npy,{name}\n" for at, name in enumerate(names)))
    for at in range(200):
        (folder / f"{at}.npy").write_bytes(kept)
    for words in (["show", str(tree)], ["show", str(tree), "--all"]):
        code, out, err = main_quietly(words)
        assert (code, err) == (0, "")
        assert out.count("\n") > 200
        assert len(out) < 300_000


def test_a_golden_with_one_very_long_name_makes_no_long_output(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    records = [record([1.0], f"Default/Add-op{at}", source="s" * 16_000 if at == 3 else "a.py:1") for at in range(300)]
    update(path, "net", {CPU: RunData(records)})
    for words in (["show", str(path)], ["show", str(path), "--all"], ["audit", str(path), "--all"]):
        code, out, _ = main_quietly(words)
        assert code in (0, 1)
        assert len(out) < 300_000


def test_an_error_is_at_most_four_kilobytes(tmp_path: Path) -> None:
    code, _, err = main_quietly(["show", f"{tmp_path}/{'x/' * 5000}"])
    assert code == 2
    assert err.startswith("msdump: ")
    assert len(err) < 5000


@pytest.mark.parametrize("digest", ["checksum", "identity"])
def test_a_digest_of_another_form_is_refused(digest: str, tmp_path: Path) -> None:
    """``verify`` of a golden whose ``identity`` is half of a pair ended in a traceback."""
    from tests.fuzz import repaired

    whole = json.loads(repaired.contents_of(whole_golden()))
    for value in ("\ud800", "A" * 32, "a" * 31, "a" * 33, "a" * 32 + "\n", 7, None, ["a"]):
        whole["runs"]["cpu/tensor"][digest] = value
        (tmp_path / "x.h5").write_bytes(repaired.with_contents(whole_golden(), json.dumps(whole).encode()))
        with pytest.raises(StoreError, match="not that of a golden store"), GoldenStore.open(tmp_path / "x.h5"):
            pass


def test_two_names_of_one_run_are_refused(tmp_path: Path) -> None:
    from tests.fuzz import repaired

    whole = json.loads(repaired.contents_of(whole_golden()))
    whole["runs"]["%63pu/tensor"] = whole["runs"]["cpu/tensor"]
    (tmp_path / "x.h5").write_bytes(repaired.with_contents(whole_golden(), json.dumps(whole).encode()))
    with pytest.raises(StoreError, match="not that of a golden store"), GoldenStore.open(tmp_path / "x.h5"):
        pass
