"""Normalisation layers."""

from __future__ import annotations

from typing import Any, ClassVar

from harness import dtypes
from harness.dtypes import DType
from harness.errors import SettingError, SettingTypeError, ShapeError
from harness.framework.nn import checks, precision
from harness.framework.nn.cell import Cell
from harness.framework.nn.convolution import require_nchw
from harness.framework.nn.initializer import initializer
from harness.framework.nn.namespace import ops
from harness.framework.tensor import Parameter, Tensor, read

__all__ = ["BatchNorm1d", "BatchNorm2d", "GroupNorm", "LayerNorm"]


class _BatchNorm(Cell):
    """Normalises each channel (axis 1) over the rest, with statistics of the batch or with the running ones."""

    #: the operator updates the running statistics, so it is given the parameters themselves
    _casts_parameters = False
    #: ranks of input accepted
    _ranks: ClassVar[tuple[int, ...]]

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        data_format: str = "NCHW",
        dtype: DType = dtypes.float32,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        self.num_features = checks.positive_int(num_features, "num_features", owner)
        checks.number(momentum, "momentum", owner, 0, 1)
        if use_batch_statistics is not None and not isinstance(use_batch_statistics, bool):
            raise SettingError(f"{owner}: use_batch_statistics must be a bool or None, got {use_batch_statistics!r}")
        self.format = require_nchw(data_format, owner)
        self.use_batch_statistics = use_batch_statistics
        self.eps = eps
        self.moving_mean = self._channel(moving_mean_init, "mean", False, dtype)
        self.moving_variance = self._channel(moving_var_init, "variance", False, dtype)
        self.gamma = self._channel(gamma_init, "gamma", affine, dtype)
        self.beta = self._channel(beta_init, "beta", affine, dtype)
        self.reshape = ops.Reshape()
        self.momentum = 1.0 - momentum
        self.bn_train = ops.BatchNorm(is_training=True, epsilon=eps, momentum=self.momentum, data_format=self.format)
        self.bn_infer = ops.BatchNorm(is_training=False, epsilon=eps, data_format=self.format)

    def _channel(self, init: Any, name: str, trainable: bool, dtype: DType) -> Parameter:
        return Parameter(initializer(init, self.num_features, dtype), name=name, requires_grad=trainable)

    def construct(self, x: Tensor) -> Any:
        shape = x.shape
        if len(shape) not in self._ranks:
            ranks = " or ".join(map(str, self._ranks))
            raise ShapeError(f"{self.cls_name}: the input must have {ranks} dimensions, got shape {shape}")
        batch = self.training if self.use_batch_statistics is None else self.use_batch_statistics
        if batch:
            return self.bn_train(x, self.gamma, self.beta, self.moving_mean, self.moving_variance)[0]
        if len(shape) < 4:
            x = self.reshape(x, (*shape, *([1] * (4 - len(shape)))))
        out = self.bn_infer(x, *map(self._read, (self.gamma, self.beta, self.moving_mean, self.moving_variance)))[0]
        return self.reshape(out, shape) if len(shape) < 4 else out

    def _read(self, parameter: Parameter) -> Tensor:
        """A parameter that is only read: in this cell's precision (measured)."""
        return parameter if self._float_dtype is None else precision.cast(parameter, self._float_dtype)

    def extend_repr(self) -> str:
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={1.0 - self.momentum}, gamma={self.gamma}, "
            f"beta={self.beta}, moving_mean={self.moving_mean}, moving_variance={self.moving_variance}"
        )


class BatchNorm1d(_BatchNorm):
    """Batch normalisation over (N, C) or (N, C, L)."""

    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation over (N, C, H, W)."""

    _ranks: ClassVar[tuple[int, ...]] = (4,)


class LayerNorm(Cell):
    """Normalises over the axes from ``begin_norm_axis``, then scales by ``gamma`` and shifts by ``beta``."""

    def __init__(
        self,
        normalized_shape: tuple[int, ...] | list[int],
        begin_norm_axis: int = -1,
        begin_params_axis: int = -1,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        epsilon: float = 1e-7,
        dtype: DType = dtypes.float32,
    ) -> None:
        super().__init__()
        if not isinstance(normalized_shape, (tuple, list)):
            raise SettingTypeError(
                f"{self.cls_name}: normalized_shape must be a tuple or list of ints, "
                f"got {type(normalized_shape).__name__} {normalized_shape!r}"
            )
        if not normalized_shape:
            raise SettingError(f"{self.cls_name}: normalized_shape must not be empty")
        self.normalized_shape = normalized_shape
        self.begin_norm_axis = begin_norm_axis
        self.begin_params_axis = begin_params_axis
        self.epsilon = epsilon
        self.gamma = Parameter(initializer(gamma_init, normalized_shape, dtype), name="gamma")
        self.beta = Parameter(initializer(beta_init, normalized_shape, dtype), name="beta")
        self.layer_norm = ops.LayerNorm(
            begin_norm_axis=begin_norm_axis, begin_params_axis=begin_params_axis, epsilon=epsilon
        )

    def construct(self, input_x: Tensor) -> Any:
        # Cast even to the dtype they have: a function that is looked up here first (measured).
        gamma, beta = read(self.gamma).astype(input_x.dtype), read(self.beta).astype(input_x.dtype)
        y, _, _ = self.layer_norm(input_x, gamma, beta)
        return y

    def extend_repr(self) -> str:
        return (
            f"normalized_shape={self.normalized_shape}, begin_norm_axis={self.begin_norm_axis}, "
            f"begin_params_axis={self.begin_params_axis}, gamma={self.gamma}, beta={self.beta}"
        )


class GroupNorm(Cell):
    """Normalises groups of channels of (N, C, ...) over everything but N."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-05,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        dtype: DType = dtypes.float32,
    ) -> None:
        super().__init__()
        self.num_groups = checks.positive_int(num_groups, "num_groups", self.cls_name)
        self.num_channels = checks.positive_int(num_channels, "num_channels", self.cls_name)
        if num_channels % num_groups:
            raise SettingError(
                f"{self.cls_name}: num_channels {num_channels} must be divisible by num_groups {num_groups}"
            )
        self.eps = eps
        self.affine = checks.boolean(affine, "affine", self.cls_name)
        self.gamma = Parameter(initializer(gamma_init, num_channels, dtype), name="gamma", requires_grad=affine)
        self.beta = Parameter(initializer(beta_init, num_channels, dtype), name="beta", requires_grad=affine)

    def construct(self, x: Tensor) -> Any:
        if len(x.shape) < 2 or x.shape[1] != self.num_channels:
            raise ShapeError(f"{self.cls_name}: the input must have {self.num_channels} channels, got shape {x.shape}")
        gamma, beta = precision.cast(self.gamma, x.dtype), precision.cast(self.beta, x.dtype)
        return ops.group_norm(x, self.num_groups, gamma, beta, self.eps)

    def extend_repr(self) -> str:
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}"
