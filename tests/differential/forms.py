"""What programs of the second style are made of: functions with keywords, primitives made in ``__init__``, methods,
layers. Each form says which value it takes and which shape it gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from tests.differential.program import Shape


@dataclass(frozen=True)
class Form:
    """One way to compute.

    Attributes:
        text: the expression; ``{0}`` and ``{1}`` are its arguments, ``{c}`` the attribute that ``made`` makes, ``{n}``
            the length of the last axis, ``{h}`` that of the second.
        arity: how many arguments of one shape it takes.
        ranks: how many dimensions it takes.
        made: source of what ``__init__`` makes for it; empty for nothing.
        gives: the shape of its result.
        rough: it has steps, so small errors of its argument change much.
    """

    text: str
    arity: int = 1
    ranks: tuple[int, ...] = (1, 2, 3, 4)
    made: str = ""
    gives: Callable[[Shape], Shape] = tuple
    rough: bool = False

    def fits(self, shape: Shape) -> bool:
        """Whether it takes a value of this shape."""
        return len(shape) in self.ranks


#: primitives that keep shape and dtype
_PRIMITIVES = (
    "ReLU", "Sigmoid", "Tanh", "Abs", "Neg", "Sin", "Cos", "Erf", "Exp", "Square", "GeLU", "ReLU6", "Softplus", "Elu",
    "HSwish", "HSigmoid", "Mish", "Atan", "Asinh", "Sign", "Floor", "Ceil", "Round", "Rint", "Softmax", "LogSoftmax",
    "Identity", "ZerosLike", "OnesLike", "Softsign", "SeLU", "CumSum",
)  # fmt: skip
_ROUGH = frozenset({"Sign", "Floor", "Ceil", "Round", "Rint"})
#: functions that keep shape and dtype, and methods of one name that do
_BOTH = ("abs", "tanh", "sigmoid", "sin", "cos", "exp", "erf", "square", "neg", "floor", "ceil", "round", "expm1", "atan",
         "asinh", "sinh", "trunc")  # fmt: skip
_FUNCTIONS = ("relu", "relu6", "gelu", "silu", "mish", "elu", "softplus", "logsigmoid", "hardswish", "hardsigmoid", "selu",
              "celu", "softsign", "tanhshrink", "softshrink", "hardshrink", "hardtanh", "identity", "sign",
              "zeros_like", "ones_like", "stop_gradient", "fast_gelu")  # fmt: skip
_LAYERS = (
    "ReLU", "Sigmoid", "Tanh", "GELU", "LeakyReLU", "ELU", "SiLU", "ReLU6", "HSwish", "HSigmoid", "Mish", "LogSigmoid",
    "SeLU", "CELU", "Softsign", "Tanhshrink", "Identity", "Hardtanh", "Softmin", "PReLU", "FastGelu", "SoftShrink",
    "HShrink",
)  # fmt: skip


def _last(count: int) -> Callable[[Shape], Shape]:
    return lambda shape: (*shape[:-1], count)


def _less(shape: Shape) -> Shape:
    return shape[:-1]


def _second(shape: Shape) -> Shape:
    return (shape[0], *shape[2:])


def _kept(shape: Shape) -> Shape:
    return (*shape[:-1], 1)


def _flat(shape: Shape) -> Shape:
    return (prod(shape),)


def _turned(shape: Shape) -> Shape:
    return (*shape[:-2], shape[-1], shape[-2])


def _halved(shape: Shape) -> Shape:
    return (*shape[:2], shape[2] // 2, shape[3] // 2)


_ALIKE = (
    *(Form("self.{c}({0})", made=f"ops.{n}()", rough=n in _ROUGH) for n in _PRIMITIVES if n != "CumSum"),
    *(Form(f"ops.{n}({{0}})") for n in (*_FUNCTIONS, *_BOTH)),
    *(Form(f"{{0}}.{n}()") for n in _BOTH),
    *(Form("self.{c}({0})", made=f"nn.{n}()") for n in _LAYERS if n != "PReLU"),
    Form("self.{c}({0}, -1)", made="ops.CumSum()"), Form("self.{c}({0})", ranks=(2, 3, 4), made="nn.PReLU()"),
    Form("self.{c}({0})", made="ops.Softmax(axis=-1)"), Form("self.{c}({0})", made="nn.Softmax(axis=-1)"),
    Form("self.{c}({0})", made="nn.LeakyReLU(alpha=0.1)"), Form("self.{c}({0})", made="nn.LogSoftmax(axis=-1)"),
    Form("self.{c}({0})", made="nn.Dropout(p=0.0)"), Form("self.{c}({0})", made="nn.GELU(approximate=False)"),
    Form("ops.softmax({0})"), Form("ops.softmax({0}, axis=0)"), Form("ops.softmax(input={0}, axis=-1)"),
    Form("ops.log_softmax({0})"), Form("ops.gelu({0}, approximate='tanh')"), Form("ops.elu({0}, alpha=0.5)"),
    Form("ops.leaky_relu({0}, alpha=0.3)"), Form("ops.clamp({0}, min=-0.5, max=0.5)"), Form("ops.clip({0}, -0.5, 0.5)"),
    Form("ops.clip_by_value({0}, Tensor(-0.5, ms.float32), Tensor(0.5, ms.float32))"), Form("{0}.clip(-0.5, 0.5)"),
    Form("{0}.clamp(-0.5, 0.5)"), Form("ops.pow({0}, 2)"), Form("{0}.pow(3)"), Form("ops.add({0}, 1.5)"),
    Form("ops.sub({0}, 0.5)"), Form("ops.mul({0}, 2.0)"), Form("ops.div({0}, 4.0)"), Form("{0}.add(1.0)"),
    Form("{0}.mul(0.5)"), Form("{0}.sub(1.0)"), Form("{0}.div(2.0)"), Form("ops.subtract({0}, 2)"),
    Form("ops.multiply({0}, 3)"), Form("ops.divide({0}, 2)"), Form("ops.true_divide({0}, 2)"), Form("abs({0})"),
    Form("+{0} * 1.0"), Form("2 ** (0.1 * {0})"), Form("{0} // 2", rough=True), Form("{0} % 2", rough=True),
    Form("-{0} + 1.0"), Form("3.0 / ({0}.abs() + 1.0)"), Form("ops.exp(0.1 * {0})"), Form("ops.log({0}.abs() + 1.0)"),
    Form("ops.sqrt({0}.square() + 1.0)"), Form("ops.rsqrt({0} * {0} + 1.0)"), Form("({0} ** 2 + 1).sqrt()"),
    Form("({0}.abs() + 1).log()"), Form("({0}.abs() + 2).reciprocal()"), Form("({0}.abs() + 1).rsqrt()"),
    Form("ops.log1p({0}.abs())"), Form("ops.log2({0}.abs() + 1)"), Form("ops.log10({0}.abs() + 1)"),
    Form("ops.asin({0} * 0.01)"), Form("ops.acos({0} * 0.01)"), Form("ops.atanh({0} * 0.01)"), Form("ops.tan({0} * 0.1)"),
    Form("ops.cosh({0} * 0.1)"), Form("ops.acosh({0}.abs() + 2)"), Form("ops.erfc({0})"), Form("ops.exp2({0} * 0.1)"),
    Form("ops.cast({0}, ms.float16).astype('float32')"), Form("{0}.half().float()"), Form("{0}.to(ms.float32)"),
    Form("{0}.astype(ms.int32).astype(ms.float32)", rough=True), Form("{0}.type_as({0})"), Form("{0}.view_as({0})"),
    Form("({0} > 0).astype(ms.float32)", rough=True), Form("ops.where({0} > 0, {0}, 0.1 * {0})"),
    Form("ops.masked_fill({0}, {0} < 0, 0.5)"), Form("{0}.masked_fill({0} > 0.5, -1.0)"),
    Form("ops.where({0} > 0.3, {0}, ops.zeros_like({0}))"), Form("ops.select({0} > 0, {0}, ops.ones_like({0}))"),
    Form("{0} + ops.ones({0}.shape, ms.float32)"), Form("{0} * ops.full({0}.shape, 2.0)"),
    Form("ops.flip({0}, (0,))"), Form("{0}.flip((-1,))"), Form("ops.cumsum({0}, 0)"), Form("{0}.cumsum(-1)"),
    Form("{0}.cumsum(axis=0)"), Form("ops.sort({0})[0]"), Form("{0}.sort()[0]"), Form("ops.roll({0}, 1, 0)"),
    Form("ops.deg2rad({0})"), Form("ops.rad2deg({0})"), Form("ops.xlogy({0}, {0}.abs() + 1)"), Form("ops.lerp({0}, {0} * 2, 0.5)"),
    Form("ops.fmod({0}, 2.0)", rough=True), Form("ops.remainder({0}, 2.0)", rough=True), Form("ops.nan_to_num({0})"),
    Form("{0} - ops.reduce_mean({0})"), Form("{0} / (ops.norm({0}) + 1)"), Form("{0} - {0}.mean()"), Form("{0} * {0}.sum()"),
    Form("{0} - {0}.max()"), Form("{0} - ops.min({0})[0]"), Form("{0} + {0}.shape[0]"), Form("{0} * {0}.ndim"),
    Form("{0}.reshape(-1).reshape({0}.shape)"), Form("ops.reshape({0}, ops.shape({0}))"), Form("{0}.copy()"), Form("{0}.T.T"),
)  # fmt: skip
_PAIRS = (
    *(Form(f"ops.{n}({{0}}, {{1}})", 2) for n in ("add", "sub", "mul", "maximum", "minimum", "squared_difference", "fmax",
                                                  "fmin", "logaddexp", "hypot", "mse_loss", "l1_loss", "smooth_l1_loss"))
      ,
    *(Form("self.{c}({0}, {1})", 2, made=f"ops.{n}()") for n in ("Add", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference")),
    *(Form(f"{{0}}.{n}({{1}})", 2) for n in ("add", "sub", "mul", "maximum", "minimum", "multiply", "subtract")),
    Form("self.{c}({0}, {1}.abs() + 1)", 2, made="ops.Div()"), Form("self.{c}({0}, {1}.abs() + 1)", 2, made="ops.RealDiv()"),
    Form("ops.div({0}, ops.exp({1} * 0.1))", 2), Form("{0}.div({1}.abs() + 1)", 2), Form("{0} + {1} * {0}", 2), Form("({0} + {1}) / 2", 2),
    Form("({0} - {1}) ** 2", 2), Form("{0} * ({1} > 0)", 2, rough=True), Form("ops.where({0} >= {1}, {0}, {1})", 2),
    Form("ops.select({0} != {1}, {0}, {1} * 2)", 2), Form("ops.logical_and({0} > 0, {1} > 0).astype(ms.float32)", 2, rough=True),
    Form("(({0} > 0) | ({1} > 0)).float()", 2, rough=True), Form("ops.equal({0}, {1}).astype(ms.float32)", 2, rough=True),
    Form("ops.lerp({0}, {1}, 0.3)", 2), Form("ops.addcmul({0}, {0}, {1}, 0.5)", 2), Form("ops.addcdiv({0}, {0}, {1}.abs() + 1, 0.5)", 2),
    Form("ops.stack([{0}, {1}]).mean(0)", 2), Form("ops.stack((({0}), {1}), axis=-1).sum(axis=-1)", 2), Form("ops.add_n([{0}, {1}])", 2),
    Form("sum([{0}, {1}])", 2), Form("ops.atan2({0}, {1}.abs() + 1)", 2), Form("ops.cat([{0}, {1}], -1).sum(-1, keepdims=True) * {0}", 2),
    Form("ops.pow({0}.abs() + 1, {1} * 0.1)", 2), Form("ops.floor_div({0}, {1}.abs() + 1)", 2, rough=True),
)  # fmt: skip
_SHAPED = (
    *(Form(f"ops.{n}({{0}}, -1)", gives=_less, ranks=(2, 3, 4)) for n in ("mean", "sum", "amax", "amin", "reduce_mean", "reduce_sum",
                                                                "reduce_max", "reduce_min", "prod", "logsumexp", "std", "var", "norm")),
    *(Form(f"{{0}}.{n}(axis=1)", gives=_second, ranks=(2, 3, 4)) for n in ("mean", "sum", "max", "min", "std", "var")),
    *(Form(f"{{0}}.{n}(-1, True)", gives=_kept) for n in ("mean", "sum", "amax", "amin")),
    *(Form("self.{c}({0}, -1)", made=f"ops.{n}(keep_dims=True)", gives=_kept) for n in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin")),
    *(Form("self.{c}({0}, (0, 1))", made=f"ops.{n}()", gives=lambda s: s[2:], ranks=(3, 4)) for n in ("ReduceMean", "ReduceSum")),
    Form("ops.mean({0}, axis=1, keep_dims=True)", gives=lambda s: (s[0], 1, *s[2:]), ranks=(2, 3, 4)), Form("ops.sum({0}, dim=1, keepdim=True)", gives=lambda s: (s[0], 1, *s[2:]), ranks=(2, 3, 4)),
    Form("{0}.mean((-2, -1))", gives=lambda s: s[:-2], ranks=(3, 4)), Form("ops.max({0}, 1)[0]", gives=_second, ranks=(2, 3, 4)), Form("ops.min({0}, axis=-1)[0]", gives=_less, ranks=(2, 3, 4)),
    Form("ops.argmax({0}, -1).astype(ms.float32)", gives=_less, ranks=(2, 3, 4), rough=True), Form("{0}.argmax(-1).float()", gives=_less, ranks=(2, 3, 4), rough=True),
    Form("{0}.argmin(axis=-1).astype(ms.float32)", gives=_less, ranks=(2, 3, 4), rough=True), Form("ops.topk({0}, 2)[0]", gives=_last(2), ranks=(2, 3, 4)),
    Form("{0}.topk(2, -1)[0]", gives=_last(2), ranks=(2, 3, 4)), Form("{0}.norm(dim=-1)", gives=_less, ranks=(2, 3, 4)), Form("ops.cumprod({0}, 0)"),
    Form("{0}.reshape(-1)", gives=_flat), Form("{0}.view(-1)", gives=_flat), Form("ops.reshape({0}, (-1, {n}))", gives=lambda s: (prod(s) // s[-1], s[-1])),
    Form("{0}.flatten()", gives=_flat), Form("ops.flatten({0}, start_dim=1)", gives=lambda s: (s[0], prod(s[1:])), ranks=(2, 3, 4)), Form("{0}.view({0}.shape[0], -1)", gives=lambda s: (s[0], prod(s[1:])), ranks=(2, 3, 4)),
    Form("{0}.flatten(start_dim=1)", gives=lambda s: (s[0], prod(s[1:])), ranks=(2, 3, 4)), Form("ops.ravel({0})", gives=_flat), Form("{0}.ravel()", gives=_flat),
    Form("self.{c}({0})", made="nn.Flatten()", gives=lambda s: (s[0], prod(s[1:])), ranks=(2, 3, 4)), Form("{0}.swapaxes(-1, -2)", gives=_turned, ranks=(2, 3, 4)), Form("ops.swapaxes({0}, -2, -1)", gives=_turned, ranks=(2, 3, 4)),
    Form("{0}.T", gives=lambda s: s[::-1], ranks=(2,)), Form("{0}.transpose(1, 0)", gives=lambda s: s[::-1], ranks=(2,)), Form("{0}.permute(1, 0)", gives=lambda s: s[::-1], ranks=(2,)), Form("ops.permute({0}, (1, 0, 2))", gives=lambda s: (s[1], s[0], s[2]), ranks=(3,)),
    Form("{0}.transpose((0, 2, 1))", gives=_turned, ranks=(3,)), Form("{0}.transpose(0, 2, 3, 1)", gives=lambda s: (s[0], s[2], s[3], s[1]), ranks=(4,)), Form("self.{c}({0}, (1, 0, 2))", made="ops.Transpose()", gives=lambda s: (s[1], s[0], s[2]), ranks=(3,)),
    Form("ops.moveaxis({0}, 0, -1)", gives=lambda s: (*s[1:], s[0])), Form("{0}.moveaxis(0, -1)", gives=lambda s: (*s[1:], s[0])), Form("ops.swapdims({0}, 0, 1)", gives=lambda s: (s[1], s[0], *s[2:]), ranks=(2, 3, 4)),
    Form("ops.expand_dims({0}, -1)", gives=lambda s: (*s, 1), ranks=(1, 2, 3)), Form("{0}.unsqueeze(1)", gives=lambda s: (s[0], 1, *s[1:]), ranks=(1, 2, 3)), Form("{0}[None]", gives=lambda s: (1, *s), ranks=(1, 2, 3)), Form("{0}[:, None]", gives=lambda s: (s[0], 1, *s[1:]), ranks=(1, 2, 3)),
    Form("{0}.expand_dims(-1)", gives=lambda s: (*s, 1), ranks=(1, 2, 3)), Form("self.{c}({0}, 0)", made="ops.ExpandDims()", gives=lambda s: (1, *s), ranks=(1, 2, 3)), Form("ops.squeeze({0}[None], 0)"), Form("{0}[None].squeeze(axis=0)"), Form("self.{c}({0}[None])", made="ops.Squeeze(0)"),
    Form("ops.tile({0}, (2,) + (1,) * ({0}.ndim - 1))", gives=lambda s: (2 * s[0], *s[1:])), Form("{0}.tile((2, 1))", gives=lambda s: (2 * s[0], s[1]), ranks=(2,)), Form("{0}.repeat(2, axis=0)", gives=lambda s: (2 * s[0], *s[1:])), Form("ops.repeat_interleave({0}, 2, 0)", gives=lambda s: (2 * s[0], *s[1:])),
    Form("{0}.repeat_interleave(2, 0)", gives=lambda s: (2 * s[0], *s[1:])), Form("ops.broadcast_to({0}[None], (2,) + {0}.shape)", gives=lambda s: (2, *s), ranks=(1, 2, 3)), Form("{0}[None].broadcast_to((3,) + {0}.shape)", gives=lambda s: (3, *s), ranks=(1, 2, 3)), Form("{0}.expand_as({0})"),
    Form("ops.concat([{0}, {0}], axis=0)", gives=lambda s: (2 * s[0], *s[1:])), Form("ops.cat(({0}, -{0}), axis=-1)", gives=lambda s: (*s[:-1], 2 * s[-1])), Form("self.{c}(({0}, {0}))", made="ops.Concat(axis=0)", gives=lambda s: (2 * s[0], *s[1:])), Form("self.{c}(({0}, {0}))", made="ops.Stack(axis=0)", gives=lambda s: (2, *s), ranks=(1, 2, 3)),
    Form("ops.stack([{0}, {0}], axis=1)", gives=lambda s: (s[0], 2, *s[1:]), ranks=(1, 2, 3)), Form("ops.hstack(({0}, {0}))", gives=lambda s: (s[0], 2 * s[1], *s[2:]), ranks=(2, 3, 4)), Form("ops.vstack(({0}, {0}))", gives=lambda s: (2 * s[0], *s[1:]), ranks=(2, 3, 4)),
    Form("{0}[0]", gives=lambda s: s[1:], ranks=(2, 3, 4)), Form("{0}[-1]", gives=lambda s: s[1:], ranks=(2, 3, 4)), Form("{0}[:, 0]", gives=_second, ranks=(2, 3, 4)), Form("{0}[..., 0]", gives=_less, ranks=(2, 3, 4)), Form("{0}[:, 1:]", gives=lambda s: (s[0], s[1] - 1, *s[2:]), ranks=(2, 3, 4)),
    Form("{0}[:, ::2]", gives=lambda s: (s[0], (s[1] + 1) // 2, *s[2:]), ranks=(2, 3, 4)), Form("{0}[:, :-1]", gives=lambda s: (s[0], s[1] - 1, *s[2:]), ranks=(2, 3, 4)), Form("{0}[0, 0]", gives=lambda s: s[2:], ranks=(3, 4)), Form("{0}[..., -1:]", gives=_kept), Form("{0}[Tensor([1, 0], ms.int32)]", gives=lambda s: (2, *s[1:])),
    Form("ops.gather({0}, Tensor([1, 0, 1], ms.int32), 0)", gives=lambda s: (3, *s[1:])), Form("self.{c}({0}, Tensor([0, 1], ms.int32), 0)", made="ops.Gather()", gives=lambda s: (2, *s[1:])), Form("ops.index_select({0}, 0, Tensor([1, 1], ms.int32))", gives=lambda s: (2, *s[1:])), Form("{0}.index_select(0, Tensor([0, 0], ms.int32))", gives=lambda s: (2, *s[1:])),
    Form("ops.narrow({0}, -1, 0, 1)", gives=_kept), Form("ops.slice({0}, (0, 0), (1, 1))", gives=lambda s: (1, 1), ranks=(2,)), Form("ops.strided_slice({0}, (0, 0), (2, 1), (1, 1))", gives=lambda s: (2, 1), ranks=(2,)), Form("ops.split({0}, 1, axis=0)[1]", gives=lambda s: (1, *s[1:])), Form("{0}.split(1, 0)[0]", gives=lambda s: (1, *s[1:])),
    Form("{0}.chunk(2, 0)[0]", gives=lambda s: ((s[0] + 1) // 2, *s[1:])), Form("ops.chunk({0}, 2, axis=-1)[0]", gives=lambda s: (*s[:-1], (s[-1] + 1) // 2)), Form("ops.unstack({0}, 0)[1]", gives=lambda s: s[1:], ranks=(2, 3, 4)), Form("ops.unbind({0}, 0)[0]", gives=lambda s: s[1:], ranks=(2, 3, 4)), Form("{0}.unbind(0)[1]", gives=lambda s: s[1:], ranks=(2, 3, 4)),
    Form("ops.pad({0}, (1, 1))", gives=lambda s: (*s[:-1], s[-1] + 2)), Form("ops.pad({0}, (0, 1, 1, 0), value=0.5)", gives=lambda s: (*s[:-2], s[-2] + 1, s[-1] + 1), ranks=(2, 3, 4)), Form("self.{c}({0})", made="nn.Pad(((0, 1), (1, 0)))", gives=lambda s: (s[0] + 1, s[1] + 1), ranks=(2,)), Form("self.{c}({0})", made="ops.Pad(((0, 1), (1, 0)))", gives=lambda s: (s[0] + 1, s[1] + 1), ranks=(2,)),
    Form("ops.tril({0})", ranks=(2, 3)), Form("ops.triu({0}, diagonal=1)", ranks=(2, 3)), Form("{0}.tril()", ranks=(2, 3)), Form("ops.diag({0})", gives=lambda s: (s[0], s[0]), ranks=(1,)),
    Form("ops.one_hot({0}.argmax(-1), {n}, Tensor(1.0, ms.float32), Tensor(0.0, ms.float32))", ranks=(2, 3), rough=True), Form("self.{c}({0}.argmax(-1).astype(ms.int32))", made="nn.Embedding({n}, 4)", gives=_last(4), ranks=(2,), rough=True),
)  # fmt: skip
_PRODUCTS = (
    Form("ops.matmul({0}, {0}.T)", ranks=(2,), gives=lambda s: (s[0], s[0])), Form("{0} @ {0}.swapaxes(-1, -2)", ranks=(2, 3), gives=lambda s: (*s[:-1], s[-2])), Form("self.{c}({0}, {0})", made="ops.MatMul(transpose_b=True)", ranks=(2,), gives=lambda s: (s[0], s[0])),
    Form("self.{c}({0}, {0})", made="ops.BatchMatMul(transpose_b=True)", ranks=(3,), gives=lambda s: (*s[:-1], s[-2])), Form("ops.bmm({0}, {0}.transpose(0, 2, 1))", ranks=(3,), gives=lambda s: (*s[:-1], s[-2])), Form("{0}.matmul({0}.T)", ranks=(2,), gives=lambda s: (s[0], s[0])), Form("ops.mm({0}, {0}.T)", ranks=(2,), gives=lambda s: (s[0], s[0])),
    Form("ops.dot({0}, {0}.T)", ranks=(2,), gives=lambda s: (s[0], s[0])), Form("ops.outer({0}, {0})", ranks=(1,), gives=lambda s: (s[0], s[0])), Form("ops.inner({0}, {0})", ranks=(2,), gives=lambda s: (s[0], s[0])), Form("ops.tensor_dot({0}, {0}, ((1,), (1,)))", ranks=(2,), gives=lambda s: (s[0], s[0])), Form("ops.einsum('ij,kj->ik', {0}, {0})", ranks=(2,), gives=lambda s: (s[0], s[0])),
    Form("ops.addmm({0} @ {0}.T, {0}, {0}.T)", ranks=(2,), gives=lambda s: (s[0], s[0])), Form("ops.baddbmm({0} @ {0}.swapaxes(-1, -2), {0}, {0}.swapaxes(-1, -2))", ranks=(3,), gives=lambda s: (*s[:-1], s[-2])), Form("ops.dense({0}, Tensor(np.ones((3, {n}), np.float32)))", ranks=(2, 3), gives=_last(3)),
    Form("self.{c}({0})", made="nn.Dense(in_channels={n}, out_channels=3, weight_init='normal')", ranks=(2, 3), gives=_last(3)), Form("self.{c}({0})", made="nn.Dense({n}, 2, activation='sigmoid')", ranks=(2, 3), gives=_last(2)), Form("self.{c}({0})", made="nn.Dense({n}, {n}, weight_init='ones', bias_init='zeros')", ranks=(2, 3)), Form("self.{c}({0})", made="nn.Dense({n}, 4, activation=nn.ReLU())", ranks=(2, 3), gives=_last(4)),
    Form("self.{c}({0})", made="nn.LayerNorm([{n}])", ranks=(2, 3, 4)), Form("self.{c}({0})", made="nn.LayerNorm(({n},), epsilon=1e-5)", ranks=(2, 3)), Form("self.{c}({0})", made="nn.BatchNorm1d(num_features={h})", ranks=(2,)), Form("self.{c}({0})", made="nn.BatchNorm2d({h}, momentum=0.9)", ranks=(4,)), Form("self.{c}({0})", made="nn.GroupNorm(1, {h})", ranks=(4,)),
    Form("self.{c}({0})", made="nn.Conv2d({h}, 2, kernel_size=3, padding=1, pad_mode='pad')", ranks=(4,), gives=lambda s: (s[0], 2, *s[2:])), Form("self.{c}({0})", made="nn.Conv2d({h}, 3, 2, stride=2, pad_mode='valid', has_bias=True)", ranks=(4,), gives=lambda s: (s[0], 3, s[2] // 2, s[3] // 2)), Form("self.{c}({0})", made="nn.Conv2d({h}, {h}, 3, group={h})", ranks=(4,)),
    Form("self.{c}({0})", made="nn.Conv2dTranspose({h}, 2, 2, stride=2, pad_mode='valid')", ranks=(4,), gives=lambda s: (s[0], 2, 2 * s[2], 2 * s[3])), Form("self.{c}({0})", made="nn.Conv1d({h}, 2, 3)", ranks=(3,), gives=lambda s: (s[0], 2, s[2])), Form("self.{c}({0})", made="nn.MaxPool2d(kernel_size=2, stride=2)", ranks=(4,), gives=_halved), Form("self.{c}({0})", made="nn.AvgPool2d(kernel_size=2, stride=2)", ranks=(4,), gives=_halved),
    Form("self.{c}({0})", made="nn.MaxPool2d(3, 1, pad_mode='same')", ranks=(4,)), Form("self.{c}({0})", made="ops.MaxPool(kernel_size=2, strides=2)", ranks=(4,), gives=_halved), Form("self.{c}({0})", made="ops.AvgPool(kernel_size=2, strides=2)", ranks=(4,), gives=_halved), Form("self.{c}({0})", made="nn.AdaptiveAvgPool2d((1, 1))", ranks=(4,), gives=lambda s: (*s[:2], 1, 1)),
    Form("ops.max_pool2d({0}, 2)", ranks=(4,), gives=_halved), Form("ops.avg_pool2d({0}, 2, 2)", ranks=(4,), gives=_halved), Form("ops.adaptive_avg_pool2d({0}, (2, 2))", ranks=(4,), gives=lambda s: (*s[:2], 2, 2)), Form("{0}.mean((2, 3))", ranks=(4,), gives=lambda s: s[:2]), Form("ops.mean({0}, (2, 3), keep_dims=True)", ranks=(4,), gives=lambda s: (*s[:2], 1, 1)),
    Form("ops.interpolate({0}, scale_factor=2.0, mode='nearest', recompute_scale_factor=True)", ranks=(4,), gives=lambda s: (*s[:2], 2 * s[2], 2 * s[3])), Form("ops.interpolate({0}, size=(4, 4), mode='bilinear', align_corners=False)", ranks=(4,), gives=lambda s: (*s[:2], 4, 4)), Form("self.{c}({0})", made="nn.PixelUnshuffle(2)", ranks=(4,), gives=lambda s: (s[0], 4 * s[1], s[2] // 2, s[3] // 2)),
)  # fmt: skip
#: all
FORMS = (*_ALIKE, *_PAIRS, *_SHAPED, *_PRODUCTS)
GROUPS = {"alike": _ALIKE, "pairs": _PAIRS, "shaped": _SHAPED, "products": _PRODUCTS}
