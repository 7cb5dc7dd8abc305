"""Indexing, shapes and joining against numpy, over many shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, basic_indices

from harness import Tensor, dtypes, ops
from harness.errors import ShapeError
from harness.framework.runtime.session import fresh

SHAPES = array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4)


def numbers(shape: tuple[int, ...]) -> Tensor:
    """All different."""
    return Tensor(np.arange(np.prod(shape), dtype=np.float32).reshape(shape))


def as_graph(function: Any, *args: Tensor) -> Any:
    """The result of a function run as a graph."""
    with fresh(hooked=False) as session:
        return session.run_function(function, args, {})


@given(st.data())
def test_index_is_numpys(data: st.DataObject) -> None:
    shape = data.draw(SHAPES)
    x = numbers(shape)
    index = data.draw(basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    np.testing.assert_array_equal(x[index].asnumpy(), x.asnumpy()[index])


@given(st.data())
def test_index_by_tensors_is_numpys(data: st.DataObject) -> None:
    shape = data.draw(array_shapes(min_dims=2, max_dims=3, min_side=1, max_side=4))
    x = numbers(shape)
    picks = data.draw(array_shapes(min_dims=0, max_dims=2, max_side=3))
    index = [np.array(data.draw(st.integers(-n, n - 1))) * np.ones(picks, np.int64) for n in shape[:2]]
    one, two = (Tensor(i) for i in index)
    np.testing.assert_array_equal(x[one].asnumpy(), x.asnumpy()[index[0]])
    np.testing.assert_array_equal(x[one, two].asnumpy(), x.asnumpy()[index[0], index[1]])
    np.testing.assert_array_equal(x[:, two].asnumpy(), x.asnumpy()[:, index[1]])


@given(st.data())
def test_numbers_known_in_a_graph_alone_index_as_numpys(data: st.DataObject) -> None:
    shape = data.draw(array_shapes(min_dims=2, max_dims=3, min_side=1, max_side=4))
    x, places = numbers(shape), [data.draw(st.integers(-n, n - 1)) for n in shape[:2]]
    index = data.draw(st.sampled_from([(0, slice(None)), (slice(None), 1), (0, 1), (slice(1, None), 1), (Ellipsis, 1)]))
    if index[0] is Ellipsis:
        x = numbers(shape[:2])
    found = as_graph(lambda x, *t: x[tuple(t[i] if type(i) is int else i for i in index)], x, *map(Tensor, places))
    wanted = x.asnumpy()[tuple(places[i] if type(i) is int else i for i in index)]
    np.testing.assert_array_equal(found.asnumpy(), wanted)


@given(st.data())
def test_mixed_indices_are_numpys(data: st.DataObject) -> None:
    shape = data.draw(array_shapes(min_dims=2, max_dims=4, min_side=1, max_side=4))
    x = numbers(shape)
    index: list[Any] = []
    for n in shape:
        number = st.integers(-n, n - 1)
        part = data.draw(
            st.one_of(
                st.lists(number, min_size=2, max_size=2).map(Tensor),
                st.lists(st.booleans(), min_size=n, max_size=n).map(lambda held: Tensor([*held[:-1], True])),
                st.slices(n),
                st.just(slice(None)),
                number,
            )
        )
        index += [part, *[None] * data.draw(st.integers(0, 1))]
    plain = tuple(i.asnumpy() if isinstance(i, Tensor) else i for i in index)
    try:
        expected = x.asnumpy()[plain]
    except IndexError:
        with pytest.raises(IndexError):
            x[tuple(index)]
    else:
        np.testing.assert_array_equal(x[tuple(index)].asnumpy(), expected)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_mask_that_does_not_fit_is_refused(axis: int) -> None:
    index: list[Any] = [slice(None), slice(None), slice(None)]
    index[axis] = Tensor([True] * 5)
    with pytest.raises(ValueError, match="shape of index"):
        numbers((2, 3, 4))[tuple(index)]


@pytest.mark.parametrize("index", ["np.int64(1)", "np.array(1)", "0, np.int32(1)", "np.array([0, 1])"])
@pytest.mark.parametrize("statement", ["x[{}]", "x[{}] = 7"])
def test_numpys_numbers_are_no_index(index: str, statement: str) -> None:
    with pytest.raises(IndexError):
        exec(statement.format(index), {"x": numbers((3, 4)), "np": np})


@pytest.mark.parametrize(
    ("place", "value", "error"),
    [
        ("0", "np.ones(4)", TypeError),
        ("0", "None", TypeError),
        ("0", "np.float32(3)", IndexError),
        ("0", "'1'", IndexError),
        ("0", "range(4)", IndexError),
        ("0", "Tensor([[1.0, 2.0, 3.0, 4.0]])", ValueError),
        ("0, 0", "Tensor([[1.0]])", ValueError),
        ("x > 3", "Tensor([[1.0]])", ValueError),
    ],
)
def test_a_value_that_mindspore_does_not_take_is_refused(place: str, value: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        exec(f"x[{place}] = {value}", {"x": numbers((3, 4)), "np": np, "Tensor": Tensor})


def test_an_element_takes_one_number_of_any_kind() -> None:
    x = numbers((2, 2))
    x[0, 0] = Tensor([5.0])
    x[0, 1] = np.float64(6)
    assert x.tolist() == [[5, 6], [2, 3]]


@given(st.data())
def test_graphs_and_single_calls_agree(data: st.DataObject) -> None:
    shape = data.draw(SHAPES)
    x = numbers(shape)
    index = data.draw(basic_indices(shape, allow_newaxis=True))
    order = data.draw(st.permutations(range(len(shape))))

    def function(t: Any) -> Any:
        return t[index] * 2, ops.transpose(t, tuple(order)) * 2

    for one, other in zip(as_graph(function, x), function(x), strict=True):
        np.testing.assert_array_equal(one.asnumpy(), other.asnumpy())


@given(SHAPES, st.integers(0, 3), st.integers(1, 5))
def test_pieces_make_the_whole(shape: tuple[int, ...], axis: int, size: int) -> None:
    x, axis = numbers(shape), axis % len(shape)
    for pieces in (ops.split(x, size, axis), ops.chunk(x, size, axis)):
        np.testing.assert_array_equal(ops.concat(pieces, axis).asnumpy(), x.asnumpy())
    np.testing.assert_array_equal(ops.stack(ops.unstack(x, axis), axis).asnumpy(), x.asnumpy())


@given(st.data())
def test_matmul_is_numpys(data: st.DataObject) -> None:
    lead = data.draw(array_shapes(min_dims=1, max_dims=2, max_side=3))
    m, k, n = data.draw(st.tuples(*[st.integers(1, 4)] * 3))
    left = data.draw(st.sampled_from([(k,), (m, k), (*lead, m, k), (*lead[1:], m, k)]))
    right = data.draw(st.sampled_from([(k,), (k, n), (*lead, k, n), (1, k, n)]))
    x, y = numbers(left), numbers(right)
    np.testing.assert_allclose(ops.matmul(x, y).asnumpy(), np.matmul(x.asnumpy(), y.asnumpy()))


@pytest.mark.parametrize("index", ["x[5]", "x[0, 0, 0]", "x[..., ...]", "x['a']", "x[1.5]", "x[::0]", "x[{}]"])
def test_bad_index_is_refused(index: str) -> None:
    with pytest.raises((IndexError, TypeError, ValueError)):
        eval(index, {"x": numbers((3, 4))})


def test_assignment_writes_outside_a_graph_and_makes_another_tensor_in_one() -> None:
    x = numbers((2, 2))
    x[0, 1] = 7
    x[1] = Tensor(np.float32(5))
    assert x.tolist() == [[0, 7], [5, 5]]

    def assign(t: Any) -> Any:
        t[0] = 1
        return t

    assert as_graph(assign, x).tolist() == [[1, 1], [5, 5]]
    assert x.tolist() == [[0, 7], [5, 5]]


MISFITS = """
x.reshape(5); x.reshape(-1, -1); ops.transpose(x, (0, 0)); ops.concat((x, x[0])); ops.stack((x, x[0]))
ops.Split(0, 2)(x)
ops.squeeze(x, 2); ops.expand_dims(x, 4); ops.broadcast_to(x, (3,)); ops.slice(x, (0, 2), (3, 3)); ops.MatMul()(x, x)
ops.BatchMatMul()(x, x[0]); ops.matmul(x, x); ops.MaxPool(2, 2)(x); ops.Conv2D(2, 3)(x, x)
ops.pad(x, (1, 4), "reflect"); ops.nll_loss(x, ops.zeros(4, int32)); ops.LayerNorm()(x, x, x)
ops.gather_elements(x, 1, ops.zeros((4, 1), int32)); ops.SoftmaxCrossEntropyWithLogits()(x, x[0])
ops.scatter_nd(ops.zeros((2, 1), int32), x, (2, 4))
""".replace("\n", ";")


@pytest.mark.parametrize("call", [c.strip() for c in MISFITS.split(";") if c.strip()])
def test_shapes_that_do_not_fit_are_refused(call: str) -> None:
    with pytest.raises(ShapeError, match=r"\d"):
        eval(call, {"x": numbers((3, 4)), "ops": ops, "int32": dtypes.int32})


SETTINGS = """
Conv2D(2, 0); Conv2D(2, 3, pad_mode="around"); Conv2D(2, 3, pad=1); Conv2D(2, 3, data_format="NHWC")
MaxPool(2, 2, "pad"); Split(0, 0); NLLLoss("max"); BatchNorm(epsilon=0); Stack("first"); MaxPool(0); Softmax(1.5)
Pad(((1,),))
Triu("up")
""".replace("\n", ";")


@pytest.mark.parametrize("make", [c.strip() for c in SETTINGS.split(";") if c.strip()])
def test_settings_that_mean_nothing_are_refused(make: str) -> None:
    with pytest.raises((ValueError, TypeError), match=r"\w+: .*got"):
        eval(f"ops.{make}", {"ops": ops})
