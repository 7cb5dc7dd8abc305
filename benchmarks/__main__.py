"""Runs every benchmark of this directory, or those named: ``python -m benchmarks [NAME ...]``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main(names: list[str]) -> int:
    """Runs each in a process of its own; the number of those that failed."""
    known = sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    failed = 0
    for name in names or known:
        print(f"\n=== {name}", flush=True)
        failed += bool(subprocess.run([sys.executable, "-m", f"benchmarks.bench_{name}"], cwd=HERE.parent).returncode)
    return failed


if __name__ == "__main__":
    raise SystemExit(min(main(sys.argv[1:]), 2))
