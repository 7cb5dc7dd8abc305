"""Dumps of PyTorch by the real msprobe: read whole, equal ones agree, and each difference that its ``compare`` sees is
seen here, at the right call."""

from __future__ import annotations

import csv
import json
import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness import dtypes
from harness.capture import read_tree, torch_files
from harness.cli import main
from tests.examples import FRESH
from tests.interop.planted import Planted, plant

pytestmark = pytest.mark.interop

PROGRAM = Path(__file__).with_name("msprobe_torch.py")
MODELS = ("Mlp", "Norms", "Conv", "Attention", "Embedding", "Residual", "Gated", "Rms", "Switch", "Dropped")
LEVELS = ("L0", "L1", "mix")
TASKS: tuple[tuple[str, dict[str, str]], ...] = (
    ("statistics", {}), ("tensor", {}), ("statistics", {"summary_mode": "md5"}), ("structure", {}),
)  # fmt: skip
#: Differences that are planted: the same each time; with MSDUMP_EXAMPLES=fresh others, and a failure prints the seed.
COUNT = 100 if FRESH else 20
#: Models and levels that are crossed: all of them with MSDUMP_EXAMPLES=fresh, else a level of each model.
CROSSED = [
    (model, level)
    for at, model in enumerate(MODELS)
    for to, level in enumerate(LEVELS)
    if FRESH or (at + to) % len(LEVELS) == 0
]
FIRST = re.compile(r"First divergence: (?:rank \d+, )?iteration \d+, (\S+?),? ")
#: A change of the program, and the call that it changes, by level.
CHANGES: tuple[tuple[str, str, str, str], ...] = (
    ("Mlp", "weight:a.weight", "Module.a.Linear.forward.0", "Functional.linear.0.forward"),
    ("Norms", "set:norm.eps=0.5", "Module.norm.BatchNorm1d.forward.0", "Functional.batch_norm.0.forward"),
    ("Norms", "set:last.eps=0.5", "Module.last.LayerNorm.forward.0", "Functional.layer_norm.0.forward"),
    ("Mlp", "skip:gelu", "Module.b.Linear.forward.0", "Functional.gelu.0.forward"),
    ("Conv", "swap:relu=tanh", "Module.b.Linear.forward.0", "Functional.relu.0.forward"),
    ("Residual", "weight:blocks.1.bias", "Module.blocks.1.Linear.forward.0", "Functional.linear.1.forward"),
    ("Attention", "weight:v.weight", "Module.v.Linear.forward.0", "Functional.linear.2.forward"),
    ("Embedding", "weight:table.weight", "Module.table.Embedding.forward.0", "Functional.embedding.0.forward"),
    ("Gated", "swap:silu=tanh", "Module.down.Linear.forward.0", "Functional.silu.0.forward"),
    ("Dropped", "set:drop.p=0.75", "Module.drop.Dropout.forward.0", "Functional.dropout.0.forward"),
)  # fmt: skip


def run(python: str, what: str, jobs: list[dict[str, Any]], folder: Path) -> None:
    file = folder / f"{what}.json"
    file.write_text(json.dumps(jobs))
    done = subprocess.run(
        [python, str(PROGRAM), what, str(file)], capture_output=True, text=True, timeout=900, check=False
    )
    assert done.stdout.endswith(f"{len(jobs)} jobs, 0 failed\n"), done.stdout + done.stderr


