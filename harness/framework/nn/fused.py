"""Layers of a convolution or a product, a normalization and an activation, each of the last two on demand."""

from __future__ import annotations

from typing import Any

from harness.framework.nn.activation import LeakyReLU, get_activation
from harness.framework.nn.basic import Dense
from harness.framework.nn.cell import Cell
from harness.framework.nn.convolution import Conv2d
from harness.framework.nn.normalization import BatchNorm1d, BatchNorm2d

__all__ = ["Conv2dBnAct", "DenseBnAct"]


class _BnAct(Cell):
    """What follows the first layer."""

    def _follow(self, norm: Cell | None, activation: Any, alpha: float, after_fake: bool) -> None:
        self.has_bn, self.has_act, self.after_fake = norm is not None, activation is not None, after_fake
        if norm is not None:
            self.batchnorm = norm
        if activation == "leakyrelu":
            self.activation: Any = LeakyReLU(alpha)
        else:
            self.activation = get_activation(activation) if isinstance(activation, str) else activation

    def _followed(self, x: Any) -> Any:
        x = self.batchnorm(x) if self.has_bn else x
        return self.activation(x) if self.has_act else x


class Conv2dBnAct(_BnAct):
    """``Conv2d``, ``BatchNorm2d`` (``has_bn``) and an activation (by name or cell; ``alpha`` is LeakyReLU's)."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = "normal",
        bias_init: Any = "zeros",
        has_bn: bool = False,
        momentum: float = 0.997,
        eps: float = 1e-5,
        activation: Any = None,
        alpha: float = 0.2,
        after_fake: bool = True,
    ) -> None:
        super().__init__()
        self.conv = Conv2d(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init,
            bias_init,
        )  # fmt: skip
        self._follow(BatchNorm2d(out_channels, eps, momentum) if has_bn else None, activation, alpha, after_fake)

    def construct(self, x: Any) -> Any:
        return self._followed(self.conv(x))


class DenseBnAct(_BnAct):
    """``Dense``, ``BatchNorm1d`` (``has_bn``) and an activation (by name or cell; ``alpha`` is LeakyReLU's)."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Any = "normal",
        bias_init: Any = "zeros",
        has_bias: bool = True,
        has_bn: bool = False,
        momentum: float = 0.9,
        eps: float = 1e-5,
        activation: Any = None,
        alpha: float = 0.2,
        after_fake: bool = True,
    ) -> None:
        super().__init__()
        self.dense = Dense(in_channels, out_channels, weight_init, bias_init, has_bias)
        self._follow(BatchNorm1d(out_channels, eps, momentum) if has_bn else None, activation, alpha, after_fake)

    def construct(self, x: Any) -> Any:
        return self._followed(self.dense(x))
