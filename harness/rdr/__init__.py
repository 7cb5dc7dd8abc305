"""The Running Data Recorder: what it records about a process, and when it writes."""

from typing import TYPE_CHECKING

from harness._namespace import lazy as _lazy
from harness.rdr.listing import Artefact, artefacts

if TYPE_CHECKING:
    from harness.rdr.config import RdrConfig
    from harness.rdr.container import Recorders
    from harness.rdr.observer import RdrObserver
    from harness.rdr.recorders.base import Recorder

__all__ = ["Artefact", "RdrConfig", "RdrObserver", "Recorder", "Recorders", "artefacts"]

# A reader of files needs no compiler: the parts that do are looked up at first use.
__getattr__, __dir__ = _lazy(
    __name__,
    {
        "RdrConfig": "harness.rdr.config",
        "RdrObserver": "harness.rdr.observer",
        "Recorder": "harness.rdr.recorders.base",
        "Recorders": "harness.rdr.container",
    },
)
