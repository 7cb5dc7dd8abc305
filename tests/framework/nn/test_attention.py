"""``MultiheadAttention`` and the layers of ``Transformer``, beside what MindSpore 2.10.0 gave for the same seeds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import harness as ms
from harness import Tensor, context, nn, ops
from harness.errors import SettingError

MODES = pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"])


@pytest.fixture(autouse=True)
def _mode(request: pytest.FixtureRequest) -> Any:
    before = context.get_context("mode")
    context.set_context(mode=request.node.callspec.params.get("mode", before) if hasattr(request.node, "callspec")
                        else before)  # fmt: skip
    yield
    context.set_context(mode=before)


def sequences() -> tuple[Tensor, Tensor, Tensor]:
    rng = np.random.default_rng(0)
    return tuple(Tensor(rng.normal(size=shape).astype(np.float32)) for shape in ((5, 2, 8), (4, 2, 8), (4, 2, 8)))  # type: ignore[return-value]


def softmax(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    e = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(e / e.sum(-1, keepdims=True))


def reference(layer: Any, q: Any, k: Any, v: Any, mask: Any = 0.0) -> tuple[Any, Any]:
    """Attention by its definition, in float64, of (length, batch, width)."""
    weight, bias = layer.in_proj_weight.asnumpy().astype(float), layer.in_proj_bias.asnumpy().astype(float)
    parts = zip((q, k, v), np.split(weight, 3), np.split(bias, 3), strict=True)
    heads, each = layer.num_heads, layer.head_dim
    split = [(x @ w.T + b).reshape(len(x), -1, heads, each).transpose(1, 2, 0, 3) for x, w, b in parts]
    weights = softmax(split[0] @ split[1].swapaxes(-1, -2) / np.sqrt(each) + mask)
    joined = (weights @ split[2]).transpose(2, 0, 1, 3).reshape(len(q), -1, heads * each)
    return joined @ layer.out_proj.weight.asnumpy().T + layer.out_proj.bias.asnumpy(), weights.mean(1)


@MODES
@pytest.mark.parametrize("same", [(0, 1, 2), (0, 0, 0), (0, 1, 1)])
def test_it_is_attention(mode: int, same: tuple[int, ...]) -> None:
    ms.set_seed(3)
    layer = nn.MultiheadAttention(8, 2)
    given = [sequences()[0], *sequences()[1:]]
    q, k, v = (given[at] for at in same)
    got = layer(q, k, v)
    for mine, expected in zip(got, reference(layer, *(x.asnumpy().astype(float) for x in (q, k, v))), strict=True):
        np.testing.assert_allclose(mine.asnumpy(), expected, rtol=2e-5, atol=2e-6)


@MODES
def test_recorded(mode: int) -> None:
    ms.set_seed(3)
    q, k, v = sequences()
    layer = nn.MultiheadAttention(8, 2)
    future = Tensor(np.triu(np.ones((5, 4)), 1).astype(bool))
    padding = Tensor(np.array([[0, 0, 0, 1], [0, 1, 0, 0]], bool))
    recorded: list[tuple[Callable[[], Any], list[float], list[float]]] = [
        (lambda: layer(q, k, v), [0.069, -0.0003, -0.1944, -0.0103], [0.2418, 0.2496, 0.2131, 0.2955]),
        (lambda: layer(q, k, k), [0.0049, 0.0298, -0.2576, -0.0779], [0.2418, 0.2496, 0.2131, 0.2955]),
        (lambda: layer(q, k, v, attn_mask=future), [0.1211, -0.3107, -0.0329, 0.017], [1, 0, 0, 0]),
        (lambda: layer(q, k, v, padding), [0.0966, -0.0774, -0.2136, 0.063], [0.3426, 0.3494, 0.308, 0]),
    ]  # fmt: skip
    for call, output, weights in recorded:
        got = [part.asnumpy().ravel()[:4] for part in call()]
        np.testing.assert_allclose(got[0], output, atol=1e-4)
        np.testing.assert_allclose(got[1], weights, atol=1e-4)


@MODES
def test_forms(mode: int) -> None:
    q, k, v = sequences()
    layer = nn.MultiheadAttention(8, 2, add_bias_kv=True, add_zero_attn=True)
    padding = Tensor(np.array([[0, 0, 0, 1], [0, 1, 0, 0]], bool))
    assert layer(q, k, v, key_padding_mask=padding)[1].shape == (2, 5, 6)
    first = nn.MultiheadAttention(8, 4, batch_first=True, kdim=3, vdim=6, has_bias=False)
    out, weights = first(
        q.swapaxes(0, 1), k.swapaxes(0, 1)[..., :3], v.swapaxes(0, 1)[..., :6], average_attn_weights=False
    )
    assert (out.shape, weights.shape) == ((2, 5, 8), (2, 4, 5, 4))
    alone = nn.MultiheadAttention(8, 2)
    assert [part.shape for part in alone(q[:, 0], k[:, 0], v[:, 0])] == [(5, 8), (5, 4)]
    assert len(alone(q, k, v, need_weights=False)) == 1


@MODES
def test_layers_of_a_transformer(mode: int) -> None:
    q, k, _ = sequences()
    encoder = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
    decoder = nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0, activation="gelu", norm_first=True)
    stack = nn.TransformerEncoder(encoder, 2, nn.LayerNorm((8,)))
    assert np.array_equal(stack.layers[0].dense1.weight.asnumpy(), stack.layers[1].dense1.weight.asnumpy())
    assert stack(q).shape == (5, 2, 8)
    assert nn.TransformerDecoder(decoder, 1)(q, k).shape == (5, 2, 8)
    whole = nn.Transformer(8, 2, 1, 1, 16, dropout=0.0)
    assert whole(k, q, tgt_mask=Tensor(np.triu(np.ones((5, 5)), 1).astype(bool))).shape == (5, 2, 8)
    attended = encoder.self_attn(q, q, q)[0]
    expected = encoder.norm1(q + attended)
    expected = encoder.norm2(expected + encoder.dense2(ops.relu(encoder.dense1(expected))))
    np.testing.assert_allclose(encoder(q).asnumpy(), expected.asnumpy(), rtol=1e-5, atol=1e-6)


def test_gradients_reach_every_parameter() -> None:
    q, k, _ = sequences()
    net = nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0)
    weight = Tensor(np.random.default_rng(2).normal(size=(5, 2, 8)).astype(np.float32))
    grads = ms.grad(lambda q, k: (net(q, k) * weight).sum(), None, net.trainable_params())(q, k)
    assert len(grads) == 18
    assert all(np.any(grad.asnumpy()) for grad in grads)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda q, k, v: nn.MultiheadAttention(7, 2), "divisible"),
        (lambda q, k, v: nn.MultiheadAttention(8, 2)(q[..., :7], k, v), "the query is 7 wide"),
        (lambda q, k, v: nn.MultiheadAttention(8, 2)(q, k, v[:3]), "do not match"),
        (lambda q, k, v: nn.MultiheadAttention(8, 2)(q, k, v, attn_mask=Tensor(np.zeros((5, 5), bool))), "accepted"),
        (lambda q, k, v: nn.MultiheadAttention(8, 2)(q, k, v, attn_mask=Tensor(np.zeros((5, 4), np.int32))), "bool"),
        (lambda q, k, v: nn.TransformerEncoderLayer(8, 2, activation="tanh"), "relu"),
    ],
    ids=["heads", "width", "values", "mask", "mask-dtype", "activation"],
)
def test_refusals(make: Callable[..., Any], said: str) -> None:
    with pytest.raises(SettingError, match=said):
        make(*sequences())


@pytest.mark.parametrize("given", [2, 3, (1, 4), [2]])
@pytest.mark.parametrize("axis", [0, 1])
def test_tensor_split(given: Any, axis: int) -> None:
    x = np.arange(30).reshape(5, 6)
    parts = Tensor(x).tensor_split(given, axis=axis)
    expected = np.array_split(x, given, axis) if isinstance(given, int) else np.split(x, given, axis)
    assert [part.asnumpy().tolist() for part in parts] == [part.tolist() for part in expected]
