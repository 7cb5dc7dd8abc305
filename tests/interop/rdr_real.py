"""``python tests/interop/rdr_real.py``: ``tests/rdr/nursery.py`` under the real MindSpore 2.7.0."""

from __future__ import annotations

import importlib

from stand_in import stand_in  # beside this script

if __name__ == "__main__":
    stand_in().set_device("CPU")
    importlib.import_module("asttokens.mark_tokens")  # what it imports when it first compiles
    importlib.import_module("tests.rdr.nursery").main()
