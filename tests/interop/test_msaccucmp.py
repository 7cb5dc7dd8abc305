"""The real msaccucmp reads what the asynchronous dump writes, and ``msdump convert`` makes the same files of it.

Every directory is converted by both, and the results are compared: names, dtypes, shapes, every bit, mappings, lists of
failures, exit codes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from harness import dtypes
from harness.cli.convert import convert
from harness.devices import DEVICES
from harness.devices.formats import FORMATS
from harness.dump.asynchronous import opdebug
from harness.dump.asynchronous.observer import AsyncDumpObserver
from harness.dump.asynchronous.reformat import PAIRS
from harness.dump.writer import MAPPING
from tests.differential.side import Side
from tests.dump.asynchronous.build import config, content, device_entry, entry, values, write
from tests.dump.build import one_op

pytestmark = pytest.mark.interop

TOOL = Path(__file__).with_name("accucmp.py")
FAILED = "convert_failed_file_list.txt"
KINDS = ("npy", "msnpy", "bin")
TARGETS = ("NCHW", "NHWC", "HWCN", "ND", "NCDHW")


@pytest.fixture(scope="module")
def tool(msprobe_python: str) -> Iterator[Side]:
    """A process that runs the tool in forks: its imports take most of what a run takes."""
    side = Side(msprobe_python, own=False, preload=TOOL)
    yield side
    side.close()


def real(tool: Side, arguments: Sequence[str]) -> int:
    """Exit code of the real ``msaccucmp convert``."""
    with tempfile.TemporaryDirectory() as place:
        tool.begin(TOOL, Path(place), 300, ("convert", *arguments), {})
        return tool.end()


def results(directory: Path) -> dict[str, object]:
    """What every file holds, by name.

    Of arrays dtype, shape and values: the tool leaves some in Fortran's order. Of lists the lines in any order: several
    processes append to them.
    """
    return {path.name: _content(path) for path in directory.iterdir()}


def _content(path: Path) -> object:
    if path.suffix == ".npy":
        array = np.load(path)
        return array.dtype, array.shape, array.tobytes()
    data = path.read_bytes()
    return sorted(data.splitlines()) if path.name in (FAILED, MAPPING) else data


def check_same(tool: Side, tmp_path: Path, dump: Path, kind: str, target: str | None = None) -> dict[str, object]:
    """Converts ``dump`` twice; gives the results."""
    name = f"{kind}-{target}"
    theirs, ours = tmp_path / f"real-{name}", tmp_path / f"own-{name}"
    flags = ["-f", target] if target else []
    code = real(tool, ["-d", str(dump), "-out", str(theirs), "-t", kind, *flags])
    assert convert(str(dump), str(ours), kind, target) == code
    assert results(ours) == results(theirs)
    return results(ours)


@pytest.fixture
def dumped(tmp_path: Path) -> Path:
    """A directory the emulated Ascend dumped: 4-D in device formats, ND, 0-d, bfloat16, names of any length."""
    observer = AsyncDumpObserver(config(tmp_path / "dump"), DEVICES.get("ascend-o2"))
    half, brain, single = dtypes.float16, dtypes.bfloat16, dtypes.float32
    convolution, product = ((2, 3, 4, 4), (5, 3, 3, 3), (2, 5, 4, 4)), ((20, 18), (18, 7), (20, 7))
    others: list[tuple[dtypes.DType, tuple[int, ...]]] = [
        (single, ()), (dtypes.bool_, (2,)), (dtypes.int64, (2, 1, 3)),
    ]  # fmt: skip
    nets = [
        one_op("Default/net/conv1-Conv2d/Conv2D-op12", [values(half, shape) for shape in convolution]),
        one_op("Default/fc-Dense/MatMul-op0", [values(single, shape) for shape in product], graph_id=1),
        one_op("Default/Cast-op1", [values(half, (3,)), values(brain, (3,))], graph_id=2),
        one_op("Default/Add-op2", [values(kind, shape) for kind, shape in others], graph_id=3),
        one_op(f"Default/{'L' * 206}/Mul-op3", [values(single, (3,)), values(single, (3,))], graph_id=4),
        one_op(f"Default/{'L' * 300}/Mul-op4", [values(single, (3,)), values(single, (3,))], graph_id=5),
    ]  # fmt: skip
    for net in nets:
        observer.graph_declared(net.graph)
        net.run(observer)
    observer.closed()
    return tmp_path / "dump"


def directories(dump: Path) -> list[Path]:
    """Directories that hold tensors."""
    found = sorted({path.parent for path in dump.rglob("*") if path.is_file() and path.suffix != ".json"})
    assert len(found) == 6
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_what_we_dump_is_converted_alike(dumped: Path, tmp_path: Path, tool: Side, kind: str) -> None:
    made: dict[str, object] = {}
    for number, directory in enumerate(directories(dumped)):
        made |= check_same(tool, tmp_path / str(number), directory, kind)
    assert len([name for name in made if not name.endswith(".csv")]) == 15
    assert (MAPPING in made) == (kind != "msnpy")  # whose names are short


@pytest.mark.parametrize("target", TARGETS)
def test_what_we_dump_is_brought_to_a_format_alike(dumped: Path, tmp_path: Path, tool: Side, target: str) -> None:
    for number, directory in enumerate(directories(dumped)):
        check_same(tool, tmp_path / str(number), directory, "msnpy", target)


def test_values_are_those_that_were_dumped(tmp_path: Path, tool: Side) -> None:
    host = values(dtypes.float16, (2, 20, 3, 3), 4)
    write(tmp_path / "dump", "Conv2D.Conv2D-op0", [device_entry(host, "NC1HWC0")], [device_entry(host, "FRACTAL_Z")])
    check_same(tool, tmp_path, tmp_path / "dump", "npy", "NCHW")
    for tensor in ("input", "output"):
        (path,) = (tmp_path / "own-npy-NCHW").glob(f"*.{tensor}.0.2x20x3x3.npy")
        assert np.array_equal(np.load(path), host)


SHAPES = {
    "FRACTAL_NZ": [(20, 18), (1, 1), (16, 16), (3, 20, 18), (2, 3, 17, 33)],
    "FRACTAL_Z": [(2, 3, 2, 2), (17, 33, 1, 3), (16, 16, 3, 3), (1, 1, 1, 1)],
    "NC1HWC0": [(2, 3, 2, 2), (1, 17, 3, 1), (4, 16, 2, 2), (1, 1, 1, 1), (3,)],
    "NDC1HWC0": [(2, 3, 2, 2, 2), (1, 17, 2, 1, 3), (1, 16, 1, 1, 1)],
    "NCHW": [(2, 3, 4, 5), (1, 1, 1, 1), (6,), (2, 3)],
    "NHWC": [(2, 3, 4, 5), (3, 1, 1, 2), (2, 3)],
    "HWCN": [(2, 3, 4, 5), (1, 1, 3, 2)],
}


@pytest.mark.parametrize("kind", ["npy", "bin"])
@pytest.mark.parametrize("target", sorted({target for _, target in PAIRS} - {"FRACTAL_Z"}))
def test_every_pair_of_formats(target: str, kind: str, tmp_path: Path, tool: Side) -> None:
    for source, shapes in SHAPES.items():
        for number, shape in enumerate(shapes):
            host = values(dtypes.float16 if number % 2 else dtypes.float32, shape, number)
            given = entry(host, format_name=source) if source in TARGETS else device_entry(host, source)
            write(tmp_path / "dump", f"Op.{source}-op{number}", [given], [given])
    check_same(tool, tmp_path, tmp_path / "dump", kind, target)


def test_to_fractal_z(tmp_path: Path, tool: Side) -> None:
    # With a host shape in the header the tool cuts the blocks by it, which leaves nothing of use.
    for source in ("NCHW", "NHWC", "HWCN"):
        for number, shape in enumerate(((2, 3, 2, 2), (17, 33, 1, 3))):
            given = entry(values(dtypes.float32, shape, number), format_name=source, original=())
            write(tmp_path / "dump", f"Op.{source}-op{number}", [given])
    check_same(tool, tmp_path, tmp_path / "dump", "npy", "FRACTAL_Z")


def test_what_a_weight_in_groups_ends_with(tmp_path: Path, tool: Side) -> None:
    host = values(dtypes.float32, (4, 2, 3, 3))
    write(tmp_path / "dump", "Op.Op-op0", [device_entry(host, "FRACTAL_Z", 2)])
    check_same(tool, tmp_path, tmp_path / "dump", "npy", "NCHW")


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_every_dtype(dtype: dtypes.DType, tmp_path: Path, tool: Side) -> None:
    arrays = [values(dtype, (2, 3)), values(dtype, ()), values(dtype, (5,))]
    write(tmp_path / "dump", "Op.Op-op0", [entry(array, dtype) for array in arrays])
    if dtype is dtypes.bfloat16 or dtype.kind in "fc":
        arrays[0].reshape(-1)[:2] = np.array([np.nan, -np.inf]).astype(dtype.numpy)
        write(tmp_path / "dump", "Op.Op-op1", [entry(arrays[0], dtype)])
    for kind in KINDS:
        check_same(tool, tmp_path, tmp_path / "dump", kind)


def test_overflow_records(tmp_path: Path, tool: Side) -> None:
    for number, old in enumerate((True, False)):
        record = opdebug.build(opdebug.core_overflow(57, 563, 514, 32, old=old))
        given = entry(np.frombuffer(record, np.uint8))
        path = write(tmp_path / "dump", "Opdebug.Node_OpDebug", [], [given], "Node_OpDebug")
        path.rename(path.with_name(f"Opdebug.Node_OpDebug.57.563.162312436961354{number}"))
    made = check_same(tool, tmp_path, tmp_path / "dump", "npy")
    assert sorted(name.rpartition(".output")[2] for name in made) == [".0.json", ".0.json"]


@pytest.mark.parametrize("cut", [9, 40, -1])
def test_damaged_files_end_with_the_same_code(cut: int, tmp_path: Path, tool: Side) -> None:
    path = tmp_path / "Op.Op-op0.0.0.1623124369613540"
    path.write_bytes(content([entry(values(dtypes.float32, (4, 5)))])[:cut])
    code = real(tool, ["-d", str(path), "-out", str(tmp_path / "real")])
    assert convert(str(path), str(tmp_path / "own")) == code == 11
    assert not list((tmp_path / "own").iterdir())


def arguments(*flags: str) -> dict[str, str]:
    names = {"-f": "format_name", "-s": "shape", "-i": "input_tensor", "-o": "output_tensor", "-t": "kind"}
    return {names[flag]: value for flag, value in zip(flags[::2], flags[1::2], strict=True)}


@pytest.mark.parametrize(
    "flags",
    [
        ("-i", "0"), ("-f", "NCHW", "-i", "0"), ("-f", "NCHW", "-o", "1"), ("-f", "NCHW", "-i", "7"),
        ("-f", "NCHW", "-i", "x"), ("-f", "NOPE"), ("-f", "ND", "-s", "20,17", "-o", "1"), ("-f", "ND", "-s", "0,1"),
        ("-f", "ND", "-s", "20"), ("-f", "ND", "-s", "99,99", "-o", "1"), ("-s", "1,2"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_flags(flags: tuple[str, ...], tmp_path: Path, tool: Side) -> None:
    feature = device_entry(values(dtypes.float16, (2, 3, 4, 4)), "NC1HWC0")
    matrix = device_entry(values(dtypes.float16, (20, 18)), "FRACTAL_NZ")
    path = write(tmp_path / "dump", "Op.Op-op0", [feature, matrix], [feature, matrix])
    ours, theirs = tmp_path / "own", tmp_path / "real"
    for directory in (ours, theirs):
        directory.mkdir()
    code = real(tool, ["-d", str(path), "-out", str(theirs), *flags])
    assert convert(str(path), str(ours), **arguments(*flags)) == code
    assert results(ours) == results(theirs)


def test_paths(tmp_path: Path, tool: Side) -> None:
    first = write(tmp_path / "a", "Op.Op-op0", [entry(values(dtypes.float32, (2,)))])
    second = write(tmp_path / "b", "Op.Op-op1", [entry(values(dtypes.float32, (2,)))])
    (tmp_path / "empty").mkdir()
    for number, dump in enumerate((f"{first},{second}", str(tmp_path / "gone"), str(tmp_path / "empty"))):
        ours, theirs = tmp_path / f"own{number}", tmp_path / f"real{number}"
        for directory in (ours, theirs):
            directory.mkdir()
        assert convert(dump, str(ours)) == real(tool, ["-d", dump, "-out", str(theirs)])
        assert results(ours) == results(theirs)


def test_formats_it_knows() -> None:
    assert {source for source, _ in PAIRS} | {target for _, target in PAIRS} <= set(FORMATS)
