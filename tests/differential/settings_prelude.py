"""The begin of each program of ``settings.py``, after that of ``mistakes.py``: signatures, and what an object does."""
# ruff: noqa: F821 - the names of the other prelude

import contextlib
import inspect
import io
import os
import re
import sys
import types

WORD = re.compile(r"``[\"']([\w-]+)[\"']``|[\"']([a-z_]{3,20})[\"']")


def signature(number, find):
    """Prints the parameters of what ``find`` gives, with their defaults, and the words its document names."""
    rows, words, names = [], [], []
    try:
        found = find()
        function = found.__init__ if isinstance(found, type) else found
        function = type(found).construct if isinstance(found, nn.Cell) else function
        given = list(inspect.signature(function).parameters.values())
        names = [p.name for p in given if p.name != "self" and p.kind is p.POSITIONAL_OR_KEYWORD]
        rows = [
            [p.name, repr(p.default)] for p in given
            if p.default is not p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
        ]  # fmt: skip
        words = sorted({a or b for a, b in WORD.findall(getattr(found, "__doc__", "") or "")})[:30]
    except Exception:
        pass
    print("\n" + json.dumps({"signature": number, "parameters": rows, "words": words, "names": names}), flush=True)


def one():
    """A layer for each use, with a cell within."""
    made = nn.SequentialCell(nn.Dense(3, 2, weight_init="ones"), nn.BatchNorm1d(2), nn.Dropout(p=0.5))
    return made


def seen(made):
    """What a layer computes, its gradients, names and flags, in training and after a step of an optimizer."""
    ms.set_seed(1)
    rows = [(p.name, p.requires_grad, p.shape, str(p.dtype)) for p in made.get_parameters()]
    told = [made(f), made(f), ms.grad(made)(f), rows]
    weights = made.trainable_params()
    optimizer = nn.SGD(weights, 0.1)
    step = ms.value_and_grad(lambda x: made(x).sum(), None, weights)
    for _ in range(2):
        value, slopes = step(f)
        optimizer(slopes)
        told += [value, slopes]
    told += [made.training, [p.value() for p in made.get_parameters()], list(made.parameters_dict())]
    ms.set_context(mode=0)
    told += [made(f), ms.grad(made)(f)]
    return told


def attended(made, act):
    """What a layer does after ``act``."""
    act(made)
    return seen(made)


def weight():
    return Parameter(f.copy(), name="w")


def kept(made, act):
    """What a parameter is, and what a step makes of it, after ``act``."""
    act(made)
    holder = nn.Cell()
    holder.w = made
    flags = [made.name, made.requires_grad, made.shape, str(made.dtype), len(holder.trainable_params())]
    clone = made.clone()
    flags += [clone.name, clone.requires_grad, made.value()]
    if holder.trainable_params():
        optimizer = nn.Momentum(holder.trainable_params(), 0.1, 0.9)
        step = ms.value_and_grad(lambda x: (x * made).sum(), None, optimizer.parameters)
        for _ in range(2):
            value, slopes = step(f)
            optimizer(slopes)
            flags += [value, made.value()]
    return flags


def optimized(kind, act, *settings):
    """The weights after steps of an optimizer, after ``act``."""
    weights = [Parameter(f.copy(), name="w"), Parameter(p[0].copy(), name="bias")]
    made = kind(weights, *settings)
    act(made)
    told = []
    for _ in range(2):
        told.append(made((g, g[0])))
    return [*told[:0], *weights, len(made.parameters), made.get_lr()]


class LeNet5(nn.Cell):
    """What the documents' examples train, made small."""

    def __init__(self, num_class=10, num_channel=1, include_top=True):
        super().__init__()
        self.conv1 = nn.Conv2d(num_channel, 2, 3, pad_mode="valid", weight_init="ones")
        self.bn = nn.BatchNorm2d(2)
        self.fc = nn.Dense(8, num_class, weight_init="ones")

    def construct(self, x):
        return self.fc(ops.reshape(self.bn(self.conv1(x)), (x.shape[0], -1)))


def create_dataset(*_given, **_settings):
    pictures = (np.arange(64).reshape(4, 1, 4, 4) % 7 / 7).astype(np.float32)
    made = ds.NumpySlicesDataset((pictures, np.array([1, 0, 3, 2], np.int32)), ["image", "label"], shuffle=False)
    return made.batch(2)


