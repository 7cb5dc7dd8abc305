"""PyTorch's kernels agree with the harness's own: same arguments, same results, operator by operator."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from harness import Tensor, dtypes
from harness.dtypes import DType
from harness.errors import DtypeError, HarnessError, KernelError
from harness.framework.ops import OPERATORS, taken
from harness.framework.ops.elementwise import Binary, Unary
from harness.framework.ops.expansion import Composite
from harness.framework.ops.reduce import Reduction
from harness.framework.tensor import call
from tests.framework.ops.facts import read, recorded
from tests.properties.kernels import CASES, FLOATS, LONG, inputs, results

if importlib.util.find_spec("torch") is None:
    pytest.skip("PyTorch is needed: pip install 'pytest-msdump[torch]'", allow_module_level=True)

from harness.framework.engines.torch.base import KERNELS
from tests.framework.engines.torch.beside import Beside, beside

VALUES = [case for case, found in recorded("values").items() if not isinstance(found, str)]
#: further arguments of elementwise operators of one tensor
MORE = {"Elu": (1.0,), "CeLU": (1.2,), "SoftShrink": (0.5,), "HShrink": (0.5,), "Round": (Tensor(1),)}
#: what a graph never launches: a value handed on, and one that runs as another operator
NEVER = {"Depend", "Conv2DTranspose"}


@pytest.fixture(autouse=True)
def _any_dtype(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are compared in every dtype, which not every operator takes from users."""
    monkeypatch.setattr(taken, "TAKEN", {})


@pytest.fixture(scope="module")
def everything() -> Iterator[Beside]:
    """All comparisons of this module."""
    with beside() as found:
        yield found


@pytest.fixture
def found(everything: Beside) -> Iterator[Beside]:
    """Fails with what a test's comparisons found to differ."""
    before = len(everything.faults)
    yield everything
    faults = everything.faults[before:]
    assert not faults, "\n".join([f"{len(faults)} differ", *faults[:20]])


def special(dtype: DType) -> np.ndarray[Any, Any]:
    """Values at the edges of a dtype, NaN and infinities among them."""
    if dtype.kind == "b":
        return np.array([True, False])
    if dtype.kind in "iu":
        ends = np.iinfo(dtype.numpy)
        return np.array([ends.min, ends.max, 0, 1, 2, 3, 7, 100, *((-1, -3) if dtype.kind == "i" else ())], dtype.numpy)
    if dtype.kind == "c":
        return np.array([0.5 + 2j, -1 - 0.25j, 0.1, 3j, -2.0], dtype.numpy)
    numbers = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -1, 0.5, -2.5, 3, -3, 6, 0.001, 20.25, -20.25]
    return np.array(numbers).astype(dtype.numpy)


def called(name: str, *args: Any, **attrs: Any) -> bool:
    """Runs an operator; whether it takes these arguments."""
    try:
        call(name, *args, **attrs)
    except HarnessError:
        return False
    return True


@pytest.mark.parametrize("name", CASES)
def test_cases_and_their_gradients(name: str, found: Beside) -> None:
    taken = []
    for dtype in FLOATS:
        try:
            taken.append(list(results(CASES[name].function, CASES[name].inputs, dtype)))
        except (DtypeError, KernelError) as error:  # no engine takes this dtype; a kernel that fails is named
            if "kernel of" in str(error):
                raise
    assert any(taken)


@pytest.mark.parametrize("part", [dtypes.float32, dtypes.float64], ids=str)
def test_complex_numbers(part: DType, found: Beside) -> None:
    real, imag = Tensor(np.array([[0.5, -2, 3], [0, 1, -1]]), part), Tensor(np.array([1.5, 0, -0.25]), part)
    whole = call("Complex", real, imag)
    for name in ("Real", "Imag", "Conj", "Angle", "ComplexAbs"):
        assert called(name, whole)
    for name in ("Real", "Imag", "Conj"):
        assert called(name, real)


@pytest.mark.parametrize("name", [name for name in LONG if name != "wide conv2d"])
def test_many_terms(name: str, found: Beside) -> None:
    function, shapes = LONG[name]
    for dtype in FLOATS:
        assert list(results(function, inputs(shapes), dtype))


@pytest.mark.parametrize("case", VALUES)
def test_what_mindspore_was_seen_to_give(case: str, found: Beside) -> None:
    function, arguments, _ = read(case)
    function(*arguments)


@pytest.mark.parametrize("name", [n for n in KERNELS if isinstance(OPERATORS.get(n), Unary) and not n.endswith("Grad")])
def test_one_tensor_in_every_dtype(name: str, found: Beside) -> None:
    taken = [called(name, Tensor(special(d)), *MORE.get(name, ())) for d in dtypes.ALL]
    assert any(taken)


