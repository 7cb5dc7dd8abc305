"""Manifests: texts that a reviewer reads when a binary golden changed.

Beside each store ``x.h5`` lies ``x.manifest.json``, generated from it: for each run and operator a digest, counts and
what it gave last, and for each run its provenance, which is kept out of the stores so that equal results are equal
files. A change of two goldens changes two manifests, so that branches merge. Earlier versions had one
``MANIFEST.json`` for all stores of a directory: it counts for stores without a manifest of their own, and the next
writer of manifests splits it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import xxhash

from harness.atomic import (
    DEFAULT_TIMEOUT,
    flush_directory,
    reason,
    remove,
    remove_leftovers,
    write_atomically,
    writer_lock,
)
from harness.errors import StoreError, StoreWriteError
from harness.reading import parse_json, read_bytes
from harness.stats import Statistics
from harness.store.layout.index import Index
from harness.store.layout.schema import RunId, parse_run, run_text
from harness.store.read import GoldenStore, StoredRun
from harness.suggest import command

#: The manifest of a whole directory, as earlier versions wrote it.
NAME = "MANIFEST.json"
SUFFIX = ".manifest.json"
FORMAT = "msdump manifest"
VERSION = 3
#: earlier ones that are read: lines of operators without what they gave last
_EARLIER = 2

#: Largest size of a manifest in bytes; a larger one is not read.
_MAX_BYTES = 256 * 2**20

#: Name of the file that a killed writer leaves (``atomic.scratch_beside``).
_LEFT = re.compile(rf"\..+{re.escape(SUFFIX)}\.[0-9]+\.tmp", re.DOTALL)
_HEAD = {"format": FORMAT, "version": VERSION}


@cache
def _again(golden: Path) -> str:
    return f"`{command('msdump', 'verify', '--fix', golden)}` rewrites it"


class RunKey(NamedTuple):
    """A run in a directory of stores: the store's path below it, with ``/``, and the run."""

    store: str
    run: RunId


Provenance = Mapping[RunKey, Mapping[str, Any]]


def path_of(store: str) -> str:
    """The manifest of a store, both as paths below the golden directory."""
    return store.removesuffix(".h5") + SUFFIX


def store_paths(golden: Path) -> list[str]:
    """All stores below a directory, as relative paths with ``/``, sorted; hidden files are ignored."""
    return sorted(name for name in visible(golden) if name.endswith(".h5"))


def visible(top: Path) -> Iterator[str]:
    """All files and directories below a directory, as relative paths with ``/``, without hidden ones and what is below
    these."""
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if not name.startswith(".")]
        below = os.path.relpath(folder, top).replace(os.sep, "/")
        lead = "" if below == "." else f"{below}/"
        yield from (lead + name for name in (*folders, *files) if not name.startswith("."))


def rebuild(
    golden: Path, provenance: Provenance | None = None, *, names: Iterable[str] | None = None,
    timeout: float = DEFAULT_TIMEOUT,
) -> bool:  # fmt: skip
    """Rewrites the manifests of a directory of stores, broken ones too; False if all were correct already.

    The names of the stores they describe are made durable with them (see ``store.update``).

    Args:
        golden: the directory.
        provenance: JSON values (tool, versions, device, seed, commit) by run. They replace a run's entry only if the
            run's content changed, so that making the same golden again changes nothing.
        names: only of these stores, as paths below the directory; None for all. If there still is a ``MANIFEST.json``,
            all are written.
        timeout: seconds to wait for another writer.

    Raises:
        StoreError: a store is damaged; nothing was written.
        LockError, StoreWriteError: as in ``store.update``.
    """
    legacy = golden / NAME
    with writer_lock(legacy, timeout):
        remove_leftovers(legacy)
        there = store_paths(golden)
        _sweep({golden, *((golden / name).parent for name in there)})
        wanted = there if names is None or legacy.exists() else sorted(set(names) & set(there))
        known = runs_of(read(golden, wanted, broken_is_none=True))
        texts = {path_of(name): describe(golden / name, name, known, provenance or {}) for name in wanted}
        stray = [each for each in _manifests(golden) if each not in set(map(path_of, there))] if names is None else []
        try:
            changed = [write_atomically(golden / name, text, directory=False) for name, text in texts.items()]
            for directory in sorted({(golden / name).parent for name in wanted}):
                flush_directory(directory)
            gone = [golden / name for name in stray] + [legacy] * legacy.exists()
            for path in gone:
                remove(path)
        except OSError as error:
            raise StoreWriteError(f"{golden}: a manifest could not be written ({reason(error)})") from error
        return any(changed) or bool(gone)


