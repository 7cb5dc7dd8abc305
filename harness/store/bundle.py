"""Candidate bundles: a CI run must not write goldens, so it leaves what changed in a bundle, which ``accept`` takes
over.

A bundle is a directory, or a zip archive of one, laid out like a golden directory: stores and a manifest. The runs its
stores hold replace those of the same name; everything else stays.
"""

from __future__ import annotations

import os
import stat
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath

from harness import atomic, inflating
from harness.atomic import temporary_directory
from harness.errors import StoreError, StoreWriteError
from harness.reading import open_regular, parsing
from harness.store import manifest
from harness.store.journal import recover
from harness.store.layout.schema import RunId
from harness.store.read import GoldenStore
from harness.store.transaction import Transaction
from harness.store.write import UpdateResult
from harness.words import counted

#: File in a bundle that says what it is.
MARK = "msdump-bundle.txt"

#: A zip archive may unpack to so many bytes.
MAX_UNPACKED = 16 * 2**30


#: Bytes of a member's header without its name, and of an archive's end without its comment.
_LOCAL_HEADER, _END = 30, 22


#: Tells whether a run is wanted, from its store's path in the bundle, its network and its name.
Wanted = Callable[[str, str, RunId], bool]


def accept(
    bundle: str | os.PathLike[str], golden: str | os.PathLike[str], wanted: Wanted = lambda *_: True
) -> list[UpdateResult]:
    """Accepts the wanted runs of a bundle into a golden directory, with their manifests: all of them, or none.

    Before anything is written, every store of the bundle is verified and compared with the store it will change.

    Raises:
        StoreError: the bundle is empty or damaged, tries to reach out of its directory, or belongs to other networks.
        LockError: another process is writing.
        StoreWriteError: the disk is full, or writing is not allowed; nothing is changed.

    Examples:
        >>> from pathlib import Path
        >>> from harness.capture import read_tree
        >>> from harness.store import RunData, RunId, accept, seal, update
        >>> bundle = Path("candidates")
        >>> bundle.mkdir()
        >>> data = RunData(read_tree("later").records())
        >>> result = update(bundle / "net.h5", "Net", {RunId("cpu", "tensor"): data})
        >>> seal(bundle, {})
        >>> [result.path.name for result in accept(bundle, "golden")]
        ['net.h5']
    """
    with _directory(Path(bundle)) as source:
        target = Path(golden)
        names = _stores(source, Path(bundle))
        there = manifest.store_paths(target) if target.is_dir() else []
        _refuse_twins([*names, *(name for name in there if name not in names)], target)
        for name in names:
            _hold_against(source / name, target / name)
        with Transaction(target) as change:
            results = [done for name in names if (done := _taken(change, source, name, wanted)) is not None]
            taken = {(done.path.relative_to(target).as_posix(), run) for done in results for run in done.runs}
            provenance = {
                key: {name: value for name, value in facts.items() if name != manifest.JUDGED}
                | _held_to_bits(target, key)
                for key, facts in manifest.provenance_of(source).items()
                if tuple(key) in taken
            }
            change.commit(provenance, describe=[store for store, _ in taken])
    return results


def _held_to_bits(golden: Path, key: manifest.RunKey) -> dict[str, bool]:
    """The mark of a golden whose test gave equal bits twice: what is taken over from a single run is held to equal bits
    as before, so that no acceptance makes a gate weaker."""
    repeated = manifest.provenance_of_run(golden, key.store, key.run).get(manifest.REPEATED)
    return {manifest.REPEATED: True} if repeated is True else {}


@contextmanager
def opened(bundle: str | os.PathLike[str]) -> Iterator[tuple[Path, list[str]]]:
    """Gives a bundle as a directory, and its stores.

    Raises:
        StoreError: as ``accept``.
    """
    with _directory(Path(bundle)) as source:
        yield source, _stores(source, Path(bundle))


def seal(bundle: Path, provenance: manifest.Provenance) -> None:
    """Completes a bundle after its stores were written: adds manifests, and the mark that tells it from a folder of
    bundles.

    Raises:
        StoreError, StoreWriteError: as ``manifest.rebuild``.
    """
    manifest.rebuild(bundle, provenance)
    try:
        atomic.write_atomically(bundle / MARK, b"A candidate bundle of pytest-msdump: `msdump accept` takes it over.\n")
    except OSError as error:
        raise StoreWriteError(f"{bundle}: the bundle could not be written ({atomic.reason(error)})") from error


def _taken(change: Transaction, source: Path, name: str, wanted: Wanted) -> UpdateResult | None:
    with GoldenStore.open(source / name) as store:
        runs = {run: store.run(*run) for run in store.runs() if wanted(name, store.network, run)}
        if not runs:
            return None
        done = change.update(name, store.network, runs, renames=True)  # its test may have another name since
    return replace(done, path=change.golden / name)


