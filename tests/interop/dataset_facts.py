"""What datasets and transforms give, case by case: ``dataset_facts.py OUT`` writes digests and errors (JSON).

The same file runs under the real MindSpore and under ``msdump run``.
"""

import hashlib
import itertools
import json
import sys

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore.dataset import transforms as T
from mindspore.dataset import vision as V
from mindspore.dataset.vision import Border, Inter

RANDOM = np.random.RandomState(0)
IMAGES = {
    "odd": RANDOM.randint(0, 256, (13, 17, 3)).astype(np.uint8),
    "grey": RANDOM.randint(0, 256, (13, 17)).astype(np.uint8),
    "float": (RANDOM.rand(13, 17, 3) * 255).astype(np.float32),
    "square": RANDOM.randint(0, 256, (32, 32, 3)).astype(np.uint8),
    "digit": RANDOM.randint(0, 256, (28, 28, 1)).astype(np.uint8),
}
NUMBERS = np.arange(12).reshape(3, 4).astype(np.int32)
CASES = {}
BUILTIN = (RuntimeError, TypeError, ValueError, AttributeError)


class Rows:
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, at):
        return (np.array(at),)


def numbers(count, **more):
    return ds.GeneratorDataset(Rows(count), ["x"], **{"shuffle": False, **more})


def rows(dataset, epochs=3):
    """Values of the first column, epoch by epoch."""
    iterator = dataset.create_tuple_iterator(num_epochs=epochs, output_numpy=True)
    return [[row[0].tolist() for row in iterator] for _ in range(epochs)]


def table(dataset):
    """All columns of an epoch."""
    made = dataset.create_dict_iterator(num_epochs=1, output_numpy=True)
    return [{name: value.tolist() for name, value in row.items()} for row in made]


def mapped(image, workers, *operations):
    """The image, seven times through operations, for two epochs."""
    given = ds.GeneratorDataset([(np.array(image),) for _ in range(7)], ["image"], shuffle=False)
    made = given.map(list(operations), "image", num_parallel_workers=workers)
    iterator = made.create_tuple_iterator(num_epochs=2, output_numpy=True)
    return [row[0] for _ in range(2) for row in iterator]


def slices():
    return ds.NumpySlicesDataset({"a": [1, 2], "b": [3, 4], "c": [5, 6]}, shuffle=False)


def chained():
    sampler = ds.RandomSampler()
    sampler.add_child(ds.SequentialSampler(2, 5))
    return numbers(9, shuffle=None, sampler=sampler)


def sampled(sampler):
    return numbers(10, shuffle=None, sampler=sampler)


