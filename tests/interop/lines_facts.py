"""What TextFileDataset and CSVDataset give, case by case: ``lines_facts.py OUT`` writes rows and errors (JSON).

The same file runs under the real MindSpore and under ``msdump run``.
"""

import itertools
import sys

import mindspore.dataset as ds
from tfrecord_facts import put, table, write  # beside this script

FIVE = [f"w{k}" for k in range(5)]


def files():
    for k in range(5):
        put(f"w{k}", "".join(f"{10 * k + j}\n" for j in range(3 + k)).encode())
    put("many", "".join(f"{k}\n" for k in range(12000)).encode())
    put("gaps", b"\n1\n\n\n2\n  \n3")
    put("empty", b"")
    put("line end", b"\n\n")
    return ()


def first(dataset, epochs=1):
    """The first column, epoch by epoch."""
    iterator = dataset.create_tuple_iterator(num_epochs=epochs, output_numpy=True)
    return [[row[0].tolist() for row in iterator] for _ in range(epochs)]


def lines(given, shuffle=False, **options):
    return ds.TextFileDataset(given, shuffle=shuffle, **options)


def csv(given, shuffle=False, **options):
    return ds.CSVDataset(given, shuffle=shuffle, **options)


MAKES = {"text": lines, "csv": lambda given, **options: csv(given, column_names=["i"], **options)}


def orders():
    """Files, shards, orders: alike for both."""
    for name, make in MAKES.items():
        yield f"{name} sorted", lambda m=make: first(m(["w1", "w0"]))
        yield f"{name} patterns", lambda m=make: first(m(["w3*", "w[01]"]))
        yield f"{name} sizes", lambda m=make: [
            m("w1").get_dataset_size(), m(FIVE).get_dataset_size(), m(FIVE, num_samples=3).get_dataset_size(),
            m("w0", num_samples=30).get_dataset_size(), len(m("w4").batch(2)), m("gaps").get_dataset_size(),
        ]  # fmt: skip
        yield f"{name} gaps", lambda m=make: first(m("gaps"))
        for count in (0, 6, 60):
            yield f"{name} samples {count}", lambda m=make, n=count: first(m(FIVE, num_samples=n), 2)
        for workers in (1, 2):
            w = {"num_parallel_workers": workers}
            yield f"{name} in turn {workers}", lambda m=make, w=w: first(m(FIVE, **w))
            yield f"{name} order {workers}", lambda m=make, w=w: first(m(FIVE, shuffle=True, **w), 3)
            yield (
                f"{name} order of files {workers}",
                lambda m=make, w=w: first(m(FIVE, shuffle=ds.Shuffle.FILES, **w), 4),
            )
            for order, count in itertools.product((False, True, ds.Shuffle.FILES), (None, 4, 40)):
                more = {**w, "shuffle": order, "num_samples": count, "num_shards": 2}
                yield (
                    f"{name} shards {workers} {getattr(order, 'name', order)} {count}",
                    lambda m=make, o=more: [
                        [m(FIVE, shard_id=k, **o).get_dataset_size(), first(m(FIVE, shard_id=k, **o), 2)]
                        for k in range(2)
                    ],
                )
        yield f"{name} shards of one", lambda m=make: [first(m("w2", num_shards=3, shard_id=k)) for k in range(3)]
        yield f"{name} order of many", lambda m=make: [first(m("many", shuffle=True), 2)[k][::997] for k in range(2)]
        yield f"{name} few in order", lambda m=make: [first(m(FIVE, shuffle=True, num_samples=n), 2) for n in (1, 5, 9)]
        yield f"{name} repeat", lambda m=make: first(m(FIVE, shuffle=True, num_samples=6).repeat(2), 2)
        yield f"{name} batch", lambda m=make: first(m("w1").batch(2))
        yield f"{name} concat", lambda m=make: first(m("w0") + m("w1"))
        yield f"{name} split in order", lambda m=make: [first(each) for each in m("w2").split([2, 3], randomize=False)]
        yield f"{name} split", lambda m=make: [first(each, 2) for each in m("w2").split([2, 3])]
        yield f"{name} empty", lambda m=make: first(m("empty"))
        yield f"{name} line ends", lambda m=make: first(m("line end"))
        yield f"{name} one empty", lambda m=make: first(m(["w0", "empty"]))
        for order in (ds.Shuffle.INFILE, ds.Shuffle.FALSE, ds.Shuffle.ADAPTIVE, ds.Shuffle.PARTIAL, None):
            yield f"{name} shuffle {getattr(order, 'name', order)}", lambda m=make, o=order: first(m(FIVE, shuffle=o))
        for key, options in {
            "samples": {"num_samples": -1}, "samples x": {"num_samples": "x"}, "shuffle": {"shuffle": 3},
            "shards": {"num_shards": 2}, "shard": {"num_shards": 2, "shard_id": 2}, "workers": {
                "num_parallel_workers": 0}, "unknown": {"sampler": None},
        }.items():  # fmt: skip
            yield f"{name} refused {key}", lambda m=make, o=options: first(m("w0", **o))
        for key in ([], "q", "q*", 3):
            yield f"{name} refused {key}", lambda m=make, f=key: first(m(f))
    yield "text default order", lambda: first(ds.TextFileDataset("w4"), 3)
    yield "csv default order", lambda: first(ds.CSVDataset("w4", column_names=["i"]), 3)


def texts():
    """What a line gives."""
    for content in (
        b"a\r\nb\r\n", b"a b\n c \n", "\u00e9\n\u65e5\n".encode(), b"\xef\xbb\xbfa\nb\n", b"a\tb\n",
        b"a\0b\n", b"\xff\n", b"a", b"\r\n\r\n", b"a\rb\n", b"x\n\r\ny\n",
    ):  # fmt: skip
        yield f"line {content}", lambda c=content: table(lines(put("t", c)))


