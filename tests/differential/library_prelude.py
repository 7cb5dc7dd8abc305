"""The begin of each program of ``library.py``, after those of ``mistakes.py`` and ``calls.py``."""
# ruff: noqa: F821, F401 - the names of the other preludes; the calls use the imports

from mindspore import mint
from mindspore.common import initializer as init


def image(height, width, channels, seed, dtype="uint8"):
    shape = (height, width, channels) if channels else (height, width)
    picked = np.random.RandomState(seed).randint(0, 256, shape)
    return (picked if "int" in dtype else picked / 255).astype(dtype)


def unit(shape, seed, dtype="float32"):
    return Tensor((np.random.RandomState(seed).rand(*shape) * 0.8 + 0.1).astype(dtype))


def made(tensor, seed):
    ms.set_seed(seed)
    return Parameter(tensor, name="made").asnumpy()


def weights(make, seed):
    ms.set_seed(seed)
    return [(weight.name, weight.asnumpy()) for weight in make().get_parameters()]


def rates(optimizer):
    told = []
    for _ in range(4):
        told.append(optimizer.get_lr() if not optimizer.is_group else None)
        optimizer(tuple(ops.ones_like(weight) for weight in optimizer.parameters))
    return told + [weight.asnumpy() for weight in optimizer.parameters]


def mapped(transform, seed, value):
    ds.config.set_seed(seed)
    data = ds.NumpySlicesDataset(np.stack([value] * 4), ["x"], shuffle=False)
    data = data.map(transform, ["x"], num_parallel_workers=1, python_multiprocessing=False)
    return [row[0] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]


#: how dtypes show; their classes are not compared
DTYPES = {str(getattr(ms, name)) for name in ("bool_", "float16", "float32", "float64", "bfloat16", "complex64",
          "complex128", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")}  # fmt: skip


class Told:
    def __init__(self, told):
        self.told = told


def whole(value, within=whole):
    if not isinstance(value, (str, ms.Tensor)) and str(value) in DTYPES:
        return ["dtype", [], [str(value)]]
    return value.told if isinstance(value, Told) else within(value)


def answered(act):
    value, _, error = given(act)
    return "raises " + error[0] if error else Told(value)


def measured(metric, *updates):
    told = []
    for update in updates:
        if update is None:
            metric.clear()
        elif update == "eval":
            told.append(answered(metric.eval))
        else:
            told.append(answered(lambda update=update: metric.update(*update)))
    return told


def chained(make, seed):
    ds.config.set_seed(seed)
    told = []
    data = make()
    for ask in (
        "get_dataset_size",
        "get_col_names",
        "get_batch_size",
        "get_repeat_count",
        "output_shapes",
        "output_types",
    ):
        told.append(answered(lambda ask=ask: [str(x) for x in np.ravel(getattr(data, ask)())]))
    turns = data.create_dict_iterator(num_epochs=2, output_numpy=True)
    return told + [[[(name, np.asarray(x)) for name, x in row.items()] for row in turns] for _ in range(2)]