def _stores(source: Path, bundle: Path) -> list[str]:
    for path in source.rglob("*"):
        if path.is_symlink():
            raise StoreError(f"{bundle}: {path.relative_to(source)} is a symbolic link; a bundle must not hold links")
    marks = [path for mark in (MARK, manifest.NAME) for path in source.glob(f"*/**/{mark}")]
    nested = sorted({path.parent.relative_to(source).as_posix() for path in marks})
    if nested:
        raise StoreError(f"{bundle}: this directory holds several bundles; name one of them: {', '.join(nested)}")
    names = manifest.store_paths(source)
    if not names:
        raise StoreError(f"{bundle}: there is no golden store in this bundle")
    _refuse_twins(names, bundle)
    return names


def _refuse_twins(names: Iterable[str], where: Path) -> None:
    """Refuses names that are one file where case, the form of a letter, or dots and blanks at an end do not count."""
    seen: dict[str, str] = {}
    for name in names:
        parts = unicodedata.normalize("NFC", name).casefold().split("/")
        alike = unicodedata.normalize("NFC", "/".join(part.rstrip(". ") or part for part in parts))
        if seen.setdefault(alike, name) != name:
            raise StoreError(f"{where}: {seen[alike]!r} and {name!r} are one file on some file systems")


def _hold_against(candidate: Path, target: Path) -> None:
    with GoldenStore.open(candidate) as store:
        problems = store.verify()
        if problems:
            raise StoreError(f"{counted(len(problems), 'problem')} in the bundle; the first: {problems[0]}")
        if target.exists():
            with GoldenStore.open(target) as old:
                if old.network != store.network:
                    raise StoreError(
                        f"{candidate}: it holds network {store.network!r}, but {target} holds {old.network!r}"
                    )


@contextmanager
def _directory(bundle: Path) -> Iterator[Path]:
    """The bundle as a directory; an archive is unpacked to a temporary one."""
    if bundle.is_dir():
        recover(bundle)  # a candidate that was being taken out of it
        yield bundle
        return
    if not bundle.exists():
        raise StoreError(f"{bundle}: there is no such bundle")
    with temporary_directory("msdump-bundle-") as unpacked:
        with (
            parsing(f"{bundle}: neither a directory nor a complete zip archive", StoreError),
            open(open_regular(bundle), "rb") as file,
            zipfile.ZipFile(file) as archive,
        ):
            _unpack(archive, unpacked, bundle)
        yield unpacked


def _refuse_odd_archive(archive: zipfile.ZipFile, bundle: Path) -> None:
    """Refuses an archive that is another file as well, or whose members share bytes."""
    members = sorted(archive.infolist(), key=lambda each: each.header_offset)
    if (members[0].header_offset if members else archive.start_dir) != 0:
        raise StoreError(f"{bundle}: bytes stand before the archive; such a file may be of two kinds at once")
    end = _END + len(archive.comment)
    assert archive.fp is not None  # it is open
    archive.fp.seek(-end, os.SEEK_END)
    if archive.fp.read(4) != b"PK\5\6":
        raise StoreError(f"{bundle}: bytes stand behind the archive; such a file may be of two kinds at once")
    ends = [each.header_offset for each in members[1:]] + [archive.start_dir]
    for member, end in zip(members, ends, strict=True):
        if member.header_offset + _LOCAL_HEADER + len(member.orig_filename) + member.compress_size > end:
            raise StoreError(f"{bundle}: {member.filename!r} shares its bytes with another member")


def _unpack(archive: zipfile.ZipFile, target: Path, bundle: Path) -> None:
    """Unpacks stores and manifest, and nothing else; refuses names that lead elsewhere."""
    _refuse_odd_archive(archive, bundle)
    if sum(member.file_size for member in archive.infolist()) > MAX_UNPACKED:
        raise StoreError(f"{bundle}: it would unpack to more than {MAX_UNPACKED} bytes")
    seen: set[PurePosixPath] = set()
    for member in archive.infolist():
        path = PurePosixPath(member.filename)
        if not path.name:
            raise StoreError(f"{bundle}: a file without a name")
        if path in seen or not seen.isdisjoint(path.parents):
            raise StoreError(f"{bundle}: {member.filename!r} is there twice, or as a file and as a directory")
        if not member.is_dir():
            seen.add(path)
        if path.is_absolute() or ".." in path.parts or "\\" in member.filename or ":" in member.filename:
            raise StoreError(f"{bundle}: {member.filename!r} leads out of the bundle")
        if stat.S_ISLNK(member.external_attr >> 16):
            raise StoreError(f"{bundle}: {member.filename!r} is a symbolic link; a bundle must not hold links")
        if member.is_dir() or not path.name.endswith((".h5", manifest.SUFFIX, manifest.NAME, MARK)):
            continue
        place = target / path
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("xb") as whole:
            whole.writelines(inflating.member(archive, member, str(bundle), StoreError))
