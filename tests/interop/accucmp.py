"""The real msaccucmp, as far as it goes without CANN: ``python tests/interop/accucmp.py ARGUMENTS``.

Runs in an interpreter that has msprobe; run as ``preload``, it imports what every run needs. The tool leaves the
decoding of a file's header to a library of CANN, which gives it a json; that one step is done here, by a decoder that
shares nothing with the harness. All else is the tool.
"""

from __future__ import annotations

import json
import multiprocessing
import runpy
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

SHAPE = {1: ("dim", "numbers")}
# fields by number, as MindSpore's public proto has them
INPUT = {
    1: ("data_type", "number"), 2: ("format", "number"), 3: ("shape", SHAPE), 5: ("size", "number"),
    6: ("original_shape", SHAPE), 7: ("sub_format", "number"),
}  # fmt: skip
OUTPUT = {
    1: ("data_type", "number"), 2: ("format", "number"), 3: ("shape", SHAPE), 6: ("size", "number"),
    7: ("original_shape", SHAPE), 8: ("sub_format", "number"),
}  # fmt: skip
BUFFER = {1: ("buffer_type", "number"), 3: ("size", "number")}
DUMP = {
    1: ("version", "text"), 2: ("dump_time", "number"), 3: ("output", [OUTPUT]), 4: ("input", [INPUT]),
    5: ("buffer", [BUFFER]), 6: ("op_name", "text"),
}  # fmt: skip


def varint(data, at):
    """A base-128 number, and where the next thing starts."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at


def message(data, fields):
    """A message as a dictionary; every field of ``fields`` is in it."""
    found = {name: [] if isinstance(kind, list) else blank(kind) for name, kind in fields.values()}
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            length, at = varint(data, at)
            if at + length > len(data):
                raise ValueError("a field runs over the end")
            value, at = data[at : at + length], at + length
        else:
            raise ValueError(f"wire type {key & 7}")
        if key >> 3 in fields:
            put(found, *fields[key >> 3], value)
    return found


def blank(kind):
    return message(b"", kind) if isinstance(kind, dict) else {"number": 0, "text": "", "numbers": []}[kind]


def put(found, name, kind, value):
    if kind == "number":
        found[name] = value - (1 << 64) if value >> 63 else value
    elif kind == "text":
        found[name] = value.decode()
    elif kind == "numbers":
        at = 0
        while at < len(value):
            number, at = varint(value, at)
            found[name].append(number)
    elif isinstance(kind, list):
        found[name].append(message(value, kind[0]))
    else:
        found[name] = message(value, kind)


def found():
    """Where the tool lies; what it imports can be found from now on."""
    home = Path(find_spec("msprobe").origin).parent / "msaccucmp"
    sys.path.insert(0, str(home))
    return home


def main(arguments):
    """Runs the tool with ``arguments``; ends with its exit code."""
    home = found()
    from cmp_utils.constant.compare_error import CompareError
    from dump_parse.big_dump_data import BigDumpDataParser

    def decode(self):
        data = Path(self.dump_file_path).read_bytes()
        try:
            self.dump_json_data = message(data[8 : 8 + self.header_length], DUMP) | {"space": [], "attr": []}
            json.dumps(self.dump_json_data)
        except (ValueError, IndexError) as error:
            raise CompareError(CompareError.MSACCUCMP_INVALID_DUMP_DATA_ERROR) from error

    BigDumpDataParser._parse_dump_to_json = decode
    multiprocessing.set_start_method("fork")  # its workers must have the decoder, too
    sys.argv = ["msaccucmp.py", *arguments]
    runpy.run_path(str(home / "msaccucmp.py"), run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
elif __name__ == "preload":
    found()
    for module in ("vector_cmp.batch_compare", "pytorch_cmp.compare_pytorch"):
        import_module(module)
