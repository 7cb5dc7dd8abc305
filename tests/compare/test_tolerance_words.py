"""Tolerances in words: the documented default, files, and what they say when they are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import dtypes
from harness.compare import Tolerance, Tolerances
from harness.compare.policy import judged_by_texts
from harness.compare.tolerance_file import chosen_tolerances, read_tolerances
from harness.compare.tolerances import DEFAULTS
from harness.errors import ToleranceError
from harness.records import SlotKey

KEY = SlotKey(0, 0, 0, "Default/a-B/MatMul-op0", 0, "output", 0)


def test_the_default_is_what_the_pages_say() -> None:
    assert {name: (each.rtol, each.atol, each.scaled, each.max_ulp, each.exact) for name, each in DEFAULTS.items()} == {
        "Float16": (2**-9, 0, 2**-10, 1, False), "BFloat16": (2**-6, 0, 2**-7, 1, False),
        "Float32": (1e-5, 0, 1e-6, 1, False), "Float64": (1e-12, 0, 1e-13, 1, False),
        "Complex64": (1e-5, 0, 1e-6, 1, False), "Complex128": (1e-12, 0, 1e-13, 1, False),
        **{each.name: (0, 0, 0, 1, False) for each in dtypes.FLOATS8},
    }  # fmt: skip


def test_integers_known_by_statistics_alone_are_exact_only_where_that_was_chosen() -> None:
    assert Tolerances.parse("exact").of_row(KEY, "MatMul", "Int32").exact
    assert not Tolerances.parse("default").of_row(KEY, "MatMul", "Int32").exact
    assert Tolerances.parse({"default": "default", "MatMul": "exact"}).of_row(KEY, "MatMul", "Int32").exact
    assert Tolerances.parse(1e-3).of_row(KEY, "MatMul", "Float32") == Tolerance(rtol=1e-3)
    assert Tolerances() == Tolerances.parse("exact")
    assert not Tolerances().statistics
    assert not Tolerances().noise


@pytest.mark.parametrize(
    "value", [{"statistics": True, "default": 1e-3}, {"default": "noise"}, "noise", "default", 0.5]
)
def test_what_is_written_as_json_is_parsed_again(value: object) -> None:
    found = Tolerances.parse(value)
    assert Tolerances.parse(found.as_json()) == found
    assert Tolerances.parse(found) is found


def test_statistics_are_true_or_false() -> None:
    assert Tolerances.parse({"statistics": True, "default": "exact"}).statistics
    assert not Tolerances.parse({"statistics": False, "default": "exact"}).statistics
    with pytest.raises(ToleranceError, match="statistics is True or False; given was 1"):
        Tolerances.parse({"statistics": 1})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[tolerance]\ndefault = -1\n", r"t\.toml: "), ("[tolerance]\na = 1\n[other]\n", "nothing else; found 'other'"),
        ("a = 1\n", "nothing else; found 'a'"), ("", r"nothing else$"), ("tolerance = 3\n", r"nothing else$"),
        ("[tolerance", "no TOML"), (f"#{'x' * 4096}\n", "a line of more than 4096 bytes"),
        ("[tolerance]\n" + "#\n" * 600_000, "more than 1048576 bytes"),
    ],
)  # fmt: skip
def test_files_of_tolerances_that_are_none(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text(text)
    with pytest.raises(ToleranceError, match=told):
        read_tolerances(tmp_path / "t.toml")


def test_one_way_to_choose_at_a_time(tmp_path: Path) -> None:
    file = tmp_path / "t.toml"
    file.write_text(f"[tolerance]\ndefault = 0.5\n#{'x' * 4095}")
    assert chosen_tolerances(None, None, None, False) is None
    assert chosen_tolerances(file, None, None, False) == Tolerances.parse(0.5)
    assert chosen_tolerances(None, None, None, True) == Tolerances.parse("exact")
    assert chosen_tolerances(None, None, None, False, "default") == Tolerances.parse("default")
    assert chosen_tolerances(None, 0.5, None, False) == Tolerances.parse((0.5, 0.0))
    assert chosen_tolerances(None, None, 0.5, False) == Tolerances.parse((0.0, 0.5))
    with pytest.raises(ToleranceError, match=r"^--tolerances, --tolerance"):
        chosen_tolerances(file, None, None, True)
    with pytest.raises(ToleranceError, match=r"^--tolerance, --exact"):
        chosen_tolerances(None, 0.5, None, True)


def test_texts_alone_are_judged_by_texts() -> None:
    assert (judged_by_texts(True).code, judged_by_texts(False).code, judged_by_texts(None).code) == (0, 1, 2)
