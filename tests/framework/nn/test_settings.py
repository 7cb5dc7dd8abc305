"""Settings of cells and optimizers that change nothing on one process, as measured; and names that are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import harness as ms
from harness import Parameter, Tensor, nn, ops, train
from harness.errors import UnsupportedError, UnsupportedNameError
from harness.framework import context


def made() -> nn.Cell:
    """Layers with a buffer of each kind."""
    cell = nn.SequentialCell(nn.Dense(2, 2), nn.BatchNorm1d(2))
    cell.register_buffer("b", Tensor([1.0, 2.0]))
    cell.register_buffer("i", Tensor([1, 2]))
    cell.p = Parameter(Tensor([1, 2], ms.int32), name="p")
    return cell


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("bprop_debug", 1, TypeError), ("cell_init_args", True, TypeError), ("pipeline_stage", True, TypeError),
        ("pipeline_stage", -1, ValueError), ("pipeline_segment", "a", TypeError), ("compile_phase", None, TypeError),
        ("parameter_layout_dict", 1, TypeError), ("parallel_parameter_name_list", {}, TypeError),
        ("param_prefix", "a", AttributeError), ("compiled", True, AttributeError), ("create_time", 1, AttributeError),
        ("exist_names", {}, AttributeError), ("cls_name", "x", AttributeError), ("phase", 3, TypeError),
    ],
)  # fmt: skip
def test_wrong_values_of_settings_are_refused(name: str, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=name):
        setattr(made(), name, value)


def test_settings_keep_what_they_are_given() -> None:
    cell = made()
    assert [cell.bprop_debug, cell.compile_phase, cell.param_prefix, cell.compiled] == [False, None, "", False]
    cell.bprop_debug, cell.pipeline_stage, cell.phase = True, 2, "x"
    assert [cell.bprop_debug, cell.pipeline_stage, cell.phase] == [True, 2, "x"]
    cell.update_cell_prefix()
    cell.update_cell_type("kind")
    assert [each.param_prefix for _, each in cell.cells_and_names()] == ["", "0", "1"]
    assert cell.cell_type == "kind"
    assert cell.set_inputs() is None


def test_flags_and_numbers_of_communication() -> None:
    cell = made()
    assert cell.set_broadcast_flag().set_boost("less_bn") is cell
    assert cell[0].get_flags() == {"broadcast_flag": True, "less_bn": True}
    with pytest.raises(ValueError, match="less_bn"):
        cell.set_boost("x")
    cell.set_comm_fusion(0)
    cell.set_comm_fusion(3, recurse=False)
    assert [p.comm_fusion for p in cell.get_parameters()] == [3, 0, 0, 1, 1, 0, 0]
    cell.p.layerwise_parallel = True
    assert "p" not in cell.parameters_broadcast_dict()
    assert cell.parameters_broadcast_dict(recurse=False) is None


@pytest.mark.parametrize(
    ("args", "kwargs", "kinds"),
    [
        ((ms.float16,), {}, "Float16"), ((), {"dtype": ms.bfloat16}, "BFloat16"), (("CPU",), {}, "Float32"),
        (("CPU", ms.float64), {}, "Float64"), ((Tensor(1.0, ms.float64),), {}, "Float64"), ((), {}, "Float32"),
        ((ms.complex64, True), {}, "Complex64"),
    ],
)  # fmt: skip
def test_to_casts_what_is_floating(args: Any, kwargs: Any, kinds: str) -> None:
    cell = made()
    weight = cell[0].weight
    assert cell.to(*args, **kwargs) is cell
    assert cell[0].weight is weight
    found = {name: str(value.dtype) for name, value in cell.state_dict().items()}
    assert (found.pop("p"), found.pop("i")) == ("Int32", "Int64")
    assert set(found.values()) == {kinds}


@pytest.mark.parametrize(
    ("args", "error"), [((ms.int32,), TypeError), ((3,), TypeError), (("GPU",), ValueError)]
)  # fmt: skip
def test_to_refuses_what_it_cannot_do(args: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        made().to(*args)


def test_state_dict_adds_to_a_dict_with_a_prefix() -> None:
    given: dict[str, Any] = {"x": 1}
    assert made().state_dict(given, "a.") is given
    assert list(given)[:3] == ["x", "a.p", "a.b"]
    assert "b.p" in made().state_dict(prefix="b.", keep_vars=True)
    for wrong in ({"destination": 1}, {"prefix": 1}, {"keep_vars": 1}):
        with pytest.raises(TypeError):
            made().state_dict(**wrong)


def test_names_of_mindspores_cells_are_refused_by_name() -> None:
    cell = made()
    with pytest.raises(UnsupportedNameError, match=r"mindspore\.Cell\.to_empty"):
        cell.to_empty()
    with pytest.raises(UnsupportedNameError, match=r"mindspore\.Cell\.IGNORE_LIST"):
        _ = cell.IGNORE_LIST
    with pytest.raises(AttributeError, match="no attribute 'nosuch'"):
        _ = cell.nosuch


def test_an_optimizers_target_is_the_cpu() -> None:
    optimizer = nn.SGD([Parameter(Tensor([1.0]), name="w")], 0.1)
    optimizer.target, optimizer.unique = "CPU", False
    assert (optimizer.target, optimizer.unique) == ("CPU", False)
    for name, value, error in (("target", "GPU", ValueError), ("target", 3, TypeError), ("unique", 1, TypeError)):
        with pytest.raises(error, match=name):
            setattr(optimizer, name, value)


def test_layers_without_settings_take_none() -> None:
    for name in ("Tril", "Triu", "ImageGradients", "MatDet", "Tanhshrink"):
        with pytest.raises(TypeError):
            getattr(nn, name)(auto_prefix=False)


@pytest.fixture(params=[0, 1], ids=["graph", "pynative"])
def mode(request: pytest.FixtureRequest) -> Iterator[int]:
    """Each mode."""
    before = context.get_context("mode")
    context.set_context(mode=request.param)
    yield request.param
    context.set_context(mode=before)


def test_a_gradient_starts_from_sens(mode: int) -> None:
    x, y, start = Tensor([1.0, 2.0]), Tensor([3.0, 4.0]), Tensor([10.0, 100.0])

    def product(a: Tensor, b: Tensor) -> Tensor:
        return a * b

    assert ms.grad(product, sens_param=True)(x, y, start).asnumpy().tolist() == [30, 400]
    value, of_both = ms.value_and_grad(product, (0, 1), sens_param=True)(x, y, start)
    assert value.asnumpy().tolist() == [3, 8]
    assert [g.asnumpy().tolist() for g in of_both] == [[30, 400], [10, 200]]
    with pytest.raises(TypeError, match="Int32"):
        ms.grad(product, sens_param=True)(x, y, start.astype(ms.int32))
    with pytest.raises(TypeError, match="sens_param"):
        ms.grad(product, sens_param=1)
    if mode:
        assert ms.grad(product, sens_param=True)(x, y, sens=start).asnumpy().tolist() == [30, 400]
        with pytest.raises(RuntimeError, match="shape"):
            ms.grad(product, sens_param=True)(x, y, Tensor(1.0))
    else:
        assert ms.grad(product, sens_param=True)(x, y, Tensor(1.0)).asnumpy().tolist() == [3, 4]
        with pytest.raises(TypeError, match="sens"):
            ms.grad(product, sens_param=True)(x, y, sens=start)


REFUSED: tuple[tuple[Callable[[], Any], type[Exception]], ...] = (
    (lambda: nn.InstanceNorm2d(2, eps=2.0), ValueError), (lambda: nn.InstanceNorm2d(2, eps=0.0), ValueError),
    (lambda: nn.Conv2dTranspose(2, 2, 3, 2, "pad", 1, output_padding=2), ValueError),
    (lambda: nn.Conv2dTranspose(2, 2, 3, 2, "same", output_padding=1), ValueError),
    (lambda: nn.Conv3dTranspose(2, 2, 3, 2, "pad", 1, output_padding=2), ValueError),
    (lambda: nn.EmbeddingLookup(4, 2, sparse=False), ValueError),
    (lambda: nn.EmbeddingLookup(4, 2, max_norm=1), TypeError), (lambda: nn.LRN(depth_radius=-1), ValueError),
    (lambda: ops.StridedSlice(shrink_axis_mask=-1), ValueError),
    (lambda: nn.LayerNorm((3,), epsilon=0.0)(Tensor([[1.0, 1.0, 1.0]])), RuntimeError),
    (lambda: Tensor([1.0]).allclose(True), TypeError),
    (lambda: train.Model(nn.ReLU(), loss_fn="x"), AttributeError),
    (lambda: ops.max(Tensor([[1.0, 2.0]]), 1, where=(0, 1)), ValueError),
    (lambda: _entropy(Tensor([True, False])), TypeError), (lambda: _entropy(Tensor([1.0, 1.0, 1.0])), ValueError),
)  # fmt: skip


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_what_mindspore_refuses(number: int) -> None:
    make, error = REFUSED[number]
    with pytest.raises(error):
        make()


def _entropy(weight: Tensor) -> Tensor:
    scores = Tensor([[0.5, 0.5]])
    return ops.binary_cross_entropy_with_logits(scores, scores, weight=weight)


def test_devices_of_tensors_and_parameters() -> None:
    assert Tensor([1.0], device="CPU").shape == (1,)
    with pytest.raises(UnsupportedError, match="meta"):
        Tensor([1.0], device="meta")
    with pytest.raises(ValueError, match="device"):
        Tensor([1.0], device="GPU")
    with pytest.raises(ValueError, match="device"):
        Parameter(Tensor([1.0]), device="GPU")
    assert Parameter(Tensor([1.0]), device="CPU").shape == (1,)
