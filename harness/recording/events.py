"""What a recording tells beside graphs and steps: who runs, and what a compilation does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

from harness.errors import RecordingError

EMULATION = "emulation of MindSpore"
"""Name of our own runtime, whose graphs and trees are MindSpore's to the byte and state no engine."""


@dataclass(frozen=True, slots=True)
class Engine:
    """Who runs the graphs.

    Attributes:
        name: of the runtime (``tinyrt``).
        version: of the runtime (``1.0``); may be empty.
        emulated: whether it computes the numbers of a device that it is not.

    Raises:
        RecordingError: the name is empty, or name or version is no text of printable characters.

    Examples:
        >>> from harness.recording import Engine
        >>> str(Engine("tinyrt", "1.0"))
        'tinyrt 1.0'
    """

    name: str
    version: str = ""
    emulated: bool = False

    def __post_init__(self) -> None:
        for text in (self.name, self.version):
            if not isinstance(text, str) or not (text.isprintable() and self.name.strip()):
                raise RecordingError(
                    "an engine has a name, and may have a version, of printable characters, such as 'tinyrt 1.0'; "
                    f"given: {self.name!r:.60}, {self.version!r:.60}"
                )

    def __str__(self) -> str:
        return f"{self.name} {self.version}".strip()


class Want(IntEnum):
    """What an observer needs of a slot, the least first.

    Attributes:
        NOTHING: the slot need not be brought to the host.
        DIGEST: its content digest is enough.
        STATISTICS: its statistics are enough.
        VALUES: its array.
    """

    NOTHING = 0
    DIGEST = 1
    STATISTICS = 2
    VALUES = 3


@dataclass(eq=False)
class Compilation:
    """One compilation.

    Attributes:
        name: name of the function.
        inputs: names of its parameters.
        staged: whether its stages and graphs are recorded; MindSpore's PyNative mode records addresses alone.
        shares_memory: whether its graphs' tensors may share memory; None: the device's rules say so.
    """

    name: str
    inputs: Sequence[str]
    staged: bool = True
    shares_memory: bool | None = None


@dataclass(eq=False)
class Stage:
    """One stage of a compilation is done.

    Attributes:
        compilation: which one.
        kind: name of the stage.
    """

    compilation: Compilation
    kind: str
    _text: str | Callable[[], str] = field(repr=False)

    @cached_property
    def text(self) -> str:
        """The graph after the stage; made when first read, to be read during the call."""
        return self._text if isinstance(self._text, str) else self._text()
