"""Lists of learning rates against those of MindSpore 2.10.0 (``tests/data/nn/learning_rates.json``)."""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

import pytest

from harness import nn

RECORDED = json.loads((Path(__file__).parents[2] / "data" / "nn" / "learning_rates.json").read_text())


@pytest.mark.parametrize("case", RECORDED, ids=lambda c: f"{c['name']}-{c['args']}-{c['kwargs']}")
def test_recorded(case: dict[str, Any]) -> None:
    function = getattr(nn, case["name"])
    if isinstance(case["result"], str):
        with pytest.raises(getattr(builtins, case["result"]), match=case["name"]):
            function(*case["args"], **case["kwargs"])
    else:
        assert function(*case["args"], **case["kwargs"]) == case["result"]
