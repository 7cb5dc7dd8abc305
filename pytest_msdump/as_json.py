"""``--msdump-json``: the session's results for programs, in the schema of ``harness.report.results``.

Imports ``harness``; imported when needed.
"""

from __future__ import annotations

import json
from typing import Any

from harness.compare.policy import HOLDING
from harness.report import results
from pytest_msdump import idle, sharing
from pytest_msdump.options import Settings
from pytest_msdump.report import Result, Summary


def write(summary: Summary, settings: Settings, code: int) -> str:
    """Writes the file; returns the line that says so.

    Args:
        summary: the session's results.
        settings: the session's, with a file.
        code: exit code of the session.

    Raises:
        OSError: it cannot be written.
    """
    assert settings.as_json is not None
    settings.as_json.parent.mkdir(parents=True, exist_ok=True)
    results.write(settings.as_json, document(summary, settings, code))
    return f"results: {settings.as_json}"


def document(summary: Summary, settings: Settings, code: int) -> dict[str, Any]:
    """The session as JSON values; see docs/reference/json.md."""
    every = [(nodeid, each) for nodeid, given in summary.results.items() for each in given]
    act = "regen" if settings.regen else "learn" if settings.learn else "check"
    more = {
        "act": act, "golden": str(settings.golden), "groups": sharing.as_json(summary.groups),
        "skipped": [{"test": nodeid, "reason": why} for nodeid, why in summary.skipped.items()],
        "unused": summary.unused if summary.unused is None else summary.stale, "undescribed": summary.undescribed,
        "idle_tolerances": list(idle.told(summary.results.values())),
        "problems": summary.problems,
    }  # fmt: skip
    return results.document("pytest", code, [_comparison(nodeid, each) for nodeid, each in every], **more)


def _comparison(nodeid: str, result: Result) -> dict[str, Any]:
    told = json.loads(result["explained"]) if result["explained"] else results.explained(None) | {"suggestions": []}
    names = (
        "network",
        "backend",
        "mode",
        "against",
        "against_mode",
        "golden",
        "verdict",
        "slots",
        "texts",
        "place",
        "variant",
        "chosen",
    )
    plain: dict[str, Any] = {name: result[name] for name in names}  # type: ignore[literal-required]
    return {
        "test": nodeid, **plain, "holds": result["verdict"] in (*HOLDING, "new", "updated", "left out"),
        "counts": results.counts_of(result), "altered": result["altered"], "new": result["new"],
        "where": result["where"],
        "source": result["source"], "would_pass": result["passes"], "max_abs": results.as_json(result["max_abs"]),
        "gaps": {"count": int(result["unread"].partition(",")[0] or 0), "listed": []}, "shares": result["shares"],
        "candidate": result["candidate"], **told,
    }  # fmt: skip
