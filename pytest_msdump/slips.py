"""Options that pytest does not have and somebody gave: what to give instead, beside pytest's own error."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pytest_msdump.options import OPTIONS

_LEAD = "--msdump-"
#: options by which tools of snapshots write what they compare with
_WRITES = re.compile(
    r"--(?:(?:inline-|image-)?snapshot(?:s?-update)?|update-(?:snapshots?|goldens?|all)|goldens?-update"
    r"|(?:force-)?regen(?:erate|-all)?(?:-goldens?)?|overwrite-goldens?|mpl-generate-path|approve)"
)
_TOLERANCE = "@pytest.mark.msdump(tolerance=...) of a test"
#: what options of ours that there are not are called in truth
_MEANT = {
    "update": "--msdump-regen", "write": "--msdump-regen", "accept": "--msdump-regen",
    "snapshot-update": "--msdump-regen", "check": "--msdump", "device": "--msdump-backend",
    "html": "--msdump-report", "rtol": _TOLERANCE, "atol": _TOLERANCE, "exact": "--msdump-tolerance=exact",
    "dir": "--msdump-golden", "path": "--msdump-golden",
}  # fmt: skip


def told(arguments: Sequence[str]) -> str:
    """What was meant by the first argument that is no option of ours and looks like one; empty if there is none."""
    return next(_meant(arguments), "")


def _meant(arguments: Sequence[str]) -> Iterator[str]:
    known = {option.flag for option in OPTIONS}
    for each in arguments:
        flag = each.partition("=")[0]
        if flag in known:
            continue
        if flag.startswith(_LEAD):
            from difflib import get_close_matches

            near = _MEANT.get(flag.removeprefix(_LEAD)) or next(iter(get_close_matches(flag, known, 1, 0.5)), "--help")
            yield f"there is no {flag}; did you mean {near}?"
        elif _WRITES.fullmatch(flag):
            yield f"{flag} is another plugin's; --msdump-regen writes the goldens of the selected tests"
