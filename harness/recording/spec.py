"""Types of a graph's values: tensor, scalar, tuple, monad.

Source of the printed forms: MindSpore 2.10.0 ``.ir`` texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from harness.dtypes import DType


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """A tensor; a dimension of -1 is known only at run time.

    Attributes:
        dtype: of the elements.
        shape: of the tensor.
        ref_key: the parameter's name if the value is a reference to it (``Ref[Tensor[...]]``).

    Examples:
        >>> from harness import dtypes
        >>> from harness.recording import TensorSpec
        >>> TensorSpec(dtypes.float16, (2, 3)).nbytes, TensorSpec(dtypes.float16, (-1, 3)).size
        (12, -1)
    """

    dtype: DType
    shape: tuple[int, ...]
    ref_key: str | None = None

    @property
    def size(self) -> int:
        """Number of elements; -1 while a dimension is unknown."""
        return -1 if -1 in self.shape else prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the tensor; negative while a dimension is unknown."""
        return self.size * self.dtype.itemsize

    @property
    def tensor(self) -> TensorSpec:
        """The same spec without the reference."""
        return self if self.ref_key is None else TensorSpec(self.dtype, self.shape)


@dataclass(frozen=True, slots=True)
class ScalarSpec:
    """A Python number inside a graph (``Bool``, ``Int64``, ``Float32``; ``NoShape``).

    Attributes:
        dtype: of the number.
    """

    dtype: DType


@dataclass(frozen=True, slots=True)
class TupleSpec:
    """A tuple of values.

    Attributes:
        items: spec of each.
    """

    items: tuple[Spec, ...]


@dataclass(frozen=True, slots=True)
class OpaqueSpec:
    """A value with no bytes: ``UMonad``, ``IOMonad``, ``String``, ``None``, ``Type``.

    Attributes:
        kind: one of these.
    """

    kind: str


Spec = TensorSpec | ScalarSpec | TupleSpec | OpaqueSpec

UMONAD = OpaqueSpec("UMonad")
IOMONAD = OpaqueSpec("IOMonad")


def wrong_of(spec: object) -> str | None:
    """What is wrong with a spec, in a few words; None if nothing is."""
    if isinstance(spec, TupleSpec):
        items = spec.items if isinstance(spec.items, tuple) else (spec.items,)
        return next((wrong for each in items if (wrong := wrong_of(each)) is not None), None)
    if not isinstance(spec, (TensorSpec, ScalarSpec, OpaqueSpec)):
        return f"{spec!r:.60} ({type(spec).__name__}) is no spec; a TensorSpec is accepted"
    if isinstance(spec, OpaqueSpec):
        return None
    if not isinstance(spec.dtype, DType):
        return f"its dtype is {spec.dtype!r:.60}; one of harness.dtypes is accepted"
    shape = spec.shape if isinstance(spec, TensorSpec) else ()
    if not isinstance(shape, tuple) or any(type(size) is not int or size < -1 for size in shape):
        return f"its shape is {shape!r:.60}; a tuple of numbers from 0 is accepted, -1 for an unknown one"
    return None