def _sweep(directories: Iterable[Path]) -> None:
    """Removes files that killed writers of manifests left in these directories; lists each directory once."""
    for directory in directories:
        for name in os.listdir(directory):
            if _LEFT.fullmatch(name):
                (directory / name).unlink(missing_ok=True)


def describe(
    path: Path, name: str, known: Mapping[RunKey, Mapping[str, Any]], provenance: Provenance
) -> bytes:  # fmt: skip
    """Makes the manifest of the store at ``path``; ``name`` is its key in ``known`` (the old manifests) and
    ``provenance``."""
    return render({**_HEAD, **_store(path, name, known, provenance)}).encode()


def read(golden: Path, names: Iterable[str] | None = None, *, broken_is_none: bool = False) -> dict[str, Any]:
    """Reads the manifests of a directory: ``{"stores": {store: {"network": ..., "runs": ...}}}``.

    Args:
        golden: the directory.
        names: only of these stores; None for all that have a manifest.
        broken_is_none: treat an unreadable manifest as missing.

    Raises:
        StoreError: a manifest is damaged.
    """
    stores: dict[str, Any] = {}
    try:
        legacy = _json(golden, NAME, 1).get("stores")
    except StoreError:
        if not broken_is_none:
            raise
        legacy = None
    for name in (
        names if names is not None else sorted({each.removesuffix(SUFFIX) + ".h5" for each in _manifests(golden)})
    ):
        try:
            found = _json(golden, path_of(name), VERSION, _EARLIER)
        except StoreError:
            if not broken_is_none:
                raise
            continue
        if found:
            stores[name] = found
    for name, entry in legacy.items() if isinstance(legacy, dict) else ():
        if names is None or name in set(names):
            stores.setdefault(name, entry)
    return {"stores": stores}


def _json(golden: Path, name: str, *versions: int) -> dict[str, Any]:
    """A manifest below a directory; empty if there is none."""
    path = os.path.join(golden, name)
    if not os.path.lexists(path):
        return {}
    raw = read_bytes(path, _MAX_BYTES, StoreError)
    if raw.startswith(b"<<<<<<< ") or b"\n<<<<<<< " in raw:
        raise StoreError(f"{path}: it has git's conflict markers; {_again(golden)}")
    manifest = parse_json(raw, f"{path} ({_again(golden)})", StoreError)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise StoreError(f"{path}: not a manifest of golden stores")
    if manifest.get("version") not in versions:
        raise StoreError(f"{path}: version {manifest.get('version')!r}; this pytest-msdump reads {versions[0]}")
    return manifest


def _manifests(golden: Path) -> Iterator[str]:
    """All manifests of single stores below a directory, as relative paths."""
    for folder, folders, files in os.walk(golden):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if name.endswith(SUFFIX) and not name.startswith("."):
                yield (Path(folder).relative_to(golden) / name).as_posix()


def provenance_of(golden: Path, names: Iterable[str] | None = None) -> dict[RunKey, Mapping[str, Any]]:
    """The provenance of every run for which a manifest has it; of these stores alone, if ``names`` is given."""
    known = runs_of(read(golden, names))
    return {key: run["provenance"] for key, run in known.items() if isinstance(run.get("provenance"), dict)}


def environment_of(golden: Path, store: str, run: RunId) -> Mapping[str, Any]:
    """Facts of the environment in which a golden run was made (see ``harness.environment``); empty where its manifest
    does not know them, or cannot be read."""
    found = provenance_of_run(golden, store, run).get("environment")
    return found if isinstance(found, Mapping) else {}


#: the name in a candidate's provenance that says how its gate judged it; no golden keeps it
JUDGED = "judged"
#: the name in a provenance that says that a run was run twice, with equal bits
REPEATED = "equal bits twice"


def provenance_of_run(golden: Path, store: str, run: RunId) -> Mapping[str, Any]:
    """The provenance of one run; empty where its manifest does not know it, or cannot be read."""
    try:
        known = provenance_of(golden, [store])
    except (StoreError, OSError):
        return {}
    return known.get(RunKey(store, run), {})


def stale(golden: Path) -> list[str]:
    """Says in words how a manifest and the stores beside it disagree; empty if they agree.

    Everything in a manifest is compared with the store, except the provenance, which the store does not know.
    """
    found = read(golden)
    known = runs_of(found)
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
        # Earlier manifests of a whole directory said it in other words.
        said = found["stores"].get(name, {})
        if problems or not os.path.lexists(golden / path_of(name)):
            continue
        earlier = said.get("version") == _EARLIER
        head = {**_HEAD, "version": _EARLIER} if earlier else _HEAD
        if {**_store(golden / name, name, known, {}, short=earlier), **head} != said:
            problems.append(f"{name}: the manifest does not match the store; {_again(golden)}")
    return problems + [f"{key.store}: run {key.run} is only in the manifest" for key in known if key not in seen]


