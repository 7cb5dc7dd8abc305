"""Programs grow from a seed, run unchanged, and shrink to their difference; differences are found."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from harness.capture import Capture, read_tree
from tests.differential import __main__ as command
from tests.differential import forking, language, registry
from tests.differential.__main__ import write
from tests.differential.grow import grown
from tests.differential.listed import reason
from tests.differential.moved import moved
from tests.differential.program import HEAD, CellDef, Program, Shrinker, Statement, Var, smaller
from tests.differential.sides import Difference, Values, compare_captures, compare_texts, distance_of, spread_of


def test_a_seed_gives_one_program() -> None:
    assert grown(7).source() == grown(7).source()
    assert len({grown(seed).source() for seed in range(30)}) == 30


def test_every_program_is_python() -> None:
    for seed in range(200):
        compile(grown(seed).source(), f"seed {seed}", "exec")


def test_wide_programs_are_python() -> None:
    assert grown(7, is_wide=True).source() == grown(7, is_wide=True).source()
    for seed in range(6):
        compile(grown(seed, is_wide=True).source(), f"wide {seed}", "exec")


def test_forms_of_public_names_are_no_chance() -> None:
    found = [registry.draw(random.Random(seed), (2, 3)) for seed in range(8)]
    assert found == [registry.draw(random.Random(seed), (2, 3)) for seed in range(8)]
    assert len({form.text for form in found if form is not None}) > 4


def test_every_block_of_statements_is_python() -> None:
    x, out = Var("x", (2, 3)), Var("y", (2, 3))
    for seed in range(100):
        made = language.write(random.Random(seed), x, out, "_1", lambda: "ops.relu({0})")
        cell = CellDef("Net", (x,), (made,), (out,))
        compile(cell.source(), f"block {seed}", "exec")


def test_kinds_of_runs_and_layers_all_come_up() -> None:
    programs = [grown(seed) for seed in range(300)]
    assert set(Counter(p.run for p in programs)) == {"step", "value_and_grad", "forward", "grad", "grad_all", "jit"}
    text = "\n".join(p.source() for p in programs)
    for part in (
        "nn.Conv2d",
        "nn.BatchNorm2d",
        "nn.Dense",
        "for i in range",
        "nn.CellList",
        "class Part",
        "Parameter(",
    ):
        assert part in text


def small_program() -> Program:
    """x -> sin -> relu -> tanh, each of one kind."""
    variables = [Var(name, (2, 3)) for name in ("x", "a", "b", "c")]
    texts = ("ops.sin({0})", "ops.relu({0})", "ops.tanh({0})")
    body = tuple(
        Statement(text, (before.name,), (out,))
        for text, before, out in zip(texts, variables, variables[1:], strict=False)
    )
    return Program((CellDef("Net", (variables[0],), body, (variables[3],)),), "forward")


def test_shrinks_to_what_makes_it_fail() -> None:
    found = Shrinker(lambda p: "relu" in p.source()).shrink(replace(small_program(), steps=2))
    assert [s.text for s in found.net.body] == ["ops.relu({0})"]
    assert found.net.body[0].args == ("x",)
    assert found.steps == 1


def test_smaller_programs_are_whole() -> None:
    for seed in range(40):
        for candidate in smaller(grown(seed)):
            compile(candidate.source(), f"seed {seed}", "exec")
            assert "?" not in candidate.source()


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Trees of programs that differ in one thing each, run here."""
    folder = tmp_path_factory.mktemp("trees")
    base = small_program()
    net = base.net
    changed = {
        "base": base,
        "graph": replace(base, cells=(replace(net, body=net.body[:2], results=(net.body[1].outs[0],)),)),
        "values": replace(base, seed=1),
    }
    made = {}
    for name, program in changed.items():
        out = folder / name
        out.mkdir()
        (out / "program.py").write_text(program.source())
        run_here(out)
        made[name] = out / "tree"
    return made


def run_here(out: Path) -> Capture:
    """What ``program.py`` in ``out`` dumps, run here."""
    config = forking.write_configuration(str(out))
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", "run", "--config", config, str(out / "program.py")],
        capture_output=True, text=True, check=False, cwd=out,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return read_tree(out / "tree")


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["graph", "values"])
def test_differences_are_found(trees: dict[str, Path], kind: str) -> None:
    assert compare_captures(read_tree(trees["base"]), read_tree(trees["base"])) == Difference("agree")
    assert compare_captures(read_tree(trees["base"]), read_tree(trees[kind])).kind == kind


CANCELS = """
class Net(nn.Cell):
    def construct(self, x):
        return (x + 1000000.0) - 1000000.0, x * 2.0


shown(Net()(given((4,), np.float32)))
"""


@pytest.mark.long
def test_units_in_the_last_place_move_what_cancels_alone(tmp_path: Path) -> None:
    found = {}
    for name, change in {"plain": str, "moved": lambda text: moved(text, 1)}.items():
        (out := tmp_path / name).mkdir()
        (out / "program.py").write_text(change(HEAD.format(mode=0, seed=1) + CANCELS))
        found[name] = {r.key.operator: r.load() for r in run_here(out).records() if r.key.slot_name == "output.0"}
    distance = {name: distance_of(array, found["moved"][name]) for name, array in found["plain"].items()}
    assert 0.05 < distance["Default/Sub-op0"] < 1
    assert 0 < distance["Expand/_Muls/Mul-op0"] < 1e-6


