"""A few mutated files for every parser, and every earlier finding; ``tox -e fuzz`` takes very many."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import HarnessError, TreeError
from tests.fuzz import counted, grown
from tests.fuzz.counted import Count
from tests.fuzz.engine import Input, Target, fuzz, home, judged
from tests.fuzz.guided import BELOW, GUIDED, whole
from tests.fuzz.targets import CORPUS, corpus, targets

TARGETS = targets()
pytestmark = pytest.mark.faults


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", TARGETS)
def test_mutated_files_are_one_clear_error(name: str) -> None:
    target = TARGETS[name]
    found = fuzz(target, 40 if target.weight > 10 else 8, 2, name)
    assert found.findings == []


@pytest.mark.parametrize("name", TARGETS)
def test_whole_files_are_read(name: str) -> None:
    target = TARGETS[name]
    with home() as folder:
        given = Input(target, name, 0, folder)
        for seed in target.seeds[: len(target.seeds) - len(corpus(name))]:
            given.hold(seed)
            assert judged(target, given) == (True, "")
            if target.told:  # what reads nothing is damaged by nothing
                given.hold(seed)
                assert target.told in str(target.read(given.folder))


@pytest.mark.parametrize("kept", sorted(CORPUS.glob("*/*")), ids=lambda kept: f"{kept.parent.name}-{kept.name}")
def test_what_was_found_once(kept: Path) -> None:
    target = TARGETS[kept.parent.name]
    with home() as folder:
        given = Input(target, kept.parent.name, 0, folder)
        given.hold(corpus(kept.parent.name)[sorted(kept.parent.iterdir()).index(kept)])
        assert judged(target, given)[1] == ""


@pytest.mark.parametrize("name", [*GUIDED, *(f"{name}, below" for name in BELOW)])
def test_what_reached_new_branches_is_one_clear_error(name: str) -> None:
    target = TARGETS[name.partition(",")[0]]
    with home() as folder:
        given = Input(target, name, 0, folder)
        for kept, data in grown.grown(name):
            given.forget()
            try:
                files = whole(target, name, data)
            except HarnessError:  # what lies below has no place in a file any more
                continue
            given.hold(files)
            assert judged(target, given)[1] == "", kept


def test_corpora_grow_by_the_smallest_and_are_the_same_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grown, "FOLDER", tmp_path)
    monkeypatch.setattr(grown, "KEPT", 10)
    assert grown.keep("a, below", iter([b"12345678", b"12", b"123", b"12"])) == 2
    assert [data for _, data in grown.grown("a, below")] == [b"12", b"123"]
    before = grown.archive("a, below").read_bytes()
    assert grown.keep("a, below", iter([b"123", b"12"])) == 2
    assert grown.archive("a, below").read_bytes() == before
    assert list(grown.grown("none")) == []


def test_every_run_adds_to_the_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks._pages.DOCS", tmp_path)
    monkeypatch.setattr(counted, "DOCS", tmp_path)
    page = tmp_path / counted.PAGE
    begun = counted.table({"a": Count(1000, 5, 1)})
    page.write_text(f"x\n<!-- {counted.NAME} -->\n{begun}<!-- end of {counted.NAME} -->\ny\n")
    assert counted.add({"a": Count(mutated=24), "b": Count(guided=7, findings=2)})
    assert counted.counts(page.read_text()) == {"a": Count(1024, 5, 1), "b": Count(0, 7, 2)}
    assert "| all | 1,024 | 12 | 3 |" in page.read_text()


def _raise(error: BaseException) -> None:
    raise error


def _of_memory(_: Path) -> None:
    try:
        raise MemoryError
    except MemoryError:
        raise TreeError("it asks for more memory than there is") from None


def _wait(_: Path) -> None:
    while True:
        pass


def _write(folder: Path) -> None:
    (folder / ".." / "outside" / "x").write_text("x")


@pytest.mark.parametrize(
    ("read", "told"),
    [
        (lambda _: _raise(ValueError("x")), "ValueError at"),
        (lambda _: _raise(OSError("x")), "OSError at"),
        (_of_memory, "more than 314572800 bytes"),
        (lambda _: bytearray(1 << 29), "MemoryError at test_fuzz.py"),
        (lambda _: "\x1b[2J", "a control character is printed"),
        (lambda folder: (folder / "../outside/secret").read_text(), "escape: it shows"),
        (_write, "escape: it wrote"),
        (lambda _: _raise(SystemExit(3)), "SystemExit at"),
    ],
)
def test_what_must_not_be_is_found(read: object, told: str) -> None:
    found = fuzz(Target(({"a.x": b"abc"},), read), 2, 1)  # type: ignore[arg-type]
    assert found.findings
    assert all(told in what for _, what in found.findings)


@pytest.mark.long
def test_what_hangs_is_ended_and_the_rest_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.engine.SECONDS", 0.2)
    found = fuzz(
        Target(({"a.x": b"abc"},), lambda folder: _wait(folder) if (folder / "a.x").stat().st_size > 3 else 0), 6, 1
    )
    assert 1 <= len(found.findings) < 6
    assert all("of the processor" in what for _, what in found.findings)
    assert found.kinds.total() == 6


def test_an_input_can_be_made_again() -> None:
    def made(number: int) -> list[bytes]:
        with home() as folder:
            given = Input(TARGETS["ckpt"], "ckpt", 7, folder)
            given.put(number)
            return [path.read_bytes() for path in given.folder.iterdir()]

    assert made(3) == made(3) != made(4)