HELD = (
    b"1,2\n3,4\n", b"1,2\r\n3,4\r\n", b'a,"b,c"\n', b"1,2\n\n3,4\n", b"1,,2\n", b"1.5,x\n", b"a,b\n1,2\n", b"1,\n",
    b",1\n", b"1\n", b"1,2,3\n", b' 1 , "2" \n', b'"a""b",c\n', b'"a\nb",c\n', b"1;2\n", b"1,2", b"1e3,-2\n", b"x,y\n",
    b'a"b,c\n', b'"a"b,c\n', b'"a,b\n', b"99999999999,1\n", b"1,2\n3\n", "\u00e9,\u65e5\n".encode(), b"1\t2\n",
    b"\xef\xbb\xbfa,b\n1,2\n", b"1,2\r3,4\n", b"-1,+2\n", b"1abc,2\n", b"\n", b"inf,nan\n", b"True,1\n", b"0x10,1\n",
    b'1,""\n', b'"",1\n', b"1,2\n3", b"1,2\n3,", b'1,"2"', b'1,"2', b"1,2\n3,4,5", b",", b'1,2\n"', b"1,2\n \n3,4\n",
    b"1,\xff\n", b"1,2\n\0\n", b"1,2 \n", b"\t1, 2.5\n",
)  # fmt: skip
#: second columns of floats
FLOATS = (
    b"1e", b"-", b"1e39", b"1e-50", b".5", b"5.", b"infinity", b"0x1p3", b"-nan", b"3.4028236e38", b"1e-40", b"1e-400",
    b"0", b"-0.0",
)  # fmt: skip
HEADS = (
    b'"a",b\n1,2\n', b'a,"b,c"\n1,2\n', b"a,a\n1,2\n", b",b\n1,2\n", b"\na,b\n1,2\n", b"a,b\r\n1,2\r\n",
    b" a,b \n1,2\n", b"a\n1\n", b"a,\n1,2\n", b"a,b\n1,2", b"a,b\n\n1,2\n", b"a,b", b"a,b\r1,2\n3,4\n",
)  # fmt: skip
ALONE = (b"1", b"1\n2", b'"1"', b"1\n2\r", b'1\n""\n', b'1\n""')


def fields():
    """What the fields of a line give."""
    for content in HELD:
        yield f"fields {content}", lambda c=content: table(csv(put("t", c), column_names=["a", "b"]))
        yield f"head {content}", lambda c=content: table(csv(put("t", c)))
        for defaults in ([1, "x"], [1.5, 2], ["", 0.0], [1, 2], ["", ""], [True, 1], [""]):
            yield (
                f"defaults {defaults} {content}",
                lambda c=content, d=defaults: table(csv(put("t", c), column_names=["a", "b"], column_defaults=d)),
            )
        yield f"head with defaults {content}", lambda c=content: table(csv(put("t", c), column_defaults=[1, 2.5]))
        yield (
            f"semicolon {content}",
            lambda c=content: table(csv(put("t", c), column_names=["a", "b"], field_delim=";")),
        )
    for content in FLOATS:
        yield (
            f"float {content}",
            lambda c=content: table(
                csv(put("t", b"1," + c + b"\n"), column_names=["a", "b"], column_defaults=[1, 1.0])
            ),
        )
    for content in HEADS:
        yield f"first line {content}", lambda c=content: table(csv(put("t", c)))
    for content in ALONE:
        yield f"alone {content}", lambda c=content: table(csv(put("t", c), column_names=["a"]))
    two = b"a,b\n1,2\n"
    for name, options in {
        "delimiter": {"field_delim": ",,"}, "delimiter none": {"field_delim": ""}, "delimiter 3": {"field_delim": 3},
        "delimiter end": {"field_delim": "\n"}, "delimiter return": {"field_delim": "\r"},
        "quote": {"field_delim": '"'}, "delimiter blank": {"field_delim": " "}, "delimiter of two bytes": {
            "field_delim": "\u00a7"}, "names few": {"column_names": ["a"]},
        "names many": {"column_names": ["a", "b", "c"]},
        "defaults many": {"column_defaults": [1, 2, 3]}, "names twice": {"column_names": ["a", "a"]},
        "names none": {"column_names": []}, "names": {"column_names": "ab"}, "names 3": {"column_names": [3, 4]},
        "name empty": {"column_names": ["", "b"]},
        "defaults": {"column_defaults": 3}, "defaults none": {"column_defaults": []},
        "defaults of a list": {"column_defaults": [[1], 2]}, "defaults None": {"column_defaults": [None, 2]},
        "defaults tuple": {"column_defaults": (1, 2)}, "names tuple": {"column_names": ("a", "b")},
    }.items():  # fmt: skip
        yield f"option {name}", lambda o=options: table(csv(put("t", two), **o))
    yield "heads differ", lambda: table(csv([put("t", two), put("u", b"a,c\n3,4\n")]))
    yield "heads alike", lambda: table(csv([put("t", two), put("u", b"a,b\n3,4\n")]))
    yield "head size", lambda: csv(put("t", two)).get_dataset_size()
    yield "head names", lambda: csv(put("t", two)).get_col_names()
    yield "names size", lambda: csv(put("t", two), column_names=["a", "b"]).get_dataset_size()
    yield "shapes", lambda: [csv(put("t", two)).output_shapes(), [str(t) for t in csv(put("t", two)).output_types()]]


if __name__ == "__main__":
    write(sys.argv[1], files, orders, texts, fields)
