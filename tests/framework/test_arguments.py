"""No argument that is accepted is silently ignored: each public one is read, refused, or a row here says why not.

The walk goes over the source of all public functions, classes and methods of the framework. An argument counts as
ignored if the function never reads it, if it only keeps it in an attribute nobody reads, or only looks at its type.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import harness.framework

ROOT = Path(harness.framework.__file__).parent
#: where users' calls arrive
PARTS = (
    "nn", "ops/functions", "ops/primitives", "tensor", "train", "dataset", "amp", "context.py", "communication",
    "mindrecord", "numpy", "parallel", "common",
)  # fmt: skip

_HOOK = "a hook that Callback has: this one does not need it"
_ONE = "there is one process"
_SAME = "each of these runs the same in every worker"
#: why an argument may be ignored, by ``owner argument``
REASONS = {
    "HsvToRgb.narrow three": "the first two decide (measured)",
    "Dispatcher.function_scope key": "a dispatcher outside of tracing has no scopes",
    "real flags": "it decides what is refused",
    "sequence lengths": "likewise",
    "Dropout.__init__ dtype": "MindSpore 2.10.0 only warns of it",
    "Identity.__init__ args": "it takes whatever is given, as MindSpore's",
    "Identity.__init__ kwargs": "likewise",
    "Symbol.__init__ kwargs": "unknown names are accepted, as by MindSpore's",
    "Cell.init_parameters_data auto_parallel_mode": _ONE,
    "Parameter.init_data layout": _ONE,
    "Settings.set_boost boost_type": "there is one type, which is checked",
    "Settings.update_cell_type cell_type": "an attribute for users",
    "Parameter.init_data set_sliced": _ONE,
    "histogram_bin_edges weights": "the edges are the same with and without them (measured)",
    "Parameter.set_data slice_shape": "every shape is taken with and without it (measured)",
    "Initializer.__init__ kwargs": "subclasses read it from the user's own class",
    "TrainOneStepWithLossScaleCell.start_overflow_check pre_cond": "it orders kernels of an NPU",
    "TrainOneStepWithLossScaleCell.get_overflow_status status": "likewise",
    "jit options": "settings of other backends; every graph is run kernel by kernel (docs/differences.md)",
    "MultitypeFuncGraph.__init__ read_value": "values are always read here",
    "constexpr reuse_result": "a result is not kept, so that it is always that of the values",
    "constexpr check": "constants are checked where they are used",
    "Conv2DTranspose.__init__ pad_list": "pad_mode and pad say it; MindSpore's CPU kernel computes it from them, too",
    "LARS.__init__ coefficient": "no CPU has its kernel: the optimizer is refused when it is called",
    "Parameter.__init__ storage_format": "formats of an NPU",
    "EarlyStopping.on_train_begin run_context": _HOOK,
    "EarlyStopping.on_train_end run_context": _HOOK,
    "History.begin run_context": _HOOK,
    "ReduceLROnPlateau.on_train_begin run_context": _HOOK,
    "TimeMonitor.on_train_step_begin run_context": _HOOK,
    "TimeMonitor.on_train_step_end run_context": _HOOK,
    "TimeMonitor.epoch_begin run_context": _HOOK,
    "SummaryCollector.__init__ num_process": "one process writes; the file is the same",
    "SummaryRecord.__init__ num_process": "likewise",
    "SummaryRecord.__init__ raise_exception": "an error of writing is raised in any case",
    "Dataset.create_tuple_iterator do_copy": "every row is a copy",
    "Dataset.create_dict_iterator do_copy": "likewise",
    "StaticLossScaler.adjust grads_finite": "a static scale does not change, as in MindSpore",
    "create_group options": _ONE,
    "FileWriter.set_header_size header_size": "how a file is laid out; its rows are the same",
    "FileWriter.set_page_size page_size": "likewise",
    "FileWriter.write_raw_data parallel_writer": "likewise",
    **dict.fromkeys(
        (
            f"LambdaCallback.__init__ on_{when}_{at}"
            for when in ("train", "eval")
            for at in ("begin", "end", "epoch_begin", "epoch_end", "step_begin", "step_end")
        ),
        "read by its name, with all others",
    ),
    **dict.fromkeys(("Model.eval dataset_sink_mode", "Model.fit valid_dataset_sink_mode"), "the same steps are run"),
    "load_param_into_net remove_redundancy": _ONE,
    "save_checkpoint integrated_save": _ONE,
    "Batches.create_tuple_iterator num_epochs": "the recorder's own rows have no end of their own",
    "mutable dynamic_len": "each length is a graph of its own (docs/differences.md)",
}


def _internal(owner: str, argument: str) -> bool:
    """Whether users do not call this, such as what samplers, sources and transforms are asked for their part by."""
    inner = ("build", "own_orders", "own_count", "part", "check_child_name", "refuse_encryption")
    return owner.rpartition(".")[2] in inner or argument == "_"


TREES = {
    path: ast.parse(path.read_text(encoding="utf-8"))
    for part in PARTS
    for path in ([ROOT / part] if part.endswith(".py") else sorted((ROOT / part).rglob("*.py")))
}
#: attributes that are read, and texts (an attribute may be read by its name); elsewhere every ``.name`` counts
READ = {
    node.attr if isinstance(node, ast.Attribute) else node.value
    for tree in TREES.values()
    for node in ast.walk(tree)
    if (isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load))
    or (isinstance(node, ast.Constant) and isinstance(node.value, str))
} | {
    name
    for path in ROOT.rglob("*.py")
    if path not in TREES
    for name in re.findall(r"\.(\w+)", path.read_text(encoding="utf-8"))
}


def functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Every public function and method, with its name."""
    for tree in TREES.values():
        listed = [n.value for n in tree.body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "__all__"]
        public = {n.value for each in listed for n in ast.walk(each) if isinstance(n, ast.Constant)}
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and (not listed or node.name in public) and node.name[0] != "_":
                yield node.name, node
            elif isinstance(node, ast.ClassDef) and node.name[0] != "_":
                for member in node.body:
                    if isinstance(member, ast.FunctionDef) and (member.name[0] != "_" or member.name == "__init__"):
                        yield f"{node.name}.{member.name}", member


