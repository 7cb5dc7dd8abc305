"""The dump that the environment requests: ``MINDSPORE_DUMP_CONFIG``, read at the first graph compilation.

``MSDUMP_MSPROBE_CONFIG`` names a ``config.json`` of msprobe instead.

Measured on 2.10.0: unset or empty means no dump; once it was read without error, the answer is fixed for the process
(later edits of the file or the variable have no effect); after an error every later compilation reads it again.

Two variables of the harness's own: ``MSDUMP_RELEASE`` names the release (``1.7``) whose rules the configuration keeps,
``MSDUMP_DISTRIBUTED=1`` says that this process is one of several, so that ``RANK_ID`` and ``DEVICE_ID`` count (a single
process of MindSpore ignores them: measured).
"""

from __future__ import annotations

import atexit
import os
import re
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from harness import exit_status, log
from harness.devices import DEVICES, Device
from harness.dump.config import DumpConfig, parse, resolve
from harness.dump.observer import MS_VERSION, DumpObserver
from harness.errors import DumpConfigError, DumpWriteError
from harness.recording import Engine, World

if TYPE_CHECKING:
    from harness.dump.asynchronous.observer import AsyncDumpObserver
    from harness.dump.msprobe.observer import ProbeObserver

    DumpWriter: TypeAlias = DumpObserver | AsyncDumpObserver | ProbeObserver

VARIABLE = "MINDSPORE_DUMP_CONFIG"
MSPROBE = "MSDUMP_MSPROBE_CONFIG"
RELEASE = "MSDUMP_RELEASE"
DISTRIBUTED = "MSDUMP_DISTRIBUTED"
_NUMBER = re.compile(r"[0-9]{1,9}")
RULED = frozenset({"cpu", "gpu", "ascend", "ascend-o0", "ascend-o1", "ascend-o2"})
"""Backends whose rules ``parse`` knows."""
_told: set[str] = set()
_log = log.get("dump.environment")


def rank_and_device(environ: Mapping[str, str], device_id: int = 0) -> tuple[int, int]:
    """Rank of the process and id of its device.

    Args:
        environ: ``RANK_ID`` and ``DEVICE_ID`` count with ``MSDUMP_DISTRIBUTED=1``.
        device_id: the id otherwise, and if ``DEVICE_ID`` is not set.

    Raises:
        DumpConfigError: kind ``rank``; one of them is not a number.
    """
    if environ.get(DISTRIBUTED) != "1":
        return 0, device_id
    found = []
    for name, absent in (("RANK_ID", "0"), ("DEVICE_ID", str(device_id))):
        text = environ.get(name, absent)
        if not _NUMBER.fullmatch(text):
            raise DumpConfigError("rank", f"{name} is {text[:80]!r}; with {DISTRIBUTED}=1 it must be a number")
        found.append(int(text))
    return found[0], found[1]


def observer_for(
    config: DumpConfig, device: Device, ms_version: str = MS_VERSION, rank: int = 0, engine: Engine | None = None
) -> DumpObserver | AsyncDumpObserver | None:
    """The observer that writes the dump of ``config`` on ``device``; None if nothing is dumped.

    On Ascend a kernel-by-kernel dump without ``enable`` is written in parallel to the run.

    Args:
        engine: who runs the graphs; None for MindSpore's own and their emulation.
    """
    if config.method == "off":
        return None
    if config.method == "async":
        from harness.dump.asynchronous.observer import AsyncDumpObserver

        return AsyncDumpObserver(config, device, rank, engine=engine)
    if device.target == "Ascend" and not config.synchronous:
        from harness.dump.asynchronous.overlapped import OverlappedDumpObserver

        return OverlappedDumpObserver(config, device, ms_version, rank, engine)
    return DumpObserver(config, device, ms_version, rank, engine)


def rules_name(device: Device) -> str:
    """The backend whose rules a configuration is read by: the device's own, else those of its target, else the CPU's;
    said once where they are not its own."""
    if device.name in RULED:
        return device.name
    rules = {"GPU": "gpu", "Ascend": "ascend-o2" if device.sinks else "ascend-o0"}.get(device.target, "cpu")
    if device.name not in _told:
        _told.add(device.name)
        _log.warning(
            "dump: device %s has no dump configuration rules of its own; those of %s apply", device.name, rules
        )
    return rules


def _asked_for(
    environ: Mapping[str, str],
    device: Device,
    ms_version: str,
    device_id: int,
    pynative: bool,
    engine: Engine | None = None,
    world: World | None = None,
) -> DumpWriter | None:
    """The observer of the configuration that ``environ`` names; None if it names none."""
    value, probe = environ.get(VARIABLE, ""), environ.get(MSPROBE, "")
    if not value and not probe:
        return None
    if value and probe:
        text = f"{VARIABLE} is {value[:80]!r} and {MSPROBE} is {probe[:80]!r}; one of them can say what is dumped"
        raise DumpConfigError("both", text)
    if world is None or world.size == 1:
        rank, device_id = rank_and_device(environ, device_id)
    else:
        rank, device_id = world.rank, world.rank
    release = environ.get(RELEASE) or None
    config: DumpConfig | ProbeObserver | None
    if probe:
        from harness.dump.msprobe.configured import asked_for

        known = rank if environ.get(DISTRIBUTED) == "1" or (world is not None and world.size > 1) else None
        config = asked_for(
            probe, device, known, release, environ, device_id=device_id, pynative=pynative, engine=engine
        )
    else:
        config = parse(resolve(value), rules_name(device), release, environ, device_id=device_id, pynative=pynative)
    return observer_for(config, device, ms_version, rank, engine) if isinstance(config, DumpConfig) else config