def runs_of(manifest: Mapping[str, Any]) -> dict[RunKey, Mapping[str, Any]]:
    """The result of ``read`` by run; ``StoreError`` for a run whose name is not a text."""
    found: dict[RunKey, Mapping[str, Any]] = {}
    stores = manifest.get("stores")
    for name, store in stores.items() if isinstance(stores, dict) else ():
        runs = store.get("runs") if isinstance(store, dict) else None
        for text, run in runs.items() if isinstance(runs, dict) else ():
            if isinstance(run, dict):
                try:
                    found[RunKey(name, parse_run(text))] = run
                except UnicodeEncodeError:
                    raise StoreError(f"{name}: its manifest names a run {text!r}, which is not a text") from None
    return found


def _store(
    path: Path, name: str, old: Mapping[RunKey, Mapping[str, Any]], provenance: Provenance, *, short: bool = False
) -> dict[str, Any]:
    with GoldenStore.open(path) as store:
        runs: dict[str, Any] = {}
        for run_id in store.runs():
            key, run = RunKey(name, run_id), store.run(*run_id)
            known = old.get(key, {})
            same = known.get("checksum") == run.checksum
            entry = _run(run, _as_before(known, provenance.get(key)) if same else provenance.get(key), short)
            # Content that runs share is written once, as it is stored once.
            runs[run_text(run_id)] = entry | {
                field: f"as {other}"
                for field in ("attrs", "operators")
                for other, earlier in runs.items()
                if entry[field] and earlier[field] == entry[field]
            }
        return {"network": store.network, "runs": runs}


def _as_before(known: Mapping[str, Any], now: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The provenance of a run whose content did not change; that it gave equal bits twice may be new."""
    before = known.get("provenance")
    if isinstance(before, Mapping) and now is not None and now.get(REPEATED) is True:
        return {**before, REPEATED: True}
    return before


def _run(run: StoredRun, provenance: Mapping[str, Any] | None, short: bool) -> dict[str, Any]:
    return {
        "level": run.level,
        "slots": len(run),
        "checksum": run.checksum,
        "attrs": dict(run.attrs),
        # An old manifest may hold anything.
        "provenance": dict(provenance) if isinstance(provenance, Mapping) else None,
        "operators": _operators(run, short),
    }


def _operators(run: StoredRun, short: bool) -> dict[str, str]:
    """For each operator of a graph, over all its iterations: the number of its slots, their digest and, if the line is
    not to be ``short``, what it gave last."""
    hashers: dict[str, Any] = {}
    counts: dict[str, int] = {}
    last: dict[str, tuple[tuple[Any, ...], int]] = {}
    for row, (key, content) in enumerate(zip(run.index.keys, run.index.digests, strict=True)):
        name = f"rank{key.rank}/graph{key.graph}/{key.operator}"
        hasher = hashers.setdefault(name, xxhash.xxh3_64())
        hasher.update(f"{key.iteration}.{key.execution}.{key.io}.{key.slot}=".encode() + content)
        counts[name] = counts.get(name, 0) + 1
        order = (key.io == "output", key.iteration, key.execution, -key.slot)
        if name not in last or order > last[name][0]:
            last[name] = order, row
    told = {name: "" if short else f" {_gave(run.index, row)}" for name, (_, row) in last.items()}
    return {name: f"{counts[name]} {hashers[name].hexdigest()}{told[name]}" for name in sorted(hashers)}


def _gave(index: Index, row: int) -> str:
    """A slot in words that a reviewer reads: type of its operator unless the operator is named so, dtype, shape, and
    its numbers as far as they are known."""
    shape, kind = "x".join(map(str, index.shape(row))), index.name(row, "type")
    named = index.keys[row].operator.rpartition("/")[2].startswith(kind)
    told = f"{'' if named else f'{kind} '}{index.name(row, 'dtype')}[{shape}]"
    found = index.statistics(row)
    if not isinstance(found, Statistics) or not found.count:
        return told
    if found.min == found.max:
        return f"{told} {found.min:.4g}"
    return f"{told} {found.min:.4g}..{found.max:.4g} norm {found.l2norm:.4g}"


def render(value: Any) -> str:
    """Canonical JSON text: keys sorted, a line each, so that a change of one operator is a change of one line."""
    try:
        return json.dumps(value, indent=1, sort_keys=True, allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise StoreError(f"provenance is not JSON: {error}") from None
