"""PyTorch's operators, run again from their records: bit for bit, in a wider dtype, with other arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from harness.capture.torch import TorchCapture  # noqa: E402
from harness.explain.evidence import Evidence, loaded  # noqa: E402
from harness.explain.recorded import recorded  # noqa: E402
from harness.explain.replay import Setting  # noqa: E402
from harness.recording.described import UNKNOWN_EDGE, Described  # noqa: E402
from harness.recording.replayer import Call  # noqa: E402
from harness.replaying import PYTORCH, replayer_of  # noqa: E402
from harness.replaying.aten.replayer import Aten  # noqa: E402

pytestmark = pytest.mark.interop

ATEN = Aten()


def operators(step: Callable[[], Any]) -> Iterator[tuple[str, Setting, list[np.ndarray]]]:
    """The recorded operators of a step, with their results."""
    watch = TorchCapture(torch.nn.Identity())
    with watch.step():
        torch.manual_seed(0)
        step()
    run = Evidence(watch.capture().records, dict, "torch")
    for where in run.order:
        made = recorded(run, where)
        if made is not None:
            yield run.op_type(where), made, [loaded(each) for _, each in sorted(run.slots(where, "output").items())]


def same(results: Any, wanted: list[np.ndarray]) -> bool:
    return len(results) == len(wanted) and all(
        one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
        for one, other in zip(results, wanted, strict=True)
    )


def replayed(setting: Setting, wanted: list[np.ndarray]) -> Setting | None:
    """The reading of a record that gives its results, bit for bit."""
    solved = ATEN.solve(setting.call(), wanted)
    for each in (setting if solved is None else setting.changed(attrs=solved)).readings():
        made = ATEN.replay(each.call())
        if made is not None and same(made.outputs, wanted):
            return each
    return None


def training(module: Any, data: tuple[Any, ...], optimizer: Callable[..., Any]) -> Callable[[], None]:
    made = optimizer(module.parameters())

    def step() -> None:
        made.zero_grad()
        found = module(*data)
        (found[0] if isinstance(found, tuple) else found).square().mean().backward()
        made.step()

    return step


def tensor(*shape: int) -> Any:
    return torch.linspace(-1, 1, int(np.prod(shape))).reshape(*shape).sin()


NETWORKS: dict[str, tuple[Callable[[], Any], tuple[Any, ...]]] = {
    "convolutions": (
        lambda: torch.nn.Sequential(
            torch.nn.Conv2d(2, 4, 3, bias=False), torch.nn.BatchNorm2d(4), torch.nn.GELU("tanh"),
            torch.nn.GroupNorm(2, 4), torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(16, 3),
        ),
        (tensor(3, 2, 6, 6),),
    ),
    "attention": (lambda: torch.nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), (tensor(2, 5, 8),)),
    "recurrent": (lambda: torch.nn.GRU(3, 4, batch_first=True), (tensor(2, 5, 3),)),
}  # fmt: skip
OPTIMIZERS: dict[str, Callable[..., Any]] = {
    "sgd": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    "adamw": lambda p: torch.optim.AdamW(p, amsgrad=True),
    "foreach": lambda p: torch.optim.Adam(p, foreach=True),
    "fused": lambda p: torch.optim.AdamW(p, fused=True),
    "rmsprop": lambda p: torch.optim.RMSprop(p, centered=True),
}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("network", NETWORKS)
def test_a_whole_training_step_is_run_again_bit_for_bit(network: str, optimizer: str) -> None:
    torch.manual_seed(1)
    make, data = NETWORKS[network]
    found = list(operators(training(make(), data, OPTIMIZERS[optimizer])))
    assert len(found) > 20
    lost = [kind for kind, setting, wanted in found if replayed(setting, wanted) is None]
    # A view of equal values may be one of several.
    assert [kind for kind in lost if kind not in ("select", "unsqueeze", "slice")] == []


def only(step: Callable[[], Any], kind: str) -> tuple[Setting, list[np.ndarray]]:
    found = [(setting, wanted) for each, setting, wanted in operators(step) if each == kind]
    assert len(found) == 1
    return found[0]


X, Y = tensor(2, 4, 6), tensor(2, 6, 4)
CHANGES: dict[str, tuple[str, Callable[..., Any], dict[str, Any], dict[str, Any]]] = {
    "eps": ("native_layer_norm", lambda eps: F.layer_norm(X, (6,), eps=eps), {"eps": 1e-5}, {"eps": 1e-3}),
    "text": ("gelu", lambda approximate: F.gelu(X, approximate=approximate), {"approximate": "none"},
             {"approximate": "tanh"}),
    "flag": ("_scaled_dot_product_flash_attention_for_cpu",
             lambda is_causal: torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
                 X[None], X[None], X[None], is_causal=is_causal), {"is_causal": False}, {"is_causal": True}),
    "axis": ("_softmax", lambda dim: X.softmax(dim), {"dim": 1}, {"dim": 2}),
    "axes": ("sum", lambda dim: X.sum(dim), {"dim": [1]}, {"dim": [1, 2]}),
    "number for a tensor": ("mul", lambda other: X * other, {"other": 0.5}, {"other": 0.25}),
    "alpha": ("add", lambda alpha: torch.add(X, X, alpha=alpha), {"alpha": 2}, {"alpha": 3.5}),
    "stride": ("convolution", lambda stride: F.conv1d(X, tensor(3, 4, 2), stride=stride), {"stride": [1]},
               {"stride": [2]}),
    "window": ("avg_pool2d", lambda kernel_size: F.avg_pool2d(X, kernel_size), {"kernel_size": [1, 2]},
               {"kernel_size": [2, 2]}),
    "kind": ("_to_copy", lambda dtype: X.to(dtype), {"dtype": torch.float16}, {"dtype": torch.bfloat16}),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_changed_arguments_give_the_other_results(name: str) -> None:
    kind, call, one, other = CHANGES[name]
    setting, wanted = only(lambda: call(**one), kind)
    _, changed = only(lambda: call(**other), kind)
    base = replayed(setting, wanted)
    assert base is not None
    texts = {key: str(value) if isinstance(value, torch.dtype) else value for key, value in other.items()}
    made = ATEN.replay(base.changed(attrs=texts).call())
    assert made is not None
    if name != "kind":  # dtypes of results are those of the record
        assert same(made.outputs, changed)
        assert not same(made.outputs, wanted)


VIEWS: dict[str, tuple[Callable[[Any], Any], dict[str, Any]]] = {
    "transpose": (lambda x: x.transpose(0, 2), {"dim0": 0, "dim1": 2}),
    "permute": (lambda x: x.permute(2, 0, 1), {"dims": [2, 0, 1]}),
    "select": (lambda x: x[:, 3], {"dim": 1, "index": 3}),
    "slice": (lambda x: x[:, :, 1:5:2], {"dim": 2, "start": 1, "end": 4, "step": 2}),
    "split_with_sizes": (lambda x: x.split([1, 3], 1), {"split_sizes": [1, 3], "dim": 1}),
    "view": (lambda x: x.view(8, 6), {"size": [8, 6]}),
}


@pytest.mark.parametrize("kind", VIEWS)
def test_the_arguments_of_a_view_follow_from_its_results(kind: str) -> None:
    call, arguments = VIEWS[kind]
    setting, wanted = only(lambda: call(X), kind)
    assert ATEN.solve(setting.call(), wanted) == arguments
    assert replayed(setting, wanted) is not None


def test_of_two_views_that_fit_nobody_says_one() -> None:
    setting, wanted = only(lambda: torch.zeros(3, 4)[1], "select")
    assert ATEN.solve(setting.call(), wanted) is None


def test_random_operators_need_the_state_of_their_generator() -> None:
    state: list[Any] = []

    def draw() -> None:
        state.append(torch.get_rng_state().numpy().copy())
        torch.zeros(50).bernoulli_(0.5)

    setting, wanted = only(draw, "bernoulli_")
    call = setting.call()
    assert ATEN.replay(call) is None
    facts = ATEN.facts(call.operator)
    assert facts is not None
    assert facts.random
    before = torch.get_rng_state()
    made = ATEN.replay(replace(call, rng=state[0]))
    assert made is not None
    assert same(made.outputs, wanted)
    assert torch.equal(before, torch.get_rng_state())


def call_of(kind: str, *tensors: np.ndarray, names: tuple[str, ...] = (), **given: Any) -> Call:
    described = Described("x", kind, attributes=given, inputs=(UNKNOWN_EDGE,) * len(tensors), names=names)
    return Call(described, dict(enumerate(tensors)))


def test_tensors_are_taken_by_their_names() -> None:
    index, x = np.array([2, 0]), X.numpy()
    made = ATEN.replay(call_of("aten.index.Tensor", x, index, names=("self", "indices[2]")))
    assert made is not None
    np.testing.assert_array_equal(made.outputs[0], x[:, :, index])
    assert ATEN.replay(call_of("aten.index.Tensor", x, index, names=("self", "no_such_argument"))) is None


def test_an_argument_that_was_none_needs_no_record() -> None:
    x = X.numpy()[None]
    window = {"kernel_size": [2, 2], "stride": [2, 2], "padding": [0, 0], "ceil_mode": True, "count_include_pad": False}
    names = ("grad_output", "self")
    grad = torch.nn.functional.avg_pool2d(X[None], 2, 2, ceil_mode=True).numpy()
    made = ATEN.replay(call_of("avg_pool2d_backward", grad, x, names=names, **window))  # divisor_override is None
    assert made is not None
    assert made.outputs[0].shape == x.shape


def test_what_it_does_not_know_or_accept_is_refused() -> None:
    x = X.numpy()
    assert ATEN.facts(Described("x", "no_such_operator")) is None
    assert ATEN.replay(call_of("no_such_operator", x)) is None
    assert ATEN.replay(call_of("mm", x, x)) is None
    assert ATEN.replay(call_of("gelu", x, no_such_argument=1)) is None
    assert ATEN.replay(call_of("sum", x, dim=[7])) is None


def test_operators_of_another_library() -> None:
    with torch.library._scoped_library("msdump_replay", "FRAGMENT") as library:
        library.define("scale(Tensor x, float by) -> Tensor")
        library.impl("scale", lambda x, by: x * by, "CompositeExplicitAutograd")
        setting, wanted = only(lambda: torch.ops.msdump_replay.scale(X, 3.0), "msdump_replay.scale")
        assert replayed(setting, wanted) is not None


def test_a_result_in_place_leaves_the_call_as_it_is() -> None:
    call = call_of("add_", X.numpy(), X.numpy())
    before = X.numpy().copy()
    made = ATEN.replay(call)
    assert made is not None
    np.testing.assert_array_equal(made.mutated[0], 2 * before)
    np.testing.assert_array_equal(call.before[0], before)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 5), st.integers(1, 300), st.integers(1, 5), st.integers(0, 2**32 - 1),
    st.sampled_from(["mm", "sum", "_softmax", "native_layer_norm", "gelu"]),
)  # fmt: skip
def test_another_order_of_sums_stays_within_noise_and_a_fault_does_not(
    n: int, k: int, m: int, seed: int, kind: str
) -> None:
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, k)).astype(np.float32)
    order = random.permutation(k)
    call, shuffled = {
        "mm": lambda o: call_of("mm", x[:, o], np.linspace(-1, 1, k * m).astype(np.float32).reshape(k, m)[o]),
        "sum": lambda o: call_of("sum", x[:, o], dim=[1]),
        "_softmax": lambda o: call_of("_softmax", x[:, o], dim=1, half_to_float=False),
        "native_layer_norm": lambda o: call_of("native_layer_norm", x[:, o], normalized_shape=[k], eps=1e-5),
        "gelu": lambda o: call_of("gelu", x[:, o]),
    }[kind], order  # fmt: skip
    plain, other = (ATEN.replay(call(o)) for o in (np.arange(k), shuffled))
    noise = ATEN.noise(call(np.arange(k)))
    assert plain is not None
    assert other is not None
    assert noise is not None
    for at, (one, two) in enumerate(zip(plain.outputs, other.outputs, strict=True)):
        back = two[:, np.argsort(order)] if two.shape == x.shape and kind != "mm" and kind != "sum" else two
        assert (np.abs(one.astype(np.float64) - back) <= noise[at]).all()
        assert noise[at].shape == one.shape
    bound = float(noise[0].max())
    assert bound < 1e-3 * float(np.abs(x).sum() + 1)


def test_the_wider_result_is_nearer() -> None:
    x = np.linspace(0, 1, 4000, dtype=np.float32).reshape(1, -1)
    made = ATEN.widen(call_of("sum", x, dim=[1]))
    assert made is not None
    assert made.outputs[0].dtype == np.float64
    np.testing.assert_allclose(made.outputs[0], x.astype(np.float64).sum(1), rtol=1e-14)


def test_the_engine_is_found() -> None:
    assert isinstance(replayer_of(PYTORCH), Aten)
    assert isinstance(replayer_of(f"{PYTORCH} 2.13.0 on cpu"), Aten)
