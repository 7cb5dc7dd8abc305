"""How a command shares its work: not at all, among processes of this machine, or with an existing cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.errors import ScaleError
from harness.scale import interrupts

if TYPE_CHECKING:
    from harness.scale.driver import Session


@dataclass(frozen=True)
class Scale:
    """How work is shared, from the command line.

    Attributes:
        workers: processes to start.
        scheduler: address of an existing cluster instead.
        resume: go on where an interrupted run of the same command stopped.
    """

    workers: int = 0
    scheduler: str | None = None
    resume: bool = False

    @property
    def serial(self) -> bool:
        """Whether this process does everything."""
        return not self.workers and not self.scheduler


@contextmanager
def session(scale: Scale | None, **job: Any) -> Iterator[Session | None]:
    """A cluster for a command's work; None if this process does it.

    Args:
        scale: from the command line.
        job: what tells this command from others: paths and options.

    Raises:
        ScaleError: see ``cluster``; ``--resume`` without workers; an empty address.
    """
    if scale is not None and scale.scheduler is not None and not scale.scheduler.strip():
        raise ScaleError("--scheduler is empty; accepted: an address, such as tcp://10.0.0.1:8786")
    if scale is None or scale.serial:
        if scale is not None and scale.resume:
            raise ScaleError("--resume needs --workers or --scheduler: a single process keeps no journal")
        yield None
        return
    # Only those who share work pay for what that takes.
    from harness.progress import Progress
    from harness.scale.cluster import cluster
    from harness.scale.driver import Session
    from harness.scale.journal import FOLDER, Journal, job_of

    progress = Progress(lines=True)
    with interrupts.heard(), cluster(scale.workers, scale.scheduler or "", progress.line) as found:
        journal = Journal(FOLDER, job_of(job), scale.resume)
        done = False
        try:
            yield Session(found, journal, progress)
            interrupts.check()
            done = True
        finally:
            progress.close()
            journal.close(done=done)
