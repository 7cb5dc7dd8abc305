"""The storage format of each slot of an operator on a device.

Source: the format choices the Dump documents show for Ascend (feature maps of convolutions, pooling and batch
normalisation NC1HWC0, weights FRACTAL_Z, matrices FRACTAL_NZ). The newer operator library takes most tensors in the
host's order, and a real graph keeps a device format between two such operators; neither is emulated: a slot's format
depends on its operator only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.devices.formats import DEFAULT, Layout
from harness.recording import Operator, Spec, TensorSpec

FEATURE = "NC1HWC0"
WEIGHT = "FRACTAL_Z"
MATRIX = "FRACTAL_NZ"
VOLUME = "NDC1HWC0"


@dataclass(frozen=True, slots=True)
class Slots:
    """Formats of the slots of one operator, by position; a slot beyond them has the default format.

    Attributes:
        inputs, outputs: a name of ``FORMATS``, or the empty text for the default.
        ranks: ranks of the tensors the formats hold; others keep the default.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    ranks: tuple[int, ...]


def _slots(inputs: str, outputs: str, ranks: tuple[int, ...]) -> Slots:
    short = {"F": FEATURE, "W": WEIGHT, "M": MATRIX, "V": VOLUME, "-": ""}
    return Slots(tuple(short[c] for c in inputs), tuple(short[c] for c in outputs), ranks)


#: F feature map, W weight, M matrix, V volume, - the host's order
ASCEND: Mapping[str, Slots] = {
    "Conv2D": _slots("FW", "F", (4,)),
    "Conv2DBackpropInput": _slots("FW", "F", (4,)),
    "Conv2DBackpropFilter": _slots("FF", "W", (4,)),
    "MaxPool": _slots("F", "F", (4,)),
    "MaxPoolGrad": _slots("FFF", "F", (4,)),
    "AvgPool": _slots("F", "F", (4,)),
    "AvgPoolGrad": _slots("FFF", "F", (4,)),
    # rows of features, and statistics of a channel, lie as feature maps of one pixel
    "BatchNorm": _slots("FFFFF", "FFFFF", (1, 2, 4)),
    "BatchNormGrad": _slots("FFFFFF", "FFF", (1, 2, 4)),
    "AvgPool3D": _slots("V", "V", (5,)),
    "AvgPool3DGrad": _slots("-V", "V", (5,)),
    "MatMul": _slots("MM", "M", (2,)),
    "BatchMatMul": _slots("MM", "M", (3, 4, 5, 6, 7, 8)),
}


@dataclass(frozen=True, slots=True)
class Storage:
    """Storage formats of a device, by operator; an operator that is not in ``slots`` has the default everywhere."""

    slots: Mapping[str, Slots] = field(default_factory=dict)

    def layout(self, node: Operator, io: str, slot: int, spec: Spec) -> Layout:
        """The layout of ``io`` (``input`` or ``output``) ``slot`` of ``node``, whose spec is ``spec``."""
        row = self.slots.get(node.type)
        if row is None or not isinstance(spec, TensorSpec) or len(spec.shape) not in row.ranks:
            return DEFAULT
        names = row.inputs if io == "input" else row.outputs
        name = names[slot] if slot < len(names) else ""
        if not name or not spec.dtype.is_floating:
            return DEFAULT
        return Layout(name, _groups(node) if name == WEIGHT else 1, "NC" if _is_row(name, spec) else None)


def _is_row(name: str, spec: TensorSpec) -> bool:
    return name == FEATURE and len(spec.shape) == 2


def _groups(node: Operator) -> int:
    groups = node.attributes.get("group", node.attributes.get("groups", 1))
    return groups if isinstance(groups, int) and groups > 0 else 1