def test_a_listed_difference_is_its_own_case_alone() -> None:
    own = Counter(["0 Default/Max-op0"])
    chooses = Counter(["0 Default/Max-op0", "0 Gradients/Default/Grad_Max/NotEqual-op0", "1 Default/Mul-op0"])
    assert reason(own, chooses) is not None
    assert reason(chooses, own) is None
    one_graph = Counter(["0 Default/Max-op0", "0 Gradients/Default/Grad_Max/NotEqual-op0"])
    assert reason(own, one_graph) is None
    assert reason(own, Counter(["0 Default/Max-op0", "1 Default/NotEqual-op0"])) is None


def test_spread_is_that_of_what_is_normalized_together() -> None:
    x = np.array([[1.0, 3.0], [100.0, 100.001]], np.float32)
    assert spread_of(x, "LayerNorm") == pytest.approx(100 / 0.0005, rel=0.01)
    assert spread_of(x, "BatchNorm") < 3


class Key(NamedTuple):
    """What tells a slot from others."""

    operator: str
    slot_name: str
    graph: int = 0
    iteration: int = 0


class Slot(NamedTuple):
    """A slot of an operator, as the judge reads it."""

    key: Key
    array: Any
    dtype: str = "Float32"

    @property
    def op_type(self) -> str:
        """Of its operator."""
        return self.key.operator.rpartition("/")[2].partition("-")[0]

    def load(self) -> Any:
        """Its array."""
        return np.array(self.array, np.float32)


@pytest.mark.parametrize(("operator", "kind"), [("Default/Mul-op0", "agree"), ("Default/Exp-op0", "values")])
def test_noise_of_a_normalization_is_judged_nowhere_else(operator: str, kind: str) -> None:
    near, normal = [[1.0, 1.0000001, 1.0]], [[-0.7, 1.4, -0.7]]
    arrays = {
        Key("Default/LayerNorm-op0", "input.0"): near, Key("Default/LayerNorm-op0", "output.0"): normal,
        Key("Default/Mul-op0", "input.0"): normal, Key("Default/Mul-op0", "output.0"): [[1.0, 2.0, 3.0]],
        Key("Default/Exp-op0", "input.0"): [[5.0, 6.0, 7.0]], Key("Default/Exp-op0", "output.0"): [[4.0, 4.0, 4.0]],
    }  # fmt: skip
    real = [Slot(key, array) for key, array in arrays.items()]
    own = [s._replace(array=[[9.0, 9.0, 9.0]]) if s.key[:2] == (operator, "output.0") else s for s in real]
    pairs = {tuple(mine.key): theirs for mine, theirs in zip(own, real, strict=True)}
    assert Values(own, pairs).difference().kind == kind  # type: ignore[arg-type]


def test_what_is_printed_of_noise_is_no_difference() -> None:
    near, normal = [[1.0, 1.0000001, 1.0]], [[-0.7, 1.4, -0.7]]
    real = [Slot(Key("LayerNorm-op0", "input.0"), near), Slot(Key("LayerNorm-op0", "output.0"), normal)]
    noise = Values(real, {tuple(each.key): each for each in real}).difference().noise  # type: ignore[arg-type]
    assert noise == {"float32 [1, 3] 2.8 1.4"}
    assert not compare_texts("float32 [1, 3] 0 0\n", "float32 [1, 3] 2.8 1.4\n", noise)
    assert compare_texts("float32 [3, 1] 0 0\n", "float32 [1, 3] 2.8 1.4\n", noise)
    assert compare_texts("float32 [1, 3] 0 0\n", "float32 [1, 3] 2.8 1.3\n", noise)


@pytest.mark.parametrize(("off", "kind"), [(0.015, "agree"), (0.03, "values")])
def test_a_step_of_noise_is_a_step_at_most(off: float, kind: str) -> None:
    arrays = {"input.0": [0.0], "input.5": [0.01]}
    real = [Slot(Key("Default/Adam-op0", name), array) for name, array in arrays.items()]
    own = [Slot(real[0].key, [off]), real[1]]
    pairs = {tuple(each.key): each for each in real}
    assert Values(own, pairs).difference().kind == kind  # type: ignore[arg-type]


def test_a_run_that_is_ended_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Ended(AbstractContextManager[Any]):
        left = 2

        def __exit__(self, *_: object) -> None:
            return None

        def difference(self, source: str) -> Difference:
            if self.left == 0:
                raise KeyboardInterrupt
            self.left -= 1
            return Difference("agree")

    results = tmp_path / "results.json"
    monkeypatch.setenv("MSDUMP_INTEROP_MINDSPORE", "python")
    monkeypatch.setattr(command, "Pair", lambda _python: Ended())
    monkeypatch.setattr(sys, "argv", ["differential", "--seed", "5", "--count", "9", "--results", str(results)])
    assert command.main() == 1
    assert json.loads(results.read_text()) == [{"seed": 5, "kinds": {"agree": 2}, "lines": [], "code": "-"}]


def test_several_runs_make_one_table(tmp_path: Path) -> None:
    page, results = tmp_path / "page.md", tmp_path / "results.json"
    for seed, kinds in ((1, {"agree": 3, "names": 1}), (9, {"agree": 2, "refused": 1, "listed": 1})):
        lines = [f"{seed}: something"]
        write({"seed": seed, "kinds": kinds, "lines": lines, "code": "abc"}, results, page)
    text = page.read_text(encoding="utf-8")
    assert "| 1 | 4 | 3 | 0 | 0 | 75.0% | 1 names | abc |" in text
    assert "| all | 8 | 7 | 1 | 1 | 87.5% | 1 names | - |" in text
    assert text.index("* 1: something") < text.index("* 9: something")


def test_texts() -> None:
    assert not compare_texts("loss 1.00001\n", "loss 1.00002\n")
    assert compare_texts("loss 1.1\n", "loss 1.2\n").kind == "text"
    assert compare_texts("loss 1.1\n", "cost 1.1\n").kind == "text"
