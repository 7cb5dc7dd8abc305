"""Converts tensors dumped in device layout back to the host's order."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from harness.capture.join import Owner, Shape
from harness.devices.formats import DEFAULT, FORMATS, Layout
from harness.dtypes import DType
from harness.errors import ShapeError, UnknownNameError, UnsupportedError
from harness.records import Array


def stored_as(
    name: str, stored: Shape, logical: Shape | None, dtype: DType, owner: Owner | None
) -> Callable[[Array], Array] | None:
    """Gives the function that converts a tensor from a device's format to the host's; None if it stays as it is.

    Args:
        name: name of the format in the file's name.
        stored: shape in the file.
        logical: shape in the graph, which shows what is padding; None if unknown.
        dtype: of the elements.
        owner: the tensor's owner, which knows the groups of a convolution.
    """
    if name == DEFAULT.format or logical is None or -1 in logical or name not in FORMATS:
        return None
    layout = Layout(name, owner.groups if owner is not None and FORMATS.get(name).grouped else 1)
    try:
        if layout.device_shape(logical, dtype) != stored:
            return None  # a sample, or a tensor of another graph
    except (ShapeError, UnsupportedError, UnknownNameError):
        return None
    return partial(_to_host, layout, logical)


def _to_host(layout: Layout, shape: Shape, array: Array) -> Array:
    return layout.to_host(array, shape)
