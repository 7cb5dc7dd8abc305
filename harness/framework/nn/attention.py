"""``MultiheadAttention``.

Source: MindSpore 2.10.0, measured. Whether two arguments are the same tensor is seen where the layer is called from
Python; inside a graph all three are taken for different ones, and the projection has three products.
"""

from __future__ import annotations

import math
from typing import Any

from harness import dtypes
from harness.dtypes import DType
from harness.errors import SettingError
from harness.framework.nn import checks
from harness.framework.nn.basic import Dense
from harness.framework.nn.cell import Cell
from harness.framework.nn.initializer import HeUniform, Uniform, XavierNormal, XavierUniform, initializer
from harness.framework.nn.namespace import ops
from harness.framework.tensor import Parameter, Tensor, graph_function, is_eager, is_tracing

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Cell):
    """Attention of ``num_heads`` heads over sequences.

    Queries are (L, N, E), keys (S, N, kdim) and values (S, N, vdim), with ``batch_first`` (N, L, E) and so on; without
    a batch the axis N is missing. Gives the output, shaped as the queries, and the weights (N, L, S), or for each head
    (N, num_heads, L, S) without ``average_attn_weights``.

    Args:
        embed_dim: E, a multiple of ``num_heads``.
        dropout: probability of dropping a weight in training.
        has_bias: whether the projections have biases.
        add_bias_kv: one more key and value, which are learnt.
        add_zero_attn: one more key and value of zeros.
        kdim, vdim: widths of keys and values; None for E.
        batch_first: where the batch stands.
        dtype: of the parameters.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        has_bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        dtype: DType | None = dtypes.float32,
    ) -> None:
        super().__init__()
        self.embed_dim = checks.positive_int(embed_dim, "embed_dim", self.cls_name)
        self.num_heads = checks.positive_int(num_heads, "num_heads", self.cls_name)
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise SettingError(f"{self.cls_name}: embed_dim {embed_dim} must be divisible by num_heads {num_heads}")
        dtype = dtype or dtypes.float32
        self._packed = self.kdim == embed_dim and self.vdim == embed_dim
        self._make_parameters(has_bias, add_bias_kv, dtype)
        self.add_zero_attn = add_zero_attn
        self.dtype = dtype
        self._drop = ops.Dropout(1 - dropout) if dropout > 0 else None
        self.k_is_v = self.q_is_k = False

    def _make_parameters(self, has_bias: bool, add_bias_kv: bool, dtype: DType) -> None:
        width = self.embed_dim
        widths = {"in": width} if self._packed else {"q": width, "k": self.kdim, "v": self.vdim}
        for part, wide in widths.items():
            rows = 3 * width if self._packed else width
            name = f"{part}_proj_weight"
            setattr(self, name, Parameter(initializer(XavierUniform(), (rows, wide), dtype), name))
        self.in_proj_bias = None
        if has_bias:
            self.in_proj_bias = Parameter(initializer("zeros", (3 * width,), dtype), "in_proj_bias")
        self.out_proj = Dense(
            width, width, has_bias=has_bias, weight_init=HeUniform(math.sqrt(5)),
            bias_init=Uniform(1 / math.sqrt(width)), dtype=dtype,
        )  # fmt: skip
        self.bias_k = self.bias_v = None
        if add_bias_kv:
            self.bias_k = Parameter(initializer(XavierNormal(), (1, 1, width), dtype), "bias_k")
            self.bias_v = Parameter(initializer(XavierNormal(), (1, 1, width), dtype), "bias_v")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not is_tracing() or is_eager():
            given = dict(zip(("query", "key", "value"), args, strict=False)) | kwargs
            self.k_is_v = given.get("key") is given.get("value")
            self.q_is_k = given.get("query") is given.get("key")
        return super().__call__(*args, **kwargs)

    def construct(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
    ) -> Any:
        batched = query.ndim == 3
        self._check(query, key, value, key_padding_mask, attn_mask)
        if self.batch_first and batched:
            query, key, value = self._swapped(query, key, value)
        if not batched:
            query, key, value = query.expand_dims(1), key.expand_dims(1), value.expand_dims(1)
            if key_padding_mask is not None:
                key_padding_mask = key_padding_mask.expand_dims(0)
        output, weights = _FORWARD(self, query, key, value, key_padding_mask, attn_mask, average_attn_weights)
        if not batched:
            output, weights = output.squeeze(1), weights.squeeze(0)
        if self.batch_first and batched:
            output = output.swapaxes(1, 0)
        return (output, weights) if need_weights else (output,)

    def _check(self, query: Tensor, key: Tensor, value: Tensor, padding: Any, mask: Any) -> None:
        if query.ndim not in (2, 3) or {key.ndim, value.ndim} != {query.ndim}:
            raise SettingError(f"{self.cls_name}: query, key and value have {query.ndim}, {key.ndim} and {value.ndim} "
                               "dimensions; accepted: 3 each, or 2 each")  # fmt: skip
        if query.shape[-1] != self.embed_dim:
            raise SettingError(f"{self.cls_name}: the query is {query.shape[-1]} wide; accepted: {self.embed_dim}")
        if (self._packed and key.shape != value.shape) or key.shape[:-1] != value.shape[:-1]:
            raise SettingError(f"{self.cls_name}: key {key.shape} and value {value.shape} do not match")
        for name, given in (("key_padding_mask", padding), ("attn_mask", mask)):
            if given is not None and given.dtype.kind not in "bf" and given.dtype is not dtypes.uint8:
                raise SettingError(f"{self.cls_name}: {name} must be bool or floating, got {given.dtype}")
        if mask is not None:
            at = 1 if self.batch_first and query.ndim == 3 else 0
            length, batch = query.shape[at], 1 if query.ndim == 2 else query.shape[1 - at]
            accepted = ((length, key.shape[at]), (batch * self.num_heads, length, key.shape[at]))
            if tuple(mask.shape) not in accepted:
                raise SettingError(f"{self.cls_name}: attn_mask is {mask.shape}; accepted: {accepted[0]} or "
                                   f"{accepted[1]}")  # fmt: skip

    def _swapped(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        if self.k_is_v and self.q_is_k:
            query = key = value = query.swapaxes(1, 0)
        elif self.k_is_v:
            query, key = query.swapaxes(1, 0), key.swapaxes(1, 0)
            value = key
        else:
            query, key, value = query.swapaxes(1, 0), key.swapaxes(1, 0), value.swapaxes(1, 0)
        return query, key, value

    def _projected(self, query: Tensor, key: Tensor, value: Tensor) -> Any:
        bias, width = self.in_proj_bias, self.embed_dim
        if not self._packed:
            parts = (None,) * 3 if bias is None else bias.tensor_split(3)
            weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        elif self.k_is_v and self.q_is_k:
            return _linear(query, self.in_proj_weight, bias).tensor_split(3, axis=-1)
        elif self.k_is_v:
            own, both = self.in_proj_weight.split([width, width * 2])
            b_own, b_both = (None, None) if bias is None else bias.split([width, width * 2])
            return _linear(query, own, b_own), *_linear(key, both, b_both).tensor_split(2, axis=-1)
        else:
            weights = self.in_proj_weight.tensor_split(3)
            parts = (None,) * 3 if bias is None else bias.tensor_split(3)
        return tuple(_linear(x, w, b) for x, w, b in zip((query, key, value), weights, parts, strict=True))

    def _attended(self, q: Any, k: Any, v: Any, padding: Any, mask: Any) -> tuple[Any, Any]:
        length, batch, width = q.shape
        heads, each = self.num_heads, self.head_dim
        if mask is not None:
            mask = mask.astype(dtypes.bool_) if mask.dtype is dtypes.uint8 else mask
            mask = mask.expand_dims(0) if mask.ndim == 2 else mask
        if self.bias_k is not None and self.bias_v is not None:
            k, v = ops.cat([k, self.bias_k.tile((1, batch, 1))]), ops.cat([v, self.bias_v.tile((1, batch, 1))])
            padding, mask = _one_more(padding), _one_more(mask)
        q, k, v = (x.view((x.shape[0], batch * heads, each)).swapaxes(0, 1) for x in (q, k, v))
        if self.add_zero_attn:
            zeros = (batch * heads, 1, each)
            k = ops.cat([k, ops.zeros(zeros, dtype=k.dtype)], axis=1)
            v = ops.cat([v, ops.zeros(zeros, dtype=v.dtype)], axis=1)
            padding, mask = _one_more(padding), _one_more(mask)
        source = k.shape[1]
        mask = self._mask(mask, padding, batch, source, q.dtype)
        q = q.view((batch, heads, length, each))
        k, v = k.view((batch, heads, source, each)), v.view((batch, heads, source, each))
        scale = Tensor(each, self.dtype).sqrt().sqrt()
        weights = ops.matmul(q / scale, k.swapaxes(-2, -1) / scale)
        if mask is not None:
            weights = weights + mask
        weights = ops.softmax(weights, -1)
        if self._drop is not None and self.training:
            weights = self._drop(weights)[0]
        output = ops.matmul(weights, v).transpose(2, 0, 1, 3).view((batch * length, width))
        output = _linear(output, self.out_proj.weight, self.out_proj.bias)
        return output.view((length, batch, output.shape[1])), weights.view((batch, heads, length, source))

    def _mask(self, mask: Any, padding: Any, batch: int, source: int, dtype: DType) -> Any:
        """What is added to the weights: (1, 1, L, S) or (N, heads, L or 1, S); None for nothing."""
        heads = self.num_heads
        if padding is not None:
            if tuple(padding.shape) != (batch, source):
                raise SettingError(f"{self.cls_name}: key_padding_mask is {padding.shape}; accepted: {(batch, source)}")
            padding = padding.view((batch, 1, 1, source)).tile((1, heads, 1, 1)).reshape(batch * heads, 1, source)
            if mask is None:
                mask = padding
            else:
                mask = mask.logical_or(padding) if mask.dtype is dtypes.bool_ else mask + padding
        if mask is None:
            return None
        if mask.dtype is dtypes.bool_:
            mask = ops.zeros_like(mask, dtype=dtype).masked_fill(mask, Tensor(float("-inf"), dtype))
        return mask.expand_dims(0) if mask.shape[0] == 1 else mask.view((batch, heads, -1, source))


def _forward(
    layer: MultiheadAttention, query: Any, key: Any, value: Any, padding: Any, mask: Any, average: bool
) -> tuple[Any, Any]:
    """What the layer computes of (length, batch, width): a function that all layers of a network share."""
    q, k, v = layer._projected(query, key, value)
    output, weights = layer._attended(q, k, v, padding, mask)
    return output, weights.sum(axis=1) / layer.num_heads if average else weights


_FORWARD = graph_function("ops.multi_head_attention_forward", _forward)


def _linear(x: Any, weight: Any, bias: Any) -> Any:
    out = ops.matmul(x, weight.swapaxes(-1, -2))
    return out if bias is None else out + bias


def _one_more(mask: Any) -> Any:
    """A mask for one more key, which is seen."""
    if mask is None:
        return None
    return ops.cat([mask, ops.zeros((*mask.shape[:-1], 1), dtype=mask.dtype)], axis=-1)
