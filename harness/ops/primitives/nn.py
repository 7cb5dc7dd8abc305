"""Primitives of losses, normalisation and activation over rows."""

from __future__ import annotations

from harness.ops.primitive import Primitive

__all__ = ["SparseSoftmaxCrossEntropyWithLogits"]


class SparseSoftmaxCrossEntropyWithLogits(Primitive):
    """Mean cross entropy of integer labels; with ``is_grad`` its gradient for the scores."""

    def __init__(self, is_grad: bool = False) -> None:
        if not isinstance(is_grad, bool):
            raise TypeError(f"SparseSoftmaxCrossEntropyWithLogits: is_grad must be a bool, got {is_grad!r}")
        super().__init__(
            attrs={
                "output_names": ["output"],
                "input_names": ["features", "labels"],
                "sens": 1.0,
                "is_grad": is_grad,
            }
        )
