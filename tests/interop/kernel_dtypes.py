"""Records which dtypes MindSpore's operators refuse on a CPU: ``harness/framework/ops/refused.json``.

``python -m tests.interop.kernel_dtypes PYTHON`` (PYTHON has MindSpore 2.10.0) makes every call of
``tests/differential/mistakes.txt`` with tensors of each dtype, and reads from the errors which operator refused what.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from tests.differential import calls
from tests.differential.sides import Pair

TABLE = Path(__file__).resolve().parents[2] / "harness" / "framework" / "ops" / "refused.json"
_GIVEN = re.compile(r"but get input\s*\[(.*?)\][,\s]*(?:and )?output", re.DOTALL)
_DTYPE = re.compile(r"\b(?:BFloat16|Float(?:16|32|64)|U?Int(?:8|16|32|64)|Bool|Complex(?:64|128))\b")
_RULES = (
    re.compile(r"Select CPU operator\[(?P<op>\w+)\] fail"),
    re.compile(
        r"For primitive\[(?P<op>\w+)\], the input argument\[(?P<name>[^\]]*(?:\[[^\]]*\])?[^\]]*)\] must be a type of "
        r"\{[^}]*\}, but got (?:Tensor\[)?(?P<dtype>\w+)"
    ),
)


def refusals(texts: Iterable[str]) -> dict[str, set[str]]:
    """Operators, and what the errors say they refuse: dtypes of all arguments, or that of the first and a star."""
    found: dict[str, set[str]] = {}
    for text in texts:
        for rule in _RULES:
            match = rule.search(text)
            if match is None:
                continue
            dtype, listed = match.groupdict().get("dtype"), _GIVEN.search(text)
            if dtype and _DTYPE.fullmatch(dtype):
                found.setdefault(match["op"], set()).add(f"{dtype} *")
            elif listed:
                found.setdefault(match["op"], set()).add(" ".join(_DTYPE.findall(listed[1])))
    return found


def main(python: str) -> None:
    """Writes the table."""
    with Pair(python) as pair:
        told = [real for _, _, _, real in calls.compared(pair, calls.in_each_dtype(), 300, ("eager",))]
    found = refusals(real["out"][1] for real in told if real is not None)
    lines = (f"{json.dumps(op)}: {json.dumps(sorted(found[op]))}" for op in sorted(found))
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1])
