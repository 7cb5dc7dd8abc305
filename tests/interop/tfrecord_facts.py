"""What TFRecordDataset and Schema give, case by case: ``tfrecord_facts.py OUT`` writes rows and errors (JSON).

The same file runs under the real MindSpore and under ``msdump run``.
"""

import gzip
import json
import os
import signal
import struct
import sys
import tempfile
import zlib

import mindspore as ms
import mindspore.dataset as ds
import numpy as np

BUILTIN = (RuntimeError, TypeError, ValueError, AttributeError, MemoryError)
TABLE = []
for row in range(256):
    for _ in range(8):
        row = row >> 1 ^ (0x82F63B78 if row & 1 else 0)
    TABLE.append(row)


def crc(data):
    found = 0xFFFFFFFF
    for byte in data:
        found = found >> 8 ^ TABLE[(found ^ byte) & 0xFF]
    found ^= 0xFFFFFFFF
    return ((found >> 15 | found << 17) + 0xA282EAD8) & 0xFFFFFFFF


def varint(number):
    number &= (1 << 64) - 1
    out = b""
    while True:
        out += bytes([number & 127 | (128 if number > 127 else 0)])
        number >>= 7
        if not number:
            return out


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def feature(values, packed=True):
    if values is None:
        return b""
    if all(isinstance(v, (bytes, str)) for v in values):
        return field(1, b"".join(field(1, v.encode() if isinstance(v, str) else v) for v in values))
    if any(isinstance(v, float) for v in values):
        one = b"".join(b"\x0d" + struct.pack("<f", v) for v in values)
        return field(2, field(1, struct.pack(f"<{len(values)}f", *values)) if packed else one)
    one = b"".join(b"\x08" + varint(v) for v in values)
    return field(3, field(1, b"".join(varint(v) for v in values)) if packed else one)


def example(packed=True, **columns):
    """A ``tf.train.Example``."""
    rows = (field(1, field(1, name.encode()) + field(2, feature(v, packed))) for name, v in columns.items())
    return field(1, b"".join(rows))


def framed(payload):
    head = struct.pack("<Q", len(payload))
    return head + struct.pack("<I", crc(head)) + payload + struct.pack("<I", crc(payload))


def put(name, data):
    with open(name, "wb") as file:
        file.write(b"".join(map(framed, data)) if isinstance(data, list) else data)
    return name


def made(name, **columns):
    return put(name, [example(**columns)])


def table(dataset):
    """All columns of an epoch."""
    rows = dataset.create_dict_iterator(num_epochs=1, output_numpy=True)
    return [{name: [str(v.dtype), list(v.shape), v.tolist()] for name, v in row.items()} for row in rows]


def rows(dataset, epochs=1):
    """The first value of column ``i``, epoch by epoch."""
    iterator = dataset.create_dict_iterator(num_epochs=epochs, output_numpy=True)
    return [[np.ravel(row["i"])[0].tolist() for row in iterator] for _ in range(epochs)]


def tf(files, *more, shuffle=False, **options):
    return ds.TFRecordDataset(files, *more, shuffle=shuffle, **options)


def schema(*columns):
    it = ds.Schema()
    for column in columns:
        it.add_column(*column)
    return it


def parsed(way, what, show=lambda it: it.to_json()):
    it = ds.Schema()
    getattr(it, way)(what)
    return show(it)


def written(name, content):
    with open(name, "w", encoding="utf-8") as file:
        json.dump(content, file)
    return name


def ones(count, start=0):
    return [framed(example(i=[start + at])) for at in range(count)]


