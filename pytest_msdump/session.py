"""Connects pytest and the harness: runs one gate test from its first program to its verdict.

``harness`` is imported inside functions, when a gate test needs it.
"""

from __future__ import annotations

import math
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import pytest

from pytest_msdump import gate_test, grafting, junit, launched, options, report
from pytest_msdump.collection import from_root, identity_of
from pytest_msdump.deferred import Deferred
from pytest_msdump.gate_test import SEED, GateTest
from pytest_msdump.known_wrong import is_known_wrong, is_left_out
from pytest_msdump.options import SETTINGS, Settings
from pytest_msdump.report import Result
from pytest_msdump.variants import (
    FIXTURE,
    TAKE_IT,
    UNITTEST,
    Variant,
    is_unittest,
    marker_arguments,
    records,
    variant_of,
    variants,
)
from pytest_msdump.xdist import is_worker

if TYPE_CHECKING:
    from harness.backends import Process

# Pure Python packages that test modules import, for an interpreter that lacks them; the first is imported early.
LENT = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py", "exceptiongroup", "tomli")
#: The variant of a test that asks for none. Every machine has it, so nothing has to be imported to say so.
PLAIN = Variant("cpu", "tensor")
#: What configures backends, until one is asked for.
_UNCONFIGURED: list[Callable[[], None]] = []
_RESULTS: pytest.StashKey[list[Result]] = pytest.StashKey()


def check_names(backend_names: Sequence[str], modes: Sequence[str]) -> None:
    """Raises ``pytest.UsageError`` for an unknown backend, one whose settings cannot be read, or a mode that none of
    them has."""
    if all(Variant(name, mode) == PLAIN for name in backend_names for mode in modes):
        _environment()
        return
    refusals = [refused(name, mode) for mode in modes for name in backend_names]
    for at, _mode in enumerate(modes):
        of_mode = refusals[at * len(backend_names) : (at + 1) * len(backend_names)]
        if None not in of_mode:
            raise pytest.UsageError("; ".join(map(str, of_mode)))
    from harness.errors import SettingError

    backends = _backends()
    for name in backend_names:
        try:
            backends.get(name).available()
        except SettingError as error:
            raise pytest.UsageError(f"msdump: {error}") from None


def refused(name: str, mode: str) -> str | None:
    """Why backend ``name`` does not run in ``mode``, in one line; None if it does.

    Raises ``pytest.UsageError`` for an unknown backend, or a mode that no backend has.
    """
    _environment()
    if Variant(name, mode) == PLAIN:
        return None
    from harness.errors import RegistrationError, UnknownNameError, UnsupportedError

    backends = _backends()
    try:
        backend = backends.get(name)
    except RegistrationError as error:
        raise pytest.UsageError(f"msdump: {error}") from None
    except UnknownNameError as error:
        lead = " Known" if str(error).endswith("?") else "; known"
        all_of_them = "" if "known are" in str(error) else f"{lead} are {', '.join(backends.BACKENDS)}"
        raise pytest.UsageError(f"msdump: {error}{all_of_them}") from None
    if mode in backend.modes:
        return None
    text = f"msdump: backend {name} has no dump mode {mode!r}"
    try:
        why = backend.refusal(mode)
    except UnsupportedError:
        raise pytest.UsageError(f"{text}; it has {', '.join(backend.modes)}") from None
    return f"{text}: {why}; it has {', '.join(backend.modes)}"


def configure_backends(config: pytest.Config) -> None:
    """Tells the backend ``mindspore`` where MindSpore is and how long a test may take; ends its processes with the
    session.

    Raises ``pytest.UsageError`` for a value that is not a time.
    """
    given = options.resolve(config, "msdump_mindspore_timeout")
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < math.inf:
        raise pytest.UsageError(f"--msdump-mindspore-timeout: a number of seconds above 0 is accepted, got {given!r}")
    python = options.resolve(config, "msdump_mindspore")
    jobs = _jobs(config)

    def configure() -> None:
        from harness.backends.mindspore import MINDSPORE

        MINDSPORE.configure(python or None, seconds, LENT, jobs)
        config.add_cleanup(MINDSPORE.close)

    _UNCONFIGURED[:] = [configure]


