"""Decides what a process does for the msprobe ``config.json`` that its environment names."""

from __future__ import annotations

import os
from collections.abc import Mapping

from harness.devices import Device
from harness.dump.config import DumpConfig
from harness.dump.msprobe import config as probe_config
from harness.dump.msprobe.config import ProbeConfig
from harness.dump.msprobe.fields import ProbeConfigError
from harness.dump.msprobe.handed_on import file_name, handed_on, text_of
from harness.dump.msprobe.observer import ProbeObserver
from harness.dump.msprobe.overlapped import OverlappedProbeObserver
from harness.dump.writer import Tree
from harness.recording import Engine


def asked_for(
    value: str,
    device: Device,
    rank: int | None,
    release: str | None = None,
    environ: Mapping[str, str] = os.environ,
    *,
    device_id: int = 0,
    pynative: bool = False,
    engine: Engine | None = None,
) -> ProbeObserver | DumpConfig | None:
    """The observer that writes msprobe's layout, or the one for the dump that msprobe leaves to MindSpore.

    Kernel by kernel, and for exceptions, msprobe only writes a configuration for MindSpore into ``dump_path``; this
    function does the same.

    Args:
        value: path of the file.
        device: device that networks run on.
        rank: rank of the process; None if it is the only one.
        release: release whose rules apply to MindSpore's configuration; see ``MSDUMP_RELEASE``.
        environ: the environment variables.
        device_id: of this process.
        pynative: whether the process runs in PyNative mode.
        engine: who runs the graphs; None for an emulation of ours.

    Returns:
        The observer; None if nothing is dumped.

    Raises:
        DumpConfigError: the configuration is refused; nothing was written.
    """
    config = probe_config.parse(probe_config.resolve(value))
    if not config.enabled:
        return None
    selection = handed_on(config, device, release, environ, device_id=device_id, pynative=pynative)
    if config.task == "exception_dump" or not device.sinks:
        with Tree(config.dump_path).opened() as directory:
            if directory is not None:
                directory.write(file_name(config), [text_of(config, device).encode()])
        return selection
    if config.on_device:
        gist = device.capabilities["device_statistics"].gist
        raise ProbeConfigError("device", f"msprobe configuration: {value}: device is 'device'; {gist}; accepted: host")
    if selection.method == "off" or (config.ranks and (rank or 0) not in config.ranks):
        return None
    return _observer(config, selection, device, rank, engine)


def _observer(
    config: ProbeConfig, selection: DumpConfig, device: Device, rank: int | None, engine: Engine | None
) -> ProbeObserver:
    kind = OverlappedProbeObserver if config.async_dump else ProbeObserver
    return kind(config, selection, device, rank, engine)
