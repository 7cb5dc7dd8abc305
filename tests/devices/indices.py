"""Where each element of a tensor stands in a device's memory: the flat index, written down element by element.

Independent of the implementation, which moves whole arrays; formulas of the block formats' descriptions.
"""

from __future__ import annotations

from collections.abc import Callable
from math import lcm
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]
Formula = Callable[..., Array]


def up(size: int, block: int) -> int:
    """Blocks that hold ``size``."""
    return (size + block - 1) // block


def nhwc(at: Array, s: Shape, c0: int) -> Array:
    (n, c, h, w), (_, C, H, W) = at, s
    return ((n * H + h) * W + w) * C + c


def hwcn(at: Array, s: Shape, c0: int) -> Array:
    (n, c, h, w), (N, C, _, W) = at, s
    return ((h * W + w) * C + c) * N + n


def chwn(at: Array, s: Shape, c0: int) -> Array:
    (n, c, h, w), (N, _, H, W) = at, s
    return ((c * H + h) * W + w) * N + n


def ndhwc(at: Array, s: Shape, c0: int) -> Array:
    (n, c, d, h, w), (_, C, D, H, W) = at, s
    return (((n * D + d) * H + h) * W + w) * C + c


def dhwcn(at: Array, s: Shape, c0: int) -> Array:
    (n, c, d, h, w), (N, C, _, H, W) = at, s
    return (((d * H + h) * W + w) * C + c) * N + n


def dhwnc(at: Array, s: Shape, c0: int) -> Array:
    (n, c, d, h, w), (N, C, _, H, W) = at, s
    return (((d * H + h) * W + w) * N + n) * C + c


def nc1hwc0(at: Array, s: Shape, c0: int) -> Array:
    (n, c, h, w), (_, C, H, W) = at, s
    return (((n * up(C, c0) + c // c0) * H + h) * W + w) * c0 + c % c0


def nc1hwc0_c04(at: Array, s: Shape, c0: int) -> Array:
    return nc1hwc0(at, s, 4)


def ndc1hwc0(at: Array, s: Shape, c0: int) -> Array:
    (n, c, d, h, w), (_, C, D, H, W) = at, s
    return ((((n * D + d) * up(C, c0) + c // c0) * H + h) * W + w) * c0 + c % c0


def fractal_z(at: Array, s: Shape, c0: int, groups: int = 1) -> Array:
    (row, c, h, w), (N, C, H, W) = at, s
    outputs = N // groups
    g, n = row // outputs, row % outputs
    e_size = min(lcm(lcm(C, c0) // C, lcm(outputs, 16) // outputs), groups)
    e = g % e_size
    dc, dn = e * C + c, e * outputs + n
    c1, n1 = up(e_size * C, c0), up(e_size * outputs, 16)
    return (((((g // e_size) * c1 + dc // c0) * H + h) * W + w) * n1 * 16 + dn) * c0 + dc % c0


def fractal_z_3d(at: Array, s: Shape, c0: int) -> Array:
    (n, c, d, h, w), (N, C, _, H, W) = at, s
    return ((((d * up(C, c0) + c // c0) * H + h) * W + w) * up(N, 16) * 16 + n) * c0 + c % c0


def fractal_nz(at: Array, s: Shape, c0: int) -> Array:
    *lead, m, n = at
    *_, M, N = s
    batch = np.zeros_like(m)
    for index, size in zip(lead, s, strict=False):
        batch = batch * size + index
    w1, h1 = up(N, c0), up(M, 16)
    return batch * w1 * h1 * 16 * c0 + ((n // c0) * h1 + m // 16) * 16 * c0 + (m % 16) * c0 + n % c0


def c1hwncoc0(at: Array, s: Shape, c0: int) -> Array:
    (n, c, h, w), (N, _, H, W) = at, s
    return (((((c // c0) * H + h) * W + w) * N + n) * c0 + c % c0) * c0 + c % c0


def fractal_z_c04(at: Array, s: Shape, c0: int) -> Array:
    (n, c, h, w), (N, _, _, W) = at, s
    k = (h * W + w) * 4 + c
    return ((k // 16) * up(N, 16) + n // 16) * 256 + (n % 16) * 16 + k % 16


def channel_last(at: Array, s: Shape, c0: int) -> Array:
    n, c, *spatial = at
    _, C, *sizes = s
    flat = n
    for index, size in zip(spatial, sizes, strict=True):
        flat = flat * size + index
    return flat * C + c


#: format -> formula; ``at`` is ``numpy.indices`` of the host shape ``s``
FORMULAS: dict[str, Formula] = {
    "NHWC": nhwc, "HWCN": hwcn, "CHWN": chwn, "NDHWC": ndhwc, "DHWCN": dhwcn, "DHWNC": dhwnc, "NC1HWC0": nc1hwc0,
    "NC1HWC0_C04": nc1hwc0_c04, "NDC1HWC0": ndc1hwc0, "FRACTAL_Z": fractal_z, "FRACTAL_Z_3D": fractal_z_3d,
    "FRACTAL_NZ": fractal_nz, "C1HWNCoC0": c1hwncoc0, "FRACTAL_Z_C04": fractal_z_c04, "ChannelLast": channel_last,
}  # fmt: skip


def placed(name: str, host: Array, c0: int, size: int, fill: Any = 0, **more: Any) -> Array:
    """The flat device buffer of ``size`` elements that holds ``host`` in format ``name``."""
    out = np.full(size, fill, host.dtype)
    out[FORMULAS[name](np.indices(host.shape), host.shape, c0, **more).reshape(-1)] = host.reshape(-1)
    return out
