"""A process that has imported what ``play.py`` needs, and forks for each line it reads: a process of ``play.py`` that
costs no imports. The recorder reads its environment when something is compiled, so none of it is read before the fork.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from tests.rdr import play


def become(wanted: dict[str, Any]) -> None:
    """The process that ``wanted`` describes: its directory, environment, and files for what it prints."""
    os.chdir(wanted["cwd"])
    os.environ.clear()
    os.environ.update(wanted["environment"])
    modes = (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT)
    for number, (path, mode) in enumerate(zip((os.devnull, *wanted["prints"]), modes, strict=True)):
        opened = os.open(path, mode, 0o600)
        os.dup2(opened, number)
        os.close(opened)


def main() -> None:
    """Answers each line with the exit code of the process that it describes."""
    while line := sys.stdin.readline():
        child = os.fork()
        if not child:
            wanted = json.loads(line)
            become(wanted)
            play.main(*wanted["arguments"])
            return
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
