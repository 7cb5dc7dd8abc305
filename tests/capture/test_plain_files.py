"""Names of files are ordered and grouped by the rule."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.capture.names import FileName, parse
from harness.capture.plain_files import PlainFiles

FIELDS = st.tuples(
    st.sampled_from(["Add", "Parameter"]), st.sampled_from(["a", "b", "c"]), st.integers(0, 6),
    st.sampled_from(["input", "output"]), st.integers(0, 2),
)  # fmt: skip


def named(fields: tuple[str, str, int, str, int]) -> str:
    return "{}.{}.0.0.{}.{}.{}.DefaultFormat.Float32.npy".format(*fields)


def grouped(names: list[FileName]) -> list[list[FileName]]:
    """The rule, said plainly."""
    found: list[list[FileName]] = []
    running: dict[tuple[str, str], list[FileName]] = {}
    for name in sorted(names, key=lambda n: (n.timestamp, n.op_type, n.op_name, n.io, n.slot)):
        last = running.get((name.op_type, name.op_name))
        if last is None or (name.io, name.slot) <= (last[-1].io, last[-1].slot):
            last = running[name.op_type, name.op_name] = []
            found.append(last)
        last.append(name)
    return found


@given(st.lists(FIELDS, unique=True, max_size=25), st.lists(st.booleans(), min_size=25, max_size=25))
def test_executions(fields: list[tuple[str, str, int, str, int]], taken: list[bool]) -> None:
    files = PlainFiles("/d")
    names = []
    for each, is_taken in zip(fields, taken, strict=False):
        name = parse(named(each))
        assert name is not None
        names.append(name)
        assert files.take(named(each)) if is_taken else files.add(named(each), name)
    assert len(files) == len(fields)
    groups = list(files.executions())
    groups = [[(name, parse(path.removeprefix("/d/"))) for name, path in each] for _, each in files.executions()]
    assert [[whole for _, whole in each] for each in groups] == grouped(names)
    assert [start for start, _ in files.executions()] == [each[0].timestamp for each in grouped(names)]
    assert all(
        whole is not None and name in (whole, whole._replace(timestamp=0)) for each in groups for name, whole in each
    )
    if names:
        assert files.span == (min(name.timestamp for name in names), max(name.timestamp for name in names))
    assert {path for _, path in files.all()} == {"/d/" + named(each) for each in fields}


def test_a_time_beyond_all_clocks_is_not_kept_here() -> None:
    name = parse(named(("Add", "a", 10**19, "input", 0)))
    assert name is not None
    assert not PlainFiles("/d").add(named(("Add", "a", 10**19, "input", 0)), name)
    assert not PlainFiles("/d").take(named(("Add", "a", 10**19, "input", 0)))
