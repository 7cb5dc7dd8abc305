"""``msdump.restart``: a restart from a checkpoint equals the run without; where it does not, what broke it is named."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

MODULE = """
    import random
    import numpy as np, pytest

    BROKEN = "{broken}"

    class Model:
        def __init__(self):
            self.w, self.m, self.calls = np.float32([1, 2, 3]), np.zeros(3, np.float32), 0

        def state_dict(self):
            moments = {{}} if BROKEN == "moments" else {{"m": self.m}}
            return {{"w": self.w, **moments}}

        def load_state_dict(self, state):
            self.w = state["w"]
            self.m = state.get("m", self.m)
            if BROKEN == "load":
                self.w = self.w + np.float32(1)

    def build():
        model = Model()

        def step(batch):
            gradient = model.w * batch
            if BROKEN == "dice":
                gradient = gradient + np.float32(np.random.random())
            if BROKEN == "counter":
                model.calls += 1
                gradient = gradient / np.float32(model.calls)
            model.m = model.m * np.float32(0.9) + gradient
            model.w = model.w - np.float32(0.1) * model.m
            return float(np.abs(model.w).sum())

        return step, [model]

    @pytest.mark.msdump
    def test_it(msdump):
        before = np.random.get_state()[1].copy()
        values = msdump.restart(build, [np.float32(each) for each in (1, 2, 1, 3, 1)], at=2)
        assert len(values) == 3
        assert (np.random.get_state()[1] == before).all()
"""


@pytest.mark.parametrize(("broken", "said"), [
    ("", ""),
    ("load", "the checkpoint does not hold Model.w: after loading, that is not what was saved"),
    ("moments", "something outside the checkpoint counts (a schedule, the order of data, a counter)"),
    ("dice", "not that of the generators of random numbers: with it, the restart is equal"),
    ("counter", "step 2 differs in value; the state that was loaded is the one that was saved"),
])  # fmt: skip
def test_what_breaks_it_is_named(gate: pytest.Pytester, broken: str, said: str) -> None:
    gate.makepyfile(test_net=MODULE.format(broken=broken))
    ended = gate.runpytest_inprocess("--msdump-regen", "-p", "no:cacheprovider")
    if not broken:
        assert ended.ret == 0
        ended = gate.runpytest_inprocess("--msdump", "-p", "no:cacheprovider")
        ended.assert_outcomes(passed=1)
        return
    ended.assert_outcomes(failed=1)
    ended.stdout.fnmatch_lines([f"*restarted after step 2, the training goes on otherwise:*{said}*"])


CELLS = """
    import numpy as np, pytest
    from harness import Parameter, Tensor, nn, ops

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(3, 2)

        def construct(self, x):
            return self.fc(x)

    def build():
        net = Net()
        optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
        step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)
        return step, [step] if {whole} else [net]

    @pytest.mark.msdump
    def test_it(msdump):
        rng = np.random.default_rng(0)
        batches = [(Tensor(rng.random((4, 3), np.float32)), Tensor(rng.random((4, 2), np.float32))) for _ in range(4)]
        msdump.restart(build, batches, at=2)
"""


@pytest.mark.parametrize("whole", [True, False])
def test_cells(gate: pytest.Pytester, whole: bool) -> None:
    """Without the optimizer's moments a checkpoint is not whole."""
    gate.makepyfile(test_net=CELLS.format(whole=whole))
    ended = gate.runpytest_inprocess("--msdump-regen", "-p", "no:cacheprovider")
    ended.assert_outcomes(passed=int(whole), failed=int(not whole))
    if not whole:
        ended.stdout.fnmatch_lines(["*step 3 differs in value*something outside the checkpoint counts*"])


@pytest.mark.parametrize(("call", "said"), [
    ("msdump.restart(lambda: 1, [1, 2], at=1)", "build() gives a function for one step and a list of the parts"),
    ("msdump.restart(lambda: (print, [1]), [1, 2], at=1)", "a part has state_dict and load_state_dict, or is a cell"),
    ("msdump.restart(lambda: (print, []), [1, 2], at=2)", "at is a number of steps from 1 to 1, got 2"),
])  # fmt: skip
def test_what_is_given_wrongly(gate: pytest.Pytester, call: str, said: str) -> None:
    gate.makepyfile(test_net=f"import pytest\n@pytest.mark.msdump\ndef test_it(msdump):\n    {call}\n")
    ended = gate.runpytest_inprocess("--msdump", "-p", "no:cacheprovider")
    ended.assert_outcomes(failed=1)
    assert said in ended.stdout.str()
