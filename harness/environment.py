"""What of a process's surroundings can change its numbers: versions, libraries, processor, threads, flags, seeds.

``facts`` collects it once a process; ``changes`` says what differs between a golden's facts and a run's.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

#: distributions whose version can change a result, most telling first
DISTRIBUTIONS = (
    "numpy", "scipy", "pandas", "polars", "xarray", "scikit-learn", "torch", "mindspore", "jax", "tensorflow",
    "onnxruntime", "numba", "ml_dtypes", "pytest-msdump",
)  # fmt: skip
#: environment variables that reach a computation; one that is not set is no fact
FLAGS = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_CORETYPE", "MKL_CBWR",
    "NPY_ENABLE_CPU_FEATURES", "NPY_DISABLE_CPU_FEATURES", "CUBLAS_WORKSPACE_CONFIG", "NVIDIA_TF32_OVERRIDE",
    "CUDA_VISIBLE_DEVICES",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "XLA_FLAGS", "TF_DETERMINISTIC_OPS", "HCCL_DETERMINISTIC",
    "ASCEND_LAUNCH_BLOCKING", "LD_PRELOAD", "PYTHONOPTIMIZE",
)  # fmt: skip
#: says which container a process runs in
LABEL = "MSDUMP_CONTAINER"
#: facts in the order in which changes are told; others follow
ORDER = (
    *DISTRIBUTIONS[:-1], "python", "torch threads", "torch capability", "oneDNN",
    "gpu", "blas", "blas kernel", "features", "processor", "machine", "threads", "blas threads",
    "subnormals", *FLAGS, "deterministic", "tf32", "seed", "hash seed", "libc", "container", "system", "pytest-msdump",
)  # fmt: skip
#: the value of a fact that is not there
UNSET = "none"
_LONGEST = 120


class Changed(NamedTuple):
    """One fact that is not what it was.

    Attributes:
        name: of the fact (``numpy``, ``threads``).
        golden, run: its value when the golden was made, and now; ``none`` where there is none.
    """

    name: str
    golden: str
    run: str

    def __str__(self) -> str:
        return f"{self.name} {self.golden} -> {self.run}"


def facts(seed: int | None = None) -> dict[str, Any]:
    """This process's facts by name: texts and whole numbers, in no order.

    Args:
        seed: the seed that the caller gave to generators of random numbers.

    Examples:
        >>> from harness import environment
        >>> found = environment.facts(seed=1)
        >>> found["seed"], "numpy" in found, "threads" in found
        (1, True, True)
    """
    found: dict[str, Any] = {**_fixed(), "threads": _threads()}
    found |= {name: os.environ[name][:_LONGEST] for name in FLAGS if os.environ.get(name)}
    found["hash seed"] = os.environ.get("PYTHONHASHSEED") or "random"
    if seed is not None:
        found["seed"] = seed
    return {**found, **_blas(), **_torch()}


def changes(golden: Mapping[str, Any], run: Mapping[str, Any]) -> list[Changed]:
    """What differs, most telling first. Nothing if either side has no facts: then nothing is known.

    Args:
        golden, run: facts of both sides; anything else than texts and numbers in them is ignored.
    """
    if not golden or not run:
        return []
    known = {name: (_plain(golden, name), _plain(run, name)) for name in {*golden, *run}}
    place = {name: at for at, name in enumerate(ORDER)}
    found = []
    for name, (one, other) in sorted(known.items(), key=lambda each: (place.get(each[0], len(place)), each[0])):
        if one is not None and other is not None and one != other:
            found.append(_features(one, other) if name == "features" else Changed(name, str(one), str(other)))
    return found


def told(changed: Sequence[Changed], most: int = 3) -> str:
    """The first changes in one line; empty if there are none."""
    more = f" (and {len(changed) - most} more)" if len(changed) > most else ""
    return ", ".join(map(str, changed[:most])) + more


def _plain(side: Mapping[str, Any], name: str) -> str | None:
    """A fact as a text; None for one that cannot be read."""
    value = side.get(name, UNSET)
    return str(value)[: 20 * _LONGEST] if isinstance(value, (str, int, float)) else None


def _features(one: str, other: str) -> Changed:
    """Processor features as what was there alone, and what is there alone."""
    gone, new = (sorted(set(a.split()) - set(b.split())) for a, b in ((one, other), (other, one)))
    return Changed("features", *(" ".join(each)[:_LONGEST] or "nothing more" for each in (gone, new)))


@cache
def _fixed() -> dict[str, Any]:
    """What stays as it is while a process runs."""
    found: dict[str, Any] = {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "machine": platform.machine(),
        "processor": _processor(),
        "libc": " ".join(platform.libc_ver()).strip(),
        "system": _system(),
        "container": os.environ.get(LABEL, "")[:_LONGEST],
    }
    for name in DISTRIBUTIONS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return {name: value for name, value in found.items() if value} | _numpy()


def _numpy() -> dict[str, Any]:
    """Its BLAS, the processor features it uses, and whether this process keeps subnormal numbers."""
    import numpy as np

    found: dict[str, Any] = {}
    try:
        built = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        found["blas"] = f"{built['name']} {built['version']}"
    except (KeyError, TypeError, AttributeError):
        pass
    core = sys.modules.get("numpy._core._multiarray_umath") or sys.modules.get("numpy.core._multiarray_umath")
    features = getattr(core, "__cpu_features__", {})
    found["features"] = " ".join(sorted(name for name, there in features.items() if there))
    found["subnormals"] = "kept" if np.float32(1e-38) * np.float32(0.1) else "flushed to zero"
    return {name: value for name, value in found.items() if value}


def _threads() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _openblas() -> tuple[Any, str, str] | None:
    """numpy's OpenBLAS as a library, with what stands before and after the names of its functions."""
    import numpy  # noqa: F401 - it loads the library

    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
            paths = {line.split(maxsplit=5)[-1].strip() for line in file if "openblas" in line}
    except OSError:
        return None
    for path in sorted(paths, key=lambda each: ("numpy" not in each, each)):
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        for lead in ("scipy_", ""):
            for end in ("64_", "_64", ""):
                if hasattr(library, f"{lead}openblas_get_corename{end}"):
                    return library, lead, end
    return None


