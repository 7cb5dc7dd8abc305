"""``JitConfig``: how to compile a cell. There is only one way here, so the settings are checked and kept."""

from __future__ import annotations

from typing import Any

from harness.errors import SettingError

__all__ = ["JitConfig"]

#: setting: its accepted values (measured)
_ACCEPTED: dict[str, tuple[str, ...]] = {
    "jit_level": ("", "O0", "O1", "O2"),
    "exc_mode": ("auto", "sink", "no_sink"),
    "jit_syntax_level": ("", "STRICT", "LAX"),
    "debug_level": ("RELEASE", "DEBUG"),
    "infer_boost": ("", "on", "off"),
}


class JitConfig:
    """How to compile a cell, as ``mindspore.JitConfig``.

    Args:
        jit_level: ``O0``, ``O1`` or ``O2``.
        exc_mode: ``auto``, ``sink`` or ``no_sink``.
        jit_syntax_level: ``STRICT`` or ``LAX``.
        debug_level: ``RELEASE`` or ``DEBUG``.
        infer_boost: ``on`` or ``off``.
        kwargs: more, kept as given.
    """

    def __init__(
        self, jit_level: str = "", exc_mode: str = "auto", jit_syntax_level: str = "", debug_level: str = "RELEASE",
        infer_boost: str = "off", **kwargs: Any,
    ) -> None:  # fmt: skip
        given = {"jit_level": jit_level, "exc_mode": exc_mode, "jit_syntax_level": jit_syntax_level,
                 "debug_level": debug_level, "infer_boost": infer_boost}  # fmt: skip
        for name, value in given.items():
            if value not in _ACCEPTED[name]:
                raise SettingError(f"JitConfig: {name} must be one of {list(_ACCEPTED[name])}, got {value!r}")
        self.jit_config_dict = {**kwargs, **given}
