"""Optimizers and training cells: steps against numpy in float64, parameter groups, schedules, refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from harness import context, dtypes, float32, nn, ops
from harness.errors import CellNameError, HarnessError, SettingError, SettingTypeError, TraceError
from harness.framework.tensor import Parameter, Tensor

Array = np.ndarray[Any, np.dtype[Any]]
START = {"weight": np.array([[0.5, -1.0, 2.0]], np.float32), "bias": np.array([0.25], np.float32)}
X = np.array([[1.0, 2.0, -1.0], [0.5, -0.5, 3.0]], np.float32)
Y = np.array([[1.0], [-2.0]], np.float32)


@pytest.fixture(autouse=True, params=[context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"])
def _mode(request: pytest.FixtureRequest) -> Iterator[None]:
    before = context.get_context("mode")
    context.set_context(mode=request.param)
    yield
    context.set_context(mode=before)


def network() -> nn.Dense:
    """A dense layer with fixed parameters."""
    return nn.Dense(3, 1, weight_init=Tensor(START["weight"]), bias_init=Tensor(START["bias"]))


def gradients(state: dict[str, Array], sens: float = 1.0) -> dict[str, Array]:
    """Gradients of the mean squared error."""
    slope = 2 * (X @ state["weight"].T + state["bias"] - Y) / Y.size * sens
    return {"weight": slope.T @ X, "bias": slope.sum(0)}


Update = Callable[[dict[str, Array], dict[str, Array], int], None]


def follow(make: Callable[[nn.Dense], nn.Optimizer], update: Update, steps: int = 3, **settings: Any) -> nn.Optimizer:
    """Trains ``steps`` steps and does ``update(state, gradients, step)`` beside it; parameters must agree."""
    net = network()
    optimizer = make(net)
    train = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer, **settings).set_train()
    state = {name: value.astype(np.float64) for name, value in START.items()}
    for step in range(steps):
        error = X @ state["weight"].T + state["bias"] - Y
        loss = train(Tensor(X), Tensor(Y))
        np.testing.assert_allclose(float(loss), np.mean(error**2), rtol=1e-5)
        update(state, gradients(state, settings.get("sens", 1.0)), step)
        for p in net.get_parameters():
            np.testing.assert_allclose(p.asnumpy(), state[p.name], rtol=1e-5, atol=1e-6)
    assert optimizer.global_step.asnumpy().tolist() == [steps]
    return optimizer


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum(nesterov: bool) -> None:
    moments = {name: np.zeros_like(value, np.float64) for name, value in START.items()}

    def update(state: dict[str, Array], grads: dict[str, Array], step: int) -> None:
        for name, grad in grads.items():
            moments[name] = 0.9 * moments[name] + grad
            state[name] = state[name] - 0.05 * moments[name]  # with nesterov too: as the real kernel

    follow(lambda n: nn.Momentum(n.trainable_params(), 0.05, 0.9, use_nesterov=nesterov), update)


@pytest.mark.parametrize(
    ("momentum", "dampening", "nesterov"), [(0.0, 0.0, False), (0.9, 0.5, False), (0.9, 0.0, True)]
)
def test_sgd(momentum: float, dampening: float, nesterov: bool) -> None:
    kept: dict[str, Array] = {}

    def update(state: dict[str, Array], grads: dict[str, Array], step: int) -> None:
        for name, grad in grads.items():
            slope = grad
            if momentum:
                kept[name] = grad if name not in kept else momentum * kept[name] + (1 - dampening) * grad
                slope = grad + momentum * kept[name] if nesterov else kept[name]
            state[name] = state[name] - 0.05 * slope

    follow(lambda n: nn.SGD(n.trainable_params(), 0.05, momentum, dampening, nesterov=nesterov), update)


def test_adam() -> None:
    first = {name: np.zeros_like(value, np.float64) for name, value in START.items()}
    second = {name: np.zeros_like(value, np.float64) for name, value in START.items()}

    def update(state: dict[str, Array], grads: dict[str, Array], step: int) -> None:
        rate = 0.01 * np.sqrt(1 - 0.999 ** (step + 1)) / (1 - 0.9 ** (step + 1))
        for name, grad in grads.items():
            first[name] = 0.9 * first[name] + 0.1 * grad
            second[name] = 0.999 * second[name] + 0.001 * grad**2
            state[name] = state[name] - rate * first[name] / (np.sqrt(second[name]) + 1e-8)

    optimizer = follow(lambda n: nn.Adam(n.trainable_params(), 0.01), update)
    np.testing.assert_allclose(float(optimizer.beta1_power), 0.9**3, rtol=1e-6)


def test_adam_weight_decay_by_group() -> None:
    first = {name: np.zeros_like(value, np.float64) for name, value in START.items()}
    second = {name: np.zeros_like(value, np.float64) for name, value in START.items()}

    def update(state: dict[str, Array], grads: dict[str, Array], step: int) -> None:
        for name, grad in grads.items():
            first[name] = 0.9 * first[name] + 0.1 * grad
            second[name] = 0.999 * second[name] + 0.001 * grad**2
            decay = 0.5 if name == "weight" else 0.0
            step_by = first[name] / (np.sqrt(second[name]) + 1e-6) + decay * state[name]
            state[name] = state[name] - 0.01 * step_by

    follow(
        lambda n: nn.AdamWeightDecay([{"params": [n.weight], "weight_decay": 0.5}, {"params": [n.bias]}], 0.01), update
    )


def plain(rate: Callable[[int, str], float], decay: float = 0.0) -> Update:
    """Gradient descent with a rate by step and parameter."""

    def update(state: dict[str, Array], grads: dict[str, Array], step: int) -> None:
        for name, grad in grads.items():
            state[name] = state[name] - rate(step, name) * (grad + decay * state[name])

    return update


def test_weight_decay_and_loss_scale_and_sens() -> None:
    follow(
        lambda n: nn.SGD(n.trainable_params(), 0.05, weight_decay=0.5, loss_scale=4.0),
        lambda state, grads, step: plain(lambda step, name: 0.05, 0.5)(
            state, {name: grad / 4.0 for name, grad in grads.items()}, step
        ),
        sens=4.0,
    )
    follow(
        lambda n: nn.SGD(n.trainable_params(), 0.05, loss_scale=1024.0),
        plain(lambda step, name: 0.05 / 1024.0),
        sens=1024.0,
    )


def test_the_own_step_of_a_user_finds_sens_as_a_number() -> None:
    """Many a training step is copied from MindSpore's and fills ``self.sens``: 1.0 where none was given (measured)."""
    step = nn.TrainOneStepCell(nn.ReLU(), nn.SGD(params()))
    assert step.sens == 1.0
    assert ops.fill(float32, (2,), step.sens).asnumpy().tolist() == [1.0, 1.0]