def _backends() -> ModuleType:
    """``harness.backends``, configured as this session's options say. Importing it takes longer than many tests, so a
    session that only checks values does without."""
    from harness import backends

    while _UNCONFIGURED:
        _UNCONFIGURED.pop()()
    return backends


def _environment() -> None:
    """Raises ``pytest.UsageError`` for an environment that cannot be read, such as GLOG_v=9."""
    try:
        import harness  # noqa: F401
    except ValueError as error:
        raise pytest.UsageError(f"msdump: {error}") from None


def _jobs(config: pytest.Config) -> int:
    """How many tests may run in other processes at a time; xdist runs tests in parallel by itself.

    Raises ``pytest.UsageError`` for any other value.
    """
    given = options.resolve(config, "msdump_mindspore_jobs")
    if given and not (given.isascii() and given.isdigit() and int(given)):
        raise pytest.UsageError(f"--msdump-mindspore-jobs: a number above 0 is accepted, got {given!r}")
    if is_worker(config):
        return 1
    return int(given) if given else len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def described(backend_names: Sequence[str]) -> list[str]:
    """Names of backends; each says whether it is emulated, or which device and release compute it."""
    found = []
    for name in backend_names:
        if name == PLAIN.backend:
            found.append(f"{name} (emulated)")
            continue
        backend = _backends().get(name)
        with_what = "emulated" if backend.emulated else backend.computes
        found.append(f"{name} ({with_what})" if with_what else name)
    return found


@contextmanager
def begin(item: pytest.Item, variant: Variant) -> Iterator[GateTest]:
    """Prepares a gate test: graph mode, a fixed seed. Skips it if its backend cannot run here, or lacks the mode while
    another variant of the test can run. A test whose marker cannot be followed fails, see ``_refuse``."""
    marker = marker_arguments(item)
    if variant != PLAIN:
        _refuse(item, variant, marker)
    import harness.framework.context as context  # not from its package, which would look all of MindSpore's names up
    from harness import numpy_state

    mode, state = context.exchange_mode(context.GRAPH_MODE), numpy_state.taken()
    context.set_seed(SEED)
    more = {"rdr": True} if records(item.config, marker, variant.mode) else {}

    def opened() -> Process:
        network, root = identity_of(item).network, str(item.config.stash[SETTINGS].root)
        backend = _backends().get(variant.backend)
        return _entered(stack, backend.open(network=network, mode=variant.mode, rootdir=root, **more))

    try:
        with ExitStack() as stack:
            process = cast("Process", Deferred(opened)) if variant == PLAIN and not more else opened()
            if "torch" in sys.modules:
                stack.enter_context(_torch_seeded())
            test = _made(item, variant, process, marker)
            grafting.begin(test)
            yield test
    finally:
        context.exchange_mode(mode)
        numpy_state.restore(state)


def _refuse(item: pytest.Item, variant: Variant, marker: Mapping[str, Any]) -> None:
    """Fails a test whose marker names a backend or mode that does not exist; or a mode the backend lacks, if it names
    it for this backend or no other variant of the test can run. Skips any other test that cannot run."""
    wrong = ""
    try:
        why = refused(*variant)
        rest = [] if why is None else variants(item.config, marker)
        if why is not None and (isinstance(marker.get("backends"), Mapping) or all(refused(*each) for each in rest)):
            wrong = why
    except pytest.UsageError as error:
        wrong = str(error)
    if wrong:
        pytest.fail(wrong, pytrace=False)
    if why is not None:
        pytest.skip(why)
    reason = _backends().get(variant.backend).available()
    if reason is not None:
        pytest.skip(f"msdump: backend {variant.backend} cannot run here: {reason}")