class DumpEnvironment:
    """The dump configuration of one process; ``install`` gives the same answer until ``forget``."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._decided = False
        self._process = 0
        self._observer: DumpWriter | None = None
        self._initial: int | None = None
        self._switch: bool | None = None

    def install(
        self,
        config_env: Mapping[str, str] = os.environ,
        device: Device | None = None,
        ms_version: str = MS_VERSION,
        *,
        device_id: int = 0,
        pynative: bool = False,
        engine: Engine | None = None,
        world: World | None = None,
        at_exit: bool = True,
    ) -> DumpWriter | None:
        """The observer that the environment requests, or None; call it at each compilation, before anything runs.

        ``.dump_metadata`` is written at once, and ``closed`` is called at the end of the process, which ends with exit
        code 1 if the disk failed by then.

        Args:
            config_env: the environment variables.
            device: device that networks run on (the CPU); its rules apply to the configuration.
            ms_version: release named in ``.dump_metadata``.
            device_id: of this process; see ``rank_and_device``.
            pynative: whether the process runs in PyNative mode.
            engine: who runs the graphs, named in the tree; None for MindSpore's own and their emulation.
            world: which rank of how many; by default what the environment says.
            at_exit: whether ``closed`` is called at the end of the process; else whoever asked calls it.

        Raises:
            DumpConfigError: the configuration is refused; nothing was written, and the next call reads it again.
        """
        with self._lock:
            if not self._decided:
                device = device or DEVICES.get("cpu")
                asked = _asked_for(config_env, device, ms_version, device_id, pynative, engine, world)
                self._observer = self._start(asked, at_exit)
                self._decided = True
            return self._observer if self._observer is None or self._is_ours() else None

    def _start(self, observer: DumpWriter | None, at_exit: bool) -> DumpWriter | None:
        if observer is not None:
            if self._initial is not None:
                observer.counter.set_initial(self._initial)
            if isinstance(observer, DumpObserver):
                observer.switch = self._switch
            observer.start()
            self._process = os.getpid()
            if at_exit:
                atexit.register(self._close_at_exit)
        return observer

    def _is_ours(self) -> bool:
        """Whether this process opened the dump; a forked one does not write to its parent's."""
        if self._process == os.getpid():
            return True
        if self._process > 0:
            self._process = -self._process  # said once
            _log.warning("dump: this process was forked from the one that dumps; nothing is dumped here")
        return False

    def _close_at_exit(self) -> None:
        if self._observer is not None and self._process == os.getpid():  # a forked child's is its parent's
            try:
                self._observer.closed()
            except DumpWriteError as error:
                exit_status.fail(error)

    def set_initial_iteration(self, value: int) -> None:
        """MindSpore's ``_set_init_iter``, before or after the first compilation; ``ValueError`` if negative."""
        if value < 0:
            raise ValueError(f"an iteration label is not negative; given: {value}")
        self._initial = value
        if self._observer is not None:
            self._observer.counter.set_initial(value)

    def step(self, steps: int = 1) -> None:
        """MindSpore's ``_dump_step``: adds to the label that ``set_initial_iteration`` gave; ignored without."""
        if self._observer is not None:
            self._observer.counter.advance(steps)
        elif self._initial is not None:
            self._initial += steps
        else:
            _log.warning("dump: the step is counted by the harness; a step of %d is ignored", steps)

    def set_dynamic(self) -> None:
        """MindSpore's ``_dump_set_dynamic``: from now on ``start_dump`` and ``stop_dump`` decide what is dumped, not
        ``iteration``. Without effect on the CPU (measured)."""
        self._turn(False)

    def start_dump(self) -> None:
        """MindSpore's ``_dump_start``: dumps every step from the next one on; ignored without ``set_dynamic``."""
        self._turn_if_dynamic(True)

    def stop_dump(self) -> None:
        """MindSpore's ``_dump_stop``: stops dumping steps; ignored without ``set_dynamic``."""
        self._turn_if_dynamic(False)

    def _turn_if_dynamic(self, on: bool) -> None:
        if self._switch is None:
            _log.warning("dump: the switch is ignored; _dump_set_dynamic makes it count")
            return
        self._turn(on)

    def _turn(self, on: bool) -> None:
        self._switch = on
        if isinstance(self._observer, DumpObserver):
            self._observer.switch = on

    def forget(self) -> None:
        """Starts again like a new process; the former observer is closed."""
        with self._lock:
            observer, self._observer, self._decided = self._observer, None, False
            self._initial = self._switch = None
        if observer is not None:
            atexit.unregister(self._close_at_exit)
            observer.closed()


PROCESS = DumpEnvironment()
"""The dump of this process; ``_set_init_iter``, ``_dump_step`` and ``_dump_start`` are its methods."""


def install(
    config_env: Mapping[str, str] = os.environ,
    device: Device | None = None,
    ms_version: str = MS_VERSION,
    *,
    device_id: int = 0,
    pynative: bool = False,
) -> DumpWriter | None:
    """``DumpEnvironment.install`` of this process."""
    return PROCESS.install(config_env, device, ms_version, device_id=device_id, pynative=pynative)
