"""What the store refuses, and what it leaves alone: values that were not kept, other digests, exceptions of others."""

from __future__ import annotations

import io
import os
import zipfile
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.capture.torch_files import items
from harness.capture.torch_files.archive import Member, content
from harness.compare import Tolerances, tolerances
from harness.errors import StoreError, StoreWriteError, ToleranceError
from harness.store import GoldenStore, Transaction, accept, update
from harness.store.h5file import _Sink
from harness.store.layout.schema import FOLDER
from harness.store.layout.values import as_json
from harness.store.located import Located
from tests.capture.torch_files.build import Writer, name, numbers
from tests.store.helpers import CPU, run_data


@pytest.fixture
def path(tmp_path: Path) -> Path:
    update(tmp_path / "x.h5", "net", {CPU: run_data()})
    return tmp_path / "x.h5"


def test_values_of_another_digest_are_not_given(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with GoldenStore.open(path) as store:
        run = store.run(*CPU)
        key, digest = run.index.keys[0], run.index.digests[0]
        load = run.loader(key, digest)
        assert load is not None
        np.testing.assert_array_equal(load(), run.tensor(0))
        assert run.loader(key, b"?" * 16) is None
        assert run.loader(key._replace(slot=99), digest) is None
        monkeypatch.setattr(type(run.index), "has_values", lambda *_: False)
        assert run.loader(key, digest) is None
        with pytest.raises(StoreError, match="values were not kept; --msdump-level=everything keeps them"):
            run.stored(0)


@pytest.mark.parametrize("error", [KeyError("x"), ValueError("x"), RuntimeError("x"), MemoryError(), OSError("x")])
def test_damage_is_told_with_its_place(error: Exception) -> None:
    with pytest.raises(StoreError, match=r"^a\.h5: run cpu/tensor: here: damaged"), Located("a.h5", "here", CPU):
        raise error


def test_an_error_that_names_its_file_is_left_alone() -> None:
    error = StoreError("a.h5: run cpu/tensor: here: damaged")
    with pytest.raises(StoreError) as told, Located("a.h5", "there", CPU):
        raise error
    assert told.value is error


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, AttributeError])
def test_what_is_no_damage_stays(error: type[BaseException]) -> None:
    with pytest.raises(error), Located("a.h5", "here", None):
        raise error


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("call", ["seek", "pwrite"])
def test_what_is_raised_while_libhdf5_writes_is_raised(
    call: str, error: type[BaseException], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raises(*_: object) -> int:
        raise error

    place: Any = os if call == "pwrite" else _Sink
    if not hasattr(place, call):
        pytest.skip(f"this system has no {call}")
    kept = path.read_bytes()
    monkeypatch.setattr(place, call, raises)
    with pytest.raises(error):
        update(path, "net", {CPU: run_data(5)})
    monkeypatch.undo()
    assert path.read_bytes() == kept
    assert update(path, "net", {CPU: run_data(5)}).changed


def test_a_file_in_place_of_a_folder_of_a_change(path: Path) -> None:
    with Transaction(path.parent) as change:
        (path.parent / FOLDER / "a").touch()
        with pytest.raises(StoreWriteError, match="the old ones are unchanged"):
            change.update("a/x.h5", "net", {CPU: run_data()})


def test_a_member_without_a_name(tmp_path: Path) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr(zipfile.ZipInfo("."), b"x")
    (tmp_path / "b.zip").write_bytes(data.getvalue())
    with pytest.raises(StoreError, match=r"without a name|leads out"):
        accept(tmp_path / "b.zip", tmp_path / "golden")


def test_a_member_beyond_a_limit() -> None:
    file = io.BytesIO(bytes(100))
    assert content(file, Member(0, 100, 0), 100) == bytes(100)
    with pytest.raises(ValueError, match="a member of 100 bytes, where at most 99 are read"):
        content(file, Member(0, 100, 0), 99)


def test_sizes_among_tensors(tmp_path: Path) -> None:
    writer = Writer()
    size = name("torch", "Size") + b"(" + numbers((2, 3)) + b"tR"
    (tmp_path / "a.pt").write_bytes(writer.bytes(writer.mapping({"s": size, "e": name("torch", "Size") + b")R"})))
    assert [(each.name, each.value) for each in items(str(tmp_path / "a.pt"))] == [("s.0", 2), ("s.1", 3)]


def test_a_rule_that_names_another_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    class Rules(dict[str, object]):
        """Stands for the registered rules."""

        def tolerances(self) -> object:
            return self["gives"]

    for gives, told in (("exact", ""), ("other", "tolerance rule 'mine' gives the name of another rule, 'other'")):
        monkeypatch.setattr(tolerances, "TOLERANCE_RULES", {"mine": Rules(gives=gives), "other": Rules(gives="exact")})
        if told:
            with pytest.raises(ToleranceError, match=told):
                Tolerances.parse("mine")
        else:
            assert Tolerances.parse("mine") == Tolerances.parse("exact")


def test_values_of_a_class_of_their_own_are_kept_as_what_they_are() -> None:
    class Kind(IntEnum):
        """A number with a name."""

        ONE = 1

    class Text(str):
        """A text with more."""

    class Real(float):
        """A number with more."""

    for given, expected in ((Kind.ONE, 1), (Text("x"), "x"), (Real(0.5), 0.5)):
        found = as_json(given)
        assert found == expected
        assert type(found) is type(expected)