def unreadable(item: pytest.Item) -> str | None:
    """The failure of a test whose marker states a tolerance that cannot be read."""
    test = gate_test.current(item)
    marker = marker_arguments(item) if test is None else test.marker
    against = marker.get("against")
    stated = [marker.get("tolerance"), *(against.values() if isinstance(against, Mapping) else ())]
    if all(each is None for each in stated):
        return None
    from harness.compare import Tolerances
    from harness.errors import HarnessError

    try:
        for each in stated:
            if each is not None:
                Tolerances.parse(each)
    except HarnessError as error:
        return f"msdump: {item.nodeid} cannot be checked: marker msdump(tolerance=...): {error}"
    return None


def _made(item: pytest.Item, variant: Variant, process: Process, marker: Mapping[str, Any]) -> GateTest:
    """The gate test; if a directory it needs cannot be made, the test fails with the error's own words."""
    from harness.errors import HarnessError

    failure = ""
    try:
        return GateTest(item, variant, process, marker)
    except HarnessError as error:
        failure = f"msdump: {error}"
    pytest.fail(failure, pytrace=False)


@contextmanager
def _torch_seeded() -> Iterator[None]:
    """PyTorch, which something has imported, starts from the same seed as well."""
    torch = sys.modules["torch"]
    if not hasattr(torch, "manual_seed"):
        yield
        return
    state = torch.get_rng_state()
    torch.manual_seed(SEED)
    try:
        yield
    finally:
        torch.set_rng_state(state)


def _entered(stack: ExitStack, opened: AbstractContextManager[Process]) -> Process:
    """Opens the process; if that fails, the test fails with the error's own words."""
    from harness.errors import HarnessError

    failure = ""
    try:
        return stack.enter_context(opened)
    except HarnessError as error:
        failure = f"msdump: {error}"
    pytest.fail(failure, pytrace=False)


def finish(item: pytest.Item, bundle: str) -> str | None:
    """Judges (or stores) a test's capture after its function returned.

    Returns:
        The text of the failure, or None where everything holds.
    """
    test = gate_test.taken(item)
    ranks = launched.of(item.config)
    if ranks is not None and ranks.rank and test is not None:
        return _followed(item, test, ranks)
    text = _finished(item, test, bundle, ranks)
    if ranks is not None:
        ranks.tell(item.nodeid, text.partition("\n")[0] if text else "")
    return text


def _followed(item: pytest.Item, test: GateTest, ranks: launched.Launched) -> str | None:
    """A test on a rank other than 0: hands over what it captured, and repeats what rank 0 says of it."""
    from harness.errors import HarnessError

    _keep_results(item, [_nothing(item)])
    try:
        ranks.hand_over(test)
    except (HarnessError, OSError) as error:
        ranks.ended(item, f"what it captured was not handed over: {error}")
        return f"msdump: what rank {ranks.rank} captured was not handed over: {error}"
    return ranks.heard(item.nodeid) or None


def _finished(item: pytest.Item, test: GateTest | None, bundle: str, ranks: launched.Launched | None) -> str | None:
    from pytest_msdump import health, judge

    if ranks is not None and test is not None and (wrong := ranks.gather(test)):
        _keep_results(item, [_nothing(item)])
        text = f"msdump: nothing was compared, because a rank did not give what it captured: {wrong}"
        _note(item, bundle, results_of(item), text)
        return text
    if test is None or not test.ran:
        text = f"msdump: nothing was compared: {item.nodeid} called none of msdump.run, msdump.train and msdump.check"
        if FIXTURE not in getattr(item, "fixturenames", ()):
            text += f"\n{UNITTEST if is_unittest(item) else TAKE_IT}"
        _keep_results(item, [_nothing(item)])
        _note(item, bundle, results_of(item), text)
        return text
    if is_left_out(item, test.settings):
        _keep_results(item, [_nothing(item, report.LEFT_OUT)])
        if test.tree is not None:
            _remove_tree(test.tree)
        return None
    results, failures = judge.done(test, bundle)
    test = grafting.judged_test(test)
    failures += judge.replicas(test) + health.failures(test)
    _keep_results(item, results)
    if test.settings.report is not None:
        _note(item, bundle, results, "\n".join(failures))
    if test.tree is not None and not failures:
        _remove_tree(test.tree)
    if not failures:
        return None
    from harness.gate.bounded import failure

    return failure(failures, list(_closing_lines(test, results)))


