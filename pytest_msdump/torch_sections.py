"""Sections of a test that run PyTorch modules. PyTorch is used only if the test has imported it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

from pytest_msdump.gate_test import GateTest
from pytest_msdump.torch_training import Training
from pytest_msdump.torch_uses import is_module, is_torchs, modules_of, torch, uses_fixture

# pytest shows no frame of this module.
__tracebackhide__ = True

_HOW_TO_GO_ON = (
    "msdump: the gate turns PyTorch's deterministic algorithms on, and this operator has none; to go on without for "
    "such operators, call torch.use_deterministic_algorithms(True, warn_only=True) in the test, before msdump"
)


def _step(
    test: GateTest, module: Any, act: str, called: Any = None, granularity: str | None = None
) -> Callable[..., AbstractContextManager[Any]]:
    from harness.errors import UnsupportedError

    step = test.process.follow(module)
    if step is None:
        what = f"a PyTorch module ({type(module).__name__})" if called is None else "a function of PyTorch's"
        raise UnsupportedError(
            f"{act}: {what} needs backend torch, not {test.variant.backend}; "
            "mark the test msdump(backends='torch'), or run pytest with --msdump-backend=torch"
        )
    return partial(step, granularity=test.granularity if granularity is None else granularity)


def runs(
    test: GateTest, network: Any, inputs: Sequence[Any], named: Mapping[str, Any], *, several: bool = False
) -> bool:
    """Whether PyTorch runs ``network``: a module, or a function that uses modules or computes with PyTorch; on several
    ranks also one that uses the fixture."""
    if is_module(network) or (several and test.variant.backend == "torch" and uses_fixture(network)):
        return True
    given = [*inputs, *named.values()]
    if modules_of(network, given):
        return True
    return test.variant.backend == "torch" and is_torchs(network, given)


def run(
    test: GateTest, network: Any, inputs: Sequence[Any], named: Mapping[str, Any], steps: int, granularity: str | None
) -> Callable[[], Any]:
    """Makes a program that calls ``network`` so many times and returns its last result."""
    module, called = network, None
    if not is_module(network):
        module, called = _holder(modules_of(network, [*inputs, *named.values()])), network
    step = _step(test, module, "msdump.run", called, granularity)
    given = [as_tensor(each, module) for each in inputs]
    by_name = {name: as_tensor(each, module) for name, each in named.items()}

    def program() -> Any:
        output = None
        for _ in range(steps):
            with refusals_explained(), step(results=called is None) as returned:
                output = network(*given, **by_name)
                if called is not None:
                    returned(output)
        return output

    return program


def on_ranks(
    test: GateTest,
    network: Any,
    inputs: Sequence[Any],
    named: Mapping[str, Any],
    how: tuple[int, str | None],
    count: int,
) -> list[Any]:
    """Calls ``network`` in ``count`` processes, each a rank; returns what it gave there. See ``Msdump.run``; ``how`` is
    its steps and granularity."""
    from harness.errors import UnsupportedError

    ranks = getattr(test.process, "torch_ranks", None)
    if ranks is None:
        raise UnsupportedError(f"msdump.run: ranks need backend torch, not {test.variant.backend}")

    def program() -> Any:
        test.begin_rank()
        if uses_fixture(network):
            output = None
            for _ in range(how[0]):
                output = network(*inputs, **named)
            return output
        return test.execute(run(test, network, inputs, named, *how))

    with test.section():
        found: list[Any] = ranks(count, program, test.capture)
    return found


def _holder(found: Mapping[str, Any]) -> Any:
    """One module for the modules of a function: the only one itself."""
    if len(found) == 1:
        return next(iter(found.values()))
    return torch().nn.ModuleDict({name.replace(".", "_"): module for name, module in found.items()})


def train(
    test: GateTest, module: Any, loss: Any, optimizer: Any, batches: Sequence[Any], how: Mapping[str, Any],
    granularity: str | None,
) -> Callable[[], list[Any]]:  # fmt: skip
    """Makes a program that takes one training step per batch and returns the losses."""
    step = _step(test, module, "msdump.train", granularity=granularity)
    given = [as_tensor(batch, module) for batch in batches]
    training = Training(module, loss, optimizer, len(given), **how)

    def program() -> list[Any]:
        losses = []
        module.train()
        for at, batch in enumerate(given):
            with refusals_explained(), step() as returned:
                value = training.step(at, batch)
                returned(value, "loss")
            losses.append(value.detach())
        return losses

    return program


@contextmanager
def watched(test: GateTest, module: Any, optimizer: Any, granularity: str | None) -> Iterator[Callable[..., None]]:
    """Captures what runs inside the block; with an optimizer, each of its steps ends a step of the capture."""
    step = _step(test, module, "msdump.watch", granularity=granularity)
    current: list[AbstractContextManager[Any]] = []

    def begin() -> Any:
        current.append(step())
        return current[0].__enter__()

    def ended(*_: Any) -> None:
        current.pop().__exit__(None, None, None)
        returned[0] = begin()

    with test.section(), refusals_explained():
        returned = [begin()]
        handle = optimizer.register_step_post_hook(ended) if optimizer is not None else None
        try:
            yield lambda value, what="result": returned[0](value, what)
        except BaseException as error:
            current.pop().__exit__(type(error), error, error.__traceback__)
            raise
        else:
            current.pop().__exit__(None, None, None)
        finally:
            if handle is not None:
                handle.remove()


@contextmanager
def refusals_explained() -> Iterator[None]:
    """Says how to go on where an operator has no deterministic algorithm."""
    try:
        yield
    except RuntimeError as error:
        if "use_deterministic_algorithms" in str(error):
            error.add_note(_HOW_TO_GO_ON)
        raise


def as_tensor(value: Any, module: Any) -> Any:
    """``value`` on the device of ``module``: numpy arrays and MindSpore tensors become PyTorch tensors, also inside
    dicts, lists and tuples; anything else stays."""
    kind = type(value)
    if kind is dict:
        return {name: as_tensor(each, module) for name, each in value.items()}
    if kind in (list, tuple):
        return kind(as_tensor(each, module) for each in value)
    if hasattr(value, "asnumpy"):
        value = value.asnumpy()
    tensors = torch()
    if hasattr(value, "__array__") and not isinstance(value, tensors.Tensor):
        value = tensors.from_numpy(value.copy()) if hasattr(value, "strides") else tensors.as_tensor(value)
    if not isinstance(value, tensors.Tensor):
        return value
    at = next(module.parameters(), None)
    if at is None or at.is_meta or inspect.isclass(module):
        return value
    return value if value.device == at.device else value.to(at.device)
