"""Chains of operations on datasets."""

from __future__ import annotations

import random

SOURCES = (
    "ds.NumpySlicesDataset({arrays}, {names}, shuffle={shuffle})",
    "ds.NumpySlicesDataset({arrays}, {names}, sampler={sampler})",
    "ds.GeneratorDataset(list(zip(*{arrays})), {names}, shuffle={shuffle})",
    "ds.GeneratorDataset(list(zip(*{arrays})), {names}, sampler={sampler})",
    "ds.GeneratorDataset(lambda: iter(list(zip(*{arrays}))), {names})",
    "ds.NumpySlicesDataset({arrays}, {names}, num_shards=2, shard_id={shard}, shuffle={shuffle})",
    "ds.NumpySlicesDataset(dict(zip({names}, {arrays})), shuffle={shuffle})",
    "ds.NumpySlicesDataset({arrays}, {names}, num_samples={few}, shuffle=False)",
)
SAMPLERS = (
    "ds.SequentialSampler()",
    "ds.SequentialSampler({small}, {few})",
    "ds.RandomSampler()",
    "ds.RandomSampler(False, {few})",
    "ds.SubsetSampler([3, 1, 0])",
    "ds.SubsetRandomSampler([4, 0, 2])",
    "ds.DistributedSampler(2, {shard}, {bool})",
    "ds.DistributedSampler(2, {shard}, False, {few})",
    "ds.RandomSampler(replacement=True, num_samples=4)",
    "ds.WeightedRandomSampler([0.1, 0.5, 0.0, 1.0, 0.4], 4)",
    "ds.PKSampler(1)",
)
STEPS = (
    "batch({few})",
    "batch({few}, drop_remainder={bool})",
    "shuffle({buffer})",
    "repeat({few})",
    "skip({small})",
    "take({small})",
    "take(-1)",
    "filter(lambda x: x.sum() > 3, ['a'])",
    "filter(predicate=lambda x: x.size % 2 == 0, input_columns='a')",
    "map(lambda x: np.stack([x, x]), ['a'])",
    "map(lambda x: (x, x[..., None]), ['a'], output_columns=['a', 'c'])",
    "map([lambda x: np.ravel(x), transforms.TypeCast(ms.{dtype})], 'a')",
    "project(['a'])",
    "project(['b', 'a'])",
    "rename(['a'], ['d'])",
    "rename('b', 'e')",
    "split([0.5, 0.5])[{bit}]",
    "split([2, 1], randomize={bool})[{bit}]",
    "split([0.3, 0.7], False)[{bit}]",
    "batch({few}, per_batch_map=lambda a, info: ([np.full_like(x, info.get_batch_num()) for x in a],), "
    "input_columns=['a'])",
    "batch(2, per_batch_map=lambda a, b, info: ([np.ravel(x) for x in a], b), input_columns=['a', 'b'])",
    "padded_batch({few}, pad_info={{}})",
    "padded_batch({few}, {bool}, pad_info={{'a': ([4, 4], 7)}})",
    "padded_batch(2, pad_info={{'a': ([None, 5], -1)}})",
    "concat(other())",
    "zip(other())",
    "flat_map(lambda x: six())",
    "batch(lambda info: info.get_batch_num() + 1)",
    "unbatch()",
    "map(lambda a, b: (b, a), ['a', 'b'])",
    "map(lambda a, b: np.concatenate([np.ravel(b), np.ravel(b)]), ['a', 'b'], ['s'])",
    "batch({few}, output_columns=['p', 'q'])",
    "add_sampler(ds.SequentialSampler({bit}, {few}))",
    "use_sampler(ds.SubsetSampler([1, 0]))",
)
CHOICES: dict[str, tuple[object, ...]] = {
    "few": (1, 2, 2, 3, 4, 0),
    "small": (0, 1, 2, 3, 9),
    "bool": (True, False),
    "buffer": (1, 2, 3, 8),
    "bit": (0, 1),
    "shard": (0, 1),
    "shuffle": (True, False),
    "dtype": ("float32", "int32", "float16", "bool_"),
}


def _filled(text: str, chooser: random.Random) -> str:
    for name, values in CHOICES.items():
        while "{" + name + "}" in text:
            text = text.replace("{" + name + "}", str(chooser.choice(values)), 1)
    return text.replace("{{", "{").replace("}}", "}")


def chain(chooser: random.Random) -> str:
    """A source and some operations; its rows in two epochs and what it says of itself."""
    length, seed = chooser.choice((1, 3, 5, 6)), chooser.randrange(1, 10**5)
    shape = (length, *chooser.choice(((), (2,), (2, 3))))
    dtype = chooser.choice(("float32", "int32", "float64", "int64", "uint8", "bool", "str"))
    first = f"np.random.RandomState({seed}).randint(0, 9, {shape}).astype({dtype!r})"
    text = chooser.choice(SOURCES).replace("{sampler}", chooser.choice(SAMPLERS))
    text = text.replace("{arrays}", f"({first}, np.arange({length}))").replace("{names}", "['a', 'b']")
    for _ in range(chooser.choice((1, 2, 2, 3, 4))):
        text += "." + chooser.choice(STEPS)
    return f"chained(lambda: {_filled(text, chooser)}, {seed % 1000})"