def _blas() -> dict[str, Any]:
    """The kernel that numpy's OpenBLAS chose for this processor, and its threads."""
    known = _openblas()
    if known is None:
        return {}
    library, lead, end = known
    name, threads = (getattr(library, f"{lead}openblas_get_{each}{end}") for each in ("corename", "num_threads"))
    name.restype, threads.restype = ctypes.c_char_p, ctypes.c_int
    return {"blas kernel": (name() or b"").decode(errors="replace"), "blas threads": int(threads())}


def _torch() -> dict[str, Any]:
    """PyTorch's settings, if something has imported it."""
    torch = sys.modules.get("torch")
    if not hasattr(torch, "are_deterministic_algorithms_enabled"):
        return {}
    assert torch is not None
    return {
        "deterministic": str(torch.are_deterministic_algorithms_enabled()),
        "tf32": str(torch.backends.cuda.matmul.allow_tf32),
        "torch threads": int(torch.get_num_threads()),
        "torch capability": str(torch.backends.cpu.get_cpu_capability()),
        "oneDNN": str(bool(torch.backends.mkldnn.is_available() and torch.backends.mkldnn.enabled)),
        **({"gpu": str(torch.cuda.get_device_name())[:_LONGEST]} if torch.cuda.is_available() else {}),
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            return next(line.partition(":")[2].strip() for line in file if line.startswith("model name"))[:_LONGEST]
    except (OSError, StopIteration):
        return platform.processor()


def _system() -> str:
    try:
        found = platform.freedesktop_os_release()
    except OSError:
        return platform.system()
    return found.get("PRETTY_NAME", platform.system())[:_LONGEST]
