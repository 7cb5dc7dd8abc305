"""``mindspore.experimental.optim.lr_scheduler``: learning rates that change from epoch to epoch.

Rates and epochs are Float32 parameters.
"""

from harness.framework.experimental.optim.annealing import (
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    CyclicLR,
    ReduceLROnPlateau,
    SequentialLR,
)
from harness.framework.experimental.optim.schedules import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    LRScheduler,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from harness.framework.names import fallback as _fallback

__all__ = [
    "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR", "LRScheduler",
    "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR",
    "StepLR",
]  # fmt: skip

__getattr__ = _fallback(__name__)
