"""Modules of PyTorch's in the gate: run and trained on backend ``torch``, captured operator by operator."""

from __future__ import annotations

import sys

import pytest

pytest.importorskip("torch")

from harness.store import GoldenStore

pytest_plugins = ["pytester"]

MODULES = """
import os
import numpy as np
import pytest
import torch
from torch import nn

FAULT = os.environ.get("FAULT", "")

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = nn.Sequential(nn.Sequential(nn.Conv2d(1, 2, 3)), nn.ReLU())
        self.norm = nn.BatchNorm2d(2)
        self.head = nn.Linear(2, 3)

    def forward(self, x):
        y = self.norm(self.layer1(x))
        if FAULT == "forward":
            y = y * 1.01
        return self.head(y.mean((2, 3)))

IMAGES = np.linspace(-1, 1, 50, dtype=np.float32).reshape(2, 1, 5, 5)

@pytest.mark.msdump(backends="torch")
def test_run(msdump):
    output = msdump.run(Net().eval(), IMAGES)
    assert output.shape == (2, 3)
    msdump.check("output", output)

@pytest.mark.msdump(backends="torch")
def test_train(msdump):
    network = Net()
    rate = 0.11 if FAULT == "update" else 0.1
    optimizer = torch.optim.SGD(network.parameters(), lr=rate)
    losses = msdump.train(network, nn.CrossEntropyLoss(), optimizer, [(torch.tensor(IMAGES), np.array([0, 2]))] * 2)
    assert len(losses) == 2
"""


@pytest.fixture(scope="module", autouse=True)
def _loaded() -> None:
    """PyTorch imports parts of itself when they are first used; an inner session would forget them, and some can be
    imported once."""
    import torch

    from harness.backends import get

    module = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(module.parameters())
    with get("torch").open(network="net") as process:
        step = process.follow(module)
        assert step is not None
        with step():
            module(torch.ones(1, 1)).sum().backward()
            optimizer.step()


@pytest.fixture
def modules(gate: pytest.Pytester) -> pytest.Pytester:
    gate.makepyfile(test_modules=MODULES)
    gate.runpytest("--msdump-regen").assert_outcomes(passed=2)
    return gate


def test_what_is_kept(modules: pytest.Pytester) -> None:
    with GoldenStore.open(modules.path / "golden" / "test_modules" / "test_train.h5") as store:
        run = store.run("torch", "tensor")
        records = list(run.records())
        assert not run.attrs["emulated"]
        weights = [r.load() for r in records if r.key.operator == "head.weight"]
    names = {record.key.operator for record in records}
    assert {"layer1.0.0/convolution-op0", "Gradients/layer1.0.0/convolution_backward-op0", "layer1.0.0.weight"} <= names
    assert any(name.startswith("Default/optimizer-SGD/") for name in names)
    gradients = {record.key.operator: record.shape for record in records if record.op_type == "Gradient"}
    shapes = {record.key.operator: record.shape for record in records if record.op_type == "Parameter"}
    trained = ("layer1.0.0.weight", "layer1.0.0.bias", "norm.weight", "norm.bias", "head.weight", "head.bias")
    assert gradients == {f"{name}.grad": shapes[name] for name in trained}
    assert {record.key.iteration for record in records} == {0, 1}
    assert (weights[0] != weights[1]).any()
    sources = {record.source for record in records if record.key.operator.startswith("layer1.0.0/")}
    assert sources == {"test_modules.py:17"}
    calls = [at for at, line in enumerate(MODULES.strip("\n").splitlines(), 1) if "msdump.train(" in line]
    updates = {record.source for record in records if record.key.operator.startswith("Default/optimizer-SGD/")}
    assert updates == {f"test_modules.py:{calls[0]}"}


TENSORS = """
import pytest
import torch

@pytest.mark.msdump
def test_tensors(msdump):
    kinds = (torch.bfloat16, torch.float16, torch.float8_e5m2, torch.complex64, torch.bool, torch.int64)
    one = torch.linspace(0, 2, 6).reshape(2, 3).t() * SCALE
    msdump.check("a", {str(kind): one.to(kind) for kind in kinds} | {"parameter": torch.nn.Parameter(one)})
"""