def files():
    put("a", [example(i=[k, k + 1], f=[k / 2], s=[f"row{k}"], many=["a", "bcd"]) for k in range(5)])
    put("b", [example(i=[k + 10, k + 11], f=[k / 2], s=[f"b{k}"], many=["a", "bcd"]) for k in range(3)])
    put("c", [example(i=[1], x=[1] * k or ["ab"]) for k in range(4)])
    put("d", [example(False, i=[-k, 2], f=[0.5, 1.5]) for k in range(2)])
    put("m", [example(i=[1], f=[2.0]), example(i=[2])])
    put("k", [example(i=[1, 2, 3, 4, 5, 6], b=[bytes(range(6))], t=["ab", "cd", "e"], g=[1e6, -0.0, 0.1, 3.0])])
    put("wide", [example(i=[-1, 300, 1 << 40, 0])])
    for k in range(5):
        put(f"w{k}", [example(i=[10 * k + j]) for j in range(3 + k)])
    one = b"".join(ones(4))
    with gzip.open("gz", "wb") as file:
        file.write(one)
    put("many", b"".join(ones(12000)))
    put("z", zlib.compress(one))
    put("empty", b"")
    put("none", [example(i=[1], z=None)])
    first, second, third = ones(3)
    for name, data in {
        "cut": one[:-3], "text": b"hello world, this is no record at all", "proto": framed(b"\xff\xff\xff"),
        "crc of length": one[:8] + b"\0\0\0\0" + one[12:], "length": one[:2] + b"\xff" + one[3:],
        "crc of second length": first + second[:8] + b"\0\0\0\0" + second[12:] + third,
        "crc of second": first + second[:-4] + b"\0\0\0\0" + third, "cut payload": first + second[:-8],
        "cut length": first + second[:5], "nothing": framed(b""),
    }.items():  # fmt: skip
        put(f"bad {name}", data)
        yield f"bad {name}", lambda name=name: rows(tf(f"bad {name}"))


FIVE = [f"w{k}" for k in range(5)]


def reading():
    """Rows, files, shards, orders."""
    yield "all", lambda: table(tf("a"))
    yield "columns", lambda: table(tf("a", columns_list=["s", "f"]))
    yield "no columns", lambda: table(tf("b", columns_list=[]))
    yield "shapes", lambda: [tf("a").output_shapes(), [str(t) for t in tf("a").output_types()], tf("a").get_col_names()]
    yield "files sorted", lambda: rows(tf(["b", "a"]))
    yield "patterns", lambda: rows(tf(["w3*", "w[01]"]))
    yield "types of the first row", lambda: table(tf("c"))
    yield "not packed", lambda: table(tf("d"))
    yield "empty texts", lambda: table(tf(made("e", s=[b"", b"ab"])))
    yield (
        "twice a name",
        lambda: rows(
            tf(put("t", [field(1, b"".join(field(1, field(1, b"i") + field(2, feature([v]))) for v in (1, 2)))]))
        ),
    )
    yield "sizes", lambda: [
        tf("a").get_dataset_size(), tf(["a", "b"]).get_dataset_size(), tf("a", num_samples=3).get_dataset_size(),
        tf("a", num_samples=30).get_dataset_size(), len(tf("a").batch(2)),
    ]  # fmt: skip
    for count in (0, 6, 60):
        yield f"samples {count}", lambda n=count: rows(tf(["a", "b"], num_samples=n), 2)
    for workers in (1, 2):
        w = {"num_parallel_workers": workers}
        yield f"in turn {workers}", lambda w=w: rows(tf(FIVE, **w))
        yield f"samples in turn {workers}", lambda w=w: rows(tf(FIVE, num_samples=7, **w))
        yield f"order {workers}", lambda w=w: rows(tf(FIVE, shuffle=True, **w), 3)
        yield f"order of files {workers}", lambda w=w: rows(tf(FIVE, shuffle=ds.Shuffle.FILES, **w), 4)
        for order in (False, True, ds.Shuffle.FILES):
            for equal in (False, True):
                for count in (None, 4, 40):
                    more = {**w, "shuffle": order, "shard_equal_rows": equal, "num_samples": count, "num_shards": 2}
                    yield (
                        f"shards {workers} {getattr(order, 'name', order)} {equal} {count}",
                        lambda m=more: [
                            [tf(FIVE, shard_id=k, **m).get_dataset_size(), rows(tf(FIVE, shard_id=k, **m), 2)]
                            for k in range(2)
                        ],
                    )
    yield (
        "equal shards of one",
        lambda: [rows(tf("a", num_shards=2, shard_id=k, shard_equal_rows=True)) for k in range(2)],
    )
    yield "default order", lambda: rows(ds.TFRecordDataset("a"), 3)
    yield "samples in order", lambda: rows(ds.TFRecordDataset(["a", "b"], num_samples=4), 3)
    yield "order of many", lambda: [rows(tf("many", shuffle=True), 2)[k][::997] for k in range(2)]
    yield "few samples in order", lambda: [rows(tf(FIVE, shuffle=True, num_samples=n), 2) for n in (1, 3, 5, 9)]
    yield "repeat", lambda: rows(tf(FIVE, shuffle=True, num_samples=6).repeat(2), 2)
    yield "batch", lambda: table(tf("a", columns_list=["i", "s"]).batch(2))
    yield "map", lambda: table(tf("a", columns_list=["i"]).map(lambda i: i + 1, "i"))
    yield "concat", lambda: rows(tf("a", columns_list=["i"]) + tf("b", columns_list=["i"]))
    yield "split in order", lambda: [rows(each) for each in tf("a").split([2, 3], randomize=False)]
    yield "split", lambda: [rows(each, 2) for each in tf("a").split([2, 3])]
    yield "take", lambda: rows(tf("bad cut").take(2))
    for name, kind in {"gz": "GZIP", "z": "ZLIB", "a": "GZIP"}.items():
        yield f"{kind} {name}", lambda n=name, k=kind: rows(tf(n, compression_type=k))
        yield f"{kind} {name} size", lambda n=name, k=kind: tf(n, compression_type=k).get_dataset_size()
    for order in (ds.Shuffle.INFILE, ds.Shuffle.FALSE, ds.Shuffle.ADAPTIVE, ds.Shuffle.PARTIAL, None):
        yield f"shuffle {getattr(order, 'name', order)}", lambda o=order: rows(tf(FIVE, shuffle=o))


