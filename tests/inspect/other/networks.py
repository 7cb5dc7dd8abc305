"""Networks of another hand, healthy as drawn. ``p`` marks the points where a fault can be put."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.inspect.other.frameworks import Job

Rng = np.random.Generator
#: name -> draws a healthy training
NETWORKS: dict[str, Callable[[Rng], Job]] = {}


def _network(make: Callable[[Rng], Job]) -> Callable[[Rng], Job]:
    NETWORKS[make.__name__] = make
    return make


def _seed(rng: Rng) -> int:
    return int(rng.integers(1 << 30))


def classes_of(rng: Rng, shape: tuple[int, ...], classes: int, batch: int) -> Callable[[int], Any]:
    """Labels that follow from features by a random line for each class."""
    teacher, seed = rng.normal(size=(int(np.prod(shape)), classes)), _seed(rng)

    def data(step: int) -> Any:
        x = np.random.default_rng((seed, step)).normal(size=(batch, *shape)).astype(np.float32)
        return x, (x.reshape(batch, -1) @ teacher).argmax(1).astype(np.int32)

    return data


@_network
def lenet(rng: Rng) -> Job:
    """Two convolutions with pooling, two layers after them."""
    one, two, classes = int(rng.integers(3, 7)), int(rng.integers(6, 11)), int(rng.integers(3, 8))

    def forward(f: Any, n: Any, x: Any, p: Any) -> Any:
        x = n["pool"](f.relu(p("mid", n["c1"](x))))
        x = f.flat(n["pool"](f.relu(n["c2"](x))))
        return n["out"](p("late", f.relu(n["fc"](x))))

    layers = {
        "c1": ("conv", (1, one, 3)), "c2": ("same", (one, two, 3)), "pool": ("pool", ()),
        "fc": ("linear", (two * 9, 30)), "out": ("linear", (30, classes)),
    }  # fmt: skip
    data = classes_of(rng, (1, 14, 14), classes, int(rng.integers(12, 24)))
    return Job(layers, forward, lambda f, z, y: f.ce(z, y), data, seed=_seed(rng))


@_network
def gated(rng: Rng) -> Job:
    """A recurrence with two gates, unrolled."""
    features, width, classes, times = int(rng.integers(3, 7)), int(rng.integers(8, 20)), 3, int(rng.integers(4, 8))

    def forward(f: Any, n: Any, x: Any, p: Any) -> Any:
        state = f.tanh(n["new"](x[:, 0]))
        for at in range(1, times):
            both = f.join((x[:, at], state), 1)
            keep = f.sigmoid(n["gate"](both))
            state = keep * state + (1 - keep) * f.tanh(n["cell"](p("mid", both)))
        return n["out"](p("late", state))

    layers = {
        "new": ("linear", (features, width)), "gate": ("linear", (features + width, width)),
        "cell": ("linear", (features + width, width)), "out": ("linear", (width, classes)),
    }  # fmt: skip
    data = classes_of(rng, (times, features), classes, int(rng.integers(16, 40)))
    return Job(layers, forward, lambda f, z, y: f.ce(z, y), data, rate=0.01, seed=_seed(rng))


@_network
def autoencoder(rng: Rng) -> Job:
    """Down to a few numbers and up again."""
    features, inner = int(rng.integers(12, 24)), int(rng.integers(3, 6))
    basis, seed = rng.normal(size=(inner, features)), _seed(rng)

    def forward(f: Any, n: Any, x: Any, p: Any) -> Any:
        z = p("late", n["b"](p("mid", f.tanh(n["a"](x)))))
        return n["d"](f.tanh(n["c"](z)))

    def data(step: int) -> Any:
        z = np.random.default_rng((seed, step)).normal(size=(24, inner))
        x = (z @ basis / inner**0.5).astype(np.float32)
        return x, x.copy()

    layers = {
        "a": ("linear", (features, 16)), "b": ("linear", (16, inner)), "c": ("linear", (inner, 16)),
        "d": ("linear", (16, features)),
    }  # fmt: skip
    return Job(layers, forward, lambda f, z, y: f.mse(z, y), data, seed=_seed(rng))


@_network
def yes_or_no(rng: Rng) -> Job:
    """One score, batch normalisation, a binary cross entropy."""
    features, width = int(rng.integers(6, 20)), int(rng.integers(10, 30))
    teacher, seed = rng.normal(size=features), _seed(rng)

    def forward(f: Any, n: Any, x: Any, p: Any) -> Any:
        x = f.relu(n["norm"](n["a"](x)))
        x = p("late", f.relu(n["b"](p("mid", x))))
        return n["out"](x)

    def data(step: int) -> Any:
        x = np.random.default_rng((seed, step)).normal(size=(32, features)).astype(np.float32)
        return x, (x @ teacher > 0).astype(np.float32)[:, None]

    layers = {
        "a": ("linear", (features, width)), "norm": ("batch1", (width,)), "b": ("linear", (width, width)),
        "out": ("linear", (width, 1)),
    }  # fmt: skip
    return Job(layers, forward, lambda f, z, y: f.bce_logits(z, y), data, seed=_seed(rng))


@_network
def transformer(rng: Rng) -> Job:
    """A block with two heads and a causal mask; the next word is said."""
    words, width, places = int(rng.integers(9, 20)), 4 * int(rng.integers(2, 5)), int(rng.integers(4, 7))
    seed, hidden = _seed(rng), float(rng.choice([-1e9, -1e4]))
    after = rng.integers(0, words, words)
    mask = np.triu(np.full((places, places), hidden, np.float32), 1)

    def forward(f: Any, n: Any, x: Any, p: Any) -> Any:
        h = n["table"](f.ints(x))
        g = n["n1"](h)
        q, k, v = n["q"](g), n["k"](g), n["v"](g)
        half = width // 2
        heads = []
        for part in (slice(0, half), slice(half, width)):
            scores = f.matmul(q[..., part], f.turned(k[..., part])) * half**-0.5
            heads.append(f.matmul(f.softmax(p("scores", scores + f.constant(mask)), -1), v[..., part]))
        h = h + n["o"](f.join(heads, -1))
        h = h + n["down"](p("mid", f.gelu(n["up"](n["n2"](h)))))
        return n["out"](p("late", h)).reshape(-1, words)

    def data(step: int) -> Any:
        x = np.random.default_rng((seed, step)).integers(0, words, (10, places)).astype(np.int32)
        return x, after[x].reshape(-1).astype(np.int32)

    layers = {
        "table": ("table", (words, width)), "n1": ("layer", (width,)), "q": ("linear", (width, width)),
        "k": ("linear", (width, width)), "v": ("linear", (width, width)), "o": ("linear", (width, width)),
        "n2": ("layer", (width,)), "up": ("linear", (width, 3 * width)), "down": ("linear", (3 * width, width)),
        "out": ("plain", (width, words)),
    }  # fmt: skip
    return Job(layers, forward, lambda f, z, y: f.ce(z, y), data, rate=0.02, seed=_seed(rng))


@_network
def regression(rng: Rng) -> Job:
    """A deep network of leaky units that learns a number."""
    features, width, depth = int(rng.integers(3, 9)), int(rng.integers(12, 30)), int(rng.integers(3, 7))
    teacher, seed = rng.normal(size=(features, 1)), _seed(rng)

    def forward(f: Any, n: Any, x: Any, p: Any) -> Any:
        for at in range(depth):
            x = n[f"l{at}"](x)
            x = p("mid", f.maximum(x, 0.1 * x)) if at == depth // 2 else f.maximum(x, 0.1 * x)
        return n["out"](p("late", x))

    def data(step: int) -> Any:
        x = np.random.default_rng((seed, step)).normal(size=(40, features)).astype(np.float32)
        return x, np.sin(x @ teacher).astype(np.float32)

    layers = {f"l{at}": ("linear", (features if at == 0 else width, width)) for at in range(depth)}
    layers["out"] = ("linear", (width, 1))
    optimizer = str(rng.choice(["adam", "sgd", "ada"]))
    rate = {"adam": 3e-3, "sgd": 0.05, "ada": 0.02}[optimizer]
    return Job(
        layers, forward, lambda f, z, y: f.huber(z, y), data, optimizer=optimizer, rate=rate, seed=_seed(rng)
    )  # fmt: skip


@_network
def wide_and_deep(rng: Rng) -> Job:
    """Sparse rows of a large table beside dense features; most rows are never read."""
    rows, width, classes, seed = int(rng.integers(200, 400)), int(rng.integers(4, 9)), 2, _seed(rng)
    meaning = rng.integers(0, classes, 12)

    def forward(f: Any, n: Any, x: Any, p: Any) -> Any:
        found = n["table"](f.ints(x)).mean(1)
        deep = p("late", f.relu(n["b"](p("mid", f.relu(n["a"](found))))))
        return n["out"](f.join((deep, found), 1))

    def data(step: int) -> Any:
        main = np.random.default_rng((seed, step)).integers(0, 12, 32)
        return np.stack([main, main + 12], 1).astype(np.int32), meaning[main].astype(np.int32)

    layers = {
        "table": ("table", (rows, width)), "a": ("linear", (width, 20)), "b": ("linear", (20, 12)),
        "out": ("linear", (12 + width, classes)),
    }  # fmt: skip
    return Job(layers, forward, lambda f, z, y: f.ce(z, y), data, seed=_seed(rng))


@_network
def squeezed(rng: Rng) -> Job:
    """Convolutions with batch normalisation, a squeeze and a gate a channel, a mean over the image, dropout."""
    channels, classes = int(rng.integers(6, 12)), int(rng.integers(2, 6))

    def forward(f: Any, n: Any, x: Any, p: Any) -> Any:
        x = f.relu(n["n1"](n["c1"](x)))
        gate = f.sigmoid(n["up"](f.relu(n["down"](x.mean((2, 3))))))
        x = x * gate.reshape(gate.shape[0], -1, 1, 1)
        x = f.relu(n["n2"](n["c2"](p("mid", x)))) + x
        return n["out"](n["drop"](p("late", x.mean((2, 3)))))

    layers = {
        "c1": ("same", (3, channels, 3)), "n1": ("batch2", (channels,)), "down": ("linear", (channels, 4)),
        "up": ("linear", (4, channels)), "c2": ("same", (channels, channels, 3)), "n2": ("batch2", (channels,)),
        "drop": ("drop", (10,)), "out": ("linear", (channels, classes)),
    }  # fmt: skip
    data = classes_of(rng, (3, 7, 7), classes, 16)
    return Job(layers, forward, lambda f, z, y: f.ce(z, y), data, optimizer="sgd", rate=0.1, seed=_seed(rng))


@_network
def variational(rng: Rng) -> Job:
    """An autoencoder whose inner numbers have a mean and a variance."""
    features, seed = int(rng.integers(8, 16)), _seed(rng)

    def forward(f: Any, n: Any, x: Any, p: Any) -> Any:
        h = p("mid", f.tanh(n["a"](x)))
        mean, spread = n["mean"](h), n["spread"](h)
        noise = f.constant(np.random.default_rng(seed).normal(size=(24, 4)))
        z = mean + noise * f.exp(spread * 0.5)
        return f.join((n["d"](p("late", f.tanh(n["c"](z)))), mean, spread), 1)

    def loss(f: Any, z: Any, y: Any) -> Any:
        out, mean, spread = z[:, :features], z[:, features : features + 4], z[:, features + 4 :]
        return f.mse(out, y) + 0.01 * (f.exp(spread) + f.square(mean) - 1 - spread).mean()

    def data(step: int) -> Any:
        z = np.random.default_rng((seed, step)).normal(size=(24, 2))
        x = np.tanh(z @ np.random.default_rng(seed).normal(size=(2, features))).astype(np.float32)
        return x, x.copy()

    layers = {
        "a": ("linear", (features, 16)), "mean": ("linear", (16, 4)), "spread": ("linear", (16, 4)),
        "c": ("linear", (4, 16)), "d": ("linear", (16, features)),
    }  # fmt: skip
    return Job(layers, forward, loss, data, seed=_seed(rng))


def draw(rng: Rng, name: str = "") -> tuple[str, Job]:
    """A healthy training and its network's name."""
    name = name or str(rng.choice(list(NETWORKS)))
    return name, NETWORKS[name](rng)
