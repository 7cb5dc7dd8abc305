"""The file names of one operator or parameter; the parts common to all steps are made once."""

from __future__ import annotations

from harness.dump.names import FORMAT, MAX_NAME_BYTES, PARAMETER, TIMESTAMP_DIGITS, file_name, mangle

_STAND_IN = 10 ** (TIMESTAMP_DIGITS - 1)


class Series:
    """Names of the files of one operator or parameter.

    Attributes:
        op_type: primitive name, or ``Parameter``.
        name: full name with scope (a parameter's own), unmangled.
        stream: id of the stream the operator runs on.
        is_ambiguous: whether another name of its graph mangles to the same text.
        selected: whether it is dumped at all.
        used: whether something of it was dumped.
    """

    __slots__ = ("_parts", "is_ambiguous", "name", "op_type", "selected", "stream", "used")

    def __init__(self, op_type: str, name: str, *, selected: bool, is_ambiguous: bool = False, stream: int = 0) -> None:
        self.op_type = op_type
        self.name = name
        self.stream = stream
        self.selected = selected
        self.is_ambiguous = is_ambiguous
        self.used = False
        self._parts: dict[tuple[str, int, str, str], tuple[str, str, bool]] = {}

    @property
    def row_name(self) -> str:
        """The name in ``statistic.csv``: operators by their full name, parameters mangled (public source)."""
        return mangle(self.name) if self.op_type == PARAMETER and not self.is_ambiguous else self.name

    def file(self, io: str, slot: int, dtype: str, stamp: int, form: str = FORMAT) -> tuple[str, bool]:
        """The name of one tensor's file, and whether it goes to ``mapping.csv``.

        Args:
            io, slot: ``input`` or ``output``, and the position.
            dtype: dtype as spelled in the name.
            stamp: timestamp.
            form: storage format.
        """
        key = (io, slot, dtype, form)
        parts = self._parts.get(key)
        if parts is None:
            parts = self._parts[key] = self._split(io, slot, dtype, form)
        before, after, mapped = parts
        return f"{before}{stamp}{after}", mapped

    def _split(self, io: str, slot: int, dtype: str, form: str) -> tuple[str, str, bool]:
        whole = file_name(
            self.op_type, self.name, _STAND_IN, io, slot, dtype, mangled=not self.is_ambiguous, stream=self.stream,
            form=form,
        )  # fmt: skip
        before, _, after = whole.rpartition(str(_STAND_IN))
        return before, after, self.is_ambiguous or len(whole.encode()) > MAX_NAME_BYTES
