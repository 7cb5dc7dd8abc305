"""The begin of each program of ``settings.py``, after that of ``mistakes.py``: signatures, and what an object does."""
# ruff: noqa: F821 - the names of the other prelude

import inspect
import re

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
