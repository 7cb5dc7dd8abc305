"""``msdump convert``: converts asynchronous dump files as msaccucmp does, without CANN."""

from __future__ import annotations

import os
import re
import sys

from harness.dump.asynchronous import conversion, reformat
from harness.dump.asynchronous.conversion import KINDS, Converter, Kind, Outcome, Request
from harness.dump.writer import MAPPING, Tree
from harness.errors import ConvertError, DumpWriteError
from harness.escape import line
from harness.words import counted

NO_PATH = 3
"""Exit code of msaccucmp if there is nothing to convert, or the output cannot be written."""
FAILED = "convert_failed_file_list.txt"
_SHAPE = re.compile(r"([0-9]+,)+[0-9]+")


def convert(
    dump: str,
    output: str = ".",
    kind: str = "npy",
    format_name: str | None = None,
    shape: str | None = None,
    input_tensor: str | None = None,
    output_tensor: str | None = None,
) -> int:
    """Converts one file, several (separated by commas), or every file of a directory.

    Args:
        dump: file, files or directory to convert.
        output: directory of the results, made if absent.
        kind: ``npy``, ``msnpy`` or ``bin``.
        format_name: format to convert tensors to; None keeps their format.
        shape: host shape that replaces the header's, ``1,3,224,224``; for a single file only.
        input_tensor, output_tensor: position of the only tensor to convert, for a single file only.

    Returns:
        The exit code of msaccucmp: 0 if everything was converted, else the code of the first failure.
    """
    try:
        request = _request(kind, format_name, shape, input_tensor, output_tensor)
        paths, single = _paths(dump)
        if not single and (request.only or request.shape):
            print("msdump: -i, -o and -s count for one file only; they are ignored", file=sys.stderr)
            request = Request(request.kind, request.format)
        return _convert(paths, single, output, request)
    except ConvertError as error:
        _complain(str(error))
        return error.code
    except DumpWriteError as error:
        _complain(str(error))
        return conversion.WRITE_FAILED


def _request(kind: str, format_name: str | None, shape: str | None, first: str | None, second: str | None) -> Request:
    known: dict[str, Kind] = {name: name for name in KINDS}
    if kind not in known:
        raise ConvertError(reformat.PARAMETER, f"-t takes {', '.join(KINDS)}, got {kind!r}")
    if format_name is None:
        for flag, value in (("-s", shape), ("-i", first), ("-o", second)):
            if value is not None:
                raise ConvertError(reformat.PARAMETER, f"{flag} counts with -f only")
        return Request(known[kind])
    if first is not None and second is not None:
        raise ConvertError(reformat.PARAMETER, "-i and -o are for one tensor; give one of them")
    index = first if first is not None else second
    if index is not None and not re.fullmatch("[0-9]{1,9}", index):
        raise ConvertError(reformat.PARAMETER, f"-i and -o take a position from 0, got {index!r}")
    sizes = _sizes(shape)
    if format_name not in conversion.FORMATS:
        raise ConvertError(
            reformat.PARAMETER,
            f"-f takes a format, got {format_name!r}; known are {', '.join(sorted(conversion.FORMATS))}",
        )
    only = None if index is None else ("input" if first is not None else "output", int(index))
    return Request(known[kind], format_name, only, sizes)


def _sizes(shape: str | None) -> tuple[int, ...]:
    if shape is None:
        return ()
    sizes = tuple(map(int, shape.split(","))) if _SHAPE.fullmatch(shape) else ()
    if not sizes or 0 in sizes:
        raise ConvertError(reformat.SHAPE, f"-s takes dimensions of at least 1 such as 1,3,224,224, got {shape!r}")
    return sizes


def _paths(dump: str) -> tuple[list[str], bool]:
    """The files to convert, and whether a single file was given."""
    if "," not in dump or os.path.exists(dump):
        path = os.path.realpath(dump)
        if os.path.isdir(path):
            return _listed(path), False
        if not os.path.exists(path):
            raise ConvertError(NO_PATH, f"{dump}: there is no such file or directory")
        return [path], True
    given = [os.path.realpath(part.strip()) for part in dump.split(",")]
    there = [path for path in given if os.path.isfile(path)]
    for path in given:
        if path not in there:
            _complain(f"{path}: there is no such file; it is left out")
    if not there:
        raise ConvertError(NO_PATH, f"{dump}: none of these files exists")
    return there, len(there) == 1


def _listed(path: str) -> list[str]:
    try:
        names = sorted(os.listdir(path))
    except OSError as error:
        raise ConvertError(NO_PATH, f"{path}: {error.strerror}") from None
    if not names:
        raise ConvertError(reformat.PARAMETER, f"{path} is empty")
    files = [os.path.join(path, name) for name in names if name != MAPPING]
    return [file for file in files if os.path.isfile(file)]


def _convert(paths: list[str], single: bool, output: str, request: Request) -> int:
    tree = Tree(os.path.realpath(output))
    with tree.opened() as directory:
        if directory is None:
            raise ConvertError(NO_PATH, f"{output}: no directory that can be written to")
        converter = Converter(directory, request, _complain)
        outcomes: list[Outcome] = []
        for path in paths:
            outcomes.append(converter.convert(path))
            if outcomes[-1].code and not single:
                directory.append(FAILED, outcomes[-1].failed, conversion.FILE_MODE)
    failures = [outcome for outcome in outcomes if outcome.code]
    made = sum(len(outcome.written) for outcome in outcomes)
    files, sources = counted(made, "file"), counted(len(outcomes), "dump file")
    print(f"{files} in {output}, from {sources}; not, or not wholly, converted: {len(failures)}")
    return failures[0].code if failures else 0


def _complain(text: str) -> None:
    print(line(f"msdump: {text}"), file=sys.stderr)
