"""``msdump backends``: which backends can run here, which are real, and what each device's dump contains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.backends import BACKENDS, get
from harness.cli.text import table
from harness.devices import DEVICES, Device
from harness.devices.capabilities import FEATURES
from harness.suggest import command


def list_backends(name: str | None = None, keep: dict[str, Any] | None = None) -> int:
    """Prints a row per backend and the dump features of every device, or everything known about one device.

    Args:
        name: a device; None for all.
        keep: receives what ``--json`` writes.

    Returns:
        0.

    Raises:
        UnknownNameError: there is no such device.
    """
    lines = [*_backends(), "", *_features()] if name is None else _described(DEVICES.get(name))
    if keep is not None:
        keep["backends"] = [
            {"name": each, "emulated": found.emulated, "modes": list(found.modes), "runs_here": not why, "why": why}
            for each in (BACKENDS if name is None else ())
            for found, why in [(get(each), get(each).available() or "")]
        ]
        keep["devices"] = [
            {"name": each, "emulated": found.emulated, "features": {f: str(found.capabilities[f]) for f in FEATURES}}
            for each in DEVICES
            for found in [DEVICES.get(each)]
            if name in (None, each)
        ]
    print("\n".join(lines))
    return 0


def _backends() -> Iterator[str]:
    rows = []
    for name in BACKENDS:
        backend = get(name)
        reason = backend.available()
        kind = "emulated" if backend.emulated else "real"
        rows.append((name, kind, " ".join(backend.modes), "yes" if reason is None else f"no: {reason}"))
    return table(("backend", "kind", "modes", "runs here"), rows)


def _features() -> Iterator[str]:
    devices = [DEVICES.get(name) for name in DEVICES]
    rows = [(feature, *(device.capabilities[feature] for device in devices)) for feature in FEATURES]
    yield f"What each device's dump contains; `{command('msdump', 'backends', devices[0].name)}` says more of one."
    yield from table(("feature", *(device.name for device in devices)), [("kind", *map(_kind, devices)), *rows])


def _described(device: Device) -> Iterator[str]:
    yield f"{device.name}: {' '.join(filter(None, (device.target, device.soc, device.level)))}, {_kind(device)}"
    yield ""
    yield from table(("property", "rule"), sorted(device.rules.items()))
    yield ""
    rows = [(f, device.capabilities[f], device.capabilities[f].gist or what) for f, what in FEATURES.items()]
    yield from table(("feature", "", "what it is, or what is said or done instead"), rows)


def _kind(device: Device) -> str:
    return "emulated" if device.emulated else "real"
