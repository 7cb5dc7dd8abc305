"""What a JUnit file says of a test's comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pytest_msdump.report import COUNTS, Result


def properties(results: Sequence[Result]) -> Iterator[tuple[str, Any]]:
    """JUnit properties of a test; those of a comparison with another backend carry its name."""
    for result in results:
        own = result["against"] == result["backend"]
        prefix = "msdump_" if own else f"msdump_{result['against']}_"
        if own:
            yield "msdump_golden", result["golden"]
            yield "msdump_backend", result["backend"]
            yield "msdump_mode", result["mode"]
        yield prefix + "verdict", result["verdict"]
        for name in COUNTS if result["unsure"] else COUNTS[:-1]:
            yield prefix + name, result[name]  # type: ignore[literal-required]
        if result["max_abs"] is not None:
            yield prefix + "max_abs_error", result["max_abs"]
        if result["texts"]:
            yield prefix + "texts", result["texts"]
        named = {"cause": "cause", "first_divergence": "where", "source": "source", "passes_with": "passes",
                 "compiled": "compiled", "environment": "environment", "filed": "filed",
                 "variant": "variant", "chosen": "chosen"}  # fmt: skip
        for name, key in named.items():
            if result[key]:  # type: ignore[literal-required]
                yield prefix + name, result[key]  # type: ignore[literal-required]
