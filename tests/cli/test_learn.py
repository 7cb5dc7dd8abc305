"""``msdump learn``: tolerances from scatter, kept with the golden."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness.capture import Capture
from harness.capture.capture import Problem
from harness.cli import main, operands
from harness.cli.app import CANNOT_TELL, DIFFERS, HOLDS
from harness.compare import Tolerances, check
from harness.compare.learn import learned, scatter
from harness.records import Record
from harness.store import GoldenStore, RunData, RunId, manifest, update
from tests.compare.helpers import operator
from tests.store.helpers import record
from tests.subprocesses import ROOT

X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(4, 6)
RUN = ["--run", "mindspore/tensor"]


def net(noise: float = 0.0, seed: int = 0) -> list[Record]:
    """Two operators; the first is exact, the second scatters."""
    scattered = np.tanh(X) + np.float32(noise) * np.random.default_rng(seed).standard_normal(X.shape).astype(np.float32)
    return [*operator("Default/Neg-op0", [X], [-X]), *operator("Default/odd[x]*/Tanh-op0", [X], [scattered])]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "golden" / "net.h5"
    path.parent.mkdir()
    runs = {RunId("mindspore", "tensor"): RunData(net())}
    runs |= {RunId("mindspore", f"r{seed}"): RunData(net(5e-7, seed)) for seed in (1, 2, 3)}
    runs[RunId("mindspore", "far")] = RunData(net(1e-3, 4))
    runs[RunId("mindspore", "nan")] = RunData(net(np.nan))
    update(path, "net", runs)
    manifest.rebuild(path.parent)
    return path


def sides(store: Path, *names: str) -> list[str]:
    return [f"{store}::mindspore/{name}" for name in names]


def kept(store: Path) -> object:
    with GoldenStore.open(store) as opened:
        return opened.run("mindspore", "tensor").attrs.get("tolerance")


def test_what_scatters_is_admitted_and_nothing_else(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", str(store), *sides(store, "r1", "r2"), *RUN]) == HOLDS
    assert "1 scatter" in capsys.readouterr().out
    table = kept(store)
    assert isinstance(table, dict)
    assert set(table) == {"default", "Default/odd[[]x][*]/Tanh-op0:output.0"}
    with GoldenStore.open(store) as opened:
        golden, other, far = (opened.run("mindspore", name) for name in ("tensor", "r3", "far"))
        assert check(golden, other, table).holds
        assert not check(golden, far, table).holds
        assert golden.attrs["learned"] == {"runs": 2, "margin": 2.0}
    # They hold wherever the golden is the expected side.
    assert main(["diff", *sides(store, "tensor", "r3")]) == HOLDS
    assert main(["diff", *sides(store, "tensor", "far")]) == DIFFERS
    assert main(["diff", *sides(store, "r3", "tensor"), "--exact"]) == DIFFERS
    assert manifest.stale(store.parent) == []


def test_one_run_and_more_than_rounding_are_refused(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = store.read_bytes()
    for names, why in ((["r1"], "one run shows no scatter"), (["r1", "far"], "times what rounding explains")):
        assert main(["learn", str(store), *sides(store, *names), *RUN]) == DIFFERS
        out = capsys.readouterr().out
        assert why in out
        assert "nothing was kept" in out
        assert store.read_bytes() == before
    assert main(["learn", str(store), *sides(store, "r1", "far"), *RUN, "--force"]) == HOLDS
    out = capsys.readouterr().out
    assert "audit: a change passes in 1 slot" in out
    assert kept(store) is not None


def test_a_dry_run_writes_nothing(store: Path) -> None:
    before = store.read_bytes()
    assert main(["learn", str(store), *sides(store, "r1", "r2"), *RUN, "--dry-run"]) == HOLDS
    assert store.read_bytes() == before


def test_bit_exact_runs_ask_for_nothing(store: Path) -> None:
    assert main(["learn", str(store), *sides(store, "tensor"), *RUN]) == HOLDS
    assert kept(store) == {"default": "exact"}


def test_a_change_is_no_scatter(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", str(store), *sides(store, "r1", "r1"), *RUN]) == DIFFERS
    assert "the runs agree with one another but not with the golden" in capsys.readouterr().out
    assert kept(store) is None


def test_what_no_tolerance_admits_is_named(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["learn", str(store), *sides(store, "nan"), *RUN]) == DIFFERS
    out = capsys.readouterr().out
    assert "Tanh-op0:output.0: NaN or infinity" in out
    assert "nothing was kept" in out
    assert kept(store) is None


def test_what_was_learned_before_outlives_a_failure(store: Path) -> None:
    assert main(["learn", str(store), *sides(store, "r1", "r2"), *RUN]) == HOLDS
    before = store.read_bytes()
    assert main(["learn", str(store), *sides(store, "nan"), *RUN]) == DIFFERS
    assert store.read_bytes() == before


@pytest.mark.long
def test_a_program_is_run(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np\nfrom harness import Tensor, context, nn\ncontext.set_context(mode=0)\n"
        "class Net(nn.Cell):\n    def construct(self, x):\n        return x * x\n"
        "Net()(Tensor(np.arange(4, dtype=np.float32)))\n"
    )
    command = f"{sys.executable} {script}"
    assert main(["learn", str(store), "--command", command, "--times", "2", *RUN, "--dry-run"]) == DIFFERS
    assert "2 runs" in capsys.readouterr().out


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "dump trees, or --command"),
        (["SIDE", "--command", "true"], "one of the two"),
        (["SIDE", "--margin", "0.5"], "at least 1"),
        (["nothing"], "neither"),
        (["--command", "/no/such/program"], "No such file"),
        (["--command", "false"], "ended with 1 in run 1 of 3"),
        (["--command", "true", "--times", "0"], "at least 1"),
        (["--command", "true"], "not a directory"),
    ],
)
def test_bad_arguments(arguments: list[str], says: str, store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [sides(store, "r1")[0] if each == "SIDE" else each for each in arguments]
    assert main(["learn", str(store), *given, *RUN]) == CANNOT_TELL
    assert says in capsys.readouterr().err.replace("there is neither", "not a directory, neither")


ARRAYS = hnp.arrays(np.float32, 5, elements=st.floats(-1e3, 1e3, width=32))


@given(
    expected=ARRAYS, noise=ARRAYS, margin=st.sampled_from([1.0, 2.0, 10.0]), size=st.sampled_from([1e-9, 1e-6, 1e-2])
)
def test_what_was_seen_is_always_admitted(expected: object, noise: object, margin: float, size: float) -> None:
    one = np.asarray(expected)
    two = (one + np.asarray(noise) * np.float32(size)).astype(np.float32)
    comparison = check([record(one)], [record(two)], "exact")
    found = scatter([comparison])
    assert check([record(one)], [record(two)], Tolerances.parse(learned(found, margin))).holds


def test_nothing_is_learned_beside_files_that_cannot_be_used(
    store: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = [Problem("Neg.npy", "damaged", "it is cut")]
    run = Capture("net", "mindspore", False, lambda: iter(net(5e-7, 1)), problems=lost)
    monkeypatch.setattr(operands, "read_tree", lambda *_, **__: run)
    trees = [str(store.parent)]
    before = kept(store)
    assert main(["learn", str(store), *trees, str(store) + "::mindspore/r2", *RUN]) == CANNOT_TELL
    told = capsys.readouterr()
    assert "1 file could not be used" in told.out
    assert "Neg.npy" in told.err
    assert kept(store) == before
    assert main(["learn", str(store), *trees, str(store) + "::mindspore/r2", *RUN, "--force"]) == HOLDS
