"""No argument of a public function is silently ignored: each is read, or listed here with the reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import framework

ROOT = Path(framework.__file__).parent
PLACES = ("amp", "common", "communication", "nn", "ops/functions", "ops/primitives", "parallel", "tensor", "train")

#: arguments nothing reads, and why that changes no result
UNREAD = {
    "amp/loss_scale_manager.py LossScaleManager.update_loss_scale overflow": "a subclass reads it",
    "amp/loss_scale_manager.py FixedLossScaleManager.update_loss_scale overflow": "the scale is fixed",
    "amp/scaler.py LossScaler.scale inputs": "a subclass reads it",
    "amp/scaler.py LossScaler.unscale inputs": "a subclass reads it",
    "amp/scaler.py LossScaler.adjust grads_finite": "a subclass reads it",
    "amp/scaler.py StaticLossScaler.adjust grads_finite": "the scale is fixed",
    "communication/group.py create_group options": "settings of a transport there is none of",
    "nn/basic.py Dropout.__init__ dtype": "MindSpore reads it no more",
    "nn/basic.py Identity.__init__ args": "MindSpore reads none either",
    "nn/basic.py Identity.__init__ kwargs": "MindSpore reads none either",
    "nn/calls.py Calls.construct args": "refused: a cell without a construct",
    "nn/calls.py Calls.construct kwargs": "refused: a cell without a construct",
    "nn/cell.py Cell.init_parameters_data auto_parallel_mode": "data is there from the beginning",
    "nn/loss_scale.py FixedLossScaleUpdateCell.construct _": "the scale is fixed",
    "nn/loss_scale.py TrainOneStepWithLossScaleCell.start_overflow_check pre_cond": "an order of effects",
    "nn/loss_scale.py TrainOneStepWithLossScaleCell.get_overflow_status status": "gradients are looked at",
    "nn/optimizer.py Optimizer.construct hyper_params": "a subclass reads it",
    "nn/transforms.py jit options": "there is one way of compiling",
    "ops/functions/softmax.py layer_norm": "refused",
    "ops/primitives/collective.py Receive.__call__ _inputs": "what comes has another rank's values",
    "ops/primitives/composition.py MultitypeFuncGraph.__init__ read_value": "which copy of a parameter is handed on",
    "ops/primitives/composition.py constexpr reuse_result": "a cache of the compiler's",
    "ops/primitives/composition.py constexpr check": "a check of the compiler's",
    "ops/primitives/convolution.py Conv2DTranspose.__init__ pad_list": "MindSpore reads it no more",
    "tensor/symbol.py Symbol.__init__ kwargs": "unknown names are accepted, as by MindSpore's",
    "tensor/parameter.py Parameter.set_data slice_shape": "a group of one has no slices",
    "tensor/parameter.py Parameter.init_data layout": "data is there from the beginning, a group of one has no layout",
    "tensor/parameter.py Parameter.init_data set_sliced": "a group of one has no slices",
    "train/callback/summary_collector.py SummaryCollector.__init__ num_process": "one process writes",
    "train/summary/summary_record.py SummaryRecord.__init__ num_process": "one process writes",
    "train/metrics/base.py Metric.update inputs": "a subclass reads it",
    "train/recording.py Batches.create_tuple_iterator num_epochs": "batches of one epoch",
}
#: interfaces of this project's own
INTERNAL = ("tensor/dispatch.py", "tensor/watching.py")
#: the interface of callbacks: which of them use the context is their own affair
INTERFACES = ("run_context",)


def unread(path: Path) -> Iterator[str]:
    """``file Class.method argument`` for each argument nothing reads."""
    if path.relative_to(ROOT).as_posix() in INTERNAL:
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for owner, function in public(tree, ()):
        given = function.args
        named = [*given.posonlyargs, *given.args, *given.kwonlyargs, *(a for a in (given.vararg, given.kwarg) if a)]
        read = {n.id for s in function.body for n in ast.walk(s) if isinstance(n, ast.Name)}
        if "locals" in read:
            continue
        for argument in named:
            if argument.arg not in read and argument.arg not in ("self", "cls", *INTERFACES):
                where = ".".join((*owner, function.name))
                yield f"{path.relative_to(ROOT).as_posix()} {where} {argument.arg}"


def public(node: ast.AST, owner: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], ast.FunctionDef]]:
    """Public functions and methods, and what makes an object."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef) and not child.name.startswith("_"):
            yield from public(child, (*owner, child.name))
        elif isinstance(child, ast.FunctionDef) and (child.name in ("__init__", "__call__") or child.name[0] != "_"):
            yield owner, child


def known(found: str) -> bool:
    return found in UNREAD or found.rpartition(" ")[0] in UNREAD


@pytest.mark.parametrize("place", PLACES)
def test_every_argument_is_read(place: str) -> None:
    found = [line for path in sorted((ROOT / place).rglob("*.py")) for line in unread(path)]
    assert [line for line in found if not known(line)] == []


def test_no_reason_is_left_over() -> None:
    found = [line for place in PLACES for path in (ROOT / place).rglob("*.py") for line in unread(path)]
    owners = {line.rpartition(" ")[0] for line in found}
    assert [entry for entry in UNREAD if entry not in found and entry not in owners] == []


def test_an_argument_nothing_reads_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.py").write_text("def f(a, b):\n    return a\n\n\nclass C:\n    def m(self, x): ...\n")
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert list(unread(tmp_path / "one.py")) == ["one.py f b", "one.py C.m x"]
