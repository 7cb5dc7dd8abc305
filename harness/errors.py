"""Every error the harness raises on purpose.

Each message says what was given, what is accepted and where. Where MindSpore defines the exception type for a
fault, the class here also derives from that builtin, so that a script's ``except`` clauses keep working.
"""

from __future__ import annotations


class HarnessError(Exception):
    """Base of every deliberate error."""


def first_line(error: BaseException) -> str:
    """The first line of an error's text (HDF5's go on for many), or its type."""
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__


class UnsupportedError(HarnessError, NotImplementedError):
    """Something MindSpore has and the harness does not; names it and where it stands."""


class UnknownNameError(HarnessError, LookupError):
    """A registry was asked for a name it does not hold; names the nearest kin."""


class BackendError(HarnessError, RuntimeError):
    """The process in which a backend runs programs could not be started, or failed; says how."""


class DumpConfigError(HarnessError, RuntimeError):
    """A dump configuration MindSpore refuses (it raises ``RuntimeError`` at the first compile).

    Attributes:
        kind: short stable code, such as ``value:iteration`` or ``missing:kernels``.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class ShapeError(HarnessError, ValueError):
    """An operator cannot take the shapes it was given."""


class DtypeError(HarnessError, TypeError):
    """An operator cannot take the dtypes it was given."""


class TraceError(HarnessError, RuntimeError):
    """``construct`` does something a graph cannot express; says where in the user's source."""


class KernelError(HarnessError, RuntimeError):
    """A kernel failed while the graph ran; names the operator."""


class DumpWriteError(HarnessError, OSError):
    """A dump file could not be written; what was written before stays."""


class StoreError(HarnessError, ValueError):
    """A golden store is damaged, too large, of another schema, or was asked for what it does not hold."""


class TreeError(HarnessError, ValueError):
    """A dump tree (or a file in it) cannot be read; names the file and what is wrong with it."""


class LockError(HarnessError, TimeoutError):
    """Another process holds the writer's lock."""


class SettingError(HarnessError, ValueError):
    """A setting (of a layer, an optimizer, the context) has a value that is not accepted."""


class SettingTypeError(HarnessError, TypeError):
    """A setting, or a call's argument, is of a type that is not accepted."""


class NestingError(HarnessError, RecursionError):
    """Cells lie in one another deeper than Python can call; names the limit and what raises it."""


class CellNameError(HarnessError, KeyError):
    """A name of a cell's child or parameter is taken, or cannot be a name."""

    def __str__(self) -> str:
        return str(self.args[0])


class CellAttributeError(HarnessError, AttributeError):
    """A cell lacks an attribute, or is used before ``super().__init__()`` made it one."""


class StoreWriteError(HarnessError, OSError):
    """A golden store could not be written (full disk, no permission); the old one stands as it was."""


class ToleranceError(HarnessError, ValueError):
    """A tolerance is of a form or a size that means nothing."""


class RecordError(HarnessError, ValueError):
    """A run's records cannot be compared: one slot twice, or neither values nor a digest."""


class UnsupportedNameError(UnsupportedError, AttributeError):
    """A name of MindSpore's namespaces that the harness does not have."""


class ConvertError(HarnessError, ValueError):
    """An asynchronous dump file, or a tensor of it, cannot be converted.

    Attributes:
        code: exit code msaccucmp ends with for such a fault.
    """

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class PlanTextError(HarnessError, ValueError):
    """A text of a memory plan cannot be read; names the line."""


class StateError(HarnessError, RuntimeError):
    """Something is asked for at a moment when it cannot be had (a metric's value before its first update)."""


class IndexRangeError(HarnessError, IndexError):
    """Values that are to pick elements are no integers, or lie outside what they pick from."""


class UnknownKeyError(UnknownNameError, KeyError):
    """A name that MindSpore looks up in a dict is not there."""

    def __str__(self) -> str:
        return str(self.args[0])


class InjectionError(HarnessError, LookupError):
    """A fault that was to be injected could not be: its operator never ran, or has no result it could spoil."""


class CheckpointError(HarnessError, ValueError):
    """A checkpoint file is not there, damaged, or not what its format says; names the file."""


class CheckpointWriteError(HarnessError, OSError):
    """A checkpoint cannot be written where it was asked for; a file that stood there still does."""


class SummaryWriteError(HarnessError, OSError):
    """A record of a summary cannot be written; those before it are whole."""


class ScaleError(HarnessError, RuntimeError):
    """Work that several processes share cannot be begun or ended: no cluster, other versions, files out of reach."""


class ArtefactError(HarnessError, ValueError):
    """A text of the Running Data Recorder cannot be read; names the line."""