@pytest.mark.parametrize(
    "name", [n for n in KERNELS if isinstance(OPERATORS.get(n), Binary) and not n.endswith("Grad")]
)
def test_two_tensors_in_every_dtype(name: str, found: Beside) -> None:
    taken = []
    for dtype in dtypes.ALL:
        values = special(dtype)
        taken.append(called(name, Tensor(values[:, None]), Tensor(values)))
    assert any(taken)


@pytest.mark.parametrize("name", [n for n in KERNELS if isinstance(OPERATORS.get(n), Reduction)])
def test_reductions_in_every_dtype(name: str, found: Beside) -> None:
    more = (False,) if name == "ReduceSum" else ()
    for dtype in dtypes.ALL:
        values = special(dtype) >> 14 if dtype in (dtypes.int64, dtypes.uint64) else special(dtype)
        rows = Tensor(np.stack([values, values[::-1], np.roll(values, 1)]))
        for axes in ((), (0,), (1,), (0, 1)):
            for keep in (False, True):
                called(name, rows, axes, keep, *more)
        called(name, Tensor(values[0]), (), False, *more)


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_casts(dtype: DType, found: Beside) -> None:
    for other in dtypes.ALL:
        values = special(dtype)
        if dtype.kind in "fc" and other.kind in "iu":
            values = values[np.isfinite(values)]
            values = values if other.kind == "i" else np.abs(values)
        assert called("Cast", Tensor(values), other)


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_what_moves_bits(dtype: DType, found: Beside) -> None:
    values = special(dtype)
    size = len(values) // 2 * 2
    x = Tensor(values[:size].reshape(2, -1))
    n = size // 2
    index = Tensor(np.array([[0, 1], [1, 1]], np.int32))
    slices = [[*map(Tensor, each)] for each in (([0], [2], [1]), ([1, n - 1], [-3, -n - 1], [-1, -1]))]
    assert all((
        called("Reshape", x, (size,)), called("Transpose", x, (1, 0)), called("BroadcastTo", x, (3, 2, n)),
        called("Tile", x, (2, 1, 2)), called("Concat", (x, x), 1), called("Stack", (x, x), axis=1, num=2),
        called("Unstack", x, axis=0, num=2), called("Split", x, 0, 2), called("Gather", x, index, 0, 0),
        called("ReverseV2", x, Tensor([1])), called("ExpandDims", x, -1), called("TensorMove", x),
        called("Identity", x),
        called("StridedSlice", x, (1, n), (0, 0), (-1, -1), 1, 3, 0, 0, 0), called("ZerosLike", x),
        *(called("TensorCopySlices", x, x, *bounds) for bounds in slices),
        called("OnesLike", x), called("Select", Tensor(np.array([[True], [False]])), x, x),
        called("PadV3", x, Tensor([1, 0, 0, 2]), None, mode="constant", paddings_contiguous=True),
        called("Sort", x, axis=-1, descending=True) or dtype.kind in "bc",
        called("FillV2", (2, 3), Tensor(values[0])), called("Diag", Tensor(values)) or dtype.kind in "bc",
    ))  # fmt: skip


