"""Inputs chosen by what they cover (atheris), for the readers that are Python's own; ``pip install atheris`` (3.11).

Each target runs in a process of its own: libFuzzer ends the one it runs in. The whole files of a target and what
earlier runs found (``grown``) are its corpus. Where check sums guard a file, what lies below them is changed, too:
``NAME, below``.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from benchmarks._pages import put
from harness.errors import HarnessError
from tests.fuzz import grown
from tests.fuzz.counted import Count, add
from tests.fuzz.engine import Input, Target, home, judged

#: Targets whose readers are Python; the others are libraries that no instrument sees.
GUIDED = (
    "golden", "manifest", "ckpt", "safetensors", "summary", "tolerances", "dump-config", "msprobe-config", "npy", "bin",
    "ir", "statistic", "memory-plan", "rdr-order", "rdr-memory", "torch-file", "npz", "safetensors-file", "onnx-data",
    "dump-json", "tree-msprobe-torch", "tree-bin-files", "log-debug-mode", "log-torchtitan", "log-polygraphy",
    "log-hugging-face", "log-sglang", "log-csv-table", "log-executorch", "mapping",
)  # fmt: skip

#: Those with check sums or lengths, and the functions of ``repaired`` for what lies below them: out of a whole file,
#: and into one. (That module is imported late: what is imported before is not instrumented.)
BELOW = {
    "golden": ("contents_of", "with_contents"),
    "safetensors": ("header_of", "with_header"),
    "summary": ("payload_of", "with_payload"),
}

#: Where they are; to instrument all of the project takes longer than to fuzz it.
READERS = [
    "harness.capture", "harness.compare", "harness.dump", "harness.framework.train", "harness.graph",
    "harness.inflating", "harness.rdr", "harness.reading", "harness.store",
]  # fmt: skip
_HEAD = "| reader | inputs | seconds | branches covered | findings |\n|---|---|---|---|---|\n"
_LIMITS = ("-max_len=65536", "-timeout=60", "-rss_limit_mb=2048")


def guided(wanted: dict[str, Target], seconds: int, file: Path | None = None, page: str | None = None) -> int:
    """Fuzzes each reader for so many seconds, prints a table, and adds to the count; 1 if one had a finding.

    Args:
        file: keeps the table as it goes; readers that it has a row of are not run again.
    """
    rows, bad = file.read_text().splitlines() if file is not None and file.exists() else [], 0
    for name in (each for each in (*GUIDED, *(f"{name}, below" for name in BELOW)) if each.partition(",")[0] in wanted):
        if any(row.startswith(f"| {name} |") for row in rows):
            continue
        with home() as folder:  # here: libFuzzer ends its process without tidying up
            command = [sys.executable, "-W", "ignore", "-m", "tests.fuzz.guided", name, str(seconds), str(folder)]
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
            with suppress(FileNotFoundError):
                grown.keep(name, (path.read_bytes() for path in (folder / "corpus").iterdir()))
        told = (done.stdout + done.stderr).splitlines()
        found = [line for line in told if line.startswith("finding")]
        runs = re.search(r"^Done (\d+) runs in (\d+) second", done.stderr, re.MULTILINE)
        covered = re.findall(r"\bcov: (\d+)", done.stderr)
        bad += bool(found) or runs is None or not covered
        figures = (f"{int(runs[1]):,}", runs[2]) if runs else ("ended early", "")
        rows.append(f"| {name} | {' | '.join(figures)} | {covered[-1] if covered else 0} | {len(found)} |")
        if file is not None:
            file.write_text("".join(f"{row}\n" for row in rows))
        print(rows[-1], *(found or ([] if runs else told[-5:])), sep="\n  ", flush=True)
        add({name: Count(guided=int(runs[1]) if runs else 0, findings=len(found))})
    text = _HEAD + "\n".join([*rows, ""])
    return int(bad > 0 or (page is not None and not put(page, "guided inputs", text)))


def whole(target: Target, name: str, data: bytes) -> dict[str, bytes]:
    """The files of an input: its first byte chooses one of the target's, the others are its content.

    Where the input is what lies below a check sum, the file is made right again.
    """
    name, _, below = name.partition(", ")
    files = [each for each in target.seeds[0] if each not in target.fixed]
    chosen = files[data[0] % len(files)] if data else files[0]
    content = data[1:]
    if below:
        from tests.fuzz import repaired

        content = getattr(repaired, BELOW[name][1])(target.seeds[0][chosen], content)
    return dict(target.seeds[0]) | {chosen: content}


def _run(name: str, seconds: int, folder: Path) -> None:
    """Gives one target what libFuzzer makes; never returns."""
    import atheris

    reader, _, below = name.partition(", ")
    with atheris.instrument_imports(include=READERS):
        from tests.fuzz import repaired
        from tests.fuzz.targets import CORPUS, targets

        target = targets()[reader]
    inner = getattr(repaired, BELOW[reader][0]) if below else bytes
    corpus = folder / "corpus"
    corpus.mkdir()
    given = Input(target, reader, 0, folder)
    files = [each for each in target.seeds[0] if each not in target.fixed]
    for number, (at, content) in enumerate(
        (at, content) for seed in target.seeds for at, each in enumerate(files) if (content := seed.get(each))
    ):
        with suppress(HarnessError):  # a damaged one of the corpus has nothing below
            (corpus / str(number)).write_bytes(bytes((at,)) + inner(content))
    for kept, data in grown.grown(name):
        (corpus / kept).write_bytes(data)

    def one(data: bytes) -> None:
        given.forget()
        given.hold(whole(target, name, data))
        _, wrong = judged(target, given)
        if wrong:
            given.keep(CORPUS / reader / f"guided-{sha256(data).hexdigest()[:8]}")
            print("finding", json.dumps(wrong), data[:200].hex(), flush=True)
            os._exit(1)

    atheris.Setup([sys.argv[0], f"-max_total_time={seconds}", *_LIMITS, str(corpus)], one)
    atheris.Fuzz()


if __name__ == "__main__":
    _run(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
