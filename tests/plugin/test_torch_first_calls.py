"""What a user of PyTorch writes first: functions, methods, keywords, dict batches, schedulers, loops of one's own."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

pytest_plugins = ["pytester"]
INI = "[pytest]\nmsdump_backend = torch\nmsdump = false\n"

FIRST = """
import os, torch
from torch import nn
from dataclasses import dataclass
S = float(os.environ.get("S", "1"))
class Cache:
    def __init__(self, *l): self.layers = list(l)
@dataclass
class Out:
    logits: object
    cache: object = None
    loss: object = None
class M(nn.Module):
    def __init__(self):
        super().__init__(); torch.manual_seed(0); self.l = nn.Linear(3, 2)
    def forward(self, x, labels=None):
        y = self.l(x) * S
        loss = None if labels is None else nn.functional.cross_entropy(y, labels)
        return Out(y, Cache(y + 1), loss)
    def generate(self, x, n=2):
        outs = []
        for _ in range(n):
            y = self(x).logits; x = torch.cat([y, y[:, :1]], 1); outs.append(y)
        return torch.stack(outs)
X = torch.linspace(-1, 1, 12).reshape(4, 3); Y = torch.tensor([0, 1, 1, 0])
def cross(out, y): return nn.functional.cross_entropy(out.logits, y)
def test_generate(msdump):
    m = M(); out = msdump.run(m.generate, X, n=3); assert out.shape == (3, 4, 2)
def test_partial(msdump):
    from functools import partial
    m = M(); msdump.run(partial(m, X))
def test_two(msdump):
    a, b = M(), M(); msdump.run(lambda x: a(x).logits - b(x * 2).logits, X)
def test_pipeline(msdump):
    class Pipe:
        def __init__(self): self.model, self.head = M(), nn.Linear(2, 1)
        def __call__(self, x): return {"out": self.head(self.model(x).logits)}
    msdump.run(Pipe(), X)
def test_functional(msdump):
    def f(q, k): return nn.functional.scaled_dot_product_attention(q, k, k) * S
    msdump.run(f, X[None], k=X[None] + 1)
def test_numpy_inputs(msdump): msdump.run(M(), X.numpy())
def test_hf_batches(msdump):
    m = M(); o = torch.optim.AdamW(m.parameters(), 0.01)
    s = torch.optim.lr_scheduler.StepLR(o, 1, 0.5)
    losses = msdump.train(m, None, o, [{"x": X, "labels": Y}] * 4, scheduler=s, clip=1.0, accumulate=2)
    assert len(losses) == 4 and o.param_groups[0]["lr"] == 0.0025
def test_scaler(msdump):
    m = M(); o = torch.optim.SGD(m.parameters(), 0.01)
    msdump.train(m, cross, o, [(X, Y)] * 2, scaler=torch.amp.GradScaler("cpu"), clip=0.5)
def test_plateau(msdump):
    m = M(); o = torch.optim.SGD(m.parameters(), 0.01)
    msdump.train(m, cross, o, [(X, Y)] * 2, scheduler=torch.optim.lr_scheduler.ReduceLROnPlateau(o))
def test_watch(msdump):
    m = M(); o = torch.optim.SGD(m.parameters(), 0.01)
    with msdump.watch(m, o) as watched:
        for i in range(2):
            o.zero_grad(); loss = nn.functional.cross_entropy(m(X).logits, Y); loss.backward(); o.step()
    assert watched is not None
def test_watch_alone(msdump):
    m = M()
    with msdump.watch(m) as watched:
        m(X).logits.sum().backward(); watched({"mine": X.sum() * S})
def test_check(msdump):
    out = M()(X)
    msdump.check("out", out); msdump.check("dtype", out.logits.dtype); msdump.check("size", out.logits.shape)
def test_warned(msdump):
    torch.use_deterministic_algorithms(True, warn_only=True)
    try: msdump.run(lambda x: x.clone().put_(torch.tensor([0]), torch.ones(1)) * S, X)
    finally: torch.use_deterministic_algorithms(False)

class Plain(nn.Module):
    def __init__(self): super().__init__(); torch.manual_seed(0); self.l = nn.Linear(3, 2)
    def forward(self, x, mask=None): return {"logits": self.l(x) * S if mask is None else self.l(x * mask) * S}
def test_kwargs(msdump): msdump.run(Plain(), x=X, mask=torch.ones(4, 3))
def test_function(msdump): msdump.run(lambda x: torch.softmax(x, -1) * S, X)
def test_method(msdump): m = Plain(); msdump.run(m.forward, X)
def test_closure(msdump): m = Plain(); msdump.run(lambda: m(X))
def test_dict_batch(msdump):
    m = Plain(); o = torch.optim.SGD(m.parameters(), 0.1)
    msdump.train(m, lambda out, y: out["logits"].sum(), o, [{"x": X, "labels": torch.zeros(1)}])
