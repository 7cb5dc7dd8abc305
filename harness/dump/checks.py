"""The checks of a dump configuration, one function a field; ``rules`` says which run, in which order.

Each takes the ``Draft``, raises ``DumpConfigError`` for what the original refuses, and fills in what the field means.
Values, defaults, forced changes and the 32-bit cut: dump_config.md sections 1 to 3, measured on 2.10.0.
"""

from __future__ import annotations

import re
from typing import Any

from harness import log
from harness.dump import iteration
from harness.dump.draft import COMMON, Draft, Section, shown
from harness.dump.ecma import RegexError
from harness.dump.json_text import dumps
from harness.dump.selection import KernelRule, entry_text, read_rule
from harness.errors import DumpConfigError

OVERFLOW = 3
EXCEPTION = 4
DIAGNOSTIC_ENV = "MS_DIAGNOSTIC_DATA_PATH"
SAVED_DATA = ("statistic", "tensor", "full")

_PATH = re.compile(r"[A-Za-z0-9_/-]*")
_NET_NAME = re.compile(r"[A-Za-z0-9_-]+")
_log = log.get("dump.config")


def _warn(text: str) -> None:
    _log.warning("dump configuration: %s", text)


def _absent(draft: Draft, key: str) -> bool:
    return draft.e2e is None or key not in draft.e2e


def _e2e(draft: Draft) -> Section:
    assert draft.e2e is not None  # each caller asked _absent before
    return draft.e2e


# --- e2e_dump_settings ------------------------------------------------------------------------------------------


def enable(draft: Draft) -> None:
    if not _absent(draft, "enable"):
        draft.synchronous = _e2e(draft).boolean("enable")


def trans_flag(draft: Draft) -> None:
    if not _absent(draft, "trans_flag"):
        draft.trans_flag = _e2e(draft).boolean("trans_flag")


def save_kernel_args(draft: Draft) -> None:
    if not _absent(draft, "save_kernel_args"):
        draft.save_kernel_args = _e2e(draft).boolean("save_kernel_args")


def _word(draft: Draft, key: str, words: tuple[str, ...]) -> str:
    word = _e2e(draft).string(key)
    if word not in words:
        raise _e2e(draft).error(f"value:{key}", key, f"accepted: {' or '.join(map(repr, words))}")
    return word


def stat_calc_mode(draft: Draft) -> None:
    if not _absent(draft, "stat_calc_mode"):
        draft.stat_calc_mode = _word(draft, "stat_calc_mode", ("host", "device"))


def device_stat_precision_mode(draft: Draft) -> None:
    if not _absent(draft, "device_stat_precision_mode"):
        draft.device_stat_precision_mode = _word(draft, "device_stat_precision_mode", ("high", "low"))


def sample_mode(draft: Draft) -> None:
    if _absent(draft, "sample_mode"):
        return
    draft.sample_mode = _e2e(draft).uint("sample_mode")
    if draft.sample_mode not in (0, 1):
        raise _e2e(draft).error("value:sample_mode", "sample_mode", "accepted: 0 or 1")


def sample_num(draft: Draft) -> None:
    """Read only with sample_mode 1 (measured); its type error names sample_mode."""
    if draft.sample_mode != 1 or _absent(draft, "sample_num"):
        return
    draft.sample_num = _e2e(draft).uint("sample_num", reported_as="sample_mode")
    if draft.sample_num == 0:
        raise _e2e(draft).error("value:sample_num", "sample_num", "accepted: a number greater than 0 (of 32 bits)")


# --- common_dump_settings ---------------------------------------------------------------------------------------


def required(draft: Draft) -> None:
    """All presence checks come before any value check."""
    for key in draft.rules.required:
        if key not in draft.common:
            raise DumpConfigError(
                f"missing:{key}", f"dump configuration: {draft.common.where} has no {COMMON}.{key}, which is required"
            )