def test_tensors_of_every_kind_are_handed_over(gate: pytest.Pytester) -> None:
    gate.makepyfile(test_tensors=TENSORS.replace("SCALE", "1"))
    gate.runpytest("--msdump-regen").assert_outcomes(passed=1)
    gate.runpytest("--msdump").assert_outcomes(passed=1)
    with GoldenStore.open(gate.path / "golden" / "test_tensors" / "test_tensors.h5") as store:
        found = {record.dtype for record in store.run("cpu", "tensor").records()}
    assert {"BFloat16", "Float16", "Complex64", "Bool", "Int64", "Float32"} < found
    gate.makepyfile(test_tensors=TENSORS.replace("SCALE", "4"))
    result = gate.runpytest("--msdump")
    result.stdout.fnmatch_lines(["*First divergence: *check/a.parameter, output.0 torch.float32?3, 2?*"])


COMPILED = """
import pytest
import torch

@pytest.mark.msdump(backends="torch")
def test_compiled(msdump):
    inner = torch.nn.Linear(3, 2)
    inner.compile()
    msdump.run(torch.nn.Sequential(inner, torch.nn.ReLU()).half(), torch.ones(4, 3).half())
"""


def test_a_module_that_is_compiled_says_so_where_it_holds_too(gate: pytest.Pytester) -> None:
    gate.makepyfile(test_compiled=COMPILED)
    gate.runpytest_subprocess("--msdump-regen").assert_outcomes(passed=1)
    result = gate.runpytest_subprocess("--msdump")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "compiled by torch.compile; code that inductor made is recorded by what it reads and gives:",
            "  test_compiled.py::test_compiled ?torch-tensor?: 0",
        ]
    )
    shown = gate.run(sys.executable, "-m", "harness.cli", "show", "golden/test_compiled/test_compiled.h5")
    shown.stdout.fnmatch_lines(["run torch/tensor: *, compiled by torch.compile: 0", "*torch.float16?4*"])


def test_the_manifest_says_what_computed(modules: pytest.Pytester) -> None:
    import torch

    texts = [path.read_text() for path in (modules.path / "golden").rglob("*.json")]
    told = "".join(texts)
    assert torch.__version__ in told
    assert '"threads"' in told
    assert '"device": "cpu, ' in told


