"""The Running Data Recorder: what is recorded of a process, and when it is written."""

from typing import TYPE_CHECKING

from harness._namespace import lazy as _lazy
from harness.rdr.listing import Artefact, artefacts

if TYPE_CHECKING:
    from harness.rdr.config import RdrConfig
    from harness.rdr.container import Recorders
    from harness.rdr.observer import RdrObserver

__all__ = ["Artefact", "RdrConfig", "RdrObserver", "Recorders", "artefacts"]

# A reader of files needs no compiler: what does is looked up when it is first used.
__getattr__, __dir__ = _lazy(
    __name__,
    {
        "RdrConfig": "harness.rdr.config",
        "RdrObserver": "harness.rdr.observer",
        "Recorders": "harness.rdr.container",
    },
)
