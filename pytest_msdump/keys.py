"""Maps test ids to golden files: two ids never share a file, even on a case-insensitive file system.

``tests/gate/test_nets.py::TestMlp::test_step[cpu-tensor-0.5]`` owns
``tests/gate/test_nets/+test+mlp.test_step@0.5.h5``; backend and mode are not part of the key, because the runs of one
network share one store.

Alphabet: lower-case ASCII letters, digits, ``_`` and ``-`` stand for themselves, a capital is ``+`` and its small
letter, anything else is ``%xx`` per UTF-8 byte, an empty name is ``%``. In the file's name ``.`` separates classes
and function, and ``@`` starts the parameters, where ``.`` may stand for itself. A name too long for a file system is
cut and closed with ``~`` and its digest; ``~`` occurs nowhere else.
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

SUFFIX = ".h5"
# NAME_MAX is 255 bytes on Linux, macOS and Windows; a store's lock and temporary files add to the name.
MAX_PART = 150
# Windows allows 260 characters for a whole path, checkout directory included.
MAX_PATH = 200
_KEPT = 60
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")
_LONG = "_long~"
_ESCAPE = re.compile(r"\+[a-z]|(?:%[0-9a-f]{2})+|[a-z0-9_.\-]+")
# Device names Windows does not let a file have, whatever its suffix.
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?=\.|@|$)")


class CaseId(NamedTuple):
    """The parts of a pytest node id.

    Attributes:
        path: file, ``/``-separated, relative to rootdir.
        names: classes, outermost first, then the function.
        params: the text in the outermost brackets; None if the id has none.
    """

    path: str
    names: tuple[str, ...]
    params: str | None = None

    def __str__(self) -> str:
        tail = "" if self.params is None else f"[{self.params}]"
        return "::".join((self.path, *self.names)) + tail


def parse(nodeid: str) -> CaseId:
    """Splits a node id; brackets belong to the parameters only after the first ``::``."""
    path, separator, tail = nodeid.partition("::")
    if not separator:
        return CaseId(path, ())
    names, bracket, params = tail.partition("[")
    return CaseId(path, tuple(names.split("::")), params.removesuffix("]") if bracket else None)


def without_variant(case: CaseId, chosen: str) -> CaseId:
    """``case`` without the parameter ``chosen`` (a variant's id), wherever it stands in the brackets.

    The plugin parametrises first, so it stands at the front; another plugin may have come before.
    """
    params = case.params
    if params is None:
        return case
    if params == chosen:
        return case._replace(params=None)
    if params.startswith(chosen + "-"):
        return case._replace(params=params.removeprefix(chosen + "-"))
    if params.endswith("-" + chosen):
        return case._replace(params=params.removesuffix("-" + chosen))
    return case._replace(params=params.replace(f"-{chosen}-", "-", 1))


def _encode(text: str, also: str = "") -> str:
    if not text:
        return "%"
    if _PLAIN.issuperset(text):
        return text
    parts = []
    for letter in text:
        if letter in _PLAIN or letter in also:
            parts.append(letter)
        elif letter.isascii() and letter.isupper():
            parts.append("+" + letter.lower())
        else:
            # An id may hold lone surrogates; the keys must tell them apart as well.
            parts.extend(f"%{byte:02x}" for byte in letter.encode("utf-8", "surrogatepass"))
    return "".join(parts)


def _decode(text: str) -> str | None:
    if text == "%":
        return ""
    parts, at = [], 0
    while at < len(text):
        found = _ESCAPE.match(text, at)
        if found is None:
            return None
        piece, at = found[0], found.end()
        if piece[0] == "+":
            parts.append(piece[1].upper())
        elif piece[0] == "%":
            try:
                parts.append(bytes.fromhex(piece.replace("%", "")).decode("utf-8", "surrogatepass"))
            except UnicodeDecodeError:
                return None
        else:
            parts.append(piece)
    return "".join(parts)


def _digest(text: str) -> str:
    return blake2b(text.encode("ascii"), digest_size=16).hexdigest()


def _part(text: str, suffix: str = "") -> str:
    if _RESERVED.match(text):
        text = f"%{ord(text[0]):02x}{text[1:]}"
    if len(text) + len(suffix) > MAX_PART:
        text = f"{text[:_KEPT]}~{_digest(text)}"
    return text + suffix


@lru_cache(maxsize=256)
def _folder(path: str) -> str:
    """The folder of the goldens of a test file."""
    *folders, module = path.split("/")
    # The mark tells a file without the usual suffix from its namesake with it.
    module = _encode(module[:-3]) if module.endswith(".py") else _encode(module) + "%"
    return "/".join([*(_part(_encode(folder)) for folder in folders), _part(module)])


def golden_path(case: CaseId) -> str:
    """The golden file of a test, relative to the golden directory, ``/``-separated.

    Raises ``ValueError`` for an id that names no function.
    """
    if not case.names:
        raise ValueError(f"{case} names a file, not a test; only a test owns a golden")
    name = ".".join(map(_encode, case.names))
    if case.params is not None:
        name += "@" + _encode(case.params, also=".")
    path = f"{_folder(case.path)}/{_part(name, SUFFIX)}"
    if len(path) <= MAX_PATH:
        return path
    return f"{_LONG}/{name[:_KEPT]}~{_digest(path)}{SUFFIX}"


def owner_module(path: str) -> str | None:
    """The test file that owns the golden at ``path``, as ``CaseId.path``; None if the path does not say."""
    *folders, module, name = path.split("/") if "/" in path else ("", "")
    if not module or not name.endswith(SUFFIX) or "~" in "/".join((*folders, module)):
        return None
    plain = module.endswith("%") and module != "%"
    decoded = [_decode(part) for part in (*folders, module[:-1] if plain else module)]
    if any(part is None for part in decoded):
        return None
    return "/".join(part for part in decoded if part is not None) + ("" if plain else ".py")


def owner_names(path: str) -> tuple[str, ...] | None:
    """Classes and function of the test that owns the golden at ``path``; None if the path does not say."""
    name = path.rpartition("/")[2].removesuffix(SUFFIX).partition("@")[0]
    decoded = [None if "~" in part else _decode(part) for part in name.split(".")]
    return None if None in decoded else tuple(part for part in decoded if part is not None)