def _remove_tree(tree: Path) -> None:
    shutil.rmtree(tree, ignore_errors=True)
    for folder in tree.parents:
        # Stops at the first directory that is not empty, at the latest at the scratch directory, which holds its
        # .gitignore.
        try:
            folder.rmdir()
        except OSError:
            break


def _closing_lines(test: GateTest, results: Sequence[Result]) -> Iterator[str]:
    from pytest_msdump import commands

    start = test.item.config.invocation_params.dir
    for result in results:
        # At the desk the session's last lines name `msdump review`.
        if result["candidate"] and test.settings.in_ci:
            yield f"candidate left; take it over: {commands.accept(test.settings, result['candidate'], start)}"
    if test.tree is not None and test.tree.exists():
        yield f"dump tree kept: {os.path.relpath(test.tree, start)}"


def _note(item: pytest.Item, bundle: str, results: Sequence[Result], failure: str) -> None:
    """Adds a test that compared nothing to the session's page, so that no test is missing there."""
    settings: Settings = item.config.stash[SETTINGS]
    lone = [each for each in results if each["verdict"] in ("missing", "not compared")]
    if lone and settings.report is not None and not (settings.regen or settings.learn):
        from pytest_msdump import pages

        for result in lone:
            pages.note(settings, bundle, result, failure)


def abandon(item: pytest.Item, bundle: str, error: BaseException | None = None) -> None:
    """Notes that a test ended before it could be judged, also on the session's page; its dump tree stays.

    Args:
        error: the test's own error; what the test ran until then is held against its golden, and a difference is shown
            beside the error.
    """
    test = gate_test.taken(item)
    if grafting.is_again(item):
        return
    ranks = launched.of(item.config)
    if ranks is not None:
        said = f"{type(error).__name__}: {error}".partition("\n")[0] if error is not None else "it ended early"
        ranks.ended(item, said, failed=True)
    result = _nothing(item)
    if is_left_out(item, item.config.stash[SETTINGS], error):
        result = _nothing(item, report.LEFT_OUT)
    elif isinstance(error, Exception) and test is not None and not is_known_wrong(item):
        _show_difference(item, test, result)
    _keep_results(item, [result])
    _note(item, bundle, results_of(item), f"{item.nodeid} ended before what it ran could be judged")


def _show_difference(item: pytest.Item, test: GateTest, result: Result) -> None:
    if test.settings.regen or test.settings.learn:
        return
    from harness.escape import text
    from pytest_msdump import edits, ended

    try:
        told = ended.told(test, result) if test.ran else ""
    except Exception as error:  # the test's own error counts, whatever keeps its golden from being compared
        told = f"msdump: what the test ran could not be compared: {type(error).__name__}: {error}"
    if edits.SAID not in told:
        told = "\n".join([told, *edits.since(test.settings.root, test.settings.golden / test.golden)]).strip("\n")
    if told:
        item.add_report_section("call", "msdump", text(told))


def results_of(item: pytest.Item) -> list[Result]:
    """The results that ``finish`` or ``abandon`` noted."""
    return item.stash.get(_RESULTS, [])


def _keep_results(item: pytest.Item, results: list[Result]) -> None:
    from harness import escape

    path, line, _ = item.location
    for each in results:
        each["place"] = f"{from_root(item.config, path)}:{(line or 0) + 1}"
        for name in report.SHOWN:  # JUnit files, annotations, summaries and the terminal show them
            if each[name]:  # type: ignore[literal-required]
                each[name] = escape.line(each[name])  # type: ignore[literal-required]
    item.stash[_RESULTS] = results
    # A rerun of the same item starts over.
    item.user_properties[:] = [each for each in item.user_properties if not each[0].startswith("msdump_")]
    item.user_properties.extend(junit.properties(results))


def _nothing(item: pytest.Item, verdict: str = "not compared") -> Result:
    chosen = variant_of(item) or Variant("", "")
    return report.empty_result(identity_of(item).network, "", *chosen, verdict)
