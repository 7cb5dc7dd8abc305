"""``Transformer`` and its layers.

Source: MindSpore 2.10.0, measured: layers of a stack begin with the same values; ``Transformer`` draws all
matrices again.
"""

from __future__ import annotations

import copy
import math
from typing import Any

from harness import dtypes
from harness.dtypes import DType
from harness.errors import SettingError
from harness.framework.nn.activation import GELU, ReLU
from harness.framework.nn.attention import MultiheadAttention
from harness.framework.nn.basic import Dense, Dropout
from harness.framework.nn.cell import Cell
from harness.framework.nn.containers import CellList
from harness.framework.nn.initializer import HeUniform, Uniform, initializer
from harness.framework.nn.namespace import ops
from harness.framework.nn.normalization import LayerNorm
from harness.framework.tensor import Tensor

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]


def _activation(given: Any, owner: str) -> Any:
    known = {"relu": ops.relu, "gelu": ops.gelu}
    if isinstance(given, str) and given in known:
        return known[given]
    if isinstance(given, (ReLU, GELU)) or any(given is function for function in known.values()):
        return given
    raise SettingError(f"{owner}: activation must be 'relu', 'gelu', or that function or layer, got {given!r}")


class _Layer(Cell):
    """What both layers have; ``settings`` makes another one like it."""

    norms: int

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        dtype: DType = dtypes.float32,
    ) -> None:
        super().__init__()
        self.settings = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first,
                         dtype)  # fmt: skip
        self._make_attention(nhead=nhead, dropout=dropout, batch_first=batch_first)
        for name, wide, out in (("dense1", d_model, dim_feedforward), ("dense2", dim_feedforward, d_model)):
            made = Dense(
                wide, out, weight_init=HeUniform(math.sqrt(5)), bias_init=Uniform(1 / math.sqrt(wide)), dtype=dtype
            )
            setattr(self, name, made)
            if name == "dense1":
                self.dropout = Dropout(p=dropout)
        self.norm_first = norm_first
        for number in range(1, self.norms + 1):
            setattr(self, f"norm{number}", LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype))
        for number in range(1, self.norms + 1):
            setattr(self, f"dropout{number}", Dropout(p=dropout))
        self.activation = _activation(activation, self.cls_name)

    def _make_attention(self, nhead: int, dropout: float, batch_first: bool) -> None:
        d_model, dtype = self.settings[0], self.settings[-1]
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, dtype=dtype)

    def _attend(self, x: Tensor, mask: Any, padding: Any) -> Any:
        return self.dropout1(self.self_attn(x, x, x, attn_mask=mask, key_padding_mask=padding, need_weights=False)[0])

    def _forward(self, x: Tensor) -> Any:
        x = self.dense2(self.dropout(self.activation(self.dense1(x))))
        return self.dropout2(x) if self.norms == 2 else self.dropout3(x)


class TransformerEncoderLayer(_Layer):
    """Attention of a sequence to itself, and two ``Dense``; each with a residual and ``LayerNorm``.

    Args:
        d_model, nhead: width of the sequence, and heads of the attention.
        dim_feedforward: width between the two ``Dense``.
        dropout: probability, four times.
        activation: ``relu`` or ``gelu``: text, function or layer.
        layer_norm_eps: of ``LayerNorm``.
        batch_first: (N, S, E) in place of (S, N, E).
        norm_first: normalises before each part, else after it.
        dtype: of the parameters.
    """

    norms = 2

    def construct(self, src: Tensor, src_mask: Any = None, src_key_padding_mask: Any = None) -> Any:
        if self.norm_first:
            src = src + self._attend(self.norm1(src), src_mask, src_key_padding_mask)
            return src + self._forward(self.norm2(src))
        src = self.norm1(src + self._attend(src, src_mask, src_key_padding_mask))
        return self.norm2(src + self._forward(src))


class TransformerDecoderLayer(_Layer):
    """As ``TransformerEncoderLayer``, with attention to ``memory`` between the two parts."""

    norms = 3

    def _make_attention(self, nhead: int, dropout: float, batch_first: bool) -> None:
        super()._make_attention(nhead, dropout, batch_first)
        d_model, dtype = self.settings[0], self.settings[-1]
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, dtype=dtype)

    def _attend_to(self, x: Tensor, memory: Tensor, mask: Any, padding: Any) -> Any:
        found = self.multihead_attn(x, memory, memory, attn_mask=mask, key_padding_mask=padding, need_weights=False)
        return self.dropout2(found[0])

    def construct(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
    ) -> Any:
        if self.norm_first:
            tgt = tgt + self._attend(self.norm1(tgt), tgt_mask, tgt_key_padding_mask)
            tgt = tgt + self._attend_to(self.norm2(tgt), memory, memory_mask, memory_key_padding_mask)
            return tgt + self._forward(self.norm3(tgt))
        tgt = self.norm1(tgt + self._attend(tgt, tgt_mask, tgt_key_padding_mask))
        tgt = self.norm2(tgt + self._attend_to(tgt, memory, memory_mask, memory_key_padding_mask))
        return self.norm3(tgt + self._forward(tgt))


class _Stack(Cell):
    """Copies of one new ``_layer`` with ``like``'s settings, then ``norm``."""

    _layer: type[_Layer]

    def __init__(self, like: _Layer, num_layers: int, norm: Cell | None) -> None:
        super().__init__()
        made = self._layer(*like.settings)
        self.layers = CellList([copy.deepcopy(made) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm


class TransformerEncoder(_Stack):
    """``num_layers`` layers like ``encoder_layer``, which is not among them, then ``norm``."""

    _layer = TransformerEncoderLayer

    def __init__(self, encoder_layer: TransformerEncoderLayer, num_layers: int, norm: Cell | None = None) -> None:
        super().__init__(encoder_layer, num_layers, norm)

    def construct(self, src: Tensor, src_mask: Any = None, src_key_padding_mask: Any = None) -> Any:
        for layer in self.layers:
            src = layer(src, src_mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(_Stack):
    """``num_layers`` layers like ``decoder_layer``, which is not among them, then ``norm``."""

    _layer = TransformerDecoderLayer

    def __init__(self, decoder_layer: TransformerDecoderLayer, num_layers: int, norm: Cell | None = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def construct(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
    ) -> Any:
        for layer in self.layers:
            tgt = layer(
                tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
            )  # fmt: skip
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Cell):
    """An encoder of ``src``, whose result the decoder of ``tgt`` attends to; arguments as those of its layers."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        custom_encoder: Cell | None = None,
        custom_decoder: Cell | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        dtype: DType = dtypes.float32,
    ) -> None:
        super().__init__()
        of_layer = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first,
                    dtype)  # fmt: skip

        def made(stack: type[_Stack], num_layers: int) -> Cell:
            like = stack._layer(*of_layer)
            return stack(like, num_layers, LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype))

        self.encoder = made(TransformerEncoder, num_encoder_layers) if custom_encoder is None else custom_encoder
        self.decoder = made(TransformerDecoder, num_decoder_layers) if custom_decoder is None else custom_decoder
        for _, parameter in self.parameters_and_names():
            if parameter.ndim > 1:
                parameter.set_data(initializer("xavier_uniform", parameter.shape, parameter.dtype))
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def construct(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Any = None,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        src_key_padding_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
    ) -> Any:
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise SettingError(f"{self.cls_name}: src is {src.shape[-1]} and tgt {tgt.shape[-1]} wide; accepted: "
                               f"d_model {self.d_model}")  # fmt: skip
        memory = self.encoder(src, src_mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        return self.decoder(
            tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
        )  # fmt: skip
