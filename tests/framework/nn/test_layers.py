"""Layers agree with numpy in float64; wrong settings are refused."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

from harness import context, dtypes, grad, nn, ops
from harness.errors import SettingError, SettingTypeError, ShapeError, UnsupportedError
from harness.framework.tensor import Tensor

Array = np.ndarray[Any, np.dtype[Any]]
RNG = np.random.default_rng(7)


@pytest.fixture(autouse=True, params=[context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"])
def _mode(request: pytest.FixtureRequest) -> Iterator[None]:
    before = context.get_context("mode")
    context.set_context(mode=request.param)
    yield
    context.set_context(mode=before)


def values(*shape: int) -> Array:
    """Normally distributed float32 values."""
    return RNG.standard_normal(shape).astype(np.float32)


def near(found: Any, expected: Any, tolerance: float = 2e-6) -> None:
    """Asserts equal shapes and values near to the largest one's scale."""
    expected = np.asarray(expected, np.float64)
    assert found.shape == expected.shape
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    assert np.abs(found.asnumpy().astype(np.float64) - expected).max(initial=0) <= tolerance * scale


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)) in float64."""
    return np.asarray(1 / (1 + np.exp(-x.astype(np.float64))))


def softmax(x: Array, axis: int = -1) -> Array:
    """Softmax in float64."""
    e = np.exp(x.astype(np.float64) - x.max(axis, keepdims=True))
    return np.asarray(e / e.sum(axis, keepdims=True))


ERF = np.vectorize(math.erf)
ACTIVATIONS: dict[str, tuple[Callable[[], nn.Cell], Callable[[Array], Array]]] = {
    "relu": (nn.ReLU, lambda x: np.maximum(x, 0)),
    "relu6": (nn.ReLU6, lambda x: np.clip(x, 0, 6)),
    "sigmoid": (nn.Sigmoid, sigmoid),
    "tanh": (nn.Tanh, np.tanh),
    "gelu": (nn.GELU, lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))),
    "gelu-erf": (lambda: nn.GELU(False), lambda x: 0.5 * x * (1 + ERF(x / math.sqrt(2)))),
    "softmax": (nn.Softmax, softmax),
    "softmax-axis": (lambda: nn.Softmax(0), lambda x: softmax(x, 0)),
    "logsoftmax": (nn.LogSoftmax, lambda x: np.log(softmax(x))),
    "softmin": (nn.Softmin, lambda x: softmax(-x)),
    "leakyrelu": (lambda: nn.LeakyReLU(0.25), lambda x: np.where(x > 0, x, 0.25 * x)),
    "mish": (nn.Mish, lambda x: x * np.tanh(np.log1p(np.exp(x)))),
    "prelu": (nn.PReLU, lambda x: np.where(x > 0, x, 0.25 * x)),
    "prelu-channels": (
        lambda: nn.PReLU(5, [0.0, 0.5, 1.0, 1.5, 2.0]),
        lambda x: np.where(x > 0, x, np.arange(5) / 2 * x),
    ),
    "silu": (nn.SiLU, lambda x: x * sigmoid(x)),
    "elu": (lambda: nn.ELU(1.0), lambda x: np.where(x > 0, x, np.expm1(x))),
    "hswish": (nn.HSwish, lambda x: x * np.clip(x + 3, 0, 6) / 6),
    "hsigmoid": (nn.HSigmoid, lambda x: np.clip(x + 3, 0, 6) / 6),
    "logsigmoid": (nn.LogSigmoid, lambda x: np.log(sigmoid(x))),
    "softsign": (nn.Softsign, lambda x: x / (1 + np.abs(x))),
    "hardtanh": (nn.Hardtanh, lambda x: np.clip(x, -1, 1)),
    "tanhshrink": (nn.Tanhshrink, lambda x: x - np.tanh(x)),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation(name: str) -> None:
    make, formula = ACTIVATIONS[name]
    x = 3 * values(3, 5)
    near(make()(Tensor(x)), formula(x.astype(np.float64)))


@pytest.mark.parametrize(
    ("channel", "w", "error"),
    [(0, 0.25, ValueError), (2.0, 0.25, TypeError), (2, [0.5], ValueError), (1, "0.25", TypeError), (1, 1, TypeError)],
)
def test_prelu_refuses(channel: Any, w: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="PReLU"):
        nn.PReLU(channel, w)


@pytest.mark.parametrize("shape", [(4, 3), (2, 2, 3), (3,)])
@pytest.mark.parametrize("has_bias", [True, False])
def test_dense(shape: tuple[int, ...], has_bias: bool) -> None:
    layer = nn.Dense(3, 2, has_bias=has_bias, activation="tanh")
    x = values(*shape)
    product = x.astype(np.float64) @ layer.weight.asnumpy().T
    near(layer(Tensor(x)), np.tanh(product + layer.bias.asnumpy() if layer.bias is not None else product))


def convolve(x: Array, w: Array, stride: int, pads: tuple[int, int], dilation: int = 1, group: int = 1) -> Array:
    """2-D convolution of (N, C, H, W) by loops, with the same pads (before, after) on both axes."""
    x = np.pad(x.astype(np.float64), ((0, 0), (0, 0), pads, pads))
    span = dilation * (w.shape[2] - 1) + 1, dilation * (w.shape[3] - 1) + 1
    rows = range(0, x.shape[2] - span[0] + 1, stride)
    columns = range(0, x.shape[3] - span[1] + 1, stride)
    out = np.zeros((x.shape[0], w.shape[0], len(rows), len(columns)))
    per, outs = w.shape[1], w.shape[0] // group
    for g in range(group):
        part, weights = x[:, g * per : (g + 1) * per], w[g * outs : (g + 1) * outs]
        for i, row in enumerate(rows):
            for j, column in enumerate(columns):
                window = part[:, :, row : row + span[0] : dilation, column : column + span[1] : dilation]
                out[:, g * outs : (g + 1) * outs, i, j] = np.einsum("nchw,ochw->no", window, weights)
    return out


@pytest.mark.parametrize(
    ("settings", "pads"),
    [
        ({"pad_mode": "valid"}, (0, 0)),
        ({"pad_mode": "same", "has_bias": True}, (1, 1)),
        ({"pad_mode": "pad", "padding": 2, "stride": 2}, (2, 2)),
        ({"pad_mode": "valid", "dilation": 2}, (0, 0)),
        ({"pad_mode": "valid", "group": 2}, (0, 0)),
    ],
)
def test_conv2d(settings: dict[str, Any], pads: tuple[int, int]) -> None:
    layer = nn.Conv2d(4, 6, 3, **settings)
    x = values(2, 4, 6, 6)
    w = layer.weight.asnumpy()
    expected = convolve(x, w, settings.get("stride", 1), pads, settings.get("dilation", 1), settings.get("group", 1))
    if layer.bias is not None:
        expected = expected + layer.bias.asnumpy().reshape(-1, 1, 1)
    near(layer(Tensor(x)), expected)


def test_conv1d_and_transposed_conv() -> None:
    x = values(2, 3, 7)
    layer = nn.Conv1d(3, 2, 3, pad_mode="valid", has_bias=True)
    w = layer.weight.asnumpy()
    assert w.shape == (2, 3, 1, 3)
    expected = np.stack([np.einsum("nck,ock->no", x[:, :, i : i + 3], w[:, :, 0]) for i in range(5)], 2)
    near(layer(Tensor(x)), expected + layer.bias.asnumpy()[:, None])
    back = nn.Conv2dTranspose(2, 3, 3, stride=2, pad_mode="valid")
    y = values(1, 2, 2, 2)
    sums = np.zeros((1, 3, 5, 5))
    for i in range(2):
        for j in range(2):
            part = np.einsum("nc,cohw->nohw", y[:, :, i, j], back.weight.asnumpy())
            sums[:, :, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3] += part
    near(back(Tensor(y)), sums)


def test_batch_norm_trains_and_infers() -> None:
    layer = nn.BatchNorm2d(3, momentum=0.75)
    x = values(4, 3, 2, 2) * 2 + 1
    wide = x.astype(np.float64)
    mean, variance = wide.mean((0, 2, 3)), wide.var((0, 2, 3))
    shape = (1, 3, 1, 1)
    layer.set_train()
    near(layer(Tensor(x)), (wide - mean.reshape(shape)) / np.sqrt(variance.reshape(shape) + 1e-5))
    near(layer.moving_mean, 0.25 * mean)
    near(layer.moving_variance, 0.75 + 0.25 * variance * 16 / 15)
    layer.set_train(False)
    kept, spread = layer.moving_mean.asnumpy().reshape(shape), layer.moving_variance.asnumpy().reshape(shape)
    near(layer(Tensor(x)), (wide - kept) / np.sqrt(spread.astype(np.float64) + 1e-5))


@pytest.mark.parametrize("shape", [(5, 3), (5, 3, 4)])
def test_batch_norm_1d_infers(shape: tuple[int, ...]) -> None:
    x = values(*shape)
    near(nn.BatchNorm1d(3)(Tensor(x)), x / math.sqrt(1 + 1e-5))


def test_layer_norm() -> None:
    x = values(2, 3, 4)
    wide = x.astype(np.float64)
    spread = np.sqrt(wide.var(-1, keepdims=True) + 1e-7)
    near(nn.LayerNorm((4,))(Tensor(x)), (wide - wide.mean(-1, keepdims=True)) / spread)


@pytest.mark.parametrize("kind", [nn.MaxPool2d, nn.AvgPool2d])
def test_pools(kind: Any) -> None:
    x = values(2, 3, 6, 6)
    windows = x.astype(np.float64).reshape(2, 3, 3, 2, 3, 2)
    expected = windows.max((3, 5)) if kind is nn.MaxPool2d else windows.mean((3, 5))
    near(kind(2, 2)(Tensor(x)), expected)
    near(kind(2, 2)(Tensor(x[0])), expected[0])
    line = nn.MaxPool1d if kind is nn.MaxPool2d else nn.AvgPool1d
    parts = x[:, :, 0].astype(np.float64).reshape(2, 3, 3, 2)
    near(line(2, 2)(Tensor(x[:, :, 0])), parts.max(3) if kind is nn.MaxPool2d else parts.mean(3))


def test_average_over_the_whole_line() -> None:
    x = values(2, 3, 6)
    near(nn.AvgPool1d(6)(Tensor(x)), x.astype(np.float64).mean(2, keepdims=True))
    near(nn.AvgPool1d(5, 2)(Tensor(x)), x[:, :, :5].astype(np.float64).mean(2, keepdims=True))


def test_padded_pools() -> None:
    x = values(2, 3, 5, 5)
    wide = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(wide, (2, 2), (2, 3))[:, :, ::2, ::2]
    near(nn.MaxPool2d(2, 2, "pad", padding=1)(Tensor(x)), windows.max((4, 5)))
    top, places = nn.MaxPool2d(2, 2, "pad", padding=1, return_indices=True)(Tensor(x))
    assert np.array_equal(np.take_along_axis(x.reshape(2, 3, -1), places.asnumpy().reshape(2, 3, -1), 2).ravel(),
                          top.asnumpy().ravel())  # fmt: skip
    counted = np.where(np.isinf(windows), 0, windows)
    near(nn.AvgPool2d(2, 2, "pad", padding=1)(Tensor(x)), counted.mean((4, 5)))
    inside = nn.AvgPool2d(2, 2, "pad", padding=1, count_include_pad=False)
    near(inside(Tensor(x)), counted.sum((4, 5)) / np.isfinite(windows).sum((4, 5)))
    near(nn.AvgPool2d(2, 2, "pad", padding=1, divisor_override=3)(Tensor(x)), counted.sum((4, 5)) / 3)
    line = x[:, :, 0]
    pieces = np.lib.stride_tricks.sliding_window_view(wide[:, :, 1], 2, 2)[:, :, ::2]
    near(nn.MaxPool1d(2, 2, "pad", padding=1)(Tensor(line)), pieces.max(3))
    near(nn.AvgPool1d(2, 2, "pad", padding=1)(Tensor(line)), np.where(np.isinf(pieces), 0, pieces).mean(3))


def test_group_norm() -> None:
    x = values(2, 4, 3)
    parts = x.astype(np.float64).reshape(2, 2, 6)
    spread = np.sqrt(parts.var(2, keepdims=True) + 1e-5)
    near(nn.GroupNorm(2, 4)(Tensor(x)), ((parts - parts.mean(2, keepdims=True)) / spread).reshape(x.shape))


def test_lstm_without_lengths_is_one_kernel() -> None:
    layer = nn.LSTM(3, 2, bidirectional=True)
    x = values(4, 2, 3)
    output, (h, c) = layer(Tensor(x))
    full, (h_full, c_full) = layer(Tensor(x), None, Tensor(np.array([4, 4], np.int32)))
    near(output, full.asnumpy())
    near(h, h_full.asnumpy())
    near(c, c_full.asnumpy())


def test_flatten() -> None:
    x = values(2, 3, 4)
    assert np.array_equal(nn.Flatten()(Tensor(x)).asnumpy(), x.reshape(2, 12))
    assert np.array_equal(nn.Flatten(0, 1)(Tensor(x)).asnumpy(), x.reshape(6, 4))
    with pytest.raises(SettingError, match=r"end_dim must be in \[-3, 3\)"):
        nn.Flatten(0, 3)(Tensor(x))


def test_embedding() -> None:
    layer = nn.Embedding(5, 3, padding_idx=2)
    ids = np.array([[0, 2], [4, 1]], np.int32)
    table = layer.embedding_table.asnumpy()
    assert np.array_equal(table[2], np.zeros(3))
    assert np.array_equal(layer(Tensor(ids)).asnumpy(), table[ids])
    hot = nn.Embedding(5, 3, use_one_hot=True)
    assert np.array_equal(hot(Tensor(ids)).asnumpy(), hot.embedding_table.asnumpy()[ids])


def test_dropout() -> None:
    x = np.ones((100, 100), np.float32)
    layer = nn.Dropout(p=0.25).set_train(False)
    assert np.array_equal(layer(Tensor(x)).asnumpy(), x)
    found = layer.set_train()(Tensor(x)).asnumpy()
    kept = found != 0
    assert np.allclose(found[kept], 1 / 0.75)
    assert 0.70 < kept.mean() < 0.80
    assert np.array_equal(nn.Dropout(p=0.0).set_train()(Tensor(x)).asnumpy(), x)


@pytest.mark.parametrize(("layer", "axes"), [(nn.Dropout1d, 1), (nn.Dropout2d, 2), (nn.Dropout3d, 3)])
def test_dropped_channels(layer: Any, axes: int) -> None:
    x = Tensor(np.ones((30, 20, *[2] * axes), np.float32))
    dropping = layer(p=0.25).set_train()
    out = dropping(x).asnumpy().reshape(600, -1)
    assert (out == out[:, :1]).all(), "a channel is kept or dropped as a whole"
    assert set(np.unique(out)) == {np.float32(0), np.float32(1 / 0.75)}
    assert 0.15 < (out[:, 0] == 0).mean() < 0.35
    slope = grad(lambda x: dropping(x))(x).asnumpy()
    assert set(np.unique(slope)) == {np.float32(0), np.float32(1 / 0.75)}
    assert (layer(p=0.25).set_train(False)(x).asnumpy() == 1).all()
    assert (layer(p=0.0).set_train()(x).asnumpy() == 1).all()
    assert (layer(p=1.0).set_train()(x).asnumpy() == 0).all()


_UNFOLD = partial(nn.Unfold, [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1])


@pytest.mark.parametrize(
    "layer",
    [nn.MatDet, nn.MatInverse, nn.MatrixDiag, nn.MatrixDiagPart, nn.MatrixSetDiag, nn.MultilabelMarginLoss, _UNFOLD],
)
def test_layers_without_a_kernel_refuse_when_called(layer: Any) -> None:
    made = layer()
    with pytest.raises(RuntimeError, match=rf"nn\.{type(made).__name__} has no CPU kernel"):
        made(Tensor(np.eye(2, dtype=np.float32)))


def test_random_slopes_of_rrelu() -> None:
    x = Tensor(np.array([3.0, 0.0, *[-1.0] * 200], np.float32))
    out = nn.RReLU(0.2, 0.3)(x).asnumpy()
    assert out[:2].tolist() == [3.0, 0.0]
    assert -0.3 <= out[2:].min() < -0.28
    assert -0.22 < out[2:].max() <= -0.2


def test_functions_of_layers_leave_their_input() -> None:
    x = Tensor(np.ones((1, 2, 3), np.float32))
    assert ops.dropout1d(x, training=False) is x
    np.testing.assert_array_equal(nn.TripletMarginLoss()(x[0], x[0], x[0]).asnumpy(), np.float32(1))
    np.testing.assert_allclose(nn.SoftMarginLoss()(x, x).asnumpy(), np.log1p(np.exp(-1.0)), rtol=1e-6)
    np.testing.assert_array_equal(nn.Roll(1, 1)(Tensor([[1.0, 2.0, 3.0]])).asnumpy(), [[3.0, 1.0, 2.0]])


def test_identity() -> None:
    x = Tensor(values(2))
    assert np.array_equal(nn.Identity(3, any=4)(x).asnumpy(), x.asnumpy())


def lstm_layer(x: Array, w: list[Array], lengths: list[int], reverse: bool = False) -> tuple[Array, Array, Array]:
    """One LSTM direction over x (time, batch, input) in float64; beyond a length output 0 and state kept."""
    hidden = w[1].shape[1]
    h = np.zeros((x.shape[1], hidden))
    c = np.zeros_like(h)
    out = np.zeros((x.shape[0], x.shape[1], hidden))
    for b, length in enumerate(lengths):
        steps = range(length)[::-1] if reverse else range(length)
        for t in steps:
            gates = w[0] @ x[t, b] + w[1] @ h[b] + (w[2] + w[3] if len(w) > 2 else 0)
            i, f, g, o = np.split(gates, 4)
            c[b] = sigmoid(f) * c[b] + sigmoid(i) * np.tanh(g)
            h[b] = sigmoid(o) * np.tanh(c[b])
            out[t, b] = h[b]
    return out, h, c


@pytest.mark.sampled(2)
@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize("bidirectional", [True, False])
def test_lstm_with_lengths(has_bias: bool, bidirectional: bool) -> None:
    layer = nn.LSTM(3, 2, num_layers=2, has_bias=has_bias, batch_first=True, bidirectional=bidirectional)
    lengths = [4, 2]
    x = values(2, 4, 3)
    output, (h, c) = layer(Tensor(x), None, Tensor(np.array(lengths, np.int32)))
    named = {p.name: p.asnumpy().astype(np.float64) for p in layer.get_parameters()}
    kinds = ["weight_ih", "weight_hh", *(["bias_ih", "bias_hh"] if has_bias else [])]
    current = x.astype(np.float64).transpose(1, 0, 2)
    hidden, cells = [], []
    for level in range(2):
        outs = []
        for suffix in ["", "_reverse"][: 1 + bidirectional]:
            weights = [named[f"{kind}_l{level}{suffix}"] for kind in kinds]
            out, last_h, last_c = lstm_layer(current, weights, lengths, bool(suffix))
            outs.append(out)
            hidden.append(last_h)
            cells.append(last_c)
        current = np.concatenate(outs, 2)
    near(output, current.transpose(1, 0, 2))
    near(h, np.stack(hidden))
    near(c, np.stack(cells))


def test_rnn_gru_and_their_cells() -> None:
    x = values(3, 2, 4)
    for layer, cell in (
        (nn.RNN(4, 5), nn.RNNCell(4, 5)),
        (nn.RNN(4, 5, nonlinearity="relu"), nn.RNNCell(4, 5, nonlinearity="relu")),
        (nn.GRU(4, 5), nn.GRUCell(4, 5)),
    ):
        for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            getattr(cell, kind).set_data(next(p for p in layer.get_parameters() if p.name == f"{kind}_l0"))
        state = Tensor(np.zeros((2, 5), np.float32))
        outs = []
        for t in range(3):
            state = cell(Tensor(x[t]), state)
            outs.append(state.asnumpy())
        output, last = layer(Tensor(x))
        near(output, np.stack(outs))
        near(last, outs[-1][None])


BAD: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: nn.Dense(0, 2), SettingError, "in_channels must be an int above 0, got 0"),
    (lambda: nn.Dense(2, True), SettingTypeError, "out_channels must be an int above 0, got True"),
    (lambda: nn.Dense(2, 2, has_bias=1), SettingTypeError, "has_bias must be a bool"),  # type: ignore[arg-type]
    (lambda: nn.Dense(2, 2, activation="rleu"), KeyError, "did you mean relu"),
    (lambda: nn.Dense(2, 2, activation=3), SettingTypeError, "activation must be a str, a Cell or a Primitive"),
    (lambda: nn.Conv2d(3, 4, 3, group=2), SettingError, "divisible by group 2"),
    (lambda: nn.Conv2d(1, 1, (3, 3, 3)), SettingError, "kernel_size must be an int above 0 or a tuple of two"),
    (lambda: nn.Conv2d(1, 1, 3, pad_mode="full"), SettingError, "pad_mode must be one of"),
    (lambda: nn.Conv2d(1, 1, 3, padding=-1), SettingError, "padding must be an int of at least 0"),
    (lambda: nn.Conv2d(1, 1, 3, padding="1"), SettingTypeError, "padding must be an int or a tuple"),
    (lambda: nn.Conv2d(1, 1, 3, data_format="NHWC"), UnsupportedError, "'NHWC' exists on GPU only"),
    (lambda: nn.Conv2dTranspose(1, 1, 3, 2, "pad", output_padding=2), SettingError, "below the stride or dilation"),
    (lambda: nn.Conv1d(1, 1, 3, weight_init=Tensor([1.0])), SettingError, "3 dimensions"),
    (lambda: nn.BatchNorm2d(2, momentum=1.5), SettingError, "momentum must be at least 0 and at most 1"),
    (lambda: nn.BatchNorm2d(2)(Tensor([[1.0, 2.0]])), ShapeError, r"4 dimensions, got shape \(1, 2\)"),
    (lambda: nn.LayerNorm(3), SettingTypeError, "tuple or list of ints, got int 3"),  # type: ignore[arg-type]
    (lambda: nn.LayerNorm(()), SettingError, "must not be empty"),
    (lambda: nn.MaxPool2d(0), SettingError, "kernel_size must be an int above 0"),
    (lambda: nn.MaxPool2d(2, padding=1), SettingError, "padding must be 0 unless pad_mode is 'pad', got 1"),
    (lambda: nn.MaxPool2d(2, pad_mode="pad", padding=(1, 2, 3)), SettingError, "an int or 2 of them"),
    (lambda: nn.AvgPool2d(2, divisor_override=0), SettingError, "divisor_override must be an int above 0"),
    (lambda: nn.GroupNorm(2, 3), SettingError, "num_channels 3 must be divisible by num_groups 2"),
    (lambda: nn.GroupNorm(1, 3)(Tensor([[1.0]])), ShapeError, r"3 channels, got shape \(1, 1\)"),
    (lambda: nn.MaxPool1d(2)(Tensor([1.0])), ShapeError, "2 or 3 dimensions"),
    (lambda: nn.Dropout(p=1.0), SettingError, r"p must be in \[0, 1\)"),
    (lambda: nn.Dropout(0.0), SettingError, r"keep_prob must be in \(0, 1\]"),
    (lambda: nn.Dropout(1), SettingTypeError, "keep_prob must be a float"),
    (lambda: nn.Embedding(2, 2, padding_idx=2), SettingError, r"padding_idx must be an int in \[0, 2\)"),
    (lambda: nn.LSTM(1, 2, dropout=1.0), SettingError, r"dropout must be in \[0, 1\)"),
    (lambda: nn.LSTM(1, 2)(Tensor([1.0])), ShapeError, "x must be a tensor of 3 dimensions"),
    (lambda: nn.RNN(1, 2, nonlinearity="gelu"), SettingError, "nonlinearity must be one of"),
    (lambda: nn.Hardtanh(1.0, -1.0), SettingError, "min_val must be less than max_val"),
    (lambda: nn.get_activation("zzz"), KeyError, "known are"),
]


@pytest.mark.parametrize("case", range(len(BAD)))
def test_refusals(case: int) -> None:
    act, error, words = BAD[case]
    with pytest.raises(error, match=words):
        act()


@pytest.mark.usefixtures("every_dtype")
def test_brain_float_layers_compute_in_their_dtype() -> None:
    layer = nn.Dense(4, 2, dtype=dtypes.bfloat16)
    out = layer(Tensor(values(3, 4), dtypes.bfloat16))
    assert out.dtype is dtypes.bfloat16
    assert layer.weight.dtype is dtypes.bfloat16
