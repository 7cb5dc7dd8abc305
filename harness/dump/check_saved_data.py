"""Checks of ``saved_data``, ``file_format`` and the statistics: the part of a tensor that is kept.

Source: dump_config.md 2.9, 2.10; the CPU of 2.10.0 measured, the rest from public source.
"""

from __future__ import annotations

from types import MappingProxyType

from harness.dump.check_debug import EXCEPTION
from harness.dump.check_method import warn
from harness.dump.draft import Draft, json_text
from harness.errors import DumpConfigError

SAVED_DATA = ("statistic", "tensor", "full")
FILE_FORMATS = ("npy", "bin")

COUNTS = (
    "count", "negative zero count", "positive zero count", "nan count", "negative inf count", "positive inf count",
    "zero count",
)  # fmt: skip
"""The items that count elements."""
DEVICE_ITEMS = ("max", "min", "avg", "l2norm")
"""The items a device can calculate."""
ITEMS: MappingProxyType[str, str] = MappingProxyType(
    {item: item for item in ("max", "min", "avg", *COUNTS, "md5", "l2norm")}
)
"""Meaning of each item of ``statistic_category``, up to 2.6."""
NEWEST_ITEMS = MappingProxyType({**ITEMS, "hash": "sha1", "hash:sha1": "sha1", "hash:md5": "md5"})
"""Likewise, newest."""
DEFAULT_ITEMS = ("max", "min", "l2norm")
OLDEST_ITEMS = ("max", "min", "avg", *COUNTS)
"""What releases without ``statistic_category`` write."""


def file_format(draft: Draft) -> None:
    """Read only in the asynchronous dump (measured: anything passes elsewhere)."""
    if draft.method == "e2e" or "file_format" not in draft.settings:
        return
    draft.file_format = draft.settings.string("file_format")
    if draft.file_format not in FILE_FORMATS:
        raise draft.settings.error("value:file_format", "file_format", "accepted: 'npy' or 'bin'")


def saved_data(draft: Draft) -> None:
    """op_debug_mode 4 forces ``tensor`` before the word is judged, so that any string passes (measured)."""
    if "saved_data" not in draft.settings:
        return
    word = draft.settings.string("saved_data")
    if draft.saved_data_forced:
        if word != "tensor":
            warn(f"op_debug_mode {EXCEPTION} forces saved_data {word!r} to 'tensor'")
        word = "tensor"
    if word not in SAVED_DATA:
        raise draft.settings.error("value:saved_data", "saved_data", f"accepted: {', '.join(map(repr, SAVED_DATA))}")
    if word != "tensor":
        _judge_statistics(draft)
    draft.saved_data = word


def _judge_statistics(draft: Draft) -> None:
    """Checks whether statistics are available here."""
    needs = draft.rules.statistics_need
    if needs == "nothing":
        return
    if needs == "another device":
        where = "a GPU" if draft.rules.target == "Ascend" else "a GPU or Ascend"
        kind = "stat-gpu-only" if draft.rules.target == "Ascend" else "stat-on-cpu"
        raise draft.settings.error(
            kind, "saved_data", f"statistic and full need {where} device; accepted here: 'tensor'"
        )
    if draft.file_format != "npy" and (draft.method != "e2e" or needs == "async npy"):
        more = " and no enabled e2e_dump_settings" if needs == "async npy" else ""
        raise draft.settings.error(
            "stat-needs-npy", "saved_data", f"statistic and full need file_format 'npy'{more} on {draft.rules.backend}"
        )


def stat_calc_device(draft: Draft) -> None:
    """Statistics are calculated on the device only on Ascend, and only if no tensors are kept."""
    if draft.stat_calc_mode != "device":
        return
    if not draft.rules.device_statistics:
        warn(f"stat_calc_mode 'device' works on Ascend only; on {draft.rules.backend} it is 'host'")
        draft.stat_calc_mode = "host"
    elif draft.saved_data != "statistic":
        warn(f"stat_calc_mode 'device' needs saved_data 'statistic'; with {draft.saved_data!r} it is 'host'")
        draft.stat_calc_mode = "host"


def statistic_category(draft: Draft) -> None:
    """The items in the user's order; read only if there are statistics (measured)."""
    if draft.saved_data == "tensor":
        return
    known = draft.rules.statistic_items
    if known is None:
        draft.statistic_category = OLDEST_ITEMS
        return
    if "statistic_category" not in draft.settings:
        draft.statistic_category = DEFAULT_ITEMS
        return
    given = draft.settings.array("statistic_category")
    for item in given:
        if not isinstance(item, str):
            raise DumpConfigError(
                "json-type",
                f"dump configuration: {draft.settings.place('statistic_category')} holds {json_text(item)}; accepted: "
                f"strings",
            )
    unknown = [item for item in given if item not in known]
    if unknown:
        raise DumpConfigError(
            "value:statistic_category",
            f"dump configuration: {draft.settings.place('statistic_category')}: the following statistic_category is "
            f"invalid: {json_text(unknown)}; accepted: {', '.join(map(repr, known))}",
        )
    draft.statistic_category = _chosen(draft, given)


def _chosen(draft: Draft, given: list[str]) -> tuple[str, ...]:
    if draft.stat_calc_mode == "device":
        dropped = [item for item in given if item not in DEVICE_ITEMS]
        if dropped:
            warn(f"statistic_category: {', '.join(dropped)} can be calculated on the host only, and is left out")
        return tuple(item for item in given if item in DEVICE_ITEMS)
    known = draft.rules.statistic_items or {}
    items = [known[item] for item in given]
    return tuple(dict.fromkeys(items) if draft.rules.statistic_items is NEWEST_ITEMS else items)


def useless_output(draft: Draft) -> None:
    """``MINDSPORE_DUMP_IGNORE_USELESS_OUTPUT``: 1 (the default) or 0."""
    given = draft.environ.get("MINDSPORE_DUMP_IGNORE_USELESS_OUTPUT", "1")
    if given not in ("0", "1"):
        warn(f"MINDSPORE_DUMP_IGNORE_USELESS_OUTPUT is {given[:80]!r}, which counts as '1'; accepted: '0' or '1'")
    draft.ignore_useless_output = given != "0"
