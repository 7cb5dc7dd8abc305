"""The dump features that a device has, and its answer to requests for others.

Sources: the Dump documents of r2.4.10, the public source of the parser and the writers, and for the CPU MindSpore
2.10.0, measured. Where documents and measurement disagree, the measurement holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from harness.errors import UnknownNameError, UnsupportedError


class Support(Enum):
    """A device's answer to a request for a feature."""

    YES = "yes"
    #: accepted silently, without effect
    IGNORED = "ignored"
    #: accepted with a warning; something else happens
    WARNED = "warned"
    #: an error (``RuntimeError`` if a configuration requests it)
    REFUSED = "refused"
    #: cannot be requested, and is never written
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Answer:
    """``support`` and, if it is not a plain yes, the gist of the message or the behaviour."""

    support: Support
    gist: str = ""

    def __bool__(self) -> bool:
        return self.support is Support.YES

    def __str__(self) -> str:
        return self.support.value


#: every feature: what it is, in the order it is listed
FEATURES: dict[str, str] = {
    "tensor": "saved_data tensor: a file per tensor",
    "statistic": "saved_data statistic: statistic.csv",
    "full": "saved_data full: both",
    "device_statistics": "stat_calc_mode device",
    "sample": "sample_mode 1: the first sample_num elements",
    "overflow": "op_debug_mode 3: only what overflows",
    "exception": "op_debug_mode 4: the inputs of a failing operator",
    "kernel_args": "save_kernel_args: arguments of operators as json",
    "set_dump": "dump_mode 2: what set_dump marked",
    "asynchronous": "files in the DumpData framing, written during execution",
    "trans_flag": "trans_flag false: tensors as they lie on the device",
    "support_device": "support_device restricts the devices that dump",
    "useless_outputs": "MINDSPORE_DUMP_IGNORE_USELESS_OUTPUT",
    "graphs": ".ir, .pb and the execution order of each graph",
    "global_order": "the order in which graphs ran",
    "metadata": ".dump_metadata",
    "parameters": "a file per parameter at the end of a step",
    "constants": "a file per tensor constant",
}

_YES = Answer(Support.YES)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The answers of one device, by feature.

    Attributes:
        answers: feature -> answer, for the features that the device does not fully have.
    """

    answers: Mapping[str, Answer]

    def __post_init__(self) -> None:
        unknown = self.answers.keys() - FEATURES.keys()
        if unknown:
            raise UnknownNameError(f"no dump features are called {sorted(unknown)}; known are {list(FEATURES)}")

    def __getitem__(self, feature: str) -> Answer:
        if feature not in FEATURES:
            raise UnknownNameError(f"no dump feature is called {feature!r}; known are {', '.join(FEATURES)}")
        return self.answers.get(feature, _YES)

    def __iter__(self) -> Iterator[str]:
        return iter(FEATURES)

    def has(self, feature: str) -> bool:
        """Whether the device has ``feature``."""
        return bool(self[feature])

    def require(self, feature: str, device: str) -> None:
        """``UnsupportedError`` with the gist, if ``device`` (these capabilities' owner) does not have ``feature``."""
        answer = self[feature]
        if not answer:
            raise UnsupportedError(f"{device} has no {feature} ({FEATURES[feature]}): {answer.gist or answer}")

    @property
    def modes(self) -> tuple[str, ...]:
        """The device's features that are ways to dump."""
        return tuple(f for f in MODES if self.has(f))


#: the features that are ways to dump a run
MODES = ("tensor", "statistic", "full", "sample", "overflow", "exception", "asynchronous")


def refused(gist: str) -> Answer:
    return Answer(Support.REFUSED, gist)


def warned(gist: str) -> Answer:
    return Answer(Support.WARNED, gist)


def ignored(gist: str) -> Answer:
    return Answer(Support.IGNORED, gist)


def absent(gist: str) -> Answer:
    return Answer(Support.ABSENT, gist)
