"""The directories that the recorder accepts: the rules of MindSpore 2.7.0, in its order (measured)."""

from __future__ import annotations

import logging
import re
from typing import NamedTuple

MAX_PATH = 1024
MAX_COMPONENT = 255
_ALLOWED = re.compile(r"[A-Za-z0-9_./-]*")


class Refusal(NamedTuple):
    """The reason why a path is refused, and its log level."""

    reason: str
    level: int


def refusal(path: str) -> Refusal | None:
    """Why ``path`` is refused, or None. The directory itself is not examined."""
    if not path:
        return Refusal("The path is empty", logging.WARNING)
    if len(path) > MAX_PATH:
        return Refusal(f"The length is {len(path)}, exceeding the limit of {MAX_PATH}", logging.ERROR)
    if not _ALLOWED.fullmatch(path):
        return Refusal(f"{path!r} holds characters other than letters, digits, '-', '_', '.', '/'", logging.ERROR)
    if path[0] != "/":
        return Refusal(f"{path!r} is not absolute", logging.ERROR)
    longest = max(map(len, path.split("/")))
    if longest > MAX_COMPONENT:
        return Refusal(
            f"a part of the path has {longest} characters, exceeding the limit of {MAX_COMPONENT}", logging.WARNING
        )
    return None


def stored(path: str) -> str:
    """A valid path in the configuration's form: it ends in ``/``."""
    return path if path.endswith("/") else path + "/"


def is_relative(path: str) -> bool:
    """Whether a path contains ``..``; such a path is refused when something is written."""
    return ".." in path.split("/")