def columns():
    """Types and shapes that a schema gives."""
    yield "schema", lambda: table(tf("k", schema(("i", ms.int32, [2, 3]), ("b", ms.uint8, [6]), ("t", ms.string))))
    yield "schema and columns", lambda: table(tf("a", schema(("f", ms.float32), ("i", ms.int64)), ["i"]))
    for kind in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"):
        yield f"wide {kind}", lambda k=kind: table(tf("wide", schema(("i", k))))
    for kind in ("float16", "float32", "float64"):
        yield f"float {kind}", lambda k=kind: table(tf("k", schema(("g", k))))
    for kind in ("int8", "int32", "string"):
        yield f"bytes {kind}", lambda k=kind: table(tf("k", schema(("b", k))))
        yield f"texts {kind}", lambda k=kind: table(tf("k", schema(("t", k))))
    yield "ints string", lambda: table(tf("a", schema(("i", ms.string))))
    yield "floats string", lambda: table(tf("a", schema(("f", ms.string))))
    for shape in ([6], [2, 3], [-1, 3], [3, -1], [-1], [1, -1, 2], [-1, -1], [-1, 4], [2], [], [0]):
        yield f"shape {shape} of ints", lambda s=shape: table(tf("k", schema(("i", ms.int64, s))))
        yield f"shape {shape} of bytes", lambda s=shape: table(tf("k", schema(("b", ms.uint8, s))))
        yield f"shape {shape} of texts", lambda s=shape: table(tf("k", schema(("t", ms.string, s))))
        yield f"shape {shape} of joined texts", lambda s=shape: table(tf("k", schema(("t", ms.uint8, s))))
        yield f"shape {shape} of one", lambda s=shape: table(tf("a", schema(("f", ms.float32, s))).take(1))
    yield "schema without it", lambda: table(tf("a", schema(("q", ms.int64))))
    yield "columns without it", lambda: table(tf("a", schema(("f", ms.float32)), ["s"]))
    yield "not UTF-8", lambda: table(tf(made("u", s=[b"\xff\x00a"]), schema(("s", ms.string))))
    yield "UTF-8", lambda: table(tf(made("u", s=["\u00e9", "\u65e5\u672c"]), schema(("s", ms.string))))


def texts():
    """Schemas as JSON."""
    yield "json", lambda: schema(("i", ms.int32, [2, 3]), ("b", ms.uint8), ("s", ms.string, [])).to_json()
    yield "str", lambda: str(schema(("i", "int8"), ("i", "int8")))
    yield "json of none", lambda: ds.Schema().to_json()
    given = {"a": {"type": "int8", "shape": [3, 3]}, "Z": {"type": "float32", "rank": 1}, "b": {"type": "int8", "q": 1}}
    yield "dict", lambda: parsed("parse_columns", given)
    yield "list", lambda: parsed("parse_columns", [{"name": name, **row} for name, row in given.items()])
    yield "whole", lambda: parsed("from_json", {"datasetType": "TF", "numRows": 3, "columns": given})
    yield "no rows", lambda: parsed("from_json", {"numRows": 0, "columns": given})
    for name, bad in {
        "no type": [{"name": "a"}], "no name": [{"type": "int8"}], "type": [{"name": "a", "type": "int9"}], "number": 3,
        "shape": [{"name": "i", "type": "int64", "shape": "a"}], "none": [],
    }.items():  # fmt: skip
        yield f"columns {name}", lambda bad=bad: parsed("parse_columns", bad)
    for name, bad in {
        "no columns": {"datasetType": "TF"}, "unknown": {"q": 1, "columns": given}, "text": "abc",
        "rows": {"numRows": "3", "columns": given}, "below": {"numRows": -1, "columns": given},
    }.items():  # fmt: skip
        yield f"json {name}", lambda bad=bad: parsed("from_json", bad)
    column = {"type": "int64"}
    for name, row in {
        "plain": column, "rank 0": {**column, "rank": 0}, "rank 2": {**column, "rank": 2},
        "shape": {**column, "shape": [1, 2]}, "both": {**column, "shape": [1, 2], "rank": 2}, "none": {"rank": 1},
    }.items():  # fmt: skip
        content = {"numRows": 2, "columns": {"i": row}}
        yield f"file {name}", lambda c=content: table(tf("a", written("s.json", c)))
        yield f"read {name}", lambda c=content: table(tf("a", ds.Schema(written("s.json", c))))
    rank = {"numRows": 2, "columns": {"s": {"type": "string", "rank": 0}, "i": {"type": "int64", "rank": 1}}}
    yield "samples over rows", lambda: table(tf("a", written("s.json", rank), num_samples=3))


