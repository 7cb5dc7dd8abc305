"""What every storage format must do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from harness import dtypes
from harness.devices.formats import FORMATS
from harness.devices.formats.base import StorageFormat
from harness.errors import ShapeError
from harness.testing.suites.base import Array, Suite, expect, refused, same


class FormatSuite(Suite):
    """Rules for a storage format.

    Attributes:
        format: its name; it is found by it.
        shapes: host shapes that it holds.
        dtypes: names of dtypes of the elements.

    Examples:
        As a class in a test file, ``Test...``, or at once:

        >>> from harness.testing import FormatSuite
        >>> class FractalNz(FormatSuite):
        ...     format = "FRACTAL_NZ"
        ...     shapes = ((3, 5), (16, 32), (2, 17, 33))
        >>> FractalNz().broken()
        {}
    """

    format: ClassVar[str] = ""
    shapes: ClassVar[Sequence[tuple[int, ...]]] = ()
    dtypes: ClassVar[Sequence[str]] = ("float16", "float32", "int8", "int32", "bfloat16")

    def test_it_is_found_by_its_name(self) -> None:
        """The registry has it, under the name it calls itself."""
        expect(self.format in FORMATS, f"no format is called {self.format!r}")
        expect(self._format.name == self.format, f"{self.format!r} calls itself {self._format.name!r}")
        expect(self.shapes, "the suite needs shapes")

    def test_the_shape_on_the_device_is_what_it_says(self) -> None:
        """``to_device`` gives an array of ``device_shape``, of the same dtype, C-contiguous."""
        for host in self._arrays():
            made, wanted = self._format.to_device(host), self._format.device_shape(host.shape, host.dtype)
            told = f"{self._told(host)}: to_device gives {made.dtype} {list(made.shape)}"
            expect(made.shape == tuple(wanted), f"{told}, device_shape says {list(wanted)}")
            expect(made.dtype == host.dtype and made.flags.c_contiguous, f"{told}, not C-contiguous {host.dtype}")

    def test_there_and_back_changes_no_bit(self) -> None:
        """``to_host(to_device(x))`` is ``x``, bit for bit."""
        for host in self._arrays():
            back = self._format.to_host(self._format.to_device(host), host.shape)
            expect(same(back, host), f"{self._told(host)}: other bits after to_device and to_host")

    def test_the_given_array_stays(self) -> None:
        """Neither direction changes what it was given; both give C-contiguous arrays."""
        for host in self._arrays():
            before = host.copy()
            made = self._format.to_device(host)
            kept = made.copy()
            back = self._format.to_host(made, host.shape)
            expect(same(host, before), f"{self._told(host)}: to_device changes its argument")
            expect(same(made, kept), f"{self._told(host)}: to_host changes its argument")
            expect(back.flags.c_contiguous, f"{self._told(host)}: to_host gives an array that is not C-contiguous")

    def test_every_element_is_there(self) -> None:
        """The device's array holds each element of the host's; what else it holds is padding."""
        for host in self._arrays():
            made = self._format.to_device(host)
            here, there = (np.unique(_numbers(each), return_counts=True) for each in (host, made))
            held = dict(zip(there[0].tolist(), there[1].tolist(), strict=True))
            lost = [
                number
                for number, count in zip(*map(np.ndarray.tolist, here), strict=True)
                if held.get(number, 0) < count
            ]
            expect(not lost, f"{self._told(host)}: {len(lost)} values are not on the device")

    def test_the_same_again(self) -> None:
        """Equal arrays give equal bits, padding included."""
        for host in self._arrays():
            made = [self._format.to_device(host.copy()) for _ in range(2)]
            expect(same(*made), f"{self._told(host)}: two calls give other bits")

    def test_another_shape_is_refused(self) -> None:
        """``to_host`` refuses an array that is not of the device's shape; a negative size is refused."""
        for host in self._arrays():
            made = self._format.to_device(host)
            with refused(ShapeError, f"{self._told(host)}: a device array of {made.ndim + 1} dimensions"):
                self._format.to_host(made[None], host.shape)
        with refused(ShapeError, "a size of -2"):
            self._format.device_shape((-2,) * len(self.shapes[0]), "float32")

    @property
    def _format(self) -> StorageFormat:
        return FORMATS.get(self.format)

    def _arrays(self) -> Iterator[Array]:
        for shape in self.shapes:
            for name in self.dtypes:
                count = int(np.prod(shape))
                yield (np.arange(1, count + 1) % 100).astype(dtypes.by_name(name).numpy).reshape(shape)

    def _told(self, host: Array) -> str:
        return f"{self.format}, {host.dtype} {list(host.shape)}"


def _numbers(array: Array) -> Array:
    return array.astype(np.float64).reshape(-1)
