"""Texts that a dump tree states beside values (``requires_grad``, callers), held against those of a golden run."""

from __future__ import annotations

from collections.abc import Sequence

from harness.capture import Capture
from harness.capture.capture import COMPARED
from harness.compare import compare_texts, explain_texts
from harness.compare.policy import Party, texts_count
from harness.compare.texts import TextVerdict
from harness.store import StoredRun
from harness.words import counted

#: Whether texts hold, None if none was compared; lines to print; and those that do not hold.
Told = tuple[bool | None, str, Sequence[TextVerdict]]


def holding(*told: Told) -> Told:
    """What several comparisons of texts told, as one."""
    compared = [each for each, _, _ in told if each is not None]
    failing = [text for _, _, texts in told for text in texts]
    return all(compared) if compared else None, "".join(lines for _, lines, _ in told), failing


def stated_texts(expected: StoredRun, capture: Capture, sides: tuple[Party, Party], title: str) -> Told:
    """Compares them as ``msdump diff`` does, after the records of ``capture`` were read.

    Args:
        sides: both sides, which say whether their texts may be compared.
        title: names of both sides.

    Returns:
        See ``Told``.
    """
    golden = [name for name in expected.artefact_names() if name.startswith(COMPARED)]
    found = [name for name in capture.artefacts if name.startswith(COMPARED)]
    if not golden and not found:
        return None, "", ()
    count = counted(len(found or golden), "text")
    if not golden or not found:
        who = "the golden run" if found else "the tree"
        return None, f"Not compared: {count} of what calls state beside values; {who} has none\n", ()
    if not texts_count(*sides):
        return None, f"Not compared: {count} of what calls state beside values; another backend made them\n", ()
    result = compare_texts(
        {name: expected.artefact(name) for name in golden}, {name: capture.artefacts[name] for name in found}
    )
    if result.holds:
        return True, f"{count} of what calls state beside values: identical\n", ()
    return False, explain_texts(result, f"Texts that are results differ: {title}", ()) + "\n", result.failures
