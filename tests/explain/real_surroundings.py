"""Real changes of the environment and faults of code, drawn and mixed: what the gate files each as.

A golden is made here; sessions in changed processes (other threads, processor features, kernels of the BLAS, flags, a
hash seed, another interpreter) hold the same programs against it, with a fault in about half of them.

``python -m tests.explain.real_surroundings [--programs N] [--seed S] [--other PYTHON]``: PYTHON has another numpy.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
Rng = np.random.Generator
Values = np.ndarray[Any, np.dtype[Any]]


def _matrix(r: Rng, kind: Any, n: int = 0) -> Values:
    n = n or int(r.integers(60, 180))
    return (r.standard_normal((n, n)) + 0.25).astype(kind)


def _words(r: Rng) -> Values:
    """The order of a set is that of the hash seed."""
    return np.array([len(word) + ord(word[0]) for word in {f"{chr(97 + at)}{at * 7 % 11}" for at in range(20)}])


def _softmax(r: Rng) -> Values:
    x = np.exp(_matrix(r, np.float32))
    return np.asarray(x / x.sum(1, keepdims=True))


PROGRAMS: dict[str, Callable[[Rng], Values]] = {
    "matmul32": lambda r: _matrix(r, np.float32, 96) @ _matrix(r, np.float32, 96),
    "matmul64": lambda r: _matrix(r, np.float64, 128) @ _matrix(r, np.float64, 128),
    "gram": lambda r: (lambda x: np.asarray(x.T @ x))(_matrix(r, np.float32)),
    "solve": lambda r: np.linalg.solve(_matrix(r, np.float64, 40) + 9 * np.eye(40), np.ones(40)),
    "layers": lambda r: np.tanh(_matrix(r, np.float32, 80) @ np.maximum(_matrix(r, np.float32, 80), 0) / 80),
    "exp": lambda r: np.exp(_matrix(r, np.float32)), "log": lambda r: np.log(np.abs(_matrix(r, np.float64)) + 1),
    "sin": lambda r: np.sin(_matrix(r, np.float64) * 9), "tanh": lambda r: np.tanh(_matrix(r, np.float32)),
    "softmax": _softmax, "mean": lambda r: _matrix(r, np.float32).mean(0),
    "sum": lambda r: _matrix(r, np.float64).sum(1), "norm": lambda r: np.linalg.norm(_matrix(r, np.float32), axis=1),
    "power": lambda r: np.abs(_matrix(r, np.float64)) ** 1.7,
    "half": lambda r: (_matrix(r, np.float32, 64) @ _matrix(r, np.float32, 64) / 8).astype(np.float16), "set": _words,
}  # fmt: skip
FAULTS: dict[str, Callable[[Values], Values]] = {
    "factor": lambda x: x * x.dtype.type(2), "sign": np.negative, "offset": lambda x: x + x.dtype.type(3),
    "reversed": lambda x: np.ascontiguousarray(x[::-1]), "zero": np.zeros_like, "rolled": lambda x: np.roll(x, 1, 0),
    "clipped": lambda x: np.clip(x, np.sort(x.ravel())[x.size // 2], None), "first": lambda x: _put(x, 0, 7),
    "shape": lambda x: x[:-1], "dtype": lambda x: x.astype(np.complex64),
    "nan": lambda x: _put(x, 1, np.nan) if x.dtype.kind == "f" else x * 5,
}  # fmt: skip


def _put(x: Values, at: int, value: float) -> Values:
    made = x.copy()
    made.ravel()[at] = value
    return made


class Case(NamedTuple):
    """A program and its draw; ``fault`` is empty for none."""

    name: str
    program: str
    seed: int
    fault: str = ""

    def value(self) -> Values:
        """What the program gives."""
        made = PROGRAMS[self.program](np.random.default_rng(self.seed))
        return FAULTS[self.fault](made) if self.fault else made


class Change(NamedTuple):
    """Another environment: the fact that is to be named, variables, processors, an interpreter."""

    fact: str
    variables: Mapping[str, str] = {}
    processors: int = 0
    python: str = ""


_FEATURES = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR X86_V4"
_CORE = "OPENBLAS_CORETYPE"
CHANGES = (
    *(Change(_CORE, {_CORE: kernel}) for kernel in ("Haswell", "Nehalem", "Sandybridge")),
    Change("blas threads", {"OPENBLAS_NUM_THREADS": "1"}),
    Change("NPY_DISABLE_CPU_FEATURES", {"NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 X86_V3 " + _FEATURES}),
    Change("NPY_DISABLE_CPU_FEATURES", {"NPY_DISABLE_CPU_FEATURES": _FEATURES}), Change("threads", processors=1),
    Change("hash seed", {"PYTHONHASHSEED": "7"}), Change("MKL_CBWR", {"MKL_CBWR": "COMPATIBLE"}),
    Change("container", {"MSDUMP_CONTAINER": "another"}), Change("numpy", python="other"),
)  # fmt: skip
TEST = """
import json, os
import pytest
from tests.explain.real_surroundings import Case

