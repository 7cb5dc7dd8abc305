"""Every error the harness raises on purpose.

Each message says what was given, what is accepted and where. If MindSpore raises a builtin exception for a fault, the
class here derives from it as well, so that a script's ``except`` clauses keep working.
"""

from __future__ import annotations

import os
from types import TracebackType

_OURS = os.path.dirname(__file__) + os.sep


class HarnessError(Exception):
    """Base of every deliberate error.

    Attributes:
        placed: whether its text already names the line of the program it came from.
    """

    placed: bool = False

    def _render_traceback_(self) -> list[str]:
        """The lines that a notebook shows: the user's frames, and what the error says."""
        import traceback

        trace = users_frames(self, self.__traceback__)
        # IPython runs a cell inside of frames of its own.
        while trace is not None and f"{os.sep}IPython{os.sep}" in trace.tb_frame.f_code.co_filename:
            trace = trace.tb_next
        lines = traceback.format_exception(type(self), self, trace, chain=False)
        return "".join(lines).rstrip("\n").split("\n")


def users_frames(error: BaseException, trace: TracebackType | None) -> TracebackType | None:
    """A traceback without our frames and those of an import, if the error is a deliberate one, one of an import, or
    arose in the user's own code; of any other error all frames: it may be a fault of ours, and they are what a report
    needs."""
    frames = []
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    files = [frame.tb_frame.f_code.co_filename for frame in frames]
    if not isinstance(error, (HarnessError, ImportError)) and files and files[-1].startswith(_OURS):
        return frames[0]
    lookup = ("<frozen importlib", os.path.dirname(os.__file__) + os.sep + "importlib" + os.sep)
    kept: TracebackType | None = None
    for frame, file in zip(reversed(frames), reversed(files), strict=True):
        if not file.startswith((_OURS, *lookup)):
            kept = TracebackType(kept, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return kept


def first_line(error: BaseException) -> str:
    """The first line of an error's text (those of HDF5 have many lines), or its type."""
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__


def told(error: BaseException) -> str:
    """An error's text; of one of the system's the file and the reason, without its number."""
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror


class UnsupportedError(HarnessError, NotImplementedError):
    """MindSpore has a feature that the harness lacks; the message names it and its place."""


class UnknownNameError(HarnessError, LookupError):
    """A registry does not hold the requested name; the message lists similar names."""


class RegistrationError(HarnessError, ValueError):
    """Two things of one kind have one name, such as an entry point and a built-in thing; the message names both."""


class BackendError(HarnessError, RuntimeError):
    """The process in which a backend runs programs could not be started, or failed; the message says how."""


class DumpConfigError(HarnessError, RuntimeError):
    """A dump configuration that MindSpore refuses (it raises ``RuntimeError`` at the first compile).

    Attributes:
        kind: short stable code, such as ``value:iteration`` or ``missing:kernels``.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class ShapeError(HarnessError, ValueError):
    """An operator does not accept the shapes it was given."""


class OperandError(ShapeError, RuntimeError):
    """Shapes of a product's or a convolution's operands do not fit; MindSpore's error is a ``RuntimeError``."""


class IndexKindError(HarnessError, IndexError, TypeError):
    """A value that cannot index a tensor; MindSpore's error is an ``IndexError``."""


class DtypeError(HarnessError, TypeError):
    """An operator does not accept the dtypes it was given."""


class TraceError(HarnessError, RuntimeError):
    """``construct`` does something that a graph cannot express; the message gives the source line."""


class JoinError(TraceError, TypeError):
    """The ways of a condition on a tensor give what cannot be joined; MindSpore's error is a ``TypeError``."""


class CallError(HarnessError, ValueError):
    """What ``construct`` calls cannot be called; MindSpore's error is a ``ValueError``."""


class OutsideError(HarnessError, RuntimeError):
    """A call that no graph can hold."""


class OutsideValueError(HarnessError, ValueError):
    """A call that no graph can hold, whose error in MindSpore is a ``ValueError``."""


class OutsideAttributeError(HarnessError, AttributeError):
    """A call that no graph can hold, whose error in MindSpore is an ``AttributeError``."""


class ForeignNameError(HarnessError, NameError):
    """A graph has no name for an object that a call within it is given; MindSpore's error is a ``NameError``."""


class ForeignKeyError(HarnessError, KeyError):
    """The same where MindSpore's error is a ``KeyError``."""

    def __str__(self) -> str:
        return str(self.args[0])


class MissingArgumentError(HarnessError, KeyError):
    """A call within a graph lacks an argument; MindSpore's error is a ``KeyError``."""

    def __str__(self) -> str:
        return str(self.args[0])


class DecidedLateError(TraceError):
    """Values that are known only when the graph runs decide what the graph is: a function is traced again with them."""


class KernelError(HarnessError, RuntimeError):
    """A kernel failed while the graph ran; the message names the operator."""


class CollectiveError(KernelError):
    """The ranks of a run cannot go on: one failed, ended, or waits for ever; the message says which.

    Attributes:
        of_another: whether another rank failed, so that nothing of this one is to be looked at.
    """

    of_another = False


class DumpWriteError(HarnessError, OSError):
    """A dump file could not be written; earlier files stay."""


class RecordingError(HarnessError, ValueError):
    """A runtime told a recording something that cannot be true; what was recorded before stays."""


class StoreError(HarnessError, ValueError):
    """A golden store is damaged, too large or of another schema, or does not hold what was requested."""


class TreeError(HarnessError, ValueError):
    """A dump tree (or a file in it) cannot be read; the message names the file and what is wrong with it."""


class LockError(HarnessError, TimeoutError):
    """Another process holds the writer's lock."""


class SettingError(HarnessError, ValueError):
    """A setting (of a layer, an optimizer, the context) has a value that is not accepted."""


class SettingTypeError(HarnessError, TypeError):
    """A setting, or an argument of a call, has a type that is not accepted."""


class SettingAttributeError(HarnessError, AttributeError):
    """An argument of a call has a type that lacks what the call asks it for."""


class NestingError(HarnessError, RecursionError):
    """Cells are nested more deeply than Python can call; the message names the limit and how to raise it."""


class CellNameError(HarnessError, KeyError):
    """The name of a cell's child or parameter is already used, or is not a valid name."""

    def __str__(self) -> str:
        return str(self.args[0])


class MissingMethodError(HarnessError, AttributeError):
    """What was given does not have the methods it is used by (a dataset)."""


class CellAttributeError(HarnessError, AttributeError):
    """A cell lacks an attribute, or is used before its ``super().__init__()`` was called."""


class StoreWriteError(HarnessError, OSError):
    """A golden store could not be written (full disk, no permission); the old one is unchanged."""


class ToleranceError(HarnessError, ValueError):
    """A tolerance has a form or a value without meaning."""


class RecordError(HarnessError, ValueError):
    """A run's records cannot be compared: one slot occurs twice, or has neither values nor a digest."""


class UnsupportedNameError(UnsupportedError, AttributeError):
    """A script uses a name of MindSpore's namespaces that the harness lacks."""


class ConvertError(HarnessError, ValueError):
    """An asynchronous dump file, or a tensor of it, cannot be converted.

    Attributes:
        code: exit code of msaccucmp for such a fault.
    """

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class PlanTextError(HarnessError, ValueError):
    """The text of a memory plan cannot be read; the message names the line."""


class StateError(HarnessError, RuntimeError):
    """A value is requested before it exists, such as a metric's value before its first update."""


class IndexRangeError(HarnessError, IndexError):
    """Indices are not integers, or lie outside the array."""


class UnknownKeyError(UnknownNameError, KeyError):
    """A name that MindSpore looks up in a dict is missing."""

    def __str__(self) -> str:
        return str(self.args[0])


class InjectionError(HarnessError, LookupError):
    """A fault could not be injected: its operator never ran, or has no result that the fault can spoil."""


class CheckpointError(HarnessError, ValueError):
    """A checkpoint file is missing or damaged, or does not match its format; the message names the file."""


class CheckpointWriteError(HarnessError, OSError):
    """A checkpoint cannot be written to the given path; an older file there is unchanged."""


class SummaryWriteError(HarnessError, OSError):
    """A record of a summary cannot be written; earlier records are whole."""


class ScaleError(HarnessError, RuntimeError):
    """Shared work cannot begin or end: there is no cluster, its workers have other versions, or files are out of
    reach."""


class RankError(HarnessError, RuntimeError):
    """One of several ranks failed, ended or did not end; the message names it."""


class ArtefactError(HarnessError, ValueError):
    """A text of the Running Data Recorder cannot be read; the message names the line."""
