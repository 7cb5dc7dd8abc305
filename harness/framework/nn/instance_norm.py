"""``InstanceNorm1d``, ``InstanceNorm2d`` and ``InstanceNorm3d``: each channel of each example normalised.

A real CPU has no kernel for their operator; here they consist of the operators in their formula
(``docs/differences.md``).
"""

from __future__ import annotations

from typing import Any, ClassVar

from harness import dtypes
from harness.dtypes import DType
from harness.errors import SettingError, ShapeError
from harness.framework.nn import checks
from harness.framework.nn.cell import Cell
from harness.framework.nn.initializer import initializer
from harness.framework.nn.namespace import ops
from harness.framework.tensor import Parameter

__all__ = ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]


class _InstanceNorm(Cell):
    """(x - mean) / sqrt(variance + eps) * gamma + beta; the running statistics are kept as they begin."""

    _rank: ClassVar[int]

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True,
        gamma_init: Any = "ones", beta_init: Any = "zeros", dtype: DType = dtypes.float32,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_features = checks.positive_int(num_features, "num_features", self.cls_name)
        self.eps = checks.number(eps, "eps", self.cls_name, 0, 1)
        if not eps:
            raise SettingError(f"{self.cls_name}: eps must be above 0, got {eps}")
        self.momentum = checks.number(momentum, "momentum", self.cls_name, 0, 1)
        checks.boolean(affine, "affine", self.cls_name)
        self.moving_mean = Parameter(initializer("zeros", num_features, dtype), name="mean", requires_grad=False)
        self.moving_variance = Parameter(initializer("ones", num_features, dtype), name="variance", requires_grad=False)
        self.gamma = Parameter(initializer(gamma_init, num_features, dtype), name="gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, num_features, dtype), name="beta", requires_grad=affine)

    def construct(self, x: Any) -> Any:
        if len(x.shape) != self._rank or x.shape[1] != self.num_features:
            raise ShapeError(f"{self.cls_name}: {self._rank} axes with {self.num_features} channels are needed, "
                             f"got shape {x.shape}")  # fmt: skip
        axes = tuple(range(2, self._rank))
        mean = ops.ReduceMean(keep_dims=True)(x, axes)
        apart = x - mean
        variance = ops.ReduceMean(keep_dims=True)(ops.square(apart), axes)
        normal = apart * ops.rsqrt(variance + self.eps)
        shape = (1, self.num_features, *([1] * (self._rank - 2)))
        return normal * ops.reshape(self.gamma, shape) + ops.reshape(self.beta, shape)


class InstanceNorm1d(_InstanceNorm):
    """Over (N, C, L)."""

    _rank = 3


class InstanceNorm2d(_InstanceNorm):
    """Over (N, C, H, W)."""

    _rank = 4


class InstanceNorm3d(_InstanceNorm):
    """Over (N, C, D, H, W)."""

    _rank = 5