def dump_mode(draft: Draft) -> None:
    mode = draft.common.uint("dump_mode")
    if mode not in draft.rules.dump_modes:
        accepted = ", ".join(map(str, draft.rules.dump_modes))
        raise draft.common.error("value:dump_mode", "dump_mode", f"counts as {mode}; accepted: {accepted}")
    if mode not in draft.rules.dump_modes_here:
        accepted = " or ".join(map(str, draft.rules.dump_modes_here))
        raise draft.common.error(
            "mode2-ascend-only",
            "dump_mode",
            f"mode 2 (set_dump) works on Ascend only; accepted on {draft.rules.backend}: {accepted}",
        )
    draft.dump_mode = mode


def path(draft: Draft) -> None:
    given = draft.common.string("path") if "path" in draft.common else ""
    if not given and draft.environ.get(DIAGNOSTIC_ENV):
        given = draft.environ[DIAGNOSTIC_ENV] + "/debug_dump"
    place = draft.common.place("path")
    if not given:
        raise DumpConfigError(
            "path-empty",
            f"dump configuration: {place} is absent or empty; accepted: an absolute path here, or in the "
            f"environment variable {DIAGNOSTIC_ENV}",
        )
    if not _PATH.fullmatch(given):
        raise DumpConfigError(
            "path-chars",
            f"dump configuration: {place} counts as {shown(given)}; accepted: letters, digits, '-', '_' and '/'",
        )
    if not given.startswith("/"):
        raise DumpConfigError(
            "path-absolute",
            f"dump configuration: {place} counts as {shown(given)}; accepted: an absolute path, it begins with '/'",
        )
    draft.path = given


def net_name(draft: Draft) -> None:
    draft.net_name = draft.common.string("net_name")
    if not _NET_NAME.fullmatch(draft.net_name):
        raise draft.common.error(
            "value:net_name", "net_name", "accepted: one or more letters, digits, '-' or '_' (no blanks, no dots)"
        )


def iterations(draft: Draft) -> None:
    text = draft.common.string("iteration")
    if not iteration.is_wellformed(text):
        raise draft.common.error(
            "value:iteration",
            "iteration",
            "accepted: digits, '-' and '|' without blanks, such as '0|5-8', or exactly 'all'",
        )
    draft.iteration = iteration.parse(text)
    for part in draft.iteration.oversized:
        _log.error("dump configuration: iteration part %s is over 64 bits and selects nothing", part[:80])


def input_output(draft: Draft) -> None:
    draft.input_output = draft.common.uint("input_output")
    if draft.input_output not in (0, 1, 2):
        raise draft.common.error(
            "value:input_output", "input_output", "accepted: 0 (both), 1 (inputs) or 2 (outputs)"
        )


def kernels(draft: Draft) -> None:
    """The array's type is checked always, its content is read in dump_mode 1 only (measured)."""
    entries = draft.common.array("kernels")
    if draft.dump_mode != 1:
        return
    found: dict[str, KernelRule] = {}
    for entry in entries:
        text = entry_text(entry)
        if not text:
            continue
        if text in found:
            _warn(f"kernels lists {text!r} twice")
            continue
        try:
            found[text] = read_rule(text)
        except RegexError as error:
            raise DumpConfigError(
                "regex", f"dump configuration: {draft.common.place('kernels')}, entry {shown(entry)}: {error}"
            ) from None
    draft.kernels = tuple(found.values())


def support_device(draft: Draft) -> None:
    """Numbers of any kind and booleans pass, cut to 32 bits (measured)."""
    devices: dict[int, None] = {}
    for item in draft.common.array("support_device"):
        if not isinstance(item, (int, float)):
            raise DumpConfigError(
                "json-type",
                f"dump configuration: {draft.common.place('support_device')} holds {shown(item)}, "
                f"which is {_kind_of(item)}; accepted: numbers",
            )
        device = int(item) % 2**32
        if device in devices:
            _warn(f"support_device lists {device} twice")
        devices[device] = None
    draft.support_device = tuple(devices)


