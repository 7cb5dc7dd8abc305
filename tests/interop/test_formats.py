"""Storage formats beside the converters of the real msaccucmp, where it has one that is right."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.devices.formats import FORMATS, dump_dtypes, numbers

pytestmark = pytest.mark.interop

SCRIPT = Path(__file__).with_name("msaccucmp_formats.py")
DTYPES = ("float16", "float32", "int8")
HOST = ("NCHW", "NHWC", "HWCN")
Array = np.ndarray[Any, Any]


@dataclass
class Job:
    """One conversion asked of the tool, and what we say to it. ``crop``: the tool leaves the padding of the channels
    (axis ``crop``) to its caller."""

    source: str
    target: str
    given: Array
    expected: Array
    groups: int = 1
    crop: int | None = None

    def asked(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "target": self.target,
            "shape_from": list(self.given.shape),
            "shape_to": list(self.expected.shape),
            "groups": self.groups,
        }

    def same(self, result: Array) -> bool:
        """Whether the tool's result is ours (its results may be of another rank)."""
        if self.crop is not None:
            result = result.take(range(self.expected.shape[self.crop]), axis=self.crop)
        return np.array_equal(result.reshape(-1), self.expected.reshape(-1))


def convert(jobs: list[Job], python: str, folder: Path) -> dict[str, Array]:
    """The tool's results, by ``a0``, ``a1``, ..."""
    arrays = {f"a{i}": job.given.reshape(-1) for i, job in enumerate(jobs)}
    np.savez(folder / "jobs.npz", jobs=json.dumps([job.asked() for job in jobs]), **arrays)
    command = [python, str(SCRIPT), str(folder / "jobs.npz"), str(folder / "results.npz")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    with np.load(folder / "results.npz", allow_pickle=False) as file:
        return dict(file)


def tensor(shape: tuple[int, ...], dtype: str) -> Array:
    return (np.arange(np.prod(shape)).reshape(shape) % 120 + 1).astype(dtype)


def host(array: Array, name: str) -> Array:
    """An NCHW array in another order of the host."""
    return FORMATS.get(name).to_device(array)


def feature_maps(rng: np.random.Generator, dtype: str) -> list[Job]:
    x = tensor((int(rng.integers(1, 5)), int(rng.integers(1, 70)), *rng.integers(1, 5, 2)), dtype)
    maps = FORMATS.get("NC1HWC0").to_device(x)
    jobs = [Job("NC1HWC0", t, maps, host(x, t), crop=t.index("C")) for t in HOST]
    moves = [("NCHW", "NHWC"), ("NHWC", "NCHW"), ("NHWC", "HWCN"), ("HWCN", "NCHW"), ("HWCN", "NHWC")]
    jobs += [Job(s, t, host(x, s), host(x, t)) for s, t in moves]
    volume = tensor((2, int(rng.integers(1, 40)), *rng.integers(1, 4, 3)), dtype)
    device = FORMATS.get("NDC1HWC0").to_device(volume)
    return jobs + [Job("NDC1HWC0", target, device, volume) for target in ("NCDHW", "ND")]


def weights(rng: np.random.Generator, dtype: str) -> list[Job]:
    w = tensor((int(rng.integers(1, 40)), int(rng.integers(1, 40)), *rng.integers(1, 4, 2)), dtype)
    device = FORMATS.get("FRACTAL_Z").to_device(w)
    jobs = [Job("FRACTAL_Z", target, device, host(w, target)) for target in ("NCHW", "HWCN")]
    if dtype != "int8":  # the tool has C0 16 whatever the dtype
        jobs += [Job(source, "FRACTAL_Z", host(w, source), device) for source in HOST]
    return jobs


def matrices(rng: np.random.Generator, dtype: str) -> list[Job]:
    lead = tuple(int(n) for n in rng.integers(1, 4, rng.integers(0, 3)))
    m = tensor((*lead, int(rng.integers(1, 50)), int(rng.integers(1, 70))), dtype)
    device = FORMATS.get("FRACTAL_NZ").to_device(m, pad="poison")
    return [Job("FRACTAL_NZ", target, device, m) for target in ("ND", "NCHW", "NHWC")]


def test_every_converter_gives_what_we_do(msprobe_python: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    jobs = [job for _ in range(20) for dtype in DTYPES for make in (feature_maps, weights, matrices)
            for job in make(rng, dtype)]  # fmt: skip
    results = convert(jobs, msprobe_python, tmp_path)
    wrong = [job.asked() for i, job in enumerate(jobs) if not job.same(results[f"a{i}"])]
    assert not wrong, f"{len(wrong)} of {len(jobs)}: {wrong[:3]}"
    assert len({(job.source, job.target) for job in jobs}) == 18


#: groups, inputs and outputs of a group; all groups in one bundle
ONE_BUNDLE = [(2, 3, 4), (8, 1, 1), (2, 24, 40), (4, 4, 4), (3, 5, 7)]
#: more groups than a bundle holds
SEVERAL = [(4, 16, 16), (32, 1, 1), (40, 1, 1), (5, 32, 16)]


def grouped(groups: int, inputs: int, outputs: int) -> list[Job]:
    w = tensor((groups * outputs, inputs, 2, 3), "float16")
    device = FORMATS.get("FRACTAL_Z").to_device(w, groups=groups)
    return [Job(source, "FRACTAL_Z", host(w, source), device, groups) for source in HOST]


def test_grouped_weights_in_one_bundle(msprobe_python: str, tmp_path: Path) -> None:
    jobs = [job for sizes in ONE_BUNDLE for job in grouped(*sizes)]
    results = convert(jobs, msprobe_python, tmp_path)
    assert [job.asked() for i, job in enumerate(jobs) if not job.same(results[f"a{i}"])] == []


def test_grouped_weights_in_several_bundles_are_lost_by_the_tool(msprobe_python: str, tmp_path: Path) -> None:
    """Why the tool is not an oracle there: it writes bundles over one another, ours keep every value."""
    jobs = [grouped(*sizes)[0] for sizes in SEVERAL]
    results = convert(jobs, msprobe_python, tmp_path)
    for i, job in enumerate(jobs):
        assert np.count_nonzero(results[f"a{i}"]) < job.given.size == np.count_nonzero(job.expected)


def test_numbers_are_the_tools(msprobe_python: str, tmp_path: Path) -> None:
    results = convert([], msprobe_python, tmp_path)
    formats, types = json.loads(str(results["formats"])), json.loads(str(results["dtypes"]))
    ours = {numbers.printed_name(name): number for name, number in numbers.NUMBERS.items()}
    assert formats.items() <= ours.items()
    assert len(formats) > 40
    assert types.items() <= dump_dtypes.NUMBERS.items()
    assert len(types) > 30