CASES = [Case(*each) for each in json.loads(os.environ["CASES"])]

@pytest.mark.msdump(tolerance="exact")
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_case(msdump, case):
    msdump.check("out", case.value())
"""


class Filed(NamedTuple):
    """What the gate says of one case that does not hold in a changed environment."""

    case: Case
    change: Change
    filed: str
    named: Sequence[str]
    text: str


def session(folder: Path, cases: Sequence[Case], change: Change, *flags: str) -> tuple[dict[str, Any], str]:
    """A session of pytest in another process: its results, and what it printed."""
    (folder / "test_drawn.py").write_text(TEST)
    (folder / "pytest.ini").write_text("[pytest]\n")
    variables = {name: value for name, value in os.environ.items() if name not in ("CI", "PYTEST_ADDOPTS")}
    variables |= {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0", "MSDUMP_CI": "false", **change.variables}
    variables["CASES"] = json.dumps(cases)
    load = ["-p", "pytest_msdump.plugin", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-q", "-vv"]
    command = [change.python or sys.executable, "-m", "pytest", *load, *flags, "--msdump-json=out.json"]
    few = partial(os.sched_setaffinity, 0, sorted(os.sched_getaffinity(0))[: change.processors])
    done = subprocess.run(
        command, cwd=folder, env={**variables, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}, capture_output=True, text=True,
        check=False, preexec_fn=few if change.processors else None,
    )  # fmt: skip
    out = folder / "out.json"
    if not out.exists():
        raise RuntimeError(done.stdout[-3000:] + done.stderr[-3000:])
    found: dict[str, Any] = json.loads(out.read_bytes())
    out.unlink()
    return found, done.stdout


def drawn(count: int, seed: int) -> list[Case]:
    """Programs with their draws, without faults."""
    r = random.Random(seed)
    names = sorted(PROGRAMS)
    return [Case(f"{at}-{names[at % len(names)]}", names[at % len(names)], r.randrange(2**31)) for at in range(count)]


def with_faults(cases: Sequence[Case], r: random.Random) -> list[Case]:
    """The cases, with a drawn fault in about half of them."""
    return [case._replace(fault=r.choice(sorted(FAULTS)) if r.random() < 0.5 else "") for case in cases]


def judged(folder: Path, cases: Sequence[Case], changes: Sequence[Change], seed: int) -> list[Filed]:
    """Makes a golden of the cases, and holds them against it in each changed environment."""
    session(folder, cases, Change(""), "--msdump-regen")
    found = []
    for at, change in enumerate(changes):
        mixed = {case.name: case for case in with_faults(cases, random.Random(f"{seed} {at}"))}
        results, text = session(folder, list(mixed.values()), change, "--msdump")
        for each in results["comparisons"]:
            if not each["holds"]:
                case = mixed[each["test"].partition("[")[2].rstrip("]").removeprefix("cpu-tensor-")]
                names = [fact["name"] for fact in each["environment"]]
                found.append(Filed(case, change, each["filed"], names, text))
    return found


def untold(text: str) -> list[str]:
    """The failures in what a session printed whose second line, before any tensor, does not say what changed."""
    lines = text.splitlines()
    titles = [at for at, line in enumerate(lines[:-1]) if " differs from golden/" in line]
    return [lines[at] for at in titles if not lines[at + 1].startswith("Environment: ")]


def wrong(found: Sequence[Filed]) -> list[str]:
    """What is filed as what it is not, or does not name the change first."""
    said = [f"tensors first: {each}" for text in {each.text for each in found} for each in untold(text)]
    for each in found:
        asked = f"{each.change.fact} {each.case.program} {each.case.fault or 'drift'}: {each.filed}, {each.named[:3]}"
        if each.change.fact not in each.named:
            said.append(f"not named: {asked}")
        if each.filed not in ("cannot tell", "fault" if each.case.fault else "environment"):
            said.append(asked)
    return said


def main() -> int:
    """Prints how often each is filed as what; 1 if something is filed as what it is not."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=38)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--other", default="")
    given = parser.parse_args()
    changes = [
        each._replace(python=given.other) if each.python else each for each in CHANGES if given.other or not each.python
    ]
    with tempfile.TemporaryDirectory() as folder:
        found = judged(Path(folder), drawn(given.programs, given.seed), changes, given.seed)
    counts = Counter((each.case.fault != "", each.change.fact, each.filed) for each in found)
    for (fault, fact, filed), count in sorted(counts.items()):
        print(f"{'fault' if fault else 'drift'}\t{fact}\t{filed}\t{count}")
    unsure = sum(each.filed == "cannot tell" for each in found)
    faults = sum(each.case.fault != "" for each in found)
    pairs = given.programs * len(changes)
    print(f"{pairs} pairs, {len(found)} differ, {faults} of them with a fault; {unsure} cannot tell")
    said = wrong(found)
    print("\n".join(said) or "none is filed as what it is not, and each names the change")
    return bool(said)


if __name__ == "__main__":
    raise SystemExit(main())
