"""``msdump`` with a clock that jumps past all limits once it says that it waits: no test waits for a limit."""

from __future__ import annotations

import sys
import time


class Told(list[str]):
    """What a command tells, and its clock."""

    jumped = 0.0

    def __call__(self, line: str) -> None:
        self.append(line)
        if " this waits " in line:
            self.jump()

    def jump(self) -> None:
        self.jumped += 10_000

    def clock(self) -> float:
        return time.monotonic() + self.jumped


def main() -> int:
    from harness import progress
    from harness.cli import main as command
    from harness.scale import crew

    told, line = Told(), progress.Progress.line

    def tell(self: progress.Progress, text: str) -> None:
        told(text)
        line(self, text)

    progress.Progress.line = tell  # type: ignore[method-assign]
    crew.clock = told.clock
    return command(sys.argv[1:])


if __name__ == "__main__":
    raise SystemExit(main())
