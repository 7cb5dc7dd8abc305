"""``mindspore.numpy`` gives the dtypes, shapes and values that MindSpore 2.10.0 CPU gave (``tests/data/numpy``)."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from harness import Tensor, context, float32, grad, nn
from harness.errors import HarnessError
from harness.framework import numpy as mnp
from tests.differential.mistakes import outcomes, program
from tests.differential.side import Side

RECORDED: dict[str, str] = json.loads(
    (Path(__file__).parents[2] / "data" / "numpy" / "calls.json").read_text(encoding="utf-8")
)


def test_calls_give_what_was_recorded(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(program(list(RECORDED)))
    side = Side(sys.executable, own=True)
    side.begin(tmp_path / "program.py", tmp_path, 600)
    code = side.end()
    side.close()
    assert not code, (tmp_path / "stderr").read_text()
    found = outcomes(tmp_path)
    assert {call: found[at].text for at, call in enumerate(RECORDED)} == RECORDED


class Net(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        turned = mnp.rot90(mnp.concatenate((x, mnp.ones_like(x)), axis=1))
        return mnp.sum(mnp.where(turned > 0, mnp.sqrt(mnp.abs(turned)), 0.5 * turned)) + mnp.mean(mnp.std(x, axis=1))


@pytest.mark.parametrize("mode", [context.PYNATIVE_MODE, context.GRAPH_MODE])
def test_networks_compute_with_it_and_have_gradients(mode: int) -> None:
    x = Tensor([[0.5, -1.0, 2.0], [3.0, 0.25, -0.75]], float32)
    before = context.get_context("mode")
    context.set_context(mode=mode)
    try:
        value, slope = Net()(x).asnumpy(), grad(Net())(x).asnumpy()
    finally:
        context.set_context(mode=before)
    wide = x.asnumpy().astype(np.float64)
    expected = np.where(wide > 0, np.sqrt(np.abs(wide)), 0.5 * wide).sum() + 6 + wide.std(axis=1).mean()
    assert value == pytest.approx(expected, rel=1e-5)
    spread = (wide - wide.mean(1, keepdims=True)) / wide.std(1, keepdims=True) / 6
    assert slope == pytest.approx(np.where(wide > 0, 0.5 / np.sqrt(np.abs(wide)), 0.5) + spread, rel=1e-4)


LINE = Tensor([0.5, -1.0, 2.0, 3.0, 0.25], float32)
#: functions of one line, and numpy's of the same name
OF_A_LINE = {
    "gradient": lambda m, x: m.gradient(x, 2.0),
    "trapz": lambda m, x: m.trapz(x, dx=0.5),
    "convolve": lambda m, x: m.convolve(x, x[:3], "same"),
    "interp": lambda m, x: m.interp(x, m.array([-1.5, 1.0, 4.0]), x[1:4]),
    "polyval": lambda m, x: m.polyval(x, x),
    "cov": lambda m, x: m.cov(x, x[::-1]),
    "histogram": lambda m, x: m.histogram(x, m.array([-1.2, 0.1, 1.2, 3.3]), weights=x)[0],
}


@pytest.mark.parametrize("name", OF_A_LINE)
def test_functions_of_a_line_compute_in_graphs(name: str) -> None:
    class Of(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            return OF_A_LINE[name](mnp, x)

    before = context.get_context("mode")
    context.set_context(mode=context.GRAPH_MODE)
    try:
        found, slope = Of()(LINE).asnumpy(), grad(Of())(LINE).asnumpy()
    finally:
        context.set_context(mode=before)
    wide = LINE.asnumpy().astype(np.float64)

    def total(x: np.ndarray) -> float:
        module = types.SimpleNamespace(**{**vars(np), "trapz": vars(np).get("trapezoid") or vars(np)["trapz"]})
        return float(np.sum(OF_A_LINE[name](module, x)))

    assert found.sum() == pytest.approx(total(wide), rel=1e-5)
    steps = np.eye(5) * 1e-6
    expected = [(total(wide + step) - total(wide - step)) / 2e-6 for step in steps]
    assert slope == pytest.approx(np.array(expected), rel=1e-3, abs=1e-5)


REFUSED = {
    "a window's length": lambda: mnp.hanning(2.0),
    "weights of cov": lambda: mnp.cov(mnp.arange(3), aweights=mnp.array([0.5, 1.0, 2.0])),
    "digits": lambda: mnp.around(mnp.arange(3), -1),
    "a matrix to search in": lambda: mnp.searchsorted(mnp.ones((2, 2)), 1),
    "a number to spread": lambda: mnp.diagflat(5),
    "an array": lambda: mnp.asarray(np.ones(2)),
    "a shape": lambda: mnp.zeros("foo"),
    "an end": lambda: mnp.arange("foo"),
    "parts": lambda: mnp.split(mnp.arange(5), 2),
    "one tensor": lambda: mnp.concatenate(3),
    "one choice": lambda: mnp.where(Tensor([True])),
    "wrap": lambda: mnp.pad(mnp.arange(3), 1, mode="wrap"),
    "raise": lambda: mnp.take(mnp.arange(3), [1], mode="raise"),
    "a count": lambda: mnp.linspace(0, 1, -3),
    "the end of a grid": lambda: mnp.mgrid[1.5:3],
    "a grid of nothing": lambda: mnp.ogrid[3:1],
    "raise in choose": lambda: mnp.choose(mnp.array([0, 1]), [1, 2], "raise"),
    "numbers to correlate": lambda: mnp.correlate(3, 2),
    "a third axis": lambda: mnp.dsplit(mnp.ones((2, 2)), 2),
    "one function too many": lambda: mnp.piecewise(mnp.arange(3), [mnp.arange(3) > 1], [1.0, 2.0]),
    "lines of places": lambda: mnp.ravel_multi_index(mnp.array([[1], [2]]), 4),
    "not here": lambda: mnp.histogram2d(3),
}


@pytest.mark.parametrize("which", sorted(REFUSED))
def test_bad_arguments_are_refused(which: str) -> None:
    with pytest.raises(HarnessError):
        REFUSED[which]()


@pytest.mark.parametrize("name", ["fft", "ifft2", "rfftn", "irfft", "hfft", "ihfft", "fftshift", "ifftshift"])
def test_transforms_are_those_of_numpy(name: str) -> None:
    x = np.random.RandomState(1).rand(3, 5).astype(np.float32)
    found = getattr(mnp.fft, name)(Tensor(x)).asnumpy()
    assert found == pytest.approx(getattr(np.fft, name)(x.astype(np.float64)), rel=1e-5, abs=1e-6)
    axis = {"axis": 0} if not name.endswith(("2", "n", "shift")) else {"axes": (0,)}
    found = getattr(mnp.fft, name)(Tensor(x), **axis).asnumpy()
    assert found == pytest.approx(getattr(np.fft, name)(x.astype(np.float64), **axis), rel=1e-5, abs=1e-6)
    assert mnp.fft.fftfreq(4, 0.5).asnumpy().tolist() == np.fft.fftfreq(4, 0.5).tolist()


@pytest.mark.parametrize(
    ("shape", "axis", "expected", "total"),
    [
        ((1, 3, 2), 2, (2, 3, 2), 126), ((2, 1, 2), 2, (2, 3, 2), 126), ((1, 1, 2), -1, (2, 3, 2), 126),
        ((2, 3, 1), 1, (2, 3, 4), 228), ((1, 2, 4), 1, (2, 2, 4), 152), ((2, 3, 5), 2, (2, 3, 5), 315),
    ],
)  # fmt: skip
def test_take_along_axis_takes_the_other_axes_of_the_array(
    shape: tuple[int, ...], axis: int, expected: tuple[int, ...], total: int
) -> None:
    places = Tensor(np.arange(np.prod(shape)).reshape(shape) % 2)
    taken = mnp.take_along_axis(Tensor(np.arange(24).reshape(2, 3, 4)), places, axis)
    assert (taken.shape, taken.asnumpy().sum()) == (expected, total)
