"""``SyncBatchNorm``: batch normalisation over the batches of all processes; a run has one."""

from __future__ import annotations

from typing import Any, ClassVar

from harness import dtypes
from harness.dtypes import DType
from harness.errors import SettingError
from harness.framework.nn.normalization import BatchNorm2d

__all__ = ["SyncBatchNorm"]


class SyncBatchNorm(BatchNorm2d):
    """``BatchNorm2d`` under its own name; ``process_groups`` may name rank 0 alone. (N, C) and (N, C, H, W)."""

    _ranks: ClassVar[tuple[int, ...]] = (2, 4)

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.9, affine: bool = True,
        gamma_init: Any = "ones", beta_init: Any = "zeros", moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones", use_batch_statistics: bool | None = None, process_groups: Any = None,
        dtype: DType = dtypes.float32,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, gamma_init, beta_init, moving_mean_init, moving_var_init,
                         use_batch_statistics, "NCHW", dtype)  # fmt: skip
        if process_groups is not None and [rank for group in process_groups for rank in group] != [0]:
            raise SettingError(f"{self.cls_name}: a run here is one process, rank 0; got groups {process_groups!r}")
