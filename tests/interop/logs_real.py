"""Logs by the real tools: ``logs_real.py debug-mode FOLDER SEED`` by a Python with PyTorch, ``logs_real.py polygraphy
FOLDER SEED`` by one with Polygraphy; ``changed FOLDER SEED OPTIONS``: logs of DebugMode of a model that is changed."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import Any


def debug_mode(folder: str, seed: int) -> None:
    """``good.log``, ``same.log`` and ``bad.log`` of a small model, whose first weight differs in the last one."""
    import torch
    from torch.utils._debug_mode import DebugMode  # type: ignore[import-not-found]

    for name in ("good", "same", "bad"):
        torch.manual_seed(seed)
        model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.LayerNorm(3))
        if name == "bad":
            model[0].weight.data[0, 0] += 0.5
        x = torch.randn(2, 4)
        hashes = DebugMode.log_tensor_hashes(hash_fn=["norm", "hash_tensor"], hash_inputs=True)
        with DebugMode(record_nn_module=True, record_ids=True) as mode, hashes:
            model(x).pow(2).sum().backward()
        with open(os.path.join(folder, f"{name}.log"), "w", encoding="utf-8") as file:
            file.write(mode.debug_string())


def changed(folder: str, seed: int, asked: str) -> None:
    """``none.log``, ``same.log`` and a log of each change; ``asked``: options of DebugMode and ``hash_fn``, in JSON."""
    import torch
    from torch.nn import functional as F
    from torch.utils._debug_mode import DebugMode

    options = json.loads(asked)
    hash_fn = options.pop("hash_fn", None)
    changes: dict[str, dict[str, Any]] = {
        "none": {}, "same": {}, "slope": {"slope": 0.3}, "dim": {"dim": 0}, "scale": {"scale": 2.5},
        "skip": {"skip": True}, "extra": {"extra": True}, "act": {"act": "silu"},
    }  # fmt: skip
    for name, change in changes.items():
        torch.manual_seed(seed)
        a, norm, b = torch.nn.Linear(6, 8), torch.nn.LayerNorm(8), torch.nn.Linear(8, 6)
        with contextlib.ExitStack() as stack:
            mode = stack.enter_context(DebugMode(**options))
            if hash_fn is not None:
                stack.enter_context(DebugMode.log_tensor_hashes(hash_fn=hash_fn))
            x = F.leaky_relu(a(torch.randn(3, 6)), change.get("slope", 0.1))
            x = x if change.get("skip") else norm(x)
            x = getattr(F, change.get("act", "gelu"))(x)
            x = b(x.clone() if change.get("extra") else x)
            (torch.softmax(x, dim=change.get("dim", -1)) * change.get("scale", 1.5)).sum().backward()
        with open(os.path.join(folder, f"{name}.log"), "w", encoding="utf-8") as file:
            file.write(mode.debug_string())


def polygraphy(folder: str, seed: int) -> None:
    """``outputs.json`` of two runners and two iterations; each array as ``RUNNER-ITERATION-NAME.npy`` beside it."""
    import numpy as np
    from polygraphy.comparator import IterationResult, RunResults  # type: ignore[import-not-found]

    drawn, results = np.random.default_rng(seed), RunResults()
    for runner in range(2):
        steps = []
        for step in range(2):
            arrays = {
                kind: drawn.integers(0, 2, tuple(drawn.integers(0, 4, drawn.integers(1, 4)))).astype(kind)
                for kind in ("float32", "float16", "int64", "int8", "uint8", "bool", "float64")
            }
            arrays["turned"] = np.asfortranarray(drawn.standard_normal((3, 2)))
            for name, array in arrays.items():
                np.save(os.path.join(folder, f"{runner}-{step}-{name}.npy"), array)
            steps.append(IterationResult(arrays, runtime=0.1, runner_name=str(runner)))
        results.append((str(runner), steps))
    results.save(os.path.join(folder, "outputs.json"))


def check(folder: str, seed: int) -> None:
    """Fails unless Polygraphy reads ``outputs.json`` and ``written.json`` as the same arrays."""
    import numpy as np
    from polygraphy.comparator import RunResults

    sides = [RunResults.load(os.path.join(folder, f"{name}.json")) for name in ("outputs", "written")]
    for (_, own), (_, other) in zip(*sides, strict=True):
        for one, two in zip(own, other, strict=True):
            assert list(one) == list(two), seed
            for name in one:
                assert one[name].dtype == two[name].dtype, (seed, name)
                assert np.array_equal(one[name], two[name]), (seed, name)


if __name__ == "__main__":
    kinds = {"debug-mode": debug_mode, "changed": changed, "polygraphy": polygraphy, "check": check}
    kinds[sys.argv[1]](sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
