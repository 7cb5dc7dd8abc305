"""How a ``.ir`` prints the types of values: type lines, device lines, kinds.

Source of the forms: MindSpore 2.10.0 CPU ``.ir`` files, measured.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby

from harness.graph.node import Const, Node, Operand, Parameter
from harness.recording.spec import OpaqueSpec, ScalarSpec, Spec, TensorSpec, TupleSpec


@lru_cache(maxsize=4096)
def dims(shape: tuple[int, ...]) -> str:
    """``2, 8``: the inside of every printed shape."""
    return ", ".join(map(str, shape))


def _core(spec: Spec) -> str:
    """``Tensor[Float32]``, ``Tuple[Tensor[Float32]*2,Int64]``, ``UMonad``."""
    if isinstance(spec, TensorSpec):
        return f"Tensor[{spec.dtype.name}]"
    if isinstance(spec, ScalarSpec):
        return spec.dtype.name
    if isinstance(spec, OpaqueSpec):
        return spec.kind
    runs = [(name, len(list(same))) for name, same in groupby(_core(s) for s in spec.items)]
    return f"Tuple[{','.join(name if n == 1 else f'{name}*{n}' for name, n in runs)}]"


def _shape(spec: Spec) -> str:
    """``(2, 8)``, ``NoShape``, ``TupleShape((2), ())``."""
    if isinstance(spec, TensorSpec):
        return f"({dims(spec.shape)})"
    if isinstance(spec, TupleSpec):
        return f"TupleShape({', '.join(_shape(s) for s in spec.items)})"
    return "NoShape"


def type_text(spec: Spec, *, inplace: frozenset[str] = frozenset(), constant: bool = False) -> str:
    """One entry of a type line, without its angle brackets.

    Args:
        inplace: names of the parameters that a node of the graph updates.
        constant: whether the value is known; then tensors print ``value=...`` and tuples which elements are used.
    """
    if isinstance(spec, TensorSpec) and spec.ref_key is not None:
        tail = ", is_inplace" if spec.ref_key in inplace else ""
        return f"Ref[{_core(spec)}], {_shape(spec)}, ref_key={spec.ref_key}, is_parameter{tail}"
    if isinstance(spec, TensorSpec):  # nearly always
        return f"Tensor[{spec.dtype.name}], ({dims(spec.shape)}){', value=...' if constant else ''}"
    text = f"{_core(spec)}, {_shape(spec)}"
    if constant and isinstance(spec, TupleSpec) and spec.items:
        return f"{text}, elements_use_flags={{[const vector]{{{dims((1,) * len(spec.items))}}}}}"
    return text


def abstract(operand: Operand) -> Spec:
    """The value's type in the network; ``operand.spec`` is its type on the device.

    They differ if a device has no kernel for the requested dtype; ``node.extra.abstract`` keeps the request.
    """
    if isinstance(operand, Node):
        wish: Spec = operand.spec if operand.extra.abstract is None else operand.extra.abstract
        return wish
    return operand.spec


def operand_type(operand: Operand, inplace: frozenset[str]) -> str:
    """``<Tensor[Float32], (2, 8)>``."""
    return f"<{type_text(abstract(operand), inplace=inplace, constant=isinstance(operand, Const))}>"


def device_text(spec: Spec, name: str | None = None) -> str:
    """``<Float32xDefaultFormat[const vector]{2, 8}>``; ``name`` replaces the dtype (weights print ``Unknown``)."""
    shape = dims(spec.shape) if isinstance(spec, TensorSpec) else ""
    return f"<{name or _device_name(spec)}xDefaultFormat[const vector]{{{shape}}}>"


def _device_name(spec: Spec) -> str:
    if isinstance(spec, (TensorSpec, ScalarSpec)):
        return spec.dtype.name
    if isinstance(spec, TupleSpec):
        # A tuple of ints is one argument on the device; an empty one counts as ints too.
        return _device_name(spec.items[0]) if spec.items else "Int64"
    return spec.kind


def kind_text(operand: Operand) -> str:
    """``Tensor``, ``Scalar``, ``Tuple``, ``TupleUnfold`` or ``Unknown``: how the value reaches the kernel."""
    spec = operand.spec
    if isinstance(spec, TensorSpec):
        return "Tensor"
    if isinstance(spec, TupleSpec):
        return "Tuple" if isinstance(operand, Const) else "TupleUnfold"
    if isinstance(spec, ScalarSpec) or spec.kind == "String":
        return "Scalar"
    return "Unknown"


def is_none(operand: Operand) -> bool:
    """True for an argument that was not given."""
    return isinstance(operand, Const) and operand.value is None


def is_monad(operand: Operand) -> bool:
    """True for a value that only orders side effects."""
    return isinstance(operand.spec, OpaqueSpec) and operand.spec.kind.endswith("Monad")


def weight_or_data(parameter: Parameter) -> str:
    """The device part of a parameter's line."""
    return device_text(parameter.spec, "Unknown" if parameter.is_weight else None)
