"""Plays tutorials one after the other: ``play.py OUT NAME...`` writes what each printed (JSON) to OUT.

The same file runs under the real MindSpore and under ``msdump run``, in a directory that holds the files.
"""

import contextlib
import io
import json
import os
import runpy
import sys

import mindspore


def play(name):
    """What the tutorial printed; its error in the last line."""
    out = io.StringIO()
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".py")
    with contextlib.redirect_stdout(out):
        try:
            runpy.run_path(path, run_name="__main__")
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
    return out.getvalue().splitlines()


if __name__ == "__main__":
    results = {name: play(name) for name in sys.argv[2:]}
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
