"""The backends and modes each test runs under, and the ids that name them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from pytest_msdump import options

MARKER = "msdump"
FIXTURE = "msdump"
RECORDER_MODE = "tensor"
TAKE_IT = f"  {FIXTURE} is a fixture of pytest: take it as an argument, `def test_it({FIXTURE}):`; nothing is imported"
UNITTEST = (
    "  a method of unittest.TestCase takes no fixture as an argument. Drop the base class, or keep the fixture:\n"
    "  @pytest.fixture(autouse=True)\n  def take(self, msdump): self.msdump = msdump"
)
#: Runs of a test whose marker says nothing: the same for all of a session.
_PLAIN_RUNS: pytest.StashKey[list[str] | None] = pytest.StashKey()
MARKER_ARGUMENTS = ("backends", "modes", "tolerance", "level", "against", "rdr", "healthy", "granularity", "gaps")


class Variant(NamedTuple):
    """One way a test runs."""

    backend: str
    mode: str

    @property
    def id(self) -> str:
        """``cpu-tensor``, as it stands in test ids."""
        return f"{self.backend}-{self.mode}"


def granularity_of(config: pytest.Config, marker: Mapping[str, Any], backend: str) -> str:
    """How finely a test's modules are captured; backends other than ``torch`` know operators alone."""
    return str(options.resolve(config, "msdump_granularity", marker)) if backend == "torch" else "operators"


def run_of(variant: Variant, granularity: str) -> tuple[str, str, str]:
    """Backend, mode and granularity of a test's run in its golden, as in a ``RunId``."""
    return variant.backend, variant.mode, granularity


def _text(run: tuple[str, str, str]) -> str:
    """A run's name, as ``RunId`` has it; importing that takes longer than a test."""
    return "/".join(run[:2] if run[2] == "operators" else run)


def is_gate_test(item: pytest.Item) -> bool:
    """True for a test that carries the marker or asks for the fixture."""
    return FIXTURE in getattr(item, "fixturenames", ()) or item.get_closest_marker(MARKER) is not None


def is_unittest(item: Any) -> bool:
    """Whether a test is a method of ``unittest.TestCase``."""
    classes = getattr(getattr(item, "cls", None), "__mro__", ())
    return any(each.__module__ == "unittest.case" and each.__name__ == "TestCase" for each in classes)


def marker_arguments(node: pytest.Item | Any) -> dict[str, Any]:
    """Keyword arguments of the ``msdump`` markers on a test; the closest marker wins, argument by argument.

    Raises ``pytest.UsageError`` for a positional or an unknown argument.
    """
    merged: dict[str, Any] = {}
    for mark in node.iter_markers(MARKER):
        unknown = [name for name in mark.kwargs if name not in MARKER_ARGUMENTS]
        if mark.args or unknown:
            given = ", ".join([*map(repr, mark.args), *unknown])
            raise pytest.UsageError(
                f"marker msdump takes {', '.join(name + '=' for name in MARKER_ARGUMENTS)}; got {given}"
            )
        for name, value in mark.kwargs.items():
            merged.setdefault(name, value)
    return merged


def variants(config: pytest.Config, marker: Mapping[str, Any]) -> list[Variant]:
    """Every backend with every mode, in the order they were named.

    Where the marker gives ``backends`` as a mapping to modes, a backend runs in its own modes only.
    """
    stated = marker.get("backends")
    if not isinstance(stated, Mapping):
        backends = options.resolve(config, "msdump_backend", marker)
        modes = options.resolve(config, "msdump_mode", marker)
        return [Variant(backend, mode) for backend in backends for mode in modes]
    found = []
    for backend in options.resolve(config, "msdump_backend", {**marker, "backends": list(stated)}):
        own = stated.get(backend, marker.get("modes"))
        modes = options.resolve(config, "msdump_mode", {**marker, "modes": own})
        if backend in stated:
            allowed = options.split_names(own, f"marker msdump(backends=...), backend {backend}")
            modes = [mode for mode in modes if mode in allowed]
        found += [Variant(backend, mode) for mode in modes]
    return found


def others(against: Any, backend: str) -> dict[str, Any]:
    """Backends of the marker's ``against=``, each with its tolerance; a backend is never compared with itself.

    A name ``gpu~cpu`` compares only ``gpu`` with ``cpu``.

    Raises ``pytest.UsageError`` for anything but names or a mapping from names.
    """
    if against is None:
        return {}
    names = options.split_names(
        list(against) if isinstance(against, Mapping) else against, "marker msdump(against=...)"
    )
    stated = against if isinstance(against, Mapping) else {}
    found = {}
    for name in names:
        own, separator, other = name.rpartition("~")
        if other != backend and (not separator or own.strip() == backend):
            found[other.strip()] = stated.get(name)
    return found


def used_runs(config: pytest.Config, marker: Mapping[str, Any]) -> list[str] | None:
    """Runs (``backend/mode``) of its store that a test may use; None if the command line limits them."""
    if not marker:
        if _PLAIN_RUNS not in config.stash:
            config.stash[_PLAIN_RUNS] = _used_runs(config, marker)
        return config.stash[_PLAIN_RUNS]
    return _used_runs(config, marker)


def _used_runs(config: pytest.Config, marker: Mapping[str, Any]) -> list[str] | None:
    limits = ("msdump_backend", "msdump_mode", "msdump_granularity", "msdump_variants")
    if any(options.given_on_command_line(config, name) for name in limits):
        return None
    own = [run_of(each, granularity_of(config, marker, each.backend)) for each in variants(config, marker)]
    against = marker.get("against")
    more = [
        (name, each, finely)
        for backend, mode, finely in own
        for name in others(against, backend)
        for each in (mode, "tensor")
    ]
    return sorted(set(map(_text, (*own, *more))))


def records(config: pytest.Config, marker: Mapping[str, Any], mode: str) -> bool:
    """Whether the Running Data Recorder runs beside a test in dump mode ``mode``. It writes the same in every mode, so
    one mode is enough."""
    return mode == RECORDER_MODE and bool(options.resolve(config, "msdump_rdr", marker))


def _check_recorder(config: pytest.Config, marker: Mapping[str, Any], chosen: list[Variant]) -> None:
    """Raises ``pytest.UsageError`` if the marker asks for the recorder but no run of the test has it."""
    if marker.get("rdr") is None or options.given_on_command_line(config, "msdump_mode"):
        return
    if options.resolve(config, "msdump_rdr", marker) and all(each.mode != RECORDER_MODE for each in chosen):
        raise pytest.UsageError(
            f"marker msdump(rdr=...): the recorder runs in mode {RECORDER_MODE}, which this test lacks"
        )


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Runs a test that asks for the fixture once per variant, ids ``[cpu-tensor]``."""
    if FIXTURE not in metafunc.fixturenames:
        return
    try:
        marker = marker_arguments(metafunc.definition)
        chosen = variants(metafunc.config, marker)
        options.resolve(metafunc.config, "msdump_level", marker)
        options.resolve(metafunc.config, "msdump_granularity", marker)
        _check_recorder(metafunc.config, marker, chosen)
        others(marker.get("against"), "")
    except pytest.UsageError as error:
        raise pytest.Collector.CollectError(f"{metafunc.definition.nodeid}: {error}") from None
    metafunc.parametrize(FIXTURE, chosen, indirect=True, ids=[each.id for each in chosen])


def variant_of(item: pytest.Item) -> Variant | None:
    """The variant an item was made for; None for a test without the fixture."""
    callspec = getattr(item, "callspec", None)
    found = callspec.params.get(FIXTURE) if callspec is not None else None
    return found if isinstance(found, Variant) else None