def orders():
    """Orders, batches, columns."""
    shuffled = lambda: numbers(9).shuffle(4)  # noqa: E731
    yield "global 8", lambda: rows(numbers(8, shuffle=True))
    yield "global 301", lambda: rows(numbers(301, shuffle=True))
    yield "global 70000", lambda: rows(numbers(70000, shuffle=True).batch(70000), 1)
    yield "repeat of global", lambda: rows(numbers(5, shuffle=True).repeat(2))
    yield "drawn", lambda: rows(numbers(9, shuffle=True, num_samples=6))
    yield "shards", lambda: [rows(numbers(10, shuffle=None, num_shards=3, shard_id=at)) for at in range(3)]
    yield "shards in order", lambda: [rows(numbers(10, num_shards=3, shard_id=at)) for at in range(3)]
    yield "child", lambda: rows(chained())
    yield "subset", lambda: rows(sampled(ds.SubsetRandomSampler([1, 3, 5, 7, 8])))
    yield "weights", lambda: rows(sampled(ds.WeightedRandomSampler([1, 0, 2, 5, 0.5, 0, 0, 1, 1, 3], 30)))
    yield "replacement", lambda: rows(sampled(ds.RandomSampler(replacement=True)))
    yield "offset", lambda: rows(sampled(ds.DistributedSampler(4, 1, shuffle=False, offset=2)))
    yield "slices", lambda: rows(ds.NumpySlicesDataset(list(range(40)), ["x"]))
    for size in (2, 4, 9, 20):
        yield f"buffer {size}", lambda size=size: rows(numbers(9).shuffle(size))
    yield "long buffer", lambda: rows(numbers(2000).shuffle(700))
    yield "two buffers", lambda: rows(numbers(30).shuffle(7).repeat(2).shuffle(5).batch(4))
    yield (
        "flat map",
        lambda: rows(
            ds.NumpySlicesDataset([[1, 2], [3, 4]], ["x"], shuffle=False).flat_map(
                lambda x: ds.NumpySlicesDataset(x, ["y"], shuffle=False).repeat(2)
            )
        ),
    )
    yield "flat map of two", lambda: table(slices().flat_map(lambda a, b, c: slices().rename("a", "z").take(int(a))))
    yield "take", lambda: rows(shuffled().take(3))
    yield "skip", lambda: rows(shuffled().skip(3))
    yield "take, repeat", lambda: rows(shuffled().take(2).repeat(2))
    yield "repeat, take", lambda: rows(numbers(3).shuffle(3).repeat(2).take(4))
    yield "concat", lambda: rows((numbers(3, shuffle=True) + numbers(2, shuffle=True)).shuffle(3))
    yield "zip", lambda: table(ds.zip((numbers(3).rename("x", "y"), numbers(5).shuffle(4))))
    yield "filter", lambda: rows(numbers(6).filter(lambda x: bool(x % 2)))
    yield "endless", lambda: [row[0].tolist() for row in itertools.islice(numbers(3).repeat().__iter__(), 8)]
    yield "split", lambda: [rows(each, 2) for each in numbers(10).split([0.25, 0.5, 0.25])]
    yield "split of a stream", lambda: [rows(each, 2) for each in numbers(8).map(lambda x: x + 1).split([3, 5])]
    yield "split in order", lambda: [rows(each, 2) for each in numbers(8).split([3, 5], randomize=False)]
    yield "columns", lambda: table(slices().map(lambda b: (b, b + 1), ["b"], ["p", "q"]))
    yield "columns exchanged", lambda: table(slices().map(lambda c, a: (c, a), ["c", "a"], ["p", "q"]))
    yield "batches", lambda: rows(numbers(7).batch(lambda info: info.get_batch_num() + 1))
    yield (
        "map of batches",
        lambda: rows(
            numbers(5).batch(2, per_batch_map=lambda x, info: ([each + 10 * info.get_epoch_num() for each in x],))
        ),
    )
    yield (
        "columns of batches",
        lambda: table(
            numbers(4).batch(
                2, per_batch_map=lambda x, info: (x, [1] * 2), input_columns="x", output_columns=["p", "q"]
            )
        ),
    )
    ragged = lambda: ds.GeneratorDataset([np.arange(each) for each in (1, 3, 2)], ["x"], shuffle=False)  # noqa: E731
    yield "padded", lambda: rows(ragged().padded_batch(2, pad_info={"x": ([4], -1)}))
    yield "cut", lambda: rows(ragged().padded_batch(2, pad_info={"x": ([2], 0)}))
    yield "sizes", lambda: [
        numbers(7).take(5).batch(2).get_dataset_size(), numbers(3).skip(9).get_dataset_size(),
        numbers(4).repeat(2).batch(2).get_repeat_count(), numbers(3).batch(5).get_batch_size(),
    ]  # fmt: skip


