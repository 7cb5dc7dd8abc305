"""A gate test whose backend runs programs in a process of its own: its function is called there, not here.

Fixtures run here; their values and those of ``parametrize`` are passed by value, or by their place in a ``parametrize``
mark if the test's own file has one. Imports ``harness``; imported when needed.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pytest

from harness.backends.calls import Call, Opening
from harness.backends.mindspore.folders import project_paths
from harness.backends.mindspore.values import encoded
from harness.errors import HarnessError, UnsupportedError
from pytest_msdump.collection import identity_of
from pytest_msdump.gate_test import SEED, current
from pytest_msdump.options import SETTINGS
from pytest_msdump.variants import FIXTURE, marker_arguments, records, variant_of

_XUNIT = ("setup_method", "setup_class")
_MODULE = ("setup_function", "setup_module", "setUpModule")


def call_in_worker(item: Any) -> bool:
    """Calls a test's function in the process that runs its backend's programs. An error there is raised here with the
    same text. Returns False if that is this process, in which pytest calls it."""
    __tracebackhide__ = True
    test = current(item)
    if test is None or test.process.session is not None:
        return False
    failure, outcome = "", None
    try:
        test.keep_tree()
        outcome = test.process.call_test(
            partial(call_of, item, item.funcargs), partial(coming, item, test.variant.backend)
        )
        for name, value in outcome.given if outcome is not None else ():
            test.take(name, value, None)
    except HarnessError as error:
        failure = f"msdump: {error}"
    if failure:
        pytest.fail(failure, pytrace=False)
    if outcome is None:
        return False
    test.programs = outcome.programs
    sys.stdout.write(outcome.output)
    if outcome.kind == "skipped":
        pytest.skip(outcome.text)
    if outcome.kind == "xfailed":
        pytest.xfail(outcome.text)
    if outcome.kind != "passed":
        pytest.fail(outcome.text, pytrace=False)
    return True


def coming(item: Any, backend: str) -> Iterator[tuple[Opening, Call]]:
    """The tests on ``backend`` after ``item`` that take only values of ``parametrize``, and how to open their
    processes."""
    items = item.session.items
    for each in items[items.index(item) + 1 :]:
        variant = variant_of(each)
        if variant is None or variant.backend != backend or not _runs_for_sure(each):
            continue
        rdr = records(each.config, marker_arguments(each), variant.mode)
        try:
            call = call_of(each, each.callspec.params)
        except UnsupportedError:
            continue
        yield Opening(identity_of(each).network, variant.mode, str(each.config.stash[SETTINGS].root), rdr), call


def _runs_for_sure(item: Any) -> bool:
    """Whether no fixture and no mark can keep a test from running."""
    if any(next(item.iter_markers(name), None) is not None for name in ("skip", "skipif", "xfail")):
        return False
    given = {FIXTURE, *item.callspec.params}
    # The fixture itself takes pytest's own ``request``.
    return given.issuperset(item._fixtureinfo.argnames) and {"request", *given}.issuperset(item.fixturenames)


def call_of(item: Any, values: Mapping[str, Any]) -> Call:
    """Describes the call to make.

    Args:
        item: a test.
        values: values of its arguments.

    Raises:
        UnsupportedError: the function is a coroutine, an argument cannot be passed to another process, or the test has
            a setup that would have to run there.
    """
    if inspect.iscoroutinefunction(item.obj) or inspect.isasyncgenfunction(item.obj):
        raise UnsupportedError(
            f"{item.nodeid}: an async def does not run in a process of its own; make it a def, and run what is "
            "asynchronous in it with asyncio.run"
        )
    classes = () if item.cls is None else tuple(item.cls.__qualname__.split("."))
    _refuse_set_ups(item)
    arguments, parameters = {}, {}
    names = item._fixtureinfo.argnames
    for name in (name for name in names if name != FIXTURE):
        try:
            arguments[name] = encoded(values[name])
        except UnsupportedError as error:
            place = _place_in_a_mark(item, name)
            if place is None:
                raise UnsupportedError(f"{item.nodeid}, argument {name!r}: {error}") from None
            parameters[name] = place
    return Call(
        file=str(item.path),
        module=item.module.__name__,
        names=(*classes, item.originalname),
        fixture=FIXTURE if FIXTURE in names else "",
        arguments=arguments,
        parameters=parameters,
        paths=project_paths(),
        seed=SEED,
    )


def _refuse_set_ups(item: Any) -> None:
    found = [f"{item.cls.__name__}.{name}" for name in _XUNIT if hasattr(item.cls, name)]
    found += [f"{item.module.__name__}.{name}" for name in _MODULE if hasattr(item.module, name)]
    if found:
        raise UnsupportedError(
            f"{item.nodeid}: {', '.join(found)} runs in pytest's process, the test in one of its own; "
            "do this in the test, or in a function it calls"
        )


def _place_in_a_mark(item: Any, name: str) -> int | None:
    """The place of ``name``'s value in the ``parametrize`` mark that gives it to the function itself, not to a fixture;
    None if there is no such mark."""
    callspec = getattr(item, "callspec", None)
    if callspec is None or name not in callspec.params:
        return None
    for mark in item.iter_markers("parametrize"):
        given = dict(zip(("argnames", "argvalues", "indirect"), mark.args, strict=False)) | mark.kwargs
        names = given["argnames"]
        names = [each.strip() for each in names.split(",")] if isinstance(names, str) else list(names)
        if name in names:
            indirect = given.get("indirect", False)
            if indirect is True or (indirect and name in indirect):
                return None
            values = [_parameter_set(value, len(names))[names.index(name)] for value in given["argvalues"]]
            places = [at for at, value in enumerate(values) if value is callspec.params[name]]
            return places[0] if places else None
    return None


def _parameter_set(value: Any, names: int) -> Any:
    """The values of one parameter set of a ``parametrize`` mark."""
    if type(value).__name__ == "ParameterSet":
        return value.values
    return value if names > 1 else (value,)
