"""The precision of products under a context's settings.

Sources: defaults and words of the settings from MindSpore 2.10.0's Python package; what they do on which chip from the
vendor's documents, not measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harness.devices.numerics import Numerics
from harness.devices.overflow import SATURATING
from harness.errors import SettingError

#: ``precision_mode`` of Ascend: what float32 factors of products become; None: as the chip and the HF32 settings say
PRECISION_MODES: dict[str, str | None] = {
    "force_fp16": "float16",
    "allow_fp32_to_fp16": "float16",
    "allow_fp32_to_bf16": "bfloat16",
    "allow_mix_precision": "float16",
    "allow_mix_precision_fp16": "float16",
    "allow_mix_precision_bf16": "bfloat16",
    "must_keep_origin_dtype": None,
    "force_fp32": None,
}


def choose(numerics: Numerics, target: str, soc: str, context: Mapping[str, Any]) -> Numerics:
    """``numerics`` with the roundings of products that ``context`` asks for.

    Args:
        numerics: the device's own.
        target: ``Ascend``, ``GPU`` or ``CPU`` (for which nothing changes).
        soc: chip of an Ascend. The first generation's matrix unit has no float32: its factors become float16.
        context: settings; ``ascend_config`` (``precision_mode``, ``matmul_allow_hf32``, ``conv_allow_hf32``) or
            ``gpu_config`` (``matmul_allow_tf32``, ``conv_allow_tf32``).
    """
    if target == "GPU":
        config = context.get("gpu_config", {})
        return _allow(numerics, config, "tf32")
    if target != "Ascend":
        return numerics
    config = context.get("ascend_config", {})
    mode = config.get("precision_mode")
    if mode is not None and mode not in PRECISION_MODES:
        raise SettingError(f"ascend_config: precision_mode must be one of {list(PRECISION_MODES)}, got {mode!r}")
    everywhere = PRECISION_MODES.get(mode) if mode is not None else None
    if everywhere is None and soc in SATURATING:
        everywhere = "float16"
    if everywhere is not None:
        return replace(numerics, matmul=everywhere, convolution=everywhere)
    return _allow(numerics, config, "hf32")


def _allow(numerics: Numerics, config: Mapping[str, Any], short: str) -> Numerics:
    matmul = _short(config, f"matmul_allow_{short}", short, numerics.matmul)
    convolution = _short(config, f"conv_allow_{short}", short, numerics.convolution)
    return replace(numerics, matmul=matmul, convolution=convolution)


def _short(config: Mapping[str, Any], key: str, short: str, default: str) -> str:
    """``short`` where ``config`` allows it, float32 where it does not, ``default`` where it says nothing."""
    if key not in config:
        return default
    if not isinstance(config[key], bool):
        raise SettingError(f"{key} must be True or False, got {config[key]!r}")
    return short if config[key] else "float32"