@pytest.mark.parametrize(
    ("fault", "failed", "told"),
    [
        ("", 0, "compared * slots*"),
        ("forward", 2, "First divergence: *Default/m*"),
        ("update", 1, "First divergence: *Default/optimizer-SGD/*"),
    ],
)
def test_a_fault_is_named(
    modules: pytest.Pytester, fault: str, failed: int, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAULT", fault)
    result = modules.runpytest("--msdump")
    result.assert_outcomes(passed=2 - failed, failed=failed)
    result.stdout.fnmatch_lines([told])


def test_statistics_alone(gate: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    gate.makepyfile(test_modules=MODULES)
    for arguments in (["--msdump-regen"], ["--msdump"]):
        gate.runpytest(*arguments, "--msdump-backend=torch", "--msdump-mode=statistic,full").assert_outcomes(passed=4)
    monkeypatch.setenv("FAULT", "forward")
    gate.runpytest("--msdump", "--msdump-backend=torch", "--msdump-mode=statistic").assert_outcomes(failed=2)


def test_another_backend_says_which_one_runs_it(modules: pytest.Pytester) -> None:
    result = modules.runpytest("--msdump", "--msdump-backend=cpu", "-k", "run")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*PyTorch module (Net) needs backend torch, not cpu; mark the test*"])


MLP = """
import numpy as np
import pytest

def made(number, *shape):
    return np.random.default_rng(number).standard_normal(shape).astype(np.float32)

@pytest.mark.msdump(backends=["cpu", "torch"], against={"torch~cpu": "default"})
def test_mlp(msdump):
    x, first, second = made(0, 5, 4), made(1, 8, 4), made(2, 3, 8)
    if msdump.backend == "torch":
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc1, self.fc2 = nn.Linear(4, 8, bias=False), nn.Linear(8, 3, bias=False)
                self.fc1.weight.data, self.fc2.weight.data = torch.tensor(first), torch.tensor(second) * SCALE

            def forward(self, x):
                return self.fc2(torch.relu(self.fc1(x)))
    else:
        from harness import Tensor, nn

        class Net(nn.Cell):
            def __init__(self):
                super().__init__()
                self.fc1 = nn.Dense(4, 8, weight_init=Tensor(first), has_bias=False)
                self.fc2 = nn.Dense(8, 3, weight_init=Tensor(second), has_bias=False)
                self.relu = nn.ReLU()

            def construct(self, x):
                return self.fc2(self.relu(self.fc1(x)))

    msdump.run(Net(), x)
"""


@pytest.mark.parametrize(("scale", "outcome"), [("1", {"passed": 2}), ("1.01", {"passed": 1, "failed": 1})])
def test_held_against_the_emulated_cpu(gate: pytest.Pytester, scale: str, outcome: dict[str, int]) -> None:
    gate.makepyfile(test_mlp=MLP.replace("SCALE", "1"))
    gate.runpytest("--msdump-regen", "--msdump-backend=cpu").assert_outcomes(passed=1)
    gate.makepyfile(test_mlp=MLP.replace("SCALE", scale))
    gate.runpytest("--msdump").assert_outcomes(**outcome)


TRAINED = MLP.replace('against={"torch~cpu": "default"}', 'against={"torch~cpu": "noise"}').replace(
    "    msdump.run(Net(), x)\n",
    """
    network, labels = Net(), np.array([0, 2, 1, 1, 0])
    if msdump.backend == "torch":
        loss, optimizer = nn.CrossEntropyLoss(), torch.optim.Adam(network.parameters(), RATE)
    else:
        loss, optimizer = nn.CrossEntropyLoss(), nn.Adam(network.trainable_params(), 0.01)
        labels = labels.astype(np.int32)
    msdump.train(network, loss, optimizer, [(x, labels)] * 2)
""",
)


@pytest.mark.parametrize(
    ("rate", "outcome", "told"),
    [("0.01", {"passed": 2}, "*compared * slots*"), ("0.02", {"passed": 1, "failed": 1}, "First divergence: *Adam*")],
)
def test_a_training_is_held_against_the_emulated_cpu(
    gate: pytest.Pytester, rate: str, outcome: dict[str, int], told: str
) -> None:
    text = TRAINED.replace("SCALE", "1")
    gate.makepyfile(test_mlp=text.replace("RATE", "0.01"))
    gate.runpytest("--msdump-regen", "--msdump-backend=cpu").assert_outcomes(passed=1)
    gate.makepyfile(test_mlp=text.replace("RATE", rate))
    result = gate.runpytest("--msdump")
    result.assert_outcomes(**outcome)
    result.stdout.fnmatch_lines([told])


ODD = """
import pytest
import torch

@pytest.mark.msdump(backends="torch")
def test_lbfgs(msdump):
    module = torch.nn.Linear(3, 2)
    optimizer = torch.optim.LBFGS(module.parameters(), max_iter=3)
    losses = msdump.train(module, torch.nn.MSELoss(), optimizer, [(torch.ones(4, 3), torch.zeros(4, 2))] * 2)
    assert losses[1] < losses[0]

@pytest.mark.msdump(backends="torch")
def test_script(msdump):
    msdump.run(torch.jit.script(torch.nn.Linear(3, 2)), torch.ones(1, 3))

def test_sparse(msdump):
    msdump.check("sparse", torch.eye(3).to_sparse())
"""


def test_what_asks_for_the_loss_and_what_cannot_be_watched(gate: pytest.Pytester) -> None:
    gate.makepyfile(test_odd=ODD)
    result = gate.runpytest_subprocess("--msdump-regen")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        [
            "UnsupportedError: *: a RecursiveScriptModule has no hooks, *give the module that torch.jit.* was given",
            "SettingTypeError: msdump.check: the values of 'sparse' (a torch.Tensor) cannot be read: *to_dense*",
        ]
    )
    result.stdout.no_fnmatch_line("*pytest_msdump*.py*")
