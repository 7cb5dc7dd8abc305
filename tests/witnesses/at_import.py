"""``python -m tests.witnesses.at_import WITNESS`` says whether a witness holds; and how that is asked of a process that
imports one module with a change, as every process does that it starts.
"""

from __future__ import annotations

import ast
import marshal
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.architecture.source import MODULES
from tests.subprocesses import ROOT
from tests.witnesses.changes import AT_IMPORT, changes, parsed_anew
from tests.witnesses.recordings import holds

_ANSWER = "the witness "
#: Python runs it before anything else
_SITE = """
import marshal
from importlib.machinery import SourceFileLoader

plain = SourceFileLoader.get_code


def get_code(loader, fullname):
    if fullname != {module!r}:
        return plain(loader, fullname)
    with open({code!r}, "rb") as file:
        return marshal.load(file)


SourceFileLoader.get_code = get_code
"""


def still_holds(module: str, function: str, text: str, witness: str) -> bool:
    """Whether a witness holds in a new process with a change.

    Args:
        module: the changed one.
        function: ``AT_IMPORT`` for what stands in no function, or ``at import: f`` for a change of ``f``.
        text: of the change.
        witness: as of ``recordings.holds``.

    Raises:
        ValueError: the module has no such change, or the witness did not run.
    """
    with tempfile.TemporaryDirectory() as scratch:
        code = Path(scratch) / "code"
        code.write_bytes(_changed(module, function, text))
        (Path(scratch) / "sitecustomize.py").write_text(_SITE.format(module=module, code=str(code)))
        places = [scratch, str(ROOT), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))}
        command = [sys.executable, "-m", __name__, witness]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
    answer = done.stdout.rpartition(_ANSWER)[2].strip()
    if answer not in ("holds", "fails"):
        raise ValueError(f"{module}: {text!r}: {witness} did not run:\n{done.stderr or done.stdout}")
    return answer == "holds"


def _changed(module: str, function: str, text: str) -> bytes:
    """The code of a module with a change."""
    tree = parsed_anew(module)
    name = function.removeprefix(f"{AT_IMPORT}: ")
    for change in changes(tree, only=name):
        if change.text == text:
            change.make()
            return marshal.dumps(compile(ast.fix_missing_locations(tree), str(MODULES[module]), "exec"))
    raise ValueError(f"{module}: {name} has no {text!r}")


if __name__ == "__main__":
    print(f"{_ANSWER}{'holds' if holds(sys.argv[1]) else 'fails'}")
