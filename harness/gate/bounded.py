"""The texts of failures, bounded: they must stay readable in a terminal and in a CI log, however much differs."""

from __future__ import annotations

from collections.abc import Sequence

MAX_LINES = 25
MAX_BYTES = 4000


def bounded(text: str, lines: int = MAX_LINES, size: int = MAX_BYTES) -> str:
    """``text`` cut to so many lines and so many bytes of UTF-8, saying how much was left out."""
    given = text.rstrip("\n").split("\n")
    if len(given) <= lines and len(text.encode(errors="replace")) <= size:
        return "\n".join(given)
    kept: list[str] = []
    left = size - 64
    for line in given[: lines - 1]:
        raw = line.encode(errors="replace")
        if len(raw) > left:
            kept.append(raw[: max(left - 4, 0)].decode(errors="ignore") + " ...")
            break
        kept.append(line)
        left -= len(raw) + 1
    return "\n".join(kept) + f"\n... (cut: {len(kept)} of {len(given)} lines shown)"


def failure(texts: Sequence[str], closing: Sequence[str] = ()) -> str:
    """Joins several failures into one bounded text, followed by the lines that must not be cut off."""
    end = "\n".join(closing)
    lines, size = MAX_LINES - len(closing), MAX_BYTES - len(end.encode(errors="replace")) - 1
    # Each failure receives a share of the lines, so that the first does not hide the others.
    shares = [bounded(text, lines // len(texts), size // len(texts) - 1) for text in texts]
    return "\n".join([*shares, *([end] if end else [])])