def _kind_of(item: Any) -> str:
    return {dict: "an object", list: "an array", str: "a string", type(None): "null"}.get(type(item), dumps(item))


def op_debug_mode(draft: Draft) -> None:
    """Reads the field and makes its forced changes (dump_config.md 2.7)."""
    if "op_debug_mode" not in draft.common:
        return
    given = draft.common.uint("op_debug_mode")
    if given not in draft.rules.op_debug_modes:
        listed = sorted(set(draft.rules.op_debug_modes.values()))
        accepted = ", ".join(map(str, listed))
        raise draft.common.error("value:op_debug_mode", "op_debug_mode", f"counts as {given}; accepted: {accepted}")
    mode = draft.op_debug_mode = draft.rules.op_debug_modes[given]
    if mode == EXCEPTION:
        _exception_changes(draft)
    if mode in (OVERFLOW, EXCEPTION) and draft.dump_mode != 0:
        _warn(f"op_debug_mode {mode} forces dump_mode {draft.dump_mode} to 0")
        draft.dump_mode = 0
        draft.kernels = ()
    if mode == OVERFLOW and draft.input_output != 0:
        _warn(f"op_debug_mode {mode} forces input_output {draft.input_output} to 0")
        draft.input_output = 0


def _exception_changes(draft: Draft) -> None:
    if not draft.rules.exception_dump:
        _warn(f"op_debug_mode {EXCEPTION} (exception dump) is not supported on {draft.rules.backend}")
    if not draft.iteration.everything:
        _warn(f"op_debug_mode {EXCEPTION} forces iteration {draft.iteration.text!r} to 'all'")
        draft.iteration = iteration.EVERYTHING
    if draft.sample_mode == 1:
        _warn(f"op_debug_mode {EXCEPTION} forces sample_mode to 0")
        draft.sample_mode = 0
    draft.saved_data_forced = True


def overflow_number(draft: Draft) -> None:
    if "overflow_number" not in draft.common:
        return
    if draft.op_debug_mode != OVERFLOW:  # judged before the field's type (measured)
        raise draft.common.error(
            "overflow-not-3",
            "overflow_number",
            f"accepted only when op_debug_mode is {OVERFLOW}; here that is {draft.op_debug_mode}",
        )
    draft.overflow_number = draft.common.uint("overflow_number")


def saved_data(draft: Draft) -> None:
    """op_debug_mode 4 forces ``tensor`` before the word is judged, so that any string passes (measured)."""
    if "saved_data" not in draft.common:
        return
    word = draft.common.string("saved_data")
    if draft.saved_data_forced:
        if word != "tensor":
            _warn(f"op_debug_mode {EXCEPTION} forces saved_data {word!r} to 'tensor'")
        word = "tensor"
    if word not in SAVED_DATA:
        raise draft.common.error(
            "value:saved_data", "saved_data", f"accepted: {', '.join(map(repr, SAVED_DATA))}"
        )
    if word not in draft.rules.saved_data_here:
        raise draft.common.error(
            "stat-on-cpu", "saved_data", "statistic and full need a GPU or Ascend device; accepted here: 'tensor'"
        )
    draft.saved_data = word


def initial_iteration(draft: Draft) -> None:
    if "initial_iteration" in draft.common:
        draft.initial_iteration = draft.common.uint("initial_iteration")


# --- consistency ------------------------------------------------------------------------------------------------


def stat_calc_device(draft: Draft) -> None:
    """Statistics are calculated on the device only on Ascend (measured: a warning and ``host`` elsewhere)."""
    if draft.stat_calc_mode == "device" and not draft.rules.device_statistics:
        _warn(f"stat_calc_mode 'device' works on Ascend only; on {draft.rules.backend} it is 'host'")
        draft.stat_calc_mode = "host"