def test_decay_spares_norms_by_name() -> None:
    beta = Parameter(Tensor([1.0]), name="norm.beta")
    weight = Parameter(Tensor([1.0]), name="weight")
    assert nn.SGD([beta, weight], weight_decay=0.5).decay_flags == (False, True)


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        ([0.1, 0.05, 0.025], lambda step: [0.1, 0.05, 0.025][step]),
        (Tensor([0.1, 0.05, 0.025]), lambda step: [0.1, 0.05, 0.025][step]),
        (Tensor(0.1), lambda step: 0.1),
        (1, lambda step: 1.0),
        (lambda: nn.ExponentialDecayLR(0.1, 0.5, 2), lambda step: 0.1 * 0.5 ** (step / 2)),
        (lambda: nn.ExponentialDecayLR(0.1, 0.5, 2, True), lambda step: 0.1 * 0.5 ** (step // 2)),
        (lambda: nn.NaturalExpDecayLR(0.1, 0.5, 2), lambda step: 0.1 * np.exp(-0.5 * step)),
        (lambda: nn.NaturalExpDecayLR(0.1, 0.5, 2, True), lambda step: 0.1 * np.exp(-0.5 * (step // 2 * 2))),
        (lambda: nn.InverseDecayLR(0.1, 0.5, 2), lambda step: 0.1 / (1 + 0.5 * step / 2)),
        (lambda: nn.CosineDecayLR(0.01, 0.1, 2), lambda step: 0.01 + 0.045 * (1 + np.cos(np.pi * min(step, 2) / 2))),
        (lambda: nn.PolynomialDecayLR(0.1, 0.01, 2, 2.0), lambda step: 0.09 * (1 - min(step, 2) / 2) ** 2 + 0.01),
        (
            lambda: nn.PolynomialDecayLR(0.1, 0.01, 2, 2.0, True),
            lambda step: 0.09 * (1 - step / (2 * max(1, np.ceil(step / 2)))) ** 2 + 0.01,
        ),
        (lambda: nn.WarmUpLR(0.1, 2), lambda step: 0.1 * min(step, 2) / 2),
    ],
    ids=[
        "list",
        "tensor",
        "scalar",
        "int",
        "exponential",
        "exponential-stair",
        "natural",
        "natural-stair",
        "inverse",
        "cosine",
        "polynomial",
        "polynomial-update",
        "warm-up",
    ],
)
def test_rates(rate: Any, expected: Callable[[int], float]) -> None:
    made = rate() if callable(rate) and not isinstance(rate, Tensor) else rate
    follow(lambda n: nn.SGD(n.trainable_params(), made), plain(lambda step, name: expected(step)))


@pytest.mark.parametrize("base", [0.1, [0.1, 0.05, 0.025]], ids=["fixed", "listed"])
def test_rates_by_group(base: Any) -> None:
    def rate(step: int, name: str) -> float:
        return 0.3 if name == "bias" else base[step] if isinstance(base, list) else base

    made: list[nn.Optimizer] = []

    def make(net: nn.Dense) -> nn.Optimizer:
        groups = [
            {"params": [net.bias], "lr": 0.3}, {"params": [net.weight]},
            {"order_params": net.trainable_params()},
        ]  # fmt: skip
        made.append(nn.SGD(groups, base))
        return made[-1]

    follow(make, plain(rate))
    optimizer = made[0]
    assert [p.name for p in optimizer.parameters] == ["weight", "bias"]
    assert [optimizer.get_lr_parameter(p).name for p in optimizer.parameters] == [
        "learning_rate", "learning_rate_group_0",
    ]  # fmt: skip


def test_changing_weight_decay() -> None:
    def update(state: dict[str, Array], grads: dict[str, Array], step: int) -> None:
        for name, grad in grads.items():
            state[name] = state[name] - 0.05 * (grad + 0.5 * 0.5**step * state[name])

    follow(
        lambda n: nn.Momentum(n.trainable_params(), 0.05, 0.0, weight_decay=nn.ExponentialDecayLR(0.5, 0.5, 1)), update
    )


def test_return_grad() -> None:
    net = network()
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    train = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer, return_grad=True)
    _, grads = train(Tensor(X), Tensor(Y))
    for name, expected in gradients({name: value.astype(np.float64) for name, value in START.items()}).items():
        np.testing.assert_allclose(grads[name].asnumpy(), expected, rtol=1e-5)


def test_gradient_cells() -> None:
    net = network()
    expected = gradients({name: value.astype(np.float64) for name, value in START.items()})
    with_loss = nn.WithLossCell(net, nn.MSELoss())
    found = nn.WithGradCell(net, nn.MSELoss())(Tensor(X), Tensor(Y))
    for grad, name in zip(found, ("weight", "bias"), strict=True):
        np.testing.assert_allclose(grad.asnumpy(), expected[name], rtol=1e-5)
    value, found = nn.ForwardValueAndGrad(with_loss, net.trainable_params(), get_by_list=True)(Tensor(X), Tensor(Y))
    np.testing.assert_allclose(found[0].asnumpy(), expected["weight"], rtol=1e-5)
    np.testing.assert_allclose(float(value), float(with_loss(Tensor(X), Tensor(Y))), rtol=1e-6)
    _, of_input = nn.ForwardValueAndGrad(with_loss)(Tensor(X), Tensor(Y))
    slope = 2 * (X @ START["weight"].T + START["bias"] - Y) / Y.size
    np.testing.assert_allclose(of_input.asnumpy(), slope @ START["weight"], rtol=1e-5)
    _, both = nn.ForwardValueAndGrad(with_loss, get_all=True, sens_param=True)(Tensor(X), Tensor(Y), Tensor(2.0))
    np.testing.assert_allclose(both[1].asnumpy(), -2 * slope, rtol=1e-5)
    with pytest.raises(TraceError, match="runs only as part of a graph"):
        nn.WithGradCell(net, nn.MSELoss()).construct(Tensor(X), Tensor(Y))


def test_with_eval_cell() -> None:
    net = network()
    loss, out, label = nn.WithEvalCell(net, nn.MSELoss(), add_cast_fp32=True)(Tensor(X), Tensor(Y, dtypes.float16))
    assert label.dtype is dtypes.float32
    np.testing.assert_allclose(out.asnumpy(), X @ START["weight"].T + START["bias"], rtol=1e-6)
    assert loss.shape == ()
    assert nn.WithLossCell(net, nn.MSELoss()).backbone_network is net


def params() -> list[Parameter]:
    """Parameters to optimize."""
    return [Parameter(Tensor([1.0]), name="a"), Parameter(Tensor([2.0]), name="b")]


CASES: list[tuple[Callable[[], Any], type[HarnessError], str]] = [
    (lambda: nn.SGD([]), SettingError, "parameters must not be empty"),
    (lambda: nn.SGD(3), SettingTypeError, "must be Iterable type, but got <class 'int'>"),
    (lambda: nn.SGD([3]), SettingTypeError, r"must be 'Parameter' or 'dict'.* got \['int'\]"),
    (lambda: nn.SGD(params(), -0.1), SettingError, "learning rate must be at least 0"),
    (lambda: nn.SGD(params(), "fast"), SettingError, "learning rate must be a number"),
    (lambda: nn.SGD(params(), [[0.1]]), SettingError, "0 or 1 dimensions, got 2"),
    (lambda: nn.SGD(params(), momentum=-1.0), SettingError, "momentum must be at least 0"),
    (lambda: nn.SGD(params(), nesterov=True), SettingError, "nesterov needs momentum above 0"),
    (lambda: nn.SGD(params(), weight_decay=nn.WarmUpLR(0.1, 2)), SettingTypeError, "must be a number, not a Cell"),
    (lambda: nn.SGD(params(), loss_scale=0.0), SettingError, "loss_scale must be greater than 0"),
    (lambda: nn.SGD(params(), weight_decay=-0.1), SettingError, "weight_decay must be at least 0"),
    (lambda: nn.Adam(params(), beta1=1.0), SettingError, "beta1 must be greater than 0 and less than 1"),
    (lambda: nn.Adam(params(), eps=0.0), SettingError, "eps must be greater than 0"),
    (lambda: nn.Adam(params(), use_speed=True), SettingTypeError, r"unexpected arguments \['use_speed'\]"),
    (lambda: nn.SGD([{"params": params(), "rate": 1}]), CellNameError, "got .*'rate'"),
    (lambda: nn.SGD([{"params": []}]), SettingError, "must not be empty.*group 0"),
    (lambda: nn.SGD([{"params": [3]}]), SettingTypeError, "group 0 holds a int"),
    (lambda: nn.SGD([{"params": params()}, {"params": params()}]), SettingError, r"\['a', 'b'\] are in more than one"),
    (lambda: nn.SGD([{"params": params()}, {"order_params": params()[:1]}]), SettingError, "order_params must name"),
    (lambda: nn.SGD([{"order_params": params(), "lr": 1}]), SettingError, "no other key"),
    (lambda: nn.SGD([{"params": params(), "lr": [0.1, 0.2]}], [0.1]), SettingError, r"one length, got \[1, 2\]"),
    (lambda: nn.SGD([{"params": params(), "grad_centralization": 1}]), SettingTypeError, "grad_centralization"),
    (lambda: nn.SGD(params()).get_lr_parameter(params()[0]), SettingError, "a is not a parameter of this"),
    (lambda: nn.TrainOneStepCell(nn.ReLU(), nn.ReLU()), SettingTypeError, "must be an Optimizer, got ReLU"),
    (lambda: nn.TrainOneStepCell(nn.ReLU(), nn.SGD(params()), sens=0), SettingError, "sens must not be 0"),
    (lambda: nn.ExponentialDecayLR(0.1, 0.5, 0), SettingError, "decay_steps must be an int above 0"),
    (lambda: nn.CosineDecayLR(0.2, 0.1, 3), SettingError, "max_lr must be greater than min_lr"),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_refusals(case: int) -> None:
    act, error, words = CASES[case]
    with pytest.raises(error, match=words):
        act()