@pytest.fixture(scope="module")
def pairs(torch_msprobe_python: str, tmp_path_factory: pytest.TempPathFactory) -> list[list[dict[str, Any]]]:
    """Two equal runs of each model with settings that take turns: levels, tasks, dtypes, one and two processes."""
    root = tmp_path_factory.mktemp("real")
    found = []
    for at, (model, level) in enumerate(CROSSED):
        task, options = TASKS[at % len(TASKS)]
        more = {
            "dtype": ("float32", "bfloat16")[at // 2 % 2], "world": 2 if at % 5 == 4 else 1, "options": options,
            "steps": [0, 1] if at % 7 == 0 else [0],
        }  # fmt: skip
        # Its checksums are made in threads: of an input that an operator overwrites (BatchNorm's counter) at any time.
        if model == "Norms" and options:
            more["options"] = {}
        sides = [{"model": model, "level": level, "task": task, "out": str(root / f"{at}{side}")} for side in "ab"]
        found.append([side | more for side in sides])
    run(torch_msprobe_python, "dump", [side for pair in found for side in pair], root)
    return found


def diff(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["diff", *arguments])
    return code, "".join(capsys.readouterr())


def stated(side: dict[str, Any]) -> list[Any]:
    """What the dump of one side states of its calls."""
    return [json.loads(file.read_text())["data"] for file in sorted(Path(side["out"]).rglob("dump.json"))]


def test_equal_runs_agree(pairs: list[list[dict[str, Any]]], capsys: pytest.CaptureFixture[str]) -> None:
    for one, other in pairs:
        code, said = diff(capsys, "--exact", one["out"], other["out"])
        # Two real runs of an embedding stated other numbers once in some ninety pairs; then diff has to say so.
        apart = one["model"] == "Embedding" and stated(one) != stated(other)
        assert (code == 0) != apart, (one, said)
        assert read_tree(one["out"]).problems == [] or one["world"] > 1


def test_values_are_those_of_torch(
    pairs: list[list[dict[str, Any]]], torch_msprobe_python: str, tmp_path: Path
) -> None:
    folders = [folder for one, _ in pairs for folder in Path(one["out"]).rglob("dump_tensor_data")]
    jobs = [{"folder": str(each), "out": str(tmp_path / f"{at}.json")} for at, each in enumerate(folders)]
    run(torch_msprobe_python, "load", jobs, tmp_path)
    count = 0
    for job in jobs:
        for name, (dtype, shape, raw) in json.loads(Path(job["out"]).read_text()).items():
            (item,) = torch_files.items(str(Path(job["folder"]) / name))
            assert isinstance(item.value, torch_files.StoredTensor)
            assert (item.value.dtype, item.value.shape) == (dtypes.by_name(dtype), tuple(shape))
            assert item.value().tobytes().hex() == raw, name
            count += 1
    assert count > 20


def planted_pairs(pairs: list[list[dict[str, Any]]], folder: Path, seed: int) -> list[tuple[Path, Path, Path, Planted]]:
    """Copies of dumps with a difference each: the golden, the copy, its step's and the golden's dump.json."""
    drawn = random.Random(seed)
    found = []
    for at in range(COUNT):
        one, other = drawn.choice(pairs)
        copy = folder / f"{at}"
        shutil.copytree(other["out"], copy)
        steps = sorted(copy.glob("step*/*/dump.json"))
        chosen = drawn.randrange(len(steps))
        golden = sorted(Path(one["out"]).glob("step*/*/dump.json"))[chosen]
        found.append((Path(one["out"]), steps[chosen], golden, plant(steps[chosen].parent, drawn)))
    return found


def seen(table: Path) -> bool:
    """Whether msprobe's table shows anything but equal rows."""
    with table.open(encoding="utf-8-sig") as file:
        for row in csv.DictReader(file):
            if row["Result"] != "pass" or "N/A" in (row["NPU Name"], row["Bench Name"]):
                return True
            if any(name.endswith(("diff", "AbsErr")) and value not in ("0", "0.0", "N/A", "", " ", "unsupported")
                   for name, value in row.items() if name and value):  # fmt: skip
                return True
    return False


def test_what_msprobe_sees_is_seen(
    pairs: list[list[dict[str, Any]]], torch_msprobe_python: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seed = random.SystemRandom().randrange(2**32) if FRESH else 0
    planted = planted_pairs(pairs, tmp_path, seed)
    jobs = [
        {"target": str(target), "golden": str(golden), "out": str(tmp_path / f"table{at}")}
        for at, (_, target, golden, _) in enumerate(planted)
    ]
    run(torch_msprobe_python, "compare", jobs, tmp_path)
    missed, wrong, theirs = [], [], 0
    for at, (golden, target, _, what) in enumerate(planted):
        tables = list((tmp_path / f"table{at}").glob("compare_result*.csv"))
        # Of a dump of the task "structure", which holds no data, it makes no table, and says so.
        assert len(tables) == (json.loads(target.read_text(encoding="utf-8"))["task"] != "structure")
        theirs += any(map(seen, tables))
        code, said = diff(capsys, str(golden), str(target.parents[2]))
        first = FIRST.search(said)
        if code != 1:
            missed.append((what, said))
        elif first is None or not first[1].startswith(what.entry):
            wrong.append((what, said))
        # Of a parameter whose values were kept, it is a fact that nothing but it differs.
        fact = what.kind == "value" and f"proven bit for bit: parameter {what.entry}" in said
        assert fact or "proven" not in said, (seed, what, said)
    assert not missed, (seed, missed[:3])
    assert len(wrong) <= COUNT // 50, (seed, wrong[:3])
    assert theirs > COUNT // 3, seed


def test_the_call_that_a_change_of_the_program_changes(
    torch_msprobe_python: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs, expected = [], []
    for at, (model, change, module, function) in enumerate(CHANGES):
        for level in LEVELS if FRESH else LEVELS[at % len(LEVELS) :][:1]:
            task = ("statistics", "tensor")[(at + len(level)) % 2]
            made = {"model": model, "level": level, "task": task, "dtype": ("float32", "bfloat16")[at % 2]}
            sides = [made | {"out": str(tmp_path / f"{at}{level}{side}")} for side in "ab"]
            jobs += [sides[0], sides[1] | {"change": change}]
            expected.append((change, level, module if level == "L0" else function, *(s["out"] for s in sides)))
    run(torch_msprobe_python, "dump", jobs, tmp_path)
    for change, level, call, one, other in expected:
        code, said = diff(capsys, one, other)
        first = FIRST.search(said)
        assert code == 1, (change, level, said)
        assert first is not None, (change, level, said)
        assert first[1].startswith(call), (change, level, said)


def test_a_task_that_singles_out_calls_is_compared_by_its_statistics(
    torch_msprobe_python: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``diff_check`` names a file for every tensor and, where nothing is singled out, writes none."""
    made = {"model": "Mlp", "level": "L1", "task": "diff_check", "dtype": "float32"}
    jobs = [made | {"out": str(tmp_path / side)} for side in "ab"]
    jobs.append(made | {"out": str(tmp_path / "c"), "change": "skip:gelu"})
    run(torch_msprobe_python, "dump", jobs, tmp_path)
    one, other, changed = (job["out"] for job in jobs)
    assert "data_name" in json.dumps(stated({"out": one}))
    code, said = diff(capsys, one, other)
    assert (code, "cannot be used" in said, "statistics agree" in said) == (0, False, True), said
    code, said = diff(capsys, one, changed)
    first = FIRST.search(said)
    assert first is not None, said
    assert (code, first[1].startswith("Functional.gelu.0.forward")) == (1, True), said
