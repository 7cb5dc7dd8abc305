"""What of ``tox -e cuda`` needs no device: the page, the verdict on a gate, and a machine without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import cuda
from benchmarks._pages import Table
from benchmarks.cuda import gate_row, main, measured, page
from harness.framework.engines.available import cuda_missing

GATE = """\
tests/gate/test_networks.py::test_mlp  gpu  tensor  428
compared 12345 slots and 74 texts in 30 runs; new 0; missing goldens 0
9 passed, 1 failed, 2 skipped in 4.52s
"""


def test_without_a_device_nothing_is_measured_and_that_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cuda, "cuda_missing", lambda: "there is none")
    monkeypatch.setattr(cuda, "measured", lambda _parts: pytest.fail("something was measured"))
    place = tmp_path / "cuda.md"
    assert main(["--page", str(place)]) == 0
    assert "**Nothing was measured on a device**: there is none.\n" in place.read_text()
    assert "nothing was measured: there is none" in capsys.readouterr().out


def test_the_shipped_page_says_what_was_measured() -> None:
    text = cuda.PAGE.read_text()
    assert text.startswith(cuda.INTRODUCTION)
    assert ("Nothing was measured on a device" in text) != ("Measured on: " in text)


def test_a_page_of_tables_and_of_what_could_not_be_measured() -> None:
    table = Table("Costs", ("network", "step"), (("mlp", "1 ms"), ("lstm", "2 ms")))
    text = page([table], ["RuntimeError: no memory"], None, "a device")
    assert "Measured on: a device.\n" in text
    assert "## Costs\n\n| network | step |\n| --- | --- |\n| mlp | 1 ms |\n| lstm | 2 ms |\n" in text
    assert "## Not measured\n\n- RuntimeError: no memory\n" in text
    assert "Not measured" not in page([table], [], None, "a device")


def test_a_gate_is_a_row() -> None:
    assert gate_row("gpu", GATE, 1) == ("gpu", "12,345", "30", "9 passed, 1 failed, 2 skipped")


@pytest.mark.parametrize("output", ["", "ERROR: no tests ran\n"])
def test_a_gate_that_compared_nothing_is_an_error(output: str) -> None:
    with pytest.raises(RuntimeError, match="the gate on backend gpu ended with 4"):
        gate_row("gpu", output, 4)


def test_a_part_that_fails_leaves_the_others() -> None:
    table = Table("A", ("a",), (("1",),))

    def fails() -> Table:
        raise RuntimeError("out of\nmemory")

    assert measured([fails, lambda: table]) == ([table], ["RuntimeError: out of memory"])


def test_only_a_cuda_device_stands_for_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def run(command: list[str], **more: object) -> object:
        asked.append((command[-2], {name: more["env"][name] for name in cuda.GATES.values() if name in more["env"]}))  # type: ignore[index]
        return type("Done", (), {"stdout": GATE, "returncode": 0})()

    for name in cuda.GATES.values():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(cuda.subprocess, "run", run)
    assert [row[0] for row in cuda.gates("cuda").rows] == ["gpu", "torch"]
    assert [row[0] for row in cuda.gates("cpu").rows] == ["torch"]
    assert asked == [
        ("--msdump-backend=gpu", {"MSDUMP_GPU": "cuda"}),
        ("--msdump-backend=torch", {"MSDUMP_TORCH_DEVICE": "cuda"}),
        ("--msdump-backend=torch", {"MSDUMP_TORCH_DEVICE": "cpu"}),
    ]


def test_what_is_missing_here_is_said_in_words() -> None:
    missing = cuda_missing()
    assert missing is None or missing in page((), (), missing, "")
