"""``MANIFEST.json``: what a reviewer reads where a binary golden changed.

It is generated from the stores beside it: for each store, run and operator a digest and counts, and for each run its
provenance, which is kept out of the stores so that equal results are equal files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import xxhash

from harness.atomic import flush_directory, reason, sweep, write_atomically
from harness.errors import StoreError, StoreWriteError
from harness.reading import read_json
from harness.store.lock import DEFAULT_TIMEOUT, writer_lock
from harness.store.read import GoldenStore, StoredRun
from harness.store.schema import RunId, escape, unescape

NAME = "MANIFEST.json"
FORMAT = "msdump manifest"
VERSION = 1

#: A manifest of more bytes is not read.
_MAX_BYTES = 256 * 2**20


class RunKey(NamedTuple):
    """A run of a store of a directory: the store's path below it, with ``/``, and the run."""

    store: str
    run: RunId


Provenance = Mapping[RunKey, Mapping[str, Any]]


def store_paths(golden: Path) -> list[str]:
    """All stores below a directory, as relative paths with ``/``, sorted; hidden files are none."""
    found = (path.relative_to(golden) for path in golden.rglob("*.h5"))
    return sorted(path.as_posix() for path in found if not any(part.startswith(".") for part in path.parts))


def rebuild(golden: Path, provenance: Provenance | None = None, *, timeout: float = DEFAULT_TIMEOUT) -> bool:
    """Writes the manifest of a directory of stores anew; False if it was right already.

    The names of the stores it describes are made durable with it (see ``store.update``).

    Args:
        golden: the directory.
        provenance: JSON values (tool, versions, device, seed, commit) by run. They replace what the manifest says of
            a run only where the run's content changed, so that making the same golden again changes nothing.
        timeout: seconds to wait for another writer.

    Raises:
        StoreError: a store, or the manifest, is damaged; nothing was written.
        LockError, StoreWriteError: as in ``store.update``.
    """
    path = golden / NAME
    with writer_lock(path, timeout):
        sweep(path)
        old = _old_runs(read(golden))
        names = store_paths(golden)
        stores = {name: _store(golden, name, old, provenance or {}) for name in names}
        text = render({"format": FORMAT, "version": VERSION, "stores": stores})
        try:
            for directory in sorted({(golden / name).parent for name in names}):
                flush_directory(directory)
            return write_atomically(path, text.encode())
        except OSError as error:
            raise StoreWriteError(f"{path}: the manifest could not be written ({reason(error)})") from error


def rebuild_above(store: Path) -> bool:
    """``rebuild`` of the golden directory a store lies in, if a directory above it has a manifest; whether it changed.

    Raises:
        OSError, StoreError: as ``rebuild``.
    """
    above = next((each for each in store.resolve().parents if (each / NAME).is_file()), None)
    return above is not None and rebuild(above)


def read(golden: Path) -> dict[str, Any]:
    """The manifest of a directory; one without stores if there is no file. ``StoreError`` if it is damaged."""
    path = golden / NAME
    if not os.path.lexists(path):
        return {"format": FORMAT, "version": VERSION, "stores": {}}
    manifest = read_json(path, _MAX_BYTES, StoreError)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise StoreError(f"{path}: not a manifest of golden stores")
    if manifest.get("version") != VERSION:
        raise StoreError(f"{path}: version {manifest.get('version')!r}; this pytest-msdump reads {VERSION}")
    return manifest


def provenance_of(golden: Path) -> dict[RunKey, Mapping[str, Any]]:
    """The provenance of every run a manifest knows one of."""
    known = _old_runs(read(golden))
    return {key: run["provenance"] for key, run in known.items() if isinstance(run.get("provenance"), dict)}


def stale(golden: Path) -> list[str]:
    """How a manifest and the stores beside it disagree, in words; empty if they do not."""
    known = _old_runs(read(golden))
    problems, seen = [], set()
    for name in store_paths(golden):
        with GoldenStore.open(golden / name) as store:
            for run in store.runs():
                key = RunKey(name, run)
                seen.add(key)
                if key not in known:
                    problems.append(f"{name}: run {run} is not in the manifest")
                elif known[key].get("checksum") != store.run(*run).checksum:
                    problems.append(f"{name}: run {run} is not the one the manifest describes")
    return problems + [f"{key.store}: run {key.run} is in the manifest only" for key in known if key not in seen]


def _old_runs(manifest: Mapping[str, Any]) -> dict[RunKey, Mapping[str, Any]]:
    found: dict[RunKey, Mapping[str, Any]] = {}
    stores = manifest.get("stores")
    for name, store in stores.items() if isinstance(stores, dict) else ():
        runs = store.get("runs") if isinstance(store, dict) else None
        for text, run in runs.items() if isinstance(runs, dict) else ():
            if isinstance(run, dict):
                found[RunKey(name, _parse_run(text))] = run
    return found


def _run_text(run: RunId) -> str:
    """``cpu/tensor``, escaped as in the store."""
    return "/".join(escape(part).decode("utf-8", "surrogateescape") for part in run)


def _parse_run(text: str) -> RunId:
    backend, _, mode = text.partition("/")
    return RunId(*(unescape(part.encode("utf-8", "surrogateescape")) for part in (backend, mode)))


def _store(golden: Path, name: str, old: Mapping[RunKey, Mapping[str, Any]], provenance: Provenance) -> dict[str, Any]:
    path = golden / name
    with GoldenStore.open(path) as store:
        runs: dict[str, Any] = {}
        for run_id in store.runs():
            key, run = RunKey(name, run_id), store.run(*run_id)
            known = old.get(key, {})
            same = known.get("checksum") == run.checksum
            entry = _run(run, known.get("provenance") if same else provenance.get(key))
            # What runs have in common is said once, as it is stored once.
            runs[_run_text(run_id)] = entry | {
                field: f"as {other}"
                for field in ("attrs", "operators")
                for other, earlier in runs.items()
                if entry[field] and earlier[field] == entry[field]
            }
        return {"network": store.network, "bytes": path.stat().st_size, "runs": runs}


def _run(run: StoredRun, provenance: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        "level": run.level,
        "slots": len(run),
        "checksum": run.checksum,
        "attrs": dict(run.attrs),
        "provenance": provenance if provenance is None else dict(provenance),
        "operators": _operators(run),
    }


def _operators(run: StoredRun) -> dict[str, str]:
    """For each operator of a graph, over all its iterations: number of slots, and a digest of theirs."""
    hashers: dict[str, Any] = {}
    counts: dict[str, int] = {}
    for key, content in zip(run.index.keys, run.index.digests, strict=True):
        name = f"rank{key.rank}/graph{key.graph}/{key.operator}"
        hasher = hashers.setdefault(name, xxhash.xxh3_64())
        hasher.update(f"{key.iteration}.{key.execution}.{key.io}.{key.slot}=".encode() + content)
        counts[name] = counts.get(name, 0) + 1
    return {name: f"{counts[name]} {hashers[name].hexdigest()}" for name in sorted(hashers)}


def render(value: Any) -> str:
    """Canonical JSON text: keys sorted, a line each, so that a change of one operator is a change of one line."""
    try:
        return json.dumps(value, indent=1, sort_keys=True, allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise StoreError(f"provenance is no JSON: {error}") from None
