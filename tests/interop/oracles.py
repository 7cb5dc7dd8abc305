"""The real tools the interop tests compare with, each in an environment of its own.

``python tests/interop/oracles.py DIRECTORY [NAME...]`` makes ``DIRECTORY/NAME`` for every oracle, or those
named, that is not there yet, or not with these requirements, and nothing else. An interrupted installation is made
again.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Oracle:
    """One tool.

    Attributes:
        variable: environment variable that names the Python interpreter which has it.
        requirements: what pip installs.
        module: what a test imports from it.
    """

    variable: str
    requirements: tuple[str, ...]
    module: str


#: what the project needs, and its tests
OURS = (
    "filelock", "h5py", "hypothesis", "ml_dtypes", "numpy", "protobuf", "pydantic", "pytest>=9.0", "pytest-xdist",
    "regex", "rich", "typer", "xxhash",
)  # fmt: skip

ORACLES = {
    # numpy 2 is kept out: with it MindSpore 2.10.0 has no bfloat16 parameters.
    "mindspore": Oracle("MSDUMP_INTEROP_MINDSPORE", ("mindspore==2.10.0", "numpy<2"), "mindspore"),
    # The last release with the Running Data Recorder.
    "mindspore-2.7": Oracle("MSDUMP_INTEROP_MINDSPORE_2_7", ("mindspore==2.7.0",), "mindspore"),
    # Its generated messages need a protobuf before 3.21.
    "mindinsight": Oracle("MSDUMP_INTEROP_MINDINSIGHT", ("mindinsight==2.3.1", "protobuf<3.21"), "mindinsight"),
    # It imports pkg_resources.
    "tensorboard": Oracle("MSDUMP_INTEROP_TENSORBOARD", ("tensorboard==2.20.0", "setuptools<81"), "tensorboard"),
    # It runs the project's own code.
    "torch": Oracle("MSDUMP_INTEROP_TORCH", ("torch==2.13.0", *OURS), "torch"),
    # Its compare imports MindSpore to read dumps of MindSpore's.
    "msprobe": Oracle("MSDUMP_INTEROP_MSPROBE", ("mindstudio-probe==26.2.0", "mindspore==2.10.0"), "msprobe"),
    # The same for dumps of PyTorch's, which it makes, too.
    "torch-msprobe": Oracle(
        "MSDUMP_INTEROP_TORCH_MSPROBE", ("torch==2.13.0", "mindstudio-probe==26.2.0"), "msprobe.pytorch"
    ),
    "polygraphy": Oracle("MSDUMP_INTEROP_POLYGRAPHY", ("polygraphy==0.53.6", "numpy"), "polygraphy"),
    # The oldest that is admitted; it runs the store's code.
    "h5py-3.11": Oracle(
        "MSDUMP_INTEROP_H5PY", ("h5py==3.11.0", "numpy<2.3", "filelock", "ml_dtypes", "xxhash"), "h5py"
    ),
}


def install(name: str, directory: Path) -> Path:
    """Makes the environment of oracle ``name`` below ``directory``; gives its interpreter."""
    home = directory / name
    python, done = home / "bin" / "python", home / "installed.txt"
    wanted = "\n".join(ORACLES[name].requirements)
    if not (done.is_file() and done.read_text() == wanted):
        print(f"installing {wanted!r} in {home}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *ORACLES[name].requirements], check=True)
        done.write_text(wanted)
    return python


if __name__ == "__main__":
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(ORACLES):
        raise SystemExit(
            f"usage: python {sys.argv[0]} DIRECTORY [NAME...] (where the environments are made, and which)"
        )
    for oracle in sys.argv[2:] or ORACLES:
        install(oracle, Path(sys.argv[1]))
