"""Opens a recording with the observers that environment variables ask for.

``MINDSPORE_DUMP_CONFIG`` (or ``MSDUMP_MSPROBE_CONFIG``) asks for a dump, the ``MS_RDR_*`` for the
recorder, ``MSDUMP_CAPTURE=FILE.h5`` for a run of a golden store. They count as they are when the recording is opened.
No state of the process decides: recordings of several engines stand side by side.
"""

from __future__ import annotations

import atexit
import itertools
import os
import threading
from collections.abc import Iterable, Iterator, Mapping

from harness import exit_status
from harness.devices import DEVICES, Device
from harness.dump.config import DumpConfig
from harness.dump.environment import DISTRIBUTED, DumpEnvironment, rank_and_device
from harness.errors import RecordingError
from harness.instruments.stores import StoreObserver
from harness.rdr.environment import RdrEnvironment
from harness.recording import Engine, Observer, Recording, World

CAPTURE = "MSDUMP_CAPTURE"
_numbers: dict[str, Iterator[int]] = {}
_lock = threading.Lock()


def open_recording(
    device: str | Device = "cpu",
    *,
    engine: str | Engine,
    environ: Mapping[str, str] | None = None,
    world: World | None = None,
    observers: Iterable[Observer] = (),
) -> Recording:
    """A recording that is dumped, recorded and captured as ``environ`` asks; close it, or use it as a block.

    What is still open at the end of the process is closed then, and a failure to write gives exit code 1.

    Args:
        device: name of a device, or the device; its rules apply to the dump. One without dump rules of its own gets
            those of its target, else the CPU's, which is said once.
        engine: who runs: name and version (``tinyrt 1.0``), written into dumps and graphs.
        environ: the variables; those of the process by default.
        world: which rank of how many; by default what ``environ`` says (with ``MSDUMP_DISTRIBUTED=1``), else 0 of 1.
        observers: told as well, first.

    Raises:
        DumpConfigError: the dump's configuration is refused; nothing was written.
        RecordingError: the engine has no name, there are more ranks than the world has, or an argument is of another
            kind.
        UnknownNameError: there is no device of that name.

    Examples:
        >>> import numpy as np
        >>> from harness import instruments
        >>> with instruments.open("cpu", engine="tinyrt 1.0", environ={}) as recording:
        ...     graph = recording.eager()
        ...     with recording.step(graph) as step:
        ...         add = graph.operator("Add", "Default/sum", mutates=())
        ...         with step.launch(add, [np.ones(2), np.ones(2)]) as launch:
        ...             total = launch.done(np.ones(2) + np.ones(2))
        >>> total
        array([2., 2.])
    """
    environ = os.environ if environ is None else environ
    if not isinstance(environ, Mapping):
        raise RecordingError(f"variables are a dict by name; given: {environ!r:.60}")
    if world is not None and not isinstance(world, World):
        raise RecordingError(f"a recording belongs to a World, or None; given: {world!r:.60}")
    if not isinstance(device, (str, Device)):
        raise RecordingError(f"a device is named, or a Device; given: {device!r:.60}")
    if not isinstance(observers, Iterable):
        raise RecordingError(f"observers are a list of Observers; given: {observers!r:.60}")
    found = DEVICES.get(device) if isinstance(device, str) else device
    found = found.configured(environ, {})
    who = engine if isinstance(engine, Engine) else Recording(engine).engine
    ranks = _world(environ) if world is None else world
    return _Opening(found, who, dict(environ), list(observers)).open(ranks)


class _Opening:
    """What every rank of a run is opened with."""

    def __init__(self, device: Device, engine: Engine, environ: Mapping[str, str], observers: list[Observer]) -> None:
        self._device, self._engine, self._environ, self._observers = device, engine, environ, observers

    def open(self, world: World) -> Recording:
        """A recording of one rank."""
        device, engine, environ = self._device, self._engine, self._environ
        dump = DumpEnvironment().install(environ, device, engine=engine, world=world, at_exit=False)
        config = None if dump is None else dump.config
        kernels = config if isinstance(config, DumpConfig) else None
        recorder = RdrEnvironment()
        rdr = recorder.install(
            device, environ, rank=world.rank,
            synchronous_dump=kernels is not None and kernels.synchronous and kernels.dump_mode == 0,
        )  # fmt: skip
        place = "" if rdr is None else rdr.recorders.config.path
        if config is not None:
            place = config.path if isinstance(config, DumpConfig) else config.dump_path
        made = Recording(
            engine, device, world=world, graph_ids=_ids(place, world.rank), opener=self.child,
            observers=[*self._observers, *(each for each in (dump, rdr, self._store(world)) if each is not None)],
        )  # fmt: skip
        made.add(_Ending(made, recorder))
        return made

    def child(self, world: World) -> Recording:
        """A recording of another rank, which nobody watches but those whom the environment asks for."""
        return _Opening(self._device, self._engine, self._environ, []).open(world)

    def _store(self, world: World) -> Observer | None:
        path = self._environ.get(CAPTURE, "")
        if not path:
            return None
        folder = os.path.dirname(path) or "."
        if not path.endswith(".h5") or not os.path.isdir(folder):
            raise RecordingError(f"{CAPTURE} is {path[:80]!r}; a file that ends in .h5, in a directory that exists")
        if world.size > 1:
            path = f"{path.removesuffix('.h5')}.rank_{world.rank}.h5"
        return StoreObserver(path, self._engine, self._device, rank=world.rank)


class _Ending(Observer):
    """Closes a recording at the end of the process, if nobody did, and takes the recorder's hooks and handlers back."""

    def __init__(self, recording: Recording, recorder: RdrEnvironment) -> None:
        self._recording, self._recorder = recording, recorder
        atexit.register(self._close)

    def _close(self) -> None:
        try:
            self._recording.close()
        except Exception as error:
            exit_status.fail(error)

    def closed(self) -> None:
        """See ``RdrEnvironment.forget``."""
        atexit.unregister(self._close)
        self._recorder.forget()


def _world(environ: Mapping[str, str]) -> World:
    """The rank that the environment states."""
    rank, _ = rank_and_device(environ)
    size = environ.get("RANK_SIZE", "") if environ.get(DISTRIBUTED) == "1" else ""
    return World(rank, int(size) if size.isascii() and size.isdigit() else rank + 1)


def _ids(path: str, rank: int) -> Iterator[int]:
    """Numbers of graphs; recordings that write below one path take turns, so that their graphs have names of their
    own."""
    if not path:
        return itertools.count()
    with _lock:
        return _numbers.setdefault(os.path.join(os.path.realpath(path), f"rank_{rank}"), itertools.count())