def arguments(function: ast.FunctionDef) -> list[str]:
    given = function.args
    found = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    found += [each.arg for each in (given.vararg, given.kwarg) if each is not None]
    return [name for name in found if name not in ("self", "cls")]


def refuses(function: ast.FunctionDef) -> bool:
    """Whether it only raises, or has no body: a hook to override."""
    body = [n for n in function.body if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]
    return all(isinstance(n, (ast.Raise, ast.Pass)) for n in body)


def names(node: ast.AST) -> Counter[str]:
    return Counter(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))


def looks_at_types(node: ast.AST) -> bool:
    """A statement that does no more than check a type: ``checks.boolean(x, ...)``, or ``isinstance`` and an error."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return ast.unparse(node.value.func) in ("checks.boolean", "checks.number", "checks.count", "flag", "whole")
    if isinstance(node, ast.If) and all(isinstance(n, ast.Raise) for n in node.body) and not node.orelse:
        return ast.unparse(node.test).startswith(("not isinstance(", "isinstance("))
    return False


def ignored() -> Iterator[str]:
    for owner, function in functions():
        if refuses(function):
            continue
        read, typed, kept = Counter[str](), Counter[str](), dict[str, list[str]]()
        for statement in function.body:
            read += names(statement)
        for node in ast.walk(function):
            if looks_at_types(node):
                tested = names(node.test if isinstance(node, ast.If) else node)
                typed += Counter({name: count for name, count in names(node).items() if name in tested})
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
                kept.setdefault(node.value.id, []).extend(t.attr for t in node.targets if isinstance(t, ast.Attribute))
        for name in arguments(function):
            attributes = kept.get(name, [])
            nobody = len(attributes) > 0 and not READ.intersection(attributes)
            used = read[name] - typed[name] - (len(attributes) if nobody else 0)
            if used <= 0 and not _internal(owner, name):
                yield f"{owner} {name}"


def test_every_argument_has_an_effect_or_a_reason() -> None:
    found = set(ignored())
    assert sorted(found - REASONS.keys()) == [], "accepted and ignored: use it, refuse it, or say why"
    assert sorted(REASONS.keys() - found) == [], "reasons for what is not ignored"


SAMPLE = """
class A:
    def __init__(self, never, typed, only_kept, used):
        checks.boolean(typed, 'typed')
        self.nobody_reads_it = only_kept
        print(used)
"""


def test_an_ignored_argument_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "TREES", {Path("a.py"): ast.parse(SAMPLE)})
    assert sorted(ignored()) == ["A.__init__ never", "A.__init__ only_kept", "A.__init__ typed"]