def stepped(make):
    """The weights after steps of an optimizer, outside graphs and in one, in two groups and in none."""
    told = []
    for mode in (1, 0):
        ms.set_context(mode=mode)
        for grouped in (False, True):
            weights = [Parameter(f.copy(), name="w"), Parameter(p[0].copy(), name="beta")]
            made = make([{"params": weights[:1], "weight_decay": 0.5}, {"params": weights[1:]}] if grouped else weights)
            for factor in (1.0, -2.0, 0.5):
                made((g * factor, g[0] * factor))
            told.append([w.value() for w in weights])
    return told


def heard(make):
    """What a callback prints and writes while a network is trained, and the weights after it."""
    made = make()
    made = train.ModelCheckpoint("x", "ck", made) if isinstance(made, train.CheckpointConfig) else made
    trained_net, text = nn.Dense(3, 2, weight_init="ones"), io.StringIO()
    model = train.Model(trained_net, nn.MSELoss(), nn.SGD(trained_net.trainable_params(), 0.1), {"mae"})
    with contextlib.redirect_stdout(text):
        model.fit(4, data(), data(), callbacks=[made], dataset_sink_mode=False)
    files = sorted(f"{os.path.relpath(folder)}/{name}" for folder, _, names in os.walk(".") for name in names)
    kept = [name for name in files if name.endswith((".ckpt", ".safetensors", "graph.meta"))]
    for name in kept:
        os.remove(name)
    plain = re.sub(r"time: .*|np\.float64\(|\)", "", text.getvalue())  # numpy 2 prints the type of a number
    printed = NUMBER.sub(lambda found: f"{float(found[0]):.3g}", plain)
    return [printed, kept, trained_net.weight.value()]


def documented():
    """Prints the examples of every public name's document."""
    spaces = {"nn": nn, "ops": ops, "train": train, "ms": ms, "amp": ms.amp, "Tensor": Tensor, "Parameter": Parameter,
              "nn.Cell": nn.Cell, "nn.Optimizer": nn.Optimizer, "train.Model": train.Model}  # fmt: skip
    told = {}
    for space, holder in spaces.items():
        for name in dir(holder):
            found = None if name[0] == "_" else getattr(holder, name, None)
            lines = [line.strip() for line in (getattr(found, "__doc__", "") or "").splitlines()]
            told[f"{space}.{name}"] = "\n".join(line[4:] for line in lines if line[:3] in (">>>", "..."))
    print("\n" + json.dumps({"examples": {name: source for name, source in told.items() if source}}), flush=True)


NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?|-?\d+e[+-]?\d+")


def played(_name, source):
    """What an example prints, with three digits of each number, and its variables at its end."""
    given = {"mindspore": ms, "np": np, "ms": ms, "nn": nn, "ops": ops, "Tensor": Tensor,
             "LeNet5": LeNet5, "Net": LeNet5, "create_dataset": create_dataset, "f": f, "g": g, "c": c, "b": b,
             "Parameter": Parameter, "train": train}  # fmt: skip
    heard, name = io.StringIO(), f"example{len(sys.modules)}"
    module = sys.modules[name] = types.ModuleType(name)
    space = vars(module)
    space.update(given, __name__=name)
    with open(f"{name}.py", "w") as file:  # what is compiled into a graph is read from a file
        file.write(source)
    with contextlib.redirect_stdout(heard):
        exec(compile(source, os.path.abspath(file.name), "exec"), space)
    heard = io.StringIO(re.sub(r"time: .*", "", heard.getvalue()))
    printed = NUMBER.sub(lambda found: f"{float(found[0]):.3g} ", heard.getvalue())
    told = [re.sub(r"\s*([\[\](),])\s*", r"\1", " ".join(printed.split()))]
    for name, value in space.items():
        if name not in given and name[0] != "_" and not isinstance(value, (type, types.ModuleType)):
            told.append((name, shown(value)))
            if isinstance(value, nn.Cell):
                told.append([(p.name, p.requires_grad, p.value()) for p in value.get_parameters()])
    return told
