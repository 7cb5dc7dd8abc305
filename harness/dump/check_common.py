"""Checks of ``common_dump_settings`` except its modes, one function per field; ``rules`` says which run, in which
order.

Each takes the ``Draft``, raises ``DumpConfigError`` for values that the original refuses, and fills in the field's
meaning. Values, defaults and the 32-bit cut: dump_config.md sections 1 to 3, measured on 2.10.0; older releases from
their public source.
"""

from __future__ import annotations

import re
from typing import Any

from harness import log
from harness.dump import iteration
from harness.dump.check_method import warn
from harness.dump.draft import COMMON, Draft, json_text
from harness.dump.ecma import RegexError
from harness.dump.json_text import dumps
from harness.dump.selection import KernelRule, entry_text, read_rule
from harness.errors import DumpConfigError

DIAGNOSTIC_ENV = "MS_DIAGNOSTIC_DATA_PATH"
MARKED = 2
"""dump_mode of what ``set_dump`` marked."""

_PATH = re.compile(r"[A-Za-z0-9_/-]*")
_NET_NAME = re.compile(r"[A-Za-z0-9_-]*")
_log = log.get("dump.config")


def required(draft: Draft) -> None:
    """All presence checks come before any value check."""
    needs_mode = draft.rules.op_debug_mode_required and draft.method != "e2e"
    for key in (*draft.rules.required, *(["op_debug_mode"] if needs_mode else [])):
        if key not in draft.settings:
            raise DumpConfigError(
                f"missing:{key}", f"dump configuration: {draft.where} has no {COMMON}.{key}, which is required"
            )


def dump_mode(draft: Draft) -> None:
    mode = draft.settings.uint("dump_mode")
    if mode not in draft.rules.dump_modes:
        accepted = ", ".join(map(str, draft.rules.dump_modes))
        raise draft.settings.error("value:dump_mode", "dump_mode", f"counts as {mode}; accepted: {accepted}")
    if mode == MARKED and draft.method not in draft.rules.marked_with:
        here = draft.rules.target == "Ascend" and draft.rules.marked_with
        where = f"with the {' or '.join(sorted(here))} dump" if here else "on Ascend only, and not in every release"
        raise draft.settings.error(
            "mode2-method" if here else "mode2-ascend-only",
            "dump_mode",
            f"mode 2 (set_dump) works {where}; accepted on {draft.rules.backend} here: 0 or 1",
        )
    draft.dump_mode = mode


def path(draft: Draft) -> None:
    given = draft.settings.string("path") if "path" in draft.settings else ""
    if not given and draft.rules.path_from_environment and draft.environ.get(DIAGNOSTIC_ENV):
        given = draft.environ[DIAGNOSTIC_ENV] + "/debug_dump"
    place = draft.settings.place("path")
    if not given:
        raise DumpConfigError(
            "path-empty",
            f"dump configuration: {place} is absent or empty; accepted: an absolute path here"
            + (f", or in the environment variable {DIAGNOSTIC_ENV}" if draft.rules.path_from_environment else ""),
        )
    if not _PATH.fullmatch(given):
        raise DumpConfigError(
            "path-chars",
            f"dump configuration: {place} counts as {json_text(given)}; accepted: letters, digits, '-', '_' and '/'",
        )
    if not given.startswith("/"):
        raise DumpConfigError(
            "path-absolute",
            f"dump configuration: {place} counts as {json_text(given)}; accepted: an absolute path, it begins with '/'",
        )
    draft.path = given


def net_name(draft: Draft) -> None:
    draft.net_name = draft.settings.string("net_name")
    if not _NET_NAME.fullmatch(draft.net_name) or (not draft.net_name and not draft.rules.net_name_may_be_empty):
        raise draft.settings.error(
            "value:net_name", "net_name", "accepted: one or more letters, digits, '-' or '_' (no blanks, no dots)"
        )


def iterations(draft: Draft) -> None:
    """Read only if a dump is on; older releases fail at the first step where this fails at once."""
    text = draft.settings.string("iteration")
    if draft.method == "off" and draft.rules.off_is_warned:
        return
    read, accepted = iteration.GRAMMARS[draft.rules.iteration_grammar]
    try:
        draft.iteration = read(text)
    except ValueError:
        raise draft.settings.error("value:iteration", "iteration", f"accepted: {accepted}") from None
    for part in draft.iteration.oversized:
        _log.error("dump configuration: iteration part %s is over 64 bits and selects nothing", part[:80])


def iteration_number(draft: Draft) -> None:
    """Releases 1.0 to 1.2: one number."""
    draft.iteration = iteration.single(draft.settings.uint("iteration"), zero_is_all=True)


def async_iteration(draft: Draft) -> None:
    """Releases 1.0 to 1.2: only in the synchronous dump 0 means every step."""
    if draft.method == "async":
        draft.iteration = iteration.single(draft.settings.uint("iteration"), zero_is_all=False)


def input_output(draft: Draft) -> None:
    draft.input_output = draft.settings.uint("input_output")
    if draft.input_output not in (0, 1, 2):
        raise draft.settings.error(
            "value:input_output", "input_output", "accepted: 0 (both), 1 (inputs) or 2 (outputs)"
        )


def kernels(draft: Draft) -> None:
    """The array's type is always checked; its content is read only in dump_mode 1 (measured), but always in releases up
    to 1.7."""
    entries = draft.settings.array("kernels")
    rules = draft.rules
    if draft.dump_mode != 1 and not rules.kernels_always_read:
        return
    found: dict[str, KernelRule] = {}
    for entry in entries:
        text = entry_text(entry, blanks=rules.kernels_keep_blanks)
        if not text and not rules.kernels_keep_empty:
            continue
        if text in found:
            warn(f"kernels lists {text!r} twice")
            continue
        try:
            found[text] = read_rule(text, rules.kernel_kinds)
        except RegexError as error:
            raise DumpConfigError(
                "regex", f"dump configuration: {draft.settings.place('kernels')}, entry {json_text(entry)}: {error}"
            ) from None
    if draft.dump_mode == 1:
        draft.kernels = tuple(found.values())


def support_device(draft: Draft) -> None:
    """Numbers of any kind and booleans pass, cut to 32 bits (measured)."""
    devices: dict[int, None] = {}
    for item in draft.settings.array("support_device"):
        if not isinstance(item, (int, float)):
            raise DumpConfigError(
                "json-type",
                f"dump configuration: {draft.settings.place('support_device')} holds {json_text(item)}, "
                f"which is {_kind_of(item)}; accepted: numbers",
            )
        device = int(item) % 2**32
        if device in devices:
            warn(f"support_device lists {device} twice")
        devices[device] = None
    draft.support_device = tuple(devices)


def _kind_of(item: Any) -> str:
    return {dict: "an object", list: "an array", str: "a string", type(None): "null"}.get(type(item), dumps(item))


def initial_iteration(draft: Draft) -> None:
    if "initial_iteration" in draft.settings:
        draft.initial_iteration = draft.settings.uint("initial_iteration")
