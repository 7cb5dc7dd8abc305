"""``ops.BiasAdd``."""

from __future__ import annotations

from harness.framework.ops.primitive import Primitive

__all__ = ["BiasAdd"]

#: how the finished graphs show a data format
_FORMATS = {"NCHW": 0, "NHWC": 1, "NCDHW": 14}


class BiasAdd(Primitive):
    """``BiasAdd(data_format="NCHW")(x, bias)``; only the channel-second formats are supported."""

    def __init__(self, data_format: str = "NCHW") -> None:
        if data_format not in ("NCHW", "NCDHW"):
            raise ValueError(f"BiasAdd: data_format must be NCHW or NCDHW, got {data_format!r}")
        super().__init__(trailing=(_FORMATS[data_format],))
