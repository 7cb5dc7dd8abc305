"""Forms of functions that few use, with what MindSpore 2.10.0 gives (measured)."""

from __future__ import annotations

import numpy as np
import pytest

from harness import Tensor, dtypes, mint, nn, ops
from harness.errors import SettingTypeError, ShapeError


@pytest.mark.parametrize(
    ("first", "second", "wanted"), [((2, 3), (4,), (6, 4)), ((6,), (6, 2), (6, 2)), ((), (3,), (1, 3))]
)
def test_outer_of_other_than_vectors(first: tuple[int, ...], second: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    """The first is a column, and the two broadcast."""
    found = ops.outer(Tensor(np.ones(first, np.float32)), Tensor(np.ones(second, np.float32)))
    assert found.shape == wanted


@pytest.mark.parametrize(
    ("factor", "count", "wanted"),
    [
        (2.3, 3, [0, 0, 1, 1, 2, 2]),  # twice as long: as if the factor were 2
        (1.25, 3, [0, 1, 2]),  # as long as it was
        (1.6, 3, [0, 0, 1, 1]),
        (1.4, 4, [0, 0, 1, 2, 2]),
        (0.7, 7, [0, 1, 2, 4]),
        (3.7, 4, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3]),
    ],
)
def test_nearest_elements_by_a_factor(factor: float, count: int, wanted: list[int]) -> None:
    x = Tensor(np.arange(count, dtype=np.float32).reshape(1, 1, count))
    assert mint.nn.functional.interpolate(x, scale_factor=factor).asnumpy().ravel().tolist() == wanted
    assert mint.nn.Upsample(scale_factor=factor)(x).asnumpy().ravel().tolist() == wanted
    whole = mint.nn.Upsample(scale_factor=factor, recompute_scale_factor=True)(x).asnumpy().ravel()
    assert whole.tolist() == [at * count // len(whole) for at in range(len(whole))]


@pytest.mark.parametrize(
    ("dtype", "x", "places", "left", "right"),
    [
        (np.int8, [3, 5, 100, 7, 1, -7], [-1, 0, 1, 2, 7, 8], [0, 5, -56, 28, -128, 0], [0, 5, 50, 1, 0, -1]),
        (np.uint8, [3, 5, 9, 7], [9, 24, 100, 3], [0, 0, 144, 56], [0, 0, 0, 0]),
        (np.int16, [3, 5, 1, -7], [17, 48, -3, -100], [0, 0, 0, 0], [0, 0, 0, -1]),
        (np.int32, [3, -7], [33, -31], [6, -14], [1, -4]),
    ],
)
def test_bits_moved_beyond_the_width(
    dtype: type, x: list[int], places: list[int], left: list[int], right: list[int]
) -> None:
    """Numbers of 8 and 16 bits are moved as those of 32."""
    given = Tensor(np.array(x, dtype)), Tensor(np.array(places, dtype))
    assert ops.LeftShift()(*given).asnumpy().tolist() == left
    assert ops.RightShift()(*given).asnumpy().tolist() == right


def test_the_next_float32_is_that_of_float64() -> None:
    found = ops.nextafter(Tensor([1.0, 2.0, 0.0]), Tensor([2.0, 1.0, 1.0]))
    assert (found.dtype, found.asnumpy().tolist()) == (dtypes.float32, [1.0, 2.0, 0.0])


def test_small_regions() -> None:
    """Regions that end one place later are not widened; without a number of samples small ones have none."""
    features = Tensor(np.arange(48, dtype=np.float32).reshape(1, 1, 6, 8))
    small = Tensor([[0, 0.2, 0.3, 0.2, 0.3]], dtypes.float32)

    def found(*settings: object) -> list[float]:
        return [float(f"{x:.6g}") for x in ops.ROIAlign(2, 2, *settings)(features, small).asnumpy().ravel()]

    assert found(0.5, 2, 1) == [2.425, 2.675, 4.425, 4.675]
    assert found(0.5, 2, 0) == [3.55, 4.05, 7.55, 8.05]
    assert np.isnan(found(0.5, 0, 0)).all()


def test_float16_is_rounded_step_by_step() -> None:
    x = Tensor(np.array([-1, -2, 0, 2, 1], np.float16))
    assert nn.Sigmoid()(x).asnumpy().astype(np.float64).tolist() == [
        0.268798828125, 0.11920166015625, 0.5, 0.88037109375, 0.73095703125,
    ]  # fmt: skip
    assert nn.SiLU()(x).asnumpy()[[0, 3]].astype(np.float64).tolist() == [-0.268798828125, 1.7607421875]
    assert nn.HSwish()(Tensor(np.array([6e-8, 1.5], np.float16))).asnumpy().astype(np.float64).tolist() == [0.0, 1.125]


def test_two_ints_exchange_axes_outside_of_graphs() -> None:
    x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert x.transpose(0, 1).shape == (3, 2)
    assert x.permute(0, 1).shape == (2, 3)
    assert Tensor(np.zeros((2, 3, 4), np.float32)).transpose(-1, 0).shape == (4, 3, 2)


def test_views_say_how_they_lie_in_memory() -> None:
    x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert (x.stride(), x.stride(0), x.is_contiguous()) == ([3, 1], 3, True)
    assert (x.T.stride(), x.T.is_contiguous(), x.T.contiguous().is_contiguous()) == ([1, 3], False, True)
    assert (x[:, 1].stride(), x[1:].storage_offset(), x[1:].is_contiguous()) == ([3], 3, True)
    assert not ops.split(x, 1, 1)[0].is_contiguous()


def test_norms_by_singular_values_and_condition_numbers() -> None:
    matrix = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])
    for norm in (ops.norm, ops.matrix_norm):
        assert [round(float(norm(matrix, order)), 4) for order in ("nuc", 2, -2)] == [10.7625, 10.1815, 0.5811]
    square = Tensor([[1.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
    assert [round(float(ops.cond(square, order)), 4) for order in (None, "fro", "nuc", 1, -1)] == [
        1.4142, 3.1623, 9.2426, 2.0, 1.0,
    ]  # fmt: skip


def test_covariances_with_weights() -> None:
    matrix = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])
    often, much = Tensor([1, 2, 3]), Tensor([0.1, 0.5, 0.4])
    np.testing.assert_allclose(ops.cov(matrix, fweights=often).asnumpy()[0], [0.6666666, 1.0666666], rtol=1e-5)
    both = ops.cov(matrix, fweights=often, aweights=much).asnumpy()
    np.testing.assert_allclose(both, [[0.4139535, 0.7488373], [0.7488373, 1.3906977]], rtol=1e-5)
    assert np.isinf(ops.cov(matrix, correction=3, aweights=much).asnumpy()).all()
    with pytest.raises(SettingTypeError):
        ops.cov(matrix, fweights=much)


def test_products_of_more_axes() -> None:
    volume, vector = Tensor(np.arange(12, dtype=np.float32).reshape(2, 2, 3)), Tensor([0.0, 1.0, 2.0])
    assert ops.inner(volume, Tensor(2.0)).asnumpy().ravel()[:3].tolist() == [0, 2, 4]
    assert ops.inner(volume, volume).shape == (2, 2, 2, 2)
    assert ops.inner(vector, volume).asnumpy().tolist() == [[5, 14], [23, 32]]
    with pytest.raises(ShapeError):
        ops.inner(vector, Tensor([1.0, 2.0]))
    assert ops.dot(ops.ones((3, 2, 3)), ops.ones((2, 1, 3, 2))).shape == (3, 2, 2, 1, 2)


def test_forms_without_a_batch() -> None:
    x, at = Tensor([[2.0, 4.0, 6.0, 8.0]]), Tensor([[1, 3, 5, 7]])
    assert nn.MaxUnpool1d(2, 2)(x, at, (1, 9)).asnumpy().tolist() == [[0, 2, 0, 4, 0, 6, 0, 8, 0]]
    scores = Tensor(np.arange(10, dtype=np.float32).reshape(5, 2))
    lengths = Tensor([5], dtypes.int32), Tensor([2], dtypes.int32)
    for reduction, wanted in (("none", -25.79497), ("mean", -12.897485)):
        loss = nn.CTCLoss(0, reduction)(scores, Tensor([1, 1], dtypes.int32), *lengths)
        assert loss.shape == ()
        assert float(loss) == pytest.approx(wanted, rel=1e-6)


def test_arguments_in_other_forms() -> None:
    x, w = Tensor(np.arange(12, dtype=np.float32).reshape(1, 2, 6)), Tensor(np.ones((1, 2, 2), np.float32))
    one, several = (ops.conv1d(x, w, stride=s, pad_mode="pad", padding=p) for s, p in ((2, 1), ([2], (1,))))
    assert one.asnumpy().tolist() == several.asnumpy().tolist()
    assert ops.FillV2()(Tensor([2, 3], dtypes.int32), Tensor(1.0)).asnumpy().tolist() == [[1.0] * 3] * 2
    row = Tensor([[1.0, 2.0, 3.0]])
    assert row.scatter(dim=1, index=Tensor([[0, 1]]), src=Tensor([[8.0, 9.0]])).asnumpy().tolist() == [[8, 9, 3]]
    assert ops.stop_gradient(3.0) == 3.0
    assert ops.stop_gradient([1, 2]) == [1, 2]


def test_attributes_added_to_a_primitive() -> None:
    add = ops.Add()
    assert add.add_prim_attr("attr", 1) is add
    assert (add.attrs["attr"], repr(add.attrs), repr(add)) == (1, "{'attr': 1}", "Prim[Add]<attr=1>")
    assert repr(add.del_prim_attr("attr")) == "Prim[Add]"
    assert add.set_stage(0).set_prim_instance_name("sum").instance_name == "sum"
    assert add.set_device("CPU").primitive_target == "CPU"
    add.init_prim_io_names(["x", "y"], ["sum"])
    assert (add.input_names, add.output_names) == (["x", "y"], ["sum"])


def test_what_a_tensor_says_of_its_memory() -> None:
    x = Tensor([1.0, 2.0])
    assert x.get_bytes() == b"\x00\x00\x80?\x00\x00\x00@"
    made = Tensor.convert_bytes_to_tensor(x.get_bytes(), (2, 1), dtypes.float32)
    assert (made.shape, made.asnumpy().ravel().tolist()) == ((2, 1), [1.0, 2.0])
    assert Tensor.convert_bytes_to_tensor(b"\x01", (2,), dtypes.int32).asnumpy().tolist() == [1, 0]
    assert (x.is_init(), x.is_pinned(), x.is_shared(), x.offload_file_path()) == (False, False, False, "")
    x.set_init_flag(True)
    assert x.is_init()
    assert x.set_const_arg().const_arg
    assert x.move_to("CPU").asnumpy().tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError):
        x.move_to("GPU")
    assert (x.set_dtype(dtypes.int32), x.dtype, x.asnumpy().tolist()) == (dtypes.int32, dtypes.int32, [1, 2])