@pytest.mark.parametrize("dtype", [d for d in dtypes.ALL if d.kind == "f"], ids=str)
def test_updates_in_place(dtype: DType, found: Beside) -> None:
    def tensor(*values: float) -> Tensor:
        return Tensor(np.array(values), dtype)

    def number(value: float) -> Tensor:
        return Tensor(np.array(value), dtypes.float32)

    def four(seed: int) -> list[Tensor]:
        return [tensor(*np.abs(np.random.Generator(np.random.PCG64(seed + i)).standard_normal(6))) for i in range(4)]

    for at, nesterov in enumerate((False, True)):
        variable, m, v, gradient = four(at)
        powers = [number(p) for p in (0.9, 0.999, 1e-3, 0.9, 0.999, 1e-8)]
        assert called("Adam", variable, m, v, *powers, gradient, use_locking=False, use_nesterov=nesterov)
        variable, m, v, gradient = four(at + 5)
        rates = [number(p) for p in (1e-3, 0.9, 0.999, 1e-8, 0.01)]
        assert called("AdamWeightDecay", variable, m, v, *rates, gradient, True)
        variable, m, _, gradient = four(at + 9)
        assert called("ApplyMomentum", variable, m, number(0.1), gradient, number(0.9), gradient_scale=0.5)
        variable, m, _, gradient = four(at + 12)
        assert called("ApplyAdagrad", variable, m, number(0.1), gradient, update_slots=nesterov)
        assert called("ApplyAdagradV2", variable, m, number(0.1), gradient, update_slots=nesterov, epsilon=0.25)
        variable, m, v, gradient = four(at + 40)
        assert called("ApplyAdadelta", variable, m, v, *(number(p) for p in (0.5, 0.9, 1e-3)), gradient)
        variable, m, v, gradient = four(at + 43)
        assert called("ApplyAdaMax", variable, m, v, *(number(p) for p in (0.9, 0.1, 0.9, 0.99, 1e-3)), gradient)
        variable, m, linear, gradient = four(at + 46)
        weights = [variable, m, linear, gradient]
        assert called("ApplyFtrl", *weights, *(number(p) for p in (0.5, 0.01 * at, 0.1, -0.5)))
        variable, m, _, gradient = four(at + 49)
        assert called("ApplyProximalAdagrad", variable, m, *(number(p) for p in (0.5, 0.01 * at, 0.1)), gradient)
        settings = [number(p) for p in (0.9, 0.5, 1e-3)]
        variable, square, moment, gradient = four(at + 14)
        assert called("ApplyRMSProp", variable, square, moment, number(0.1), gradient, *settings)
        variable, mean, moment, gradient = four(at + 17)
        square = tensor(*(mean.asnumpy() ** 2 + 1))
        assert called("ApplyCenteredRMSProp", variable, mean, square, moment, gradient, number(0.1), *settings)
        for momentum in (0.0, 0.9):
            variable, m, stat, gradient = four(at + 20)
            more = {"dampening": 0.1 * at, "weight_decay": 0.01, "nesterov": nesterov}
            assert called("SGD", variable, gradient, number(0.1), m, number(momentum), stat, **more)
        for name in ("Assign", "AssignAdd", "AssignSub"):
            variable, _, _, value = four(30)
            assert called(name, variable, value)


def test_assignments_of_integers(found: Beside) -> None:
    for dtype in dtypes.ALL:
        values = special(dtype)
        for name in ("Assign", "AssignAdd", *(("AssignSub",) if dtype.kind != "b" else ())):
            called(name, Tensor(values.copy()), Tensor(values[::-1].copy()))


def test_what_makes_tensors(found: Beside) -> None:
    x = Tensor(np.array([[3, -1], [0, 5]], np.int32))
    assert called("OneHot", x, 4, Tensor(2.0), Tensor(-1.0), -1)
    assert called("OneHot", x, 4, Tensor(2.0), Tensor(-1.0), 0)
    assert called("LinSpace", Tensor(-1.0), Tensor(2.0), 7)
    assert called("LinSpace", Tensor(-1.0), Tensor(2.0), 1)
    assert called("NonZero", Tensor(np.array([[0.0, np.nan], [2, 0]])))
    assert called("Ones", (2, 3), 43)
    assert called("Zeros", (2, 3), 37)
    assert called("Eye", 3, 2, 43)


def test_an_index_out_of_range_is_an_error_on_both_sides(found: Beside) -> None:
    x, bad = Tensor(np.ones((2, 3), np.float32)), Tensor(np.array([[0, 9]], np.int32))
    for name, arguments in {
        "Gather": (x, bad, 0, 0), "GatherD": (x, 0, bad), "GatherNd": (x, bad), "ScatterNd": (bad, x[0, :1], (2, 3)),
        "UnsortedSegmentSum": (x, Tensor(np.array([0, 9], np.int32)), 2),
    }.items():  # fmt: skip
        assert not called(name, *arguments), name


#: their numpy kernel is the only one: they exchange tensors with other ranks, write, compute nothing, or draw from the
#: harness's own stream of random numbers, so that engines can be compared
ALONE = """
    AllGather AllReduce AlltoAll Barrier Broadcast CollectiveGather CollectiveScatter Receive Reduce ReduceScatter Send
    Print RealMakeTuple Bernoulli LogUniformCandidateSampler Multinomial RandomCategorical RandomGamma RandomPoisson
    RandomShuffle RandpermV2 StandardLaplace StandardNormal UniformCandidateSampler UniformInt UniformReal
"""
#: how many operators have a kernel: a new one is counted here, and none is lost unseen
COUNTED = 234


def test_kernels_are_of_operators_that_may_have_one() -> None:
    plain = {name for name in OPERATORS if not isinstance(OPERATORS.get(name), Composite)}
    alone = set(ALONE.split())
    assert plain >= alone | set(KERNELS)
    assert not alone & set(KERNELS)
    assert len(set(KERNELS)) == COUNTED


def test_every_kernel_was_compared(everything: Beside) -> None:
    if len(everything.met) < 100:
        pytest.skip("needs the other tests of this module, run before it")
    assert set(KERNELS) - everything.met.keys() == NEVER
