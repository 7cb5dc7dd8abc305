"""A configuration while it is read: sections with typed look-ups, and the draft that the checks fill in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.dump.iteration import EVERYTHING, IterationSet
from harness.dump.json_text import SignedInt, dumps
from harness.dump.rules import Method, Rules
from harness.dump.selection import KernelRule
from harness.errors import DumpConfigError

COMMON = "common_dump_settings"
E2E = "e2e_dump_settings"
ASYNC = "async_dump_settings"


def json_text(value: Any) -> str:
    """A JSON value for a message, at most 80 characters."""
    text = dumps(value)
    return text if len(text) <= 80 else text[:77] + "..."


@dataclass(frozen=True, slots=True)
class Section:
    """One section of the file; a value that is not an object acts as an empty one (measured).

    Attributes:
        name: key of the section.
        fields: its keys and values.
        where: the file, for messages.
    """

    name: str
    fields: Mapping[str, Any]
    where: str

    def __contains__(self, key: object) -> bool:
        return key in self.fields

    def place(self, key: str) -> str:
        """``data_dump.json, common_dump_settings.net_name``."""
        return f"{self.where}, {self.name}.{key}"

    def error(self, kind: str, key: str, accepted: str) -> DumpConfigError:
        """Makes an error that says where, what was given and what is accepted."""
        given = f" is {json_text(self.fields[key])}" if key in self.fields else " is absent"
        return DumpConfigError(kind, f"dump configuration: {self.place(key)}{given}; {accepted}")

    def uint(self, key: str, reported_as: str | None = None) -> int:
        """An unsigned integer literal, cut to 32 bits as the original does; error ``type-uint:<key>``."""
        value = self.fields[key]
        if isinstance(value, (bool, SignedInt)) or not isinstance(value, int):
            raise self.error(f"type-uint:{reported_as or key}", key, "accepted: an unsigned integer without a sign")
        return value % 2**32

    def string(self, key: str) -> str:
        """A string; error ``type-str:<key>``."""
        value = self.fields[key]
        if not isinstance(value, str):
            raise self.error(f"type-str:{key}", key, "accepted: a string")
        return value

    def array(self, key: str) -> list[Any]:
        """An array; error ``type-list:<key>``."""
        value = self.fields[key]
        if not isinstance(value, list):
            raise self.error(f"type-list:{key}", key, "accepted: an array")
        return value

    def boolean(self, key: str) -> bool:
        """true or false; error ``type-bool:`` (the original names no field)."""
        value = self.fields[key]
        if not isinstance(value, bool):
            raise self.error("type-bool:", key, "accepted: true or false")
        return value


@dataclass(slots=True)
class Draft:
    """The values that the checks read and fill in; the defaults are those of absent fields (dump_config.md 1.2, 1.3).

    Attributes:
        common, e2e, asynchronous: the sections; None if the file lacks them.
        where: the file, for messages.
        rules: the rules of this generation and backend.
        environ: environment variables (``MS_DIAGNOSTIC_DATA_PATH``, ...).
        device_id: id of this process's device.
        pynative: whether the process runs in PyNative mode.
        The others: see ``DumpConfig``.
    """

    common: Section | None
    e2e: Section | None
    asynchronous: Section | None
    where: str
    rules: Rules
    environ: Mapping[str, str]
    device_id: int = 0
    pynative: bool = False
    method: Method = "off"
    synchronous: bool = False
    trans_flag: bool = True
    save_kernel_args: bool = False
    stat_calc_mode: str = "host"
    device_stat_precision_mode: str = "high"
    sample_mode: int = 0
    sample_num: int = 100
    dump_mode: int = 0
    path: str = ""
    net_name: str = ""
    iteration: IterationSet = EVERYTHING
    input_output: int = 0
    kernels: tuple[KernelRule, ...] = ()
    support_device: tuple[int, ...] = ()
    op_debug_mode: int = 0
    overflow_number: int = 0
    file_format: str = "bin"
    saved_data: str = "tensor"
    saved_data_forced: bool = False
    statistic_category: tuple[str, ...] = ()
    initial_iteration: int = 0
    ignore_useless_output: bool = True

    @property
    def settings(self) -> Section:
        """The common section; only for checks that run after ``checks.common_section``."""
        assert self.common is not None
        return self.common
