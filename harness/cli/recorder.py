"""``msdump check`` and ``msdump show`` for directories of the Running Data Recorder, and for its artefacts in
goldens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from glob import escape
from pathlib import Path

from harness.capture.capture import RECORDED
from harness.capture.recorder import MODES, read_recorder, readable
from harness.compare import TextComparison, Verdict, compare_texts, explain_texts
from harness.errors import ArtefactError, TreeError
from harness.escape import line
from harness.store import StoredRun
from harness.suggest import command
from harness.words import counted

_RANK = re.compile(r"rank_\d+")


def recorded(folder: Path, rank: int | None = None) -> dict[str, bytes]:
    """The recorder's artefacts below ``folder`` by name, normalised; empty if there are none.

    Args:
        folder: a dump tree, a directory of the recorder, or something else.
        rank: read only this rank.
    """
    if not folder.is_dir():
        return {}
    try:
        return read_recorder(folder / f"rank_{rank}" if rank is not None else folder)
    except (ArtefactError, OSError) as error:
        raise TreeError(str(error)) from None


def is_only_recorded(folder: Path) -> bool:
    """Whether ``folder`` holds nothing but the recorder's files."""
    if folder.name == "rdr":
        return True
    ranks = [folder] if _RANK.fullmatch(folder.name) else [each for each in folder.glob("rank_*") if each.is_dir()]
    return all(entry.name == "rdr" for rank in ranks for entry in rank.iterdir())


def check_recorder(found: Mapping[str, bytes], expected: StoredRun, title: str, tree: str, golden: str) -> bool | None:
    """Compares a directory of the recorder with a golden run, in the recorder mode that fits better, and prints the
    result.

    Args:
        found: artefacts given by ``recorded``.
        title: names of the directory and the golden.
        tree, golden: paths of both sides, for the commands to suggest.

    Returns:
        Whether everything holds; None if the golden has no artefacts of the recorder.
    """
    kept = {name: text for name, text in expected.artefacts().items() if name.startswith(RECORDED)}
    if not kept:
        artefacts = counted(len(found), "artefact", "were")
        print(f"{title}: the golden run has nothing of the recorder; {artefacts} not compared")
        return None
    results = [(mode, _compared(kept, found, mode)) for mode in MODES]
    mode, comparison = min(results, key=lambda each: (len(each[1].failures), -each[0]))
    steps = [
        command("msdump", "show", *where, "--text", escape(f"{prefix}{each.name}"))
        for each in comparison.failures[:1]
        for where, prefix, lacks in (
            ((Path(tree),), "", Verdict.MISSING),
            ((Path(golden), "--run", str(expected.id)), f"{RECORDED}{mode}/", Verdict.UNEXPECTED),
        )
        if each.verdict is not lacks
    ]
    print(explain_texts(comparison, f"{title}: recorder, mode {mode}", steps, readable))
    return comparison.holds


def _compared(golden: Mapping[str, bytes], found: Mapping[str, bytes], mode: int) -> TextComparison:
    prefix = f"{RECORDED}{mode}/"
    expected = {name.removeprefix(prefix): text for name, text in golden.items() if name.startswith(prefix)}
    return compare_texts(expected, found)


def listed(texts: Mapping[str, bytes], pattern: str, prefix: str = "") -> Iterator[str]:
    """Lists the texts whose names match ``pattern`` (``*graph_exec_order*``), each under ``prefix`` and its name;
    binary ones in readable form."""
    for name, raw in texts.items():
        if fnmatchcase(name, pattern):
            yield f"== {prefix}{line(name)}"
            yield readable(name, raw).decode("utf-8", "backslashreplace").rstrip("\n")
