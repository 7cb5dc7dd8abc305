"""Checks of ``e2e_dump_settings``, one function per field; ``rules`` says which run, in which order.

Values and defaults: dump_config.md 1.3, measured on 2.10.0; the two required fields of releases up to 2.2 from their
public source.
"""

from __future__ import annotations

from harness.dump.draft import Draft, Section
from harness.errors import DumpConfigError


def _absent(draft: Draft, key: str) -> bool:
    return draft.e2e is None or key not in draft.e2e


def _e2e(draft: Draft) -> Section:
    assert draft.e2e is not None  # each caller has called _absent
    return draft.e2e


def both_flags(draft: Draft) -> None:
    """Releases up to 2.2: if the section exists, both of its fields must."""
    for key in ("enable", "trans_flag"):
        if draft.e2e is not None and key not in draft.e2e:
            raise DumpConfigError(
                f"missing:{key}", f"dump configuration: {draft.where} has no {draft.e2e.name}.{key}, which is required"
            )


def enable(draft: Draft) -> None:
    """In newer releases it says how tensors leave the device; in older ones whether this dump is on at all."""
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