def test_sparse_only(msdump): msdump.run(nn.ReLU(), torch.eye(3).to_sparse() * S)
class Lazy(nn.Module):
    def __init__(self):
        super().__init__(); torch.manual_seed(0); self.l = nn.Linear(3, 2); self.extra = nn.LazyLinear(2)
    def forward(self, x, use=False): return self.extra(x) if use else self.l(x) * S
def test_branch(msdump): msdump.run(Lazy(), X)
"""


def test_first_calls_work_and_compare(gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    gate.makeini(INI)
    gate.makepyfile(test_first=FIRST)
    for name in ("CI", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    count = FIRST.count("def test_")
    gate.runpytest_subprocess("--msdump-regen").assert_outcomes(passed=count)
    held = gate.runpytest_subprocess("--msdump")
    held.assert_outcomes(passed=count)
    held.stdout.fnmatch_lines(
        [
            "not read or not followed:",
            "  test_first.py::test_branch ?torch-tensor?: 2, the first: extra.weight output.0: it has no values yet",
        ]
    )
    monkeypatch.setenv("S", "3")
    gate.runpytest_subprocess("--msdump").assert_outcomes(failed=count)


OUTSIDE = """
import os, torch
S = float(os.environ.get("S", "1"))
X = torch.linspace(-1, 1, 6).reshape(2, 3)
def made(): torch.manual_seed(0); return torch.nn.Linear(3, 2)
def test_backward(msdump): (msdump.run(made(), X) * S).sum().backward()
def test_update(msdump):
    net = made(); msdump.run(net, X)
    with torch.no_grad(): net.weight.mul_(S)
def test_numpy(msdump):
    net = made()
    msdump.run(lambda x: torch.from_numpy(net(x).detach().numpy() * S), X)
"""


def test_what_happens_outside_of_the_call_is_compared_or_said(
    gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate.makeini(INI)
    gate.makepyfile(test_outside=OUTSIDE)
    for name in ("CI", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    gate.runpytest_subprocess("--msdump-regen").assert_outcomes(passed=3)
    held = gate.runpytest_subprocess("--msdump")
    held.assert_outcomes(passed=3)
    held.stdout.fnmatch_lines(
        [
            "not read or not followed:",
            "  test_outside.py::test_numpy *: 1, the first: test_outside.py:11: values left *",
        ]
    )
    monkeypatch.setenv("S", "3")
    gate.runpytest_subprocess("--msdump").assert_outcomes(failed=3)


WRONG = """
import pytest
import torch

NET = torch.nn.Linear(3, 2)
X = torch.ones(1, 3)
SGD = torch.optim.SGD(NET.parameters(), 0.1)

def test_unknown(msdump): msdump.train(NET, torch.nn.MSELoss(), SGD, [(X, X)], schedule=3)
def test_accumulate(msdump): msdump.train(NET, torch.nn.MSELoss(), SGD, [(X, X)], accumulate=0)
def test_watch(msdump):
    with msdump.watch(lambda: 3): pass
def test_refused(msdump): msdump.run(lambda x: x.put_(torch.tensor([0]), x[:1]), torch.ones(3))
def test_failing(msdump):
    with msdump.watch(NET, SGD): raise ValueError("mine")
@pytest.mark.msdump(backends="cpu")
def test_elsewhere(msdump): msdump.run(NET.forward, X)
"""


def test_wrong_calls_say_what_is_accepted(gate: pytest.Pytester) -> None:
    gate.makeini(INI)
    gate.makepyfile(test_wrong=WRONG)
    result = gate.runpytest_subprocess("--msdump-regen")
    result.assert_outcomes(failed=6)
    result.stdout.fnmatch_lines(
        [
            "*unexpected argument 'schedule'; known are scheduler, clip, scaler, accumulate*",
            "*accumulate must be an int of at least 1, got 0*",
            "*msdump.watch: a PyTorch module is accepted, got function*",
            "RuntimeError: *deterministic*",
            "*call torch.use_deterministic_algorithms?True, warn_only=True? in the test, before msdump*",
            "*ValueError: mine*",
            "*a function of PyTorch's needs backend torch, not cpu; mark the test*",
        ]
    )


SHARED = """
import torch
SHARED = torch.linspace(-1, {end}, 6).reshape(2, 3)
def test_one(msdump): msdump.run(lambda x: torch.tanh(x) * 2, SHARED)
def test_two(msdump):
    assert float(SHARED.max()) == {end}
    msdump.run(lambda x: torch.abs(x) * 2, SHARED)
"""


def test_a_graft_leaves_the_callers_tensors_as_they_were(gate: pytest.Pytester) -> None:
    gate.makeini(INI)
    path = gate.makepyfile(test_shared=SHARED.format(end=1.0))
    gate.runpytest_subprocess("--msdump-regen").assert_outcomes(passed=2)
    path.write_text(SHARED.format(end=2.0))
    result = gate.runpytest_subprocess("--msdump")
    # A graft that left the golden's values in the tensor made the second test see another one.
    result.assert_outcomes(failed=2)
    assert str(result.stdout).count("proven by graft: given[0] [-1, ") == 2
