"""Inputs chosen by what they cover (atheris), for the readers that are Python's own; ``pip install atheris`` (3.11).

Each target runs in a process of its own: libFuzzer ends the one it runs in. The whole files of a target are its corpus.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fuzz.engine import Input, Target, home, judged

#: Targets whose readers are Python; the others are libraries that no instrument sees.
GUIDED = (
    "golden", "manifest", "ckpt", "safetensors", "summary", "tolerances", "dump-config", "msprobe-config", "npy", "bin",
    "ir", "statistic", "memory-plan", "rdr-order", "rdr-memory",
)  # fmt: skip

#: Where they are; to instrument all of the project takes longer than to fuzz it.
READERS = [
    "harness.capture", "harness.compare", "harness.dump", "harness.framework.train", "harness.graph",
    "harness.inflating", "harness.rdr", "harness.reading", "harness.store",
]  # fmt: skip


def guided(wanted: dict[str, Target], seconds: int) -> int:
    """Fuzzes each target for so many seconds; 1 if one of them had a finding."""
    bad = 0
    for name in (name for name in wanted if name in GUIDED):
        command = [sys.executable, "-W", "ignore", "-m", "tests.fuzz.guided", name, str(seconds)]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        told = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith(("finding", "Done ", "#"))]
        runs = next((line for line in told if line.startswith("Done ")), told[-1] if told else "nothing ran")
        found = [line for line in told if line.startswith("finding")]
        bad += bool(found) or not told
        print(f"{name}: {runs}", *found, sep="\n  ", flush=True)
    return int(bool(bad))


def _run(name: str, seconds: int) -> None:
    """Gives one target what libFuzzer makes; never returns."""
    import atheris

    with atheris.instrument_imports(include=READERS):
        from tests.fuzz.targets import targets

        target = targets()[name]
    with home() as folder, TemporaryDirectory() as corpus:
        given = Input(target, name, 0, folder)
        for at, seed in enumerate(target.seeds):
            for file, content in seed.items():
                Path(corpus, f"{at}-{file.replace('/', '_')}").write_bytes(content)
        files = [each for each in target.seeds[0] if each not in target.fixed]

        def one(data: bytes) -> None:
            given.forget()
            given.hold(target.seeds[0] | {files[0]: data})
            _, wrong = judged(target, given)
            if wrong:
                print("finding", json.dumps(wrong), data[:200].hex(), flush=True)
                os._exit(1)

        atheris.Setup(
            [sys.argv[0], f"-max_total_time={seconds}", "-max_len=65536", "-timeout=60", "-rss_limit_mb=2048", corpus],
            one,
        )
        atheris.Fuzz()


if __name__ == "__main__":
    _run(sys.argv[1], int(sys.argv[2]))