def pixels():
    """Transforms of images."""
    for name, image in IMAGES.items():
        for mode, size in itertools.product(
            ("NEAREST", "LINEAR", "CUBIC", "AREA"), ((227, 227), (7, 9), (16, 16), 20, (26, 34), (14, 14), (5, 23))
        ):
            yield f"{name} resize {mode} {size}", lambda i=image, m=mode, s=size: V.Resize(s, getattr(Inter, m))(i)
        for factors in ((1 / 255, 0.0), (1 / 0.3081, -0.1307 / 0.3081)):
            yield f"{name} rescale {factors[1]}", lambda i=image, f=factors: V.Rescale(*f)(i)
        yield f"{name} normalize", lambda i=image: V.Normalize((0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010))(i)
        yield f"{name} normalize one", lambda i=image: V.Normalize([125.3], [63.0])(i)
        for size, mode in itertools.product((8, (20, 9), (9, 30), (40, 41)), ("crop",)):
            yield f"{name} {mode} {size}", lambda i=image, s=size: V.CenterCrop(s)(i)
        for mode in Border:
            yield f"{name} pad {mode.name}", lambda i=image, m=mode: V.Pad((1, 2, 3, 4), (7, 8, 9), m)(i)
        for op in (V.HWC2CHW(), V.ToTensor(), V.HorizontalFlip(), V.VerticalFlip(), V.Crop((1, 2), (5, 6)), V.Invert()):
            yield f"{name} {type(op).__name__}", lambda i=image, op=op: op(i)
        for workers in (1, 2):
            yield from drawn(f"{name} {workers} workers", image, workers)


def drawn(name, image, workers):
    """Transforms that draw numbers."""
    for key, operations in {
        "crop": [V.RandomCrop((8, 9))],
        "padded crop": [V.RandomCrop(40, 1, True, (3, 2, 1))],
        "flips": [V.RandomHorizontalFlip(0.3), V.RandomVerticalFlip()],
        "resized crop": [V.RandomResizedCrop((9, 8)), V.HWC2CHW()],
        "narrow": [V.RandomResizedCrop(11, (0.9, 1.0), (1.5, 3.0), Inter.NEAREST, 2)],
        "apply": [T.RandomApply([V.HorizontalFlip(), V.RandomCrop(13, 2)], 0.4)],
        "choice": [T.RandomChoice([V.HorizontalFlip(), V.VerticalFlip(), V.RandomCrop(13, 1)])],
        "compose": [T.Compose([V.RandomCrop(9), V.RandomHorizontalFlip()])],
    }.items():
        yield f"{name} {key}", lambda o=operations: mapped(image, workers, *o)


def values():
    """Transforms of values and types."""
    given = {"float": np.float32([-1.7, 0, 0.2, 100.6]), "int": np.int32([-3, 0, 5, 300]), "bool": np.array([True])}
    for (name, array), dtype in itertools.product(given.items(), ("float16", "float32", "float64", "int32", "bool_")):
        yield f"cast {name} {dtype}", lambda a=array, d=dtype: T.TypeCast(getattr(ms, d))(a)
    for label, classes in itertools.product((3, np.uint32(4), np.array([1, 2])), (5, 2)):
        yield f"one hot {label} of {classes}", lambda a=label, c=classes: T.OneHot(c)(a)
    yield "smoothed", lambda: T.OneHot(5, 0.1)(3)
    for name, given in {"int": (1,), "list": ([0, 2],), "two": (None, [1, -1]), "step": (slice(0, 3, 2),)}.items():
        yield f"slice {name}", lambda g=given: T.Slice(*g)(NUMBERS)
    yield "fill", lambda: T.Fill(3.7)(NUMBERS)
    yield "concatenate", lambda: T.Concatenate(0, np.int32([9]), np.int32([8, 7]))(np.int32([1, 2]))
    yield "pad end", lambda: T.PadEnd([2, 6], 9)(NUMBERS)
    yield "unique", lambda: T.Unique()(NUMBERS % 5)
    for op in T.Relational:
        yield f"mask {op.name}", lambda op=op: T.Mask(op, 5.5, ms.int32)(NUMBERS)


