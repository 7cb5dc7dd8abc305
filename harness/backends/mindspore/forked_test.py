"""One test under the real MindSpore, in a fork of the worker.

Names of ``harness`` resolve to ``mindspore`` here, so that networks and tests run as they stand. MindSpore has no
functions for control flow on tensor values (it parses Python's ``if`` and ``while``); ``ops.cond`` and
``ops.while_loop`` are given to it in those words.

Nothing but the standard library, MindSpore, and pytest where the tests import it (see ``worker.py``).
"""

from __future__ import annotations

import ast
import base64
import dataclasses
import faulthandler
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import platform
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

OURS, REAL = "harness", "mindspore"
#: ``harness`` is the front door of this package: both stand for MindSpore
_WING = f"{OURS}.framework"
OUTCOME = "outcome.json"
_HERE = os.path.dirname(os.path.abspath(__file__))


class UnsupportedError(NotImplementedError):
    """Something the backend ``mindspore`` does not do; names it."""


class Resolved(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Answers ``harness`` and everything in it with the modules of MindSpore, the very same objects."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] != OURS:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        ours = _WING if name == _WING or name.startswith(_WING + ".") else OURS
        real = REAL + name[len(ours) :]
        try:
            sys.modules[name] = importlib.import_module(real)
        except ModuleNotFoundError as error:
            if error.name != real:
                raise
            text = f"No module named {name!r}: on backend {REAL} it stands for {real}, which MindSpore does not have"
            raise ModuleNotFoundError(text, name=name) from None


class FallbackPackages(importlib.abc.MetaPathFinder):
    """Finds a few packages where the process that asks for tests has them, if this interpreter has them nowhere.

    Args:
        folders: name of a package -> directory it lies in.
    """

    def __init__(self, folders: Mapping[str, str]) -> None:
        self._folders = folders

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        folder = self._folders.get(fullname) if path is None else None
        return None if folder is None else importlib.machinery.PathFinder.find_spec(fullname, [folder])


class Rewriting(importlib.machinery.SourceFileLoader):
    """Loads a test module with its assertions rewritten, as pytest does, so that they say what they compared."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        source = self.get_data(path)
        tree = ast.parse(source, path)
        try:
            from _pytest.assertion.rewrite import rewrite_asserts

            rewrite_asserts(tree, source)
        except Exception:  # no pytest, or one whose inner parts are others: assertions stay silent
            tree = ast.parse(source, path)
        return compile(tree, path, "exec", dont_inherit=True)


def cond(pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], *operands: Any) -> Any:
    """``true_fn(*operands)`` where ``pred`` holds, else ``false_fn(*operands)``."""
    if pred:
        return true_fn(*operands)
    return false_fn(*operands)


def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], state: Any) -> Any:
    """``state = body_fn(state)`` as long as ``cond_fn(state)`` holds."""
    while cond_fn(state):
        state = body_fn(state)
    return state


def prepare(fallbacks: Mapping[str, str], preload: Iterable[str]) -> dict[str, str]:
    """Imports MindSpore and what is to be there in every fork; gives versions."""
    mindspore = importlib.import_module(REAL)
    ops = importlib.import_module(f"{REAL}.ops")
    for function in (cond, while_loop):
        setattr(ops, function.__name__, function)
    sys.meta_path.insert(0, Resolved())
    sys.meta_path.append(FallbackPackages(fallbacks))
    for name in preload:
        importlib.import_module(name)
    numpy = sys.modules.get("numpy")
    return {
        "mindspore": str(mindspore.__version__),
        "numpy": str(getattr(numpy, "__version__", "")),
        "python": platform.python_version(),
    }


class Msdump:
    """Stands in for the fixture: what a test runs with it is dumped by MindSpore itself.

    Attributes:
        backend, mode: what this test runs under.
        programs: how many sections ran, failed ones included.
        given: values that were handed over, by name, as ``handed`` makes them.
    """

    def __init__(self, backend: str, mode: str) -> None:
        self.backend = backend
        self.mode = mode
        self.programs = 0
        self.given: list[tuple[Any, Any]] = []

    def __repr__(self) -> str:
        return f"<msdump {self.backend}-{self.mode}>"

    def run(self, network: Callable[..., Any], *inputs: Any, steps: int = 1) -> Any:
        """Calls ``network(*inputs)`` ``steps`` times; gives what the last call returned."""
        if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
            raise ValueError(f"msdump.run: steps must be an int of at least 1, got {steps!r}")
        given = [as_input(each) for each in inputs]
        self.programs += 1
        output = None
        for _ in range(steps):
            output = network(*given)
        return output

    def train(
        self, network: Any, loss: Any, optimizer: Any, batches: Iterable[Sequence[Any]], epochs: int = 1, **more: Any
    ) -> list[Any]:
        """Trains one step a batch; gives the loss of each."""
        if epochs != 1 or any(value is not None for value in more.values()):
            raise UnsupportedError(
                f"msdump.train: epochs, callbacks and metrics are for emulated backends; backend {self.backend} "
                "trains one step a batch"
            )
        given = [tuple(as_input(each) for each in batch) for batch in batches]
        if not given:
            raise ValueError("msdump.train: at least one batch is needed, got none")
        self.programs += 1
        nn = importlib.import_module(f"{REAL}.nn")
        step = nn.TrainOneStepCell(nn.WithLossCell(network, loss), optimizer)
        step.set_train()
        return [step(*batch) for batch in given]

    def check(self, name: Any, value: Any) -> None:
        """Passes a value on; pytest's process compares it with the golden."""
        self.given.append((name, handed(value)))

    def golden(self, name: str) -> Any:
        """Refused: the golden is read in pytest's process."""
        raise UnsupportedError(
            f"msdump.golden({name!r}): a golden is not read in the process of backend {self.backend}"
        )

    def inject(self, operator: str, *given: Any, **more: Any) -> Any:
        """Refused: the kernels are MindSpore's own."""
        raise UnsupportedError(
            f"msdump.inject: only emulated backends can have faults; backend {self.backend} runs kernels of MindSpore's"
        )


def as_input(value: Any, numbers: bool = True) -> Any:
    """numpy arrays and Python's numbers as tensors, as ``msdump.run`` of pytest's process makes them."""
    kind = type(value)
    if kind in (int, float, complex):
        return importlib.import_module(REAL).Tensor(value) if numbers else value
    if kind in (tuple, list):
        return kind(as_input(each, False) for each in value)
    if kind is dict:
        return {name: as_input(each, False) for name, each in value.items()}
    is_array = kind.__module__.partition(".")[0] == "numpy" and hasattr(value, "dtype")
    return importlib.import_module(REAL).Tensor(value) if is_array else value


def handed(value: Any) -> Any:
    """A value as JSON, for ``values.received``: arrays by dtype, shape and bytes, containers by what they hold."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {"dict": [[handed(name), handed(each)] for name, each in value.items()]}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {"dict": [[each.name, handed(getattr(value, each.name))] for each in dataclasses.fields(value)]}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {"dict": [[name, handed(each)] for name, each in zip(value._fields, value)]}  # noqa: B905 - Python 3.9
    if isinstance(value, (list, tuple)):
        return {"list": [handed(each) for each in value]}
    if not isinstance(value, complex) and not any(hasattr(value, name) for name in ("asnumpy", "__array__")):
        raise TypeError(f"msdump.check: a {type(value).__name__} cannot be handed over on backend {REAL}")
    numpy = importlib.import_module("numpy")
    array = value.asnumpy() if hasattr(value, "asnumpy") else numpy.asarray(value)
    return {"array": [array.dtype.name, list(array.shape), base64.b64encode(array.tobytes()).decode()]}


def decoded(value: Any) -> Any:
    """What ``values.encoded`` made, as it was."""
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind in ("list", "tuple"):
        items = [decoded(each) for each in content]
        return items if kind == "list" else tuple(items)
    if kind == "dict":
        return {name: decoded(each) for name, each in content.items()}
    if kind == "bytes":
        return base64.b64decode(content)
    if kind == "path":
        return Path(content)
    numpy = importlib.import_module("numpy")
    dtype, shape, data = content
    array = numpy.frombuffer(base64.b64decode(data), dtype).reshape(shape)
    return array.copy() if kind == "array" else array[()]


def parameter(owners: Iterable[Any], name: str, index: int) -> Any:
    """The value a ``parametrize`` mark of one of ``owners`` gives for ``name`` at ``index``."""
    for owner in owners:
        marks = getattr(owner, "pytestmark", [])
        for mark in marks if isinstance(marks, (list, tuple)) else [marks]:
            given = dict(zip(("argnames", "argvalues"), mark.args)) | mark.kwargs  # noqa: B905 - Python 3.9
            names = given.get("argnames", ())
            names = [each.strip() for each in names.split(",")] if isinstance(names, str) else list(names)
            if mark.name == "parametrize" and name in names:
                value = list(given["argvalues"])[index]
                several = value.values if type(value).__name__ == "ParameterSet" else value
                return several[names.index(name)] if several is not value or len(names) > 1 else value
    raise UnsupportedError(f"no parametrize mark gives {name!r} its value here")


def load(file: str, name: str) -> ModuleType:
    """Imports the test module at ``file`` under the name it has in pytest."""
    spec = importlib.util.spec_from_file_location(name, file, loader=Rewriting(name, file))
    if spec is None:
        raise ImportError(f"{file} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    Rewriting(name, file).exec_module(module)
    return module


def call(request: Mapping[str, Any], msdump: Msdump) -> None:
    """Imports the module and calls the function."""
    module = load(request["file"], request["module"])
    mindspore = importlib.import_module(REAL)
    mindspore.set_context(mode=mindspore.GRAPH_MODE)
    if request["jit_level"]:
        mindspore.set_context(jit_level=request["jit_level"])
    mindspore.set_seed(request["seed"])
    found: Any = module
    owners: list[Any] = [module]
    for at, name in enumerate(request["names"]):
        found = getattr(found, name)
        owners.insert(0, found)
        if isinstance(found, type) and at == len(request["names"]) - 2:
            found = found()
    arguments = {name: decoded(value) for name, value in request["arguments"].items()}
    for name, index in request["parameters"].items():
        arguments[name] = parameter(owners, name, index)
    if request["fixture"]:
        arguments[request["fixture"]] = msdump
    found(**arguments)


def told(error: BaseException) -> str:
    """The traceback without this file's frames."""
    made = traceback.TracebackException.from_exception(error)
    seen: Any = made
    while seen is not None:
        kept = [each for each in seen.stack if os.path.dirname(os.path.abspath(each.filename)) != _HERE]
        kept = [each for each in kept if not each.filename.startswith("<frozen importlib")]
        seen.stack = traceback.StackSummary.from_list(kept)
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return "".join(made.format())


def outcome(error: BaseException | None) -> dict[str, str]:
    """How a test ended: ``passed``, ``skipped``, ``xfailed`` or ``failed``, and the text for the report."""
    if error is None:
        return {"outcome": "passed", "text": ""}
    pytest = sys.modules.get("pytest")
    for name, kind in (("skip", "skipped"), ("xfail", "xfailed")):
        raised = getattr(getattr(pytest, name, None), "Exception", None)
        if raised is not None and isinstance(error, raised):
            return {"outcome": kind, "text": str(getattr(error, "msg", error))}
    return {"outcome": "failed", "text": told(error)}


def run_request(request: Mapping[str, Any]) -> None:
    """Runs one request and leaves its outcome in the request's folder; everything printed goes to its ``output``."""
    for descriptor, path, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, request["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND),
    ):
        opened = os.open(path, flags, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)
    os.dup2(1, 2)
    faulthandler.enable()
    if request["seconds"]:
        faulthandler.dump_traceback_later(request["seconds"])
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["cwd"])
    sys.path[:0] = request["paths"]
    sys.argv[:] = [request["file"]]
    msdump = Msdump(request["backend"], request["mode"])
    raised: BaseException | None = None
    try:
        call(request, msdump)
    except BaseException as error:
        raised = error
    result = {**outcome(raised), "programs": msdump.programs, "given": msdump.given}
    target = os.path.join(request["folder"], OUTCOME)
    with open(target + ".part", "w", encoding="utf-8", errors="backslashreplace") as file:
        json.dump(result, file)
    os.replace(target + ".part", target)
