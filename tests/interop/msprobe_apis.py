"""Which functions msprobe's level L1 sees: ``msprobe-python msprobe_apis.py > harness/debugger/apis.json``.

The list is read from the installed package; names of communication are left out, because no process of ours is one of
several.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

KINDS = {"ops": "ops", "tensor": "Tensor", "mint.ops": "mint", "mint.nn.functional": "mint.nn.functional"}


def lists() -> dict[str, str]:
    """Names by the module (or class) they are looked up in, each kind sorted and joined by spaces."""
    import msprobe  # type: ignore[import-not-found]
    import yaml

    place = Path(msprobe.__file__).parent / "mindspore/dump/dump_processor/hook_cell/support_wrap_ops.yaml"
    found: dict[str, Any] = yaml.safe_load(place.read_text(encoding="utf-8"))
    return {ours: " ".join(sorted(found[theirs])) for theirs, ours in KINDS.items()}


if __name__ == "__main__":
    json.dump(lists(), sys.stdout, indent=1)
    sys.stdout.write("\n")
