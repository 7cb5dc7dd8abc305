"""Changes of the scripts beside this file, and what a right explanation of each says: written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Row(NamedTuple):
    """One change.

    Attributes:
        script: that is changed.
        old, new: what stands in place of what, once.
        origin: pattern of the first divergence's name, of either side.
        says: what the cause says, each of them.
        proven: it must be called proven; False where nothing could prove it.
    """

    script: str
    old: str
    new: str
    origin: str
    says: tuple[str, ...]
    proven: bool = True


_MOMENTUM = "optimizer-Momentum/.*ApplyMomentum-op"
_ADAM = "optimizer-Adam/.*Adam-op"
_DECAY = "optimizer-AdamWeightDecay/.*AdamWeightDecay-op"
_STEP = "    step(Tensor(x), Tensor(y))"


def _filled(script: str, line: str, origin: str, *says: str) -> Row:
    """A line more once the weights are filled."""
    return Row(script, "loss = nn.", f"{line}\nloss = nn.", origin, says)


def _given(script: str, line: str, origin: str, *says: str) -> Row:
    """A line more before each step."""
    return Row(script, _STEP, f"    {line}\n{_STEP}", origin, says)


ROWS: Sequence[Row] = (
    Row("mlp", "learning_rate=0.1", "learning_rate=0.05", _MOMENTUM, ("learning_rate 0.1 -> 0.05",)),
    Row("mlp", "0.1, momentum=0.9", "0.1, momentum=0.5", _MOMENTUM, ("momentum 0.9 -> 0.5",)),
    Row("mlp", "eps=1e-5", "eps=1e-2", "norm-BatchNorm1d/.*BatchNorm-op", ("epsilon 1e-05 -> 0.01",)),
    Row(
        "mlp",
        "eps=1e-5, momentum=0.9",
        "eps=1e-5, momentum=0.5",
        "norm-BatchNorm1d/.*BatchNorm-op",
        ("momentum",),
        False,
    ),
    Row("mlp", "nn.ReLU()", "nn.Tanh()", "ReLU-op", ("replaced", "ReLU", "Tanh")),
    Row("mlp", "nn.ReLU()", "nn.ELU()", "ReLU-op", ("replaced", "ReLU", "ELU"), False),
    Row("mlp", "x + self.act", "x - self.act", "/(Add|Sub)-op", ("replaced", "Add", "Sub")),
    Row("mlp", "        x = x * self.scale\n", "", "/Mul-op", ("removed", "Mul")),
    Row("mlp", "        x = self.act(x)\n", "        x = self.act(x * 0.5)\n", "/Mul-op", ("inserted", "Mul")),
    Row("mlp", "nn.MSELoss", "nn.L1Loss", "_loss_fn-(MSE|L1)Loss", ("replaced", "MSELoss", "L1Loss")),
    Row("mlp", '"mean"', '"sum"', "Reduce(Mean|Sum)-op", ("replaced", "ReduceMean", "ReduceSum")),
    Row("mlp", "nn.Momentum", "nn.SGD", "optimizer-(Momentum|SGD)", ("Momentum", "SGD")),
    _filled("mlp", "net.fc2.weight.set_data(net.fc2.weight * 2)", "fc2-Dense/MatMul-op", "fc2.weight", "times 2"),
    _filled("mlp", "net.fc1.weight.set_data(-net.fc1.weight)", "fc1-Dense/MatMul-op", "fc1.weight", "other sign"),
    _filled("mlp", "net.fc2.bias.set_data(Tensor(np.ones(6, np.float32)))", "fc2-Dense/BiasAdd-op", "fc2.bias"),
    _filled(
        "mlp",
        "net.out.weight.set_data(Tensor(net.out.weight.asnumpy()[[1, 0, 2, 3]]))",
        "out-Dense/MatMul-op",
        "out.weight",
        "order",
    ),
    _filled("mlp", "net.scale.set_data(Tensor(np.zeros(6, np.float32)))", "/Mul-op", "scale"),
    _given("mlp", "x = x[::-1].copy()", "fc1-Dense/MatMul-op", "back to front"),
    _given("mlp", "y = y * 2", "MSELoss/Sub-op", "times 2"),
    Row(
        "mlp",
        "self.out = nn.Dense(6, 4)",
        "self.out = nn.Dense(6, 4, has_bias=False)",
        "out-Dense/BiasAdd-op",
        ("removed", "BiasAdd"),
    ),
    Row("mlp", "self.norm(self.fc1(x))", "self.fc1(x)", "BatchNorm-op", ("removed", "BatchNorm")),
    Row("mlp", "step.set_train()", "step.set_train(False)", "norm-BatchNorm1d/", ("norm-BatchNorm1d",), False),
    Row("mlp", "momentum=0.9)\nstep", "momentum=0.9, weight_decay=0.1)\nstep", "optimizer-Momentum/", ("inserted",)),
    Row("cnn", "learning_rate=0.01", "learning_rate=0.02", _ADAM, ("learning_rate 0.01 -> 0.02",)),
    Row("cnn", "beta1=0.9", "beta1=0.8", "optimizer-Adam/", ("0.9 -> 0.8",)),
    Row("cnn", "beta2=0.999", "beta2=0.99", "optimizer-Adam/", ("0.999 -> 0.99",)),
    Row("cnn", "eps=1e-8", "eps=1e-3", _ADAM, ("epsilon 1e-08 -> 0.001",)),
    Row(
        "cnn",
        '3, pad_mode="same", has_bias',
        '3, pad_mode="pad", padding=(2, 0, 2, 0), has_bias',
        "conv1-Conv2d/Conv2D-op",
        ("pad_mode same -> pad",),
    ),
    Row("cnn", "nn.MaxPool2d", "nn.AvgPool2d", "(Max|Avg)Pool-op", ("replaced", "MaxPool", "AvgPool")),
    Row("cnn", "sens=1.0", "sens=2.0", "^Gradients/.*Mul-op", ("inserted", "Mul")),
    Row("cnn", '"same", has_bias=True', '"same", has_bias=False', "conv1-Conv2d/BiasAdd-op", ("removed", "BiasAdd")),
    Row("cnn", "self.act(self.bn(self.conv1(x)))", "self.act(self.conv1(x))", "BatchNorm-op", ("removed", "BatchNorm")),
    Row(
        "cnn",
        "self.act(self.bn(self.conv1(x)))",
        "self.bn(self.act(self.conv1(x)))",
        "(ReLU|BatchNorm)-op",
        ("moved",),
        False,
    ),
    Row("cnn", '6, 3, pad_mode="same"', '6, 3, pad_mode="same", dilation=2', "conv2-Conv2d/Conv2D-op", ("dilation",)),
    _filled(
        "cnn",
        "w = net.conv2.weight.asnumpy().copy()\nw[:, 2] = 0\nnet.conv2.weight.set_data(Tensor(w))",
        "conv2-Conv2d/Conv2D-op",
        "conv2.weight",
        "0",
    ),
    Row("cnn", "eps=1e-5", "eps=1e-2", "bn-BatchNorm2d/.*BatchNorm-op", ("epsilon 1e-05 -> 0.01",)),
    Row("cnn", "eps=1e-8)", "eps=1e-8, use_nesterov=True)", _ADAM, ("use_nesterov",)),
    _given("cnn", "y = (y + 1) % 5", "Loss|Entropy|OneHot", " -> "),
    _given("cnn", "x = np.roll(x, 1, 3)", "conv1-Conv2d/Conv2D-op", "moved by 1 along axis 3"),
    Row("attention", "epsilon=1e-7", "epsilon=1e-3", "norm-LayerNorm/LayerNorm-op", ("epsilon 1e-07 -> 0.001",)),
    Row("attention", "nn.Softmax(axis=-1)", "nn.Softmax(axis=1)", "softmax-Softmax/Softmax-op", ("axis", "-1", "1")),
    Row("attention", "* 0.35", "* 0.25", "_Muls/Mul-op", ("0.35 -> 0.25",)),
    Row("attention", "nn.GELU()", "nn.ReLU()", "(gelu-GELU|gelu-ReLU)/", ("GELU", "ReLU")),
    Row("attention", "nn.GELU()", "nn.GELU(approximate=False)", "gelu-GELU/", ("replaced", "GeLU")),
    Row("attention", "transpose_b=True", "transpose_b=False", "BatchMatMul-op", ("transpose_b True -> False",)),
    Row("attention", "x = x + self.product", "x = self.product", "Block/Add-op", ("removed", "Add")),
    Row("attention", "ops.mean(x, 1)", "ops.mean(x, 2)", "ReduceMean-op|MeanExt-op", ("1", "2")),
    Row("attention", "self.turned(q, k)", "self.turned(k, q)", "BatchMatMul-op", ("takes",)),
    Row("attention", "self.v(h)", "self.v(x)", "v-Dense/", ("takes", "in place of")),
    Row("attention", "weight_decay=0.01", "weight_decay=0.1", _DECAY, ("weight_decay 0.01 -> 0.1",)),
    Row(
        "attention",
        "    step(Tensor(tokens)",
        "    tokens = (tokens + 1) % 11\n    step(Tensor(tokens)",
        "embed-Embedding|Gather",
        ("inputs0",),
    ),
    _filled(
        "attention",
        "net.block.q.weight.set_data(net.block.k.weight)",
        "q-Dense/MatMul-op",
        "block.q.weight",
        "block.k.weight",
    ),
    Row("half", ".to_float(ms.float16)", "", "Cast-op", ("removed", "Cast"), False),
    Row("half", "x[:, :4]", "x[:, 2:6]", "StridedSlice-op|Concat-op|SliceExt-op", ("begin [0, 0] -> [0, 2]",)),
    Row("half", "* 2.0", "* 3.0", "/Mul-op", ("2 -> 3",)),
    Row("half", "nn.Tanh()", "nn.Sigmoid()", "(Tanh|Sigmoid)-op", ("Tanh", "Sigmoid")),
    Row("half", "momentum=0.5", "momentum=0.9", "optimizer-SGD/", ("momentum 0.5 -> 0.9",)),
    Row("half", '"mean"', '"sum"', "Reduce(Mean|Sum)-op", ("replaced", "ReduceMean", "ReduceSum")),
    Row(
        "half",
        "concat((x[:, :4], x[:, 4:] * 2.0)",
        "concat((x[:, 4:] * 2.0, x[:, :4])",
        "Concat-op|StridedSlice-op",
        ("begin",),
    ),
    _filled(
        "half",
        "net.fc2.weight.set_data(Tensor(net.fc2.weight.asnumpy().astype(np.float16).astype(np.float32)))",
        "fc2-Dense/MatMul-op",
        "fc2.weight",
        "float16",
    ),
)