def refusals():
    """Arguments that are refused."""
    image, one = IMAGES["odd"], lambda: numbers(2)
    for name, call in {
        "resize 0": lambda: V.Resize(0), "resize text": lambda: V.Resize("a"), "resize 3": lambda: V.Resize((1, 2, 3)),
        "mode": lambda: V.Resize(3, 5), "antialias": lambda: V.Resize(3, Inter.ANTIALIAS)(image),
        "normalize": lambda: V.Normalize([1], [1, 2]), "std": lambda: V.Normalize([1], [0]),
        "channels": lambda: V.Normalize([1.0, 2.0], [1.0, 2.0])(image), "crop": lambda: V.RandomCrop(-1),
        "padding": lambda: V.RandomCrop(3, (1, 2, 3)), "fill": lambda: V.Pad(1, 256),
        "prob": lambda: V.RandomHorizontalFlip(2),
        "border": lambda: V.Pad(1, 0, "constant"), "large crop": lambda: V.RandomCrop(500)(image),
        "a list": lambda: V.HWC2CHW()([[1]]), "no image": lambda: V.Resize(3)(np.zeros(3, np.uint8)),
        "classes": lambda: T.OneHot(0), "label": lambda: T.OneHot(3)(np.array(3)), "cast": lambda: T.TypeCast("zz"),
        "compose": lambda: T.Compose([]), "apply": lambda: T.RandomApply([V.HWC2CHW()], 3),
        "axis": lambda: T.Concatenate(1),
        "num_epochs": lambda: one().create_tuple_iterator(num_epochs=0), "batch 0": lambda: one().batch(0),
        "batch 2.0": lambda: one().batch(2.0), "drop": lambda: one().batch(2, 1), "repeat": lambda: one().repeat(0),
        "buffer": lambda: one().shuffle(1), "take": lambda: one().take(0), "skip": lambda: one().skip(-1),
        "map column": lambda: rows(one().map(lambda x: x, "q")), "map 3": lambda: one().map(3),
        "flat map 3": lambda: one().flat_map(3), "flat map": lambda: one().flat_map(lambda x: x),
        "map two": lambda: rows(one().map(lambda x: (x, x))), "project": lambda: one().project([]),
        "rename": lambda: one().rename("x", ["a", "b"]), "zip": lambda: ds.zip((one(),)),
        "twice": lambda: rows(one().zip(one())),
        "concat": lambda: rows(one().concat(one().rename("x", "y"))), "split": lambda: one().split([2, 3]),
        "shares": lambda: one().split([0.5, 0.6]), "source": lambda: ds.GeneratorDataset(5, ["x"]),
        "names": lambda: ds.GeneratorDataset([1]), "shard": lambda: numbers(2, num_shards=2),
        "shard_id": lambda: numbers(2, num_shards=2, shard_id=2),
        "lengths": lambda: ds.NumpySlicesDataset(([1], [2, 3])),
        "sampler": lambda: rows(sampled([10])),
        "shapes": lambda: rows(ds.GeneratorDataset([np.zeros(1), np.zeros(2)], ["x"]).batch(2)),
        "seed": lambda: ds.config.set_seed(-1), "away": lambda: ds.Cifar10Dataset("away"),
    }.items():  # fmt: skip
        yield f"refused {name}", call


def fact(call):
    """[dtype, shape, digest] of each array; [error] of a refusal; anything else as it is."""
    ds.config.set_seed(5)
    try:
        found = call()
    except BUILTIN as error:
        return {"error": next(kind.__name__ for kind in type(error).__mro__ if kind in BUILTIN)}
    if isinstance(found, list) and not any(isinstance(each, np.ndarray) for each in found):
        text = json.dumps(found)
        return found if len(text) < 400 else hashlib.sha256(text.encode()).hexdigest()[:16]
    arrays = found if isinstance(found, (list, tuple)) else [found]
    if not all(isinstance(each, np.ndarray) for each in arrays):
        return str(type(found).__name__)
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(each).tobytes() for each in arrays)).hexdigest()[:16]
    return [[str(each.dtype) for each in arrays[:3]], [list(each.shape) for each in arrays[:3]], digest]


if __name__ == "__main__":
    ds.config.set_num_parallel_workers(1)
    facts = {name: fact(call) for cases in (orders, pixels, values, refusals) for name, call in cases()}
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(
            "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(each)}" for name, each in facts.items()) + "\n}\n"
        )
