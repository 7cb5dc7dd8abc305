"""``msdump convert``: arguments, exit codes, several files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness import dtypes
from harness.cli.app import dispatch
from harness.cli.convert import FAILED
from tests.dump.asynchronous.build import device_entry, entry, values, write


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """A directory of two files: one of a feature map, one of ND tensors."""
    directory = tmp_path / "dump"
    write(directory, "Conv2D.Conv2D-op0", [device_entry(values(dtypes.float16, (2, 3, 4, 4)), "NC1HWC0")])
    write(directory, "Add.Add-op0", [entry(values(dtypes.float32, (3,)))], [entry(values(dtypes.float32, (3,)))])
    (directory / "mapping.csv").write_text("1,x\n")
    return directory


def names(directory: Path) -> set[str]:
    return {".".join(path.name.split(".")[:2] + path.name.split(".")[5:]) for path in directory.iterdir()}


def test_a_directory(dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "a" / "b"
    assert dispatch(["convert", "-d", str(dump), "-out", str(out)]) == 0
    assert names(out) == {"Add.Add-op0.input.0.npy", "Add.Add-op0.output.0.npy", "Conv2D.Conv2D-op0.input.0.npy"}
    assert capsys.readouterr().out == f"3 files in {out}, from 2 dump files; not, or not wholly, converted: 0\n"
    assert out.stat().st_mode & 0o777 == 0o700


def test_long_and_short_options(dump: Path, tmp_path: Path) -> None:
    for flags in (["-d", "-out", "-t", "-f"], ["--dump_file", "--output", "--type", "--format"]):
        out = tmp_path / flags[0]
        assert (
            dispatch(["convert", flags[0], str(dump), flags[1], str(out), flags[2], "bin", flags[3], "NC1HWC0"]) == 22
        )
        assert (out / FAILED).read_text() == f"{next(dump.glob('Add*'))},input:0,output:0\n"


def test_the_current_directory_is_the_default(dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert dispatch(["convert", "-d", str(dump)]) == 0
    assert len(list((tmp_path / "here").iterdir())) == 3


def test_files_split_by_commas(dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = sorted(str(path) for path in dump.glob("*.*.*"))
    assert dispatch(["convert", "-d", f"{paths[0]}, {paths[1]},gone", "-out", str(tmp_path / "out")]) == 0
    assert "gone: there is no such file; it is left out" in capsys.readouterr().err
    assert len(list((tmp_path / "out").iterdir())) == 3


def test_one_tensor_of_one_file(dump: Path, tmp_path: Path) -> None:
    (path,) = dump.glob("Add*")
    assert dispatch(["convert", "-d", str(path), "-out", str(tmp_path / "out"), "-f", "ND", "-o", "0"]) == 0
    assert names(tmp_path / "out") == {"Add.Add-op0.output.0.3.npy"}


def test_what_counts_for_one_file_is_ignored_for_several(
    dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["convert", "-d", str(dump), "-out", str(tmp_path / "out"), "-f", "NCHW", "-i", "0", "-s", "1,3"]
    assert dispatch(arguments) == 22
    assert "count for one file only" in capsys.readouterr().err
    assert names(tmp_path / "out") == {"Conv2D.Conv2D-op0.input.0.2x3x4x4.npy", FAILED}


def test_a_shape_for_a_matrix(tmp_path: Path) -> None:
    host = values(dtypes.float16, (20, 18))
    path = write(tmp_path / "dump", "MatMul.MatMul-op0", [device_entry(host, "FRACTAL_NZ")])
    assert dispatch(["convert", "-d", str(path), "-out", str(tmp_path), "-f", "ND", "-s", "20,17"]) == 0
    (made,) = tmp_path.glob("*.20x17.npy")
    assert np.array_equal(np.load(made), host[:, :17])


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["-d", "{gone}"], 3, "there is no such file or directory"),
        (["-d", "{gone},{gone}"], 3, "none of these files exists"),
        (["-d", "{empty}"], 6, "is empty"),
        (["-d", "{dump}", "-t", "pt"], 6, "-t takes npy, msnpy, bin, got 'pt'"),
        (["-d", "{dump}", "-f", "NOPE"], 6, "-f takes a format, got 'NOPE'"),
        (["-d", "{dump}", "-i", "0"], 6, "-i counts with -f only"),
        (["-d", "{dump}", "-s", "1,2"], 6, "-s counts with -f only"),
        (["-d", "{dump}", "-f", "ND", "-i", "0", "-o", "0"], 6, "give one of them"),
        (["-d", "{dump}", "-f", "ND", "-i", "-1"], 6, "take a position from 0, got '-1'"),
        (["-d", "{dump}", "-f", "ND", "-s", "3"], 23, "-s takes dimensions"),
        (["-d", "{dump}", "-f", "ND", "-s", "1,0"], 23, "-s takes dimensions"),
        (["-d", "{dump}", "-out", "{file}"], 3, "no directory that can be written to"),
    ],
)
def test_refusals(
    arguments: list[str], code: int, said: str, dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    places = {name: str(tmp_path / name) for name in ("gone", "empty", "dump", "file")}
    out = [] if "-out" in arguments else ["-out", str(tmp_path / "out")]
    assert dispatch(["convert", *(argument.format(**places) for argument in arguments), *out]) == code
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


def test_a_dump_is_required(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["convert"]) == 2
    assert "dump_file" in capsys.readouterr().err


def test_a_full_disk(dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("harness.dump.writer.os.writev", full)
    assert dispatch(["convert", "-d", str(dump), "-out", str(tmp_path / "out")]) == 19