def refusals():
    """Arguments that are refused."""
    for name, call in {
        "no column": lambda: table(tf("a", columns_list=["q"])),
        "twice": lambda: table(tf("a", columns_list=["f"] * 2)), "files none": lambda: tf([]),
        "missing": lambda: tf("q"), "no match": lambda: tf("q*"), "files 3": lambda: tf(3),
        "columns 3": lambda: tf("a", columns_list=3), "samples": lambda: tf("a", num_samples=-1),
        "samples x": lambda: tf("a", num_samples="x"), "shuffle": lambda: tf("a", shuffle=3),
        "schema 3": lambda: tf("a", 3), "schema file": lambda: tf("a", "q.json"), "equal": lambda: tf(
            "a", num_shards=2, shard_id=0, shard_equal_rows=3),
        "sampler": lambda: tf("a", sampler=ds.SequentialSampler()), "shards": lambda: tf("a", num_shards=2),
        "shard": lambda: tf("a", num_shards=2, shard_id=2), "compression": lambda: tf("a", compression_type="BZ"),
        "few files": lambda: rows(tf("a", num_shards=2, shard_id=0)), "packed": lambda: rows(tf("gz")),
        "few packed": lambda: rows(tf("gz", compression_type="GZIP", num_shards=2, shard_id=0)),
        "misses": lambda: table(tf("m")), "empty": lambda: rows(tf("empty")),
        "one empty": lambda: rows(tf(["a", "empty"])), "none": lambda: table(tf("none")),
        "float after int": lambda: table(tf(put("f", [example(i=[1]), example(i=[1.5])]))),
        "text after int": lambda: table(tf(put("f", [example(i=[1]), example(i=["a"])]))),
        "int after float": lambda: table(tf(put("f", [example(i=[1.5]), example(i=[1])]))),
        "empty text": lambda: table(tf(made("f", s=[b""]))), "add": lambda: schema(("i", "int9")),
        "add shape": lambda: schema(("i", "int8", 3)), "add name": lambda: schema((3, "int8")),
        "add extents": lambda: schema(("i", "int8", [2, "a"])), "add type": lambda: schema(("i", 3)),
        "no json": lambda: tf("a", "a"), "schema away": lambda: ds.Schema("q.json"),
    }.items():  # fmt: skip
        yield f"refused {name}", call


def fact(call):
    """What a case gives; [error] of a refusal."""
    ds.config.set_seed(5)
    try:
        return call()
    except BUILTIN as error:
        return {"error": next(kind.__name__ for kind in type(error).__mro__ if kind in BUILTIN)}


def apart(call):
    """``fact`` in a process of its own: the real one may crash on a damaged file."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(60)
        os.write(write, json.dumps(fact(call)).encode())
        os._exit(0)
    os.close(write)
    with open(read, "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else "no answer"


def write(target, *makers):
    """Writes what the cases give to ``target``."""
    target = os.path.abspath(target)
    ds.config.set_num_parallel_workers(1)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        found = {name: apart(call) for cases in makers for name, call in cases()}
        os.chdir("/")
    with open(target, "w", encoding="utf-8") as file:
        rows_of = (f"{json.dumps(name)}: {json.dumps(each)}" for name, each in found.items())
        file.write("{\n" + ",\n".join(rows_of) + "\n}\n")


if __name__ == "__main__":
    write(sys.argv[1], files, reading, columns, texts, refusals)
