"""Makes dumps of small PyTorch models by the real msprobe, and compares dumps with it: run by a Python that has both.

``msprobe_torch.py dump JOBS``, ``msprobe_torch.py compare PAIRS`` and ``msprobe_torch.py load FOLDERS``: files of JSON.
Each job runs in a fork, because importing takes longer than all else and msprobe keeps its settings for the whole
process.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from typing import Any


def models() -> dict[str, Any]:
    """The models, by name: each makes a module, its input, and a loss."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Mlp(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Linear(8, 16), nn.Linear(16, 4)

        def forward(self, x: Any) -> Any:
            return self.b(F.gelu(self.a(x), approximate="tanh"))

    class Norms(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.norm, self.last = nn.Linear(8, 8), nn.BatchNorm1d(8, eps=1e-4), nn.LayerNorm(8)

        def forward(self, x: Any, scale: float = 1.5) -> Any:
            return self.last(self.norm(self.a(x)) * scale)

    class Conv(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Conv2d(1, 3, 3, padding=1), nn.Linear(12, 4)

        def forward(self, x: Any) -> Any:
            x = F.max_pool2d(F.relu(self.a(x.reshape(-1, 1, 2, 4))), 2, stride=1, padding=1)
            return self.b(x.flatten(1)[:, :12])

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.q, self.k, self.v = (nn.Linear(8, 8) for _ in range(3))

        def forward(self, x: Any) -> Any:
            q, k, v = (each(x).reshape(1, -1, 2, 4).transpose(1, 2) for each in (self.q, self.k, self.v))
            weights = torch.softmax(torch.matmul(q, k.transpose(-1, -2)) / 2.0, dim=-1)
            return torch.matmul(weights, v).transpose(1, 2).reshape(-1, 8)

    class Embedding(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.out = nn.Embedding(16, 8), nn.Linear(8, 4)

        def forward(self, x: Any) -> Any:
            places = (x.float().abs() * 7).long().clamp(0, 15)
            return self.out(self.table(places).mean(dim=1))

    class Residual(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))

        def forward(self, x: Any) -> Any:
            for block in self.blocks:
                x = x + torch.tanh(block(x))
            return torch.cat([x, x * 0.5], dim=-1)

    class Gated(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.up, self.gate, self.down = nn.Linear(8, 12), nn.Linear(8, 12), nn.Linear(12, 8)

        def forward(self, x: Any) -> Any:
            return self.down(F.silu(self.gate(x)) * self.up(x))

    class Rms(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight, self.out = nn.Parameter(torch.ones(8)), nn.Linear(8, 4)

        def forward(self, x: Any) -> Any:
            size = x.pow(2).mean(-1, keepdim=True)
            return self.out(x * torch.rsqrt(size + 1e-5) * self.weight)

    class Switch(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)

        def forward(self, x: Any) -> Any:
            return torch.where(x > 0, self.a(x), self.b(x).clamp(-1.0, 1.0))

    class Dropped(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.drop = nn.Linear(8, 8), nn.Dropout(0.25)

        def forward(self, x: Any) -> Any:
            return self.drop(F.leaky_relu(self.a(x), negative_slope=0.1)).sum(dim=0, keepdim=True)

    found = (Mlp, Norms, Conv, Attention, Embedding, Residual, Gated, Rms, Switch, Dropped)
    return {each.__name__: each for each in found}


def change(model: Any, what: str) -> None:
    """Changes a model: ``weight:a.weight`` moves a parameter, ``set:norm.eps=0.5`` an attribute, ``skip:gelu`` leaves a
    function out, ``swap:relu=tanh`` calls another one."""
    import torch
    from torch.nn import functional as F

    kind, _, name = what.partition(":")
    name, _, value = name.partition("=")
    owner, _, attribute = name.rpartition(".")
    if kind == "weight":
        model.get_parameter(name).data.add_(0.25)
    elif kind == "set":
        setattr(model.get_submodule(owner), attribute, float(value))
    else:
        holder = F if hasattr(F, name) else torch
        setattr(holder, name, (lambda x, **_: x) if kind == "skip" else getattr(torch, value))


def dump(job: dict[str, Any]) -> None:
    """Makes one dump: ``model``, ``level``, ``task``, ``dtype``, ``options``, ``out``, ``rank`` and ``world``."""
    import torch
    from msprobe.pytorch import PrecisionDebugger  # type: ignore[import-not-found]

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    if job.get("world", 1) > 1:
        torch.distributed.init_process_group(
            "gloo", init_method=f"file://{job['out']}.meet", rank=job["rank"], world_size=job["world"]
        )
    torch.manual_seed(job.get("seed", 0))
    model = models()[job["model"]]().to(getattr(torch, job["dtype"]))
    if job.get("change"):
        change(model, job["change"])
    settings = {
        "task": job["task"], "dump_path": job["out"], "rank": [], "step": job.get("steps", [0]), "level": job["level"],
        job["task"]: job.get("options", {}),
    }  # fmt: skip
    config = f"{job['out']}.{job.get('rank', 0)}.json"
    with open(config, "w", encoding="utf-8") as file:
        json.dump(settings, file)
    debugger = PrecisionDebugger(config_path=config)
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    for _ in range(max(settings["step"]) + 1):
        debugger.start(model=model)
        x = torch.randn(4, 8, dtype=getattr(torch, job["dtype"]))
        loss = model(x).float().pow(2).mean()
        loss.backward()
        if job.get("world", 1) > 1:
            for parameter in model.parameters():
                torch.distributed.all_reduce(parameter.grad)
        debugger.stop()
        debugger.step()
        optimizer.step()
        optimizer.zero_grad()


def compare(pair: dict[str, Any]) -> None:
    """Compares ``target`` with ``golden`` (each a ``dump.json``), and writes the table into ``out``."""
    from msprobe.msprobe import main as msprobe  # type: ignore[import-not-found]

    os.makedirs(pair["out"], exist_ok=True)
    sys.argv = ["msprobe", "compare", "-tp", pair["target"], "-gp", pair["golden"], "-o", pair["out"]]
    msprobe()


def load(job: dict[str, Any]) -> None:
    """Writes ``out``: of each ``.pt`` file in ``folder`` its dtype, shape, and the bytes in hexadecimal digits."""
    import torch

    found = {}
    for name in sorted(os.listdir(job["folder"])):
        tensor = torch.load(os.path.join(job["folder"], name), weights_only=True).contiguous()
        raw = bytes(tensor.reshape(-1).view(torch.uint8).tolist()) if tensor.numel() else b""
        found[name] = [str(tensor.dtype), list(tensor.shape), raw.hex()]
    with open(job["out"], "w", encoding="utf-8") as file:
        json.dump(found, file)


def main(what: str, file: str) -> None:
    """Runs every job of a file in a fork; their output goes to ``OUT.log``."""
    import msprobe.pytorch  # noqa: F401  (here once, not in each fork)
    import torch  # noqa: F401

    with open(file, encoding="utf-8") as opened:
        jobs = json.load(opened)
    run = {"dump": dump, "compare": compare, "load": load}[what]
    failed = 0
    for job in jobs:
        children = []
        for rank in range(job.get("world", 1)):
            child = os.fork()
            if not child:
                log = os.open(f"{job['out']}.{rank}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.dup2(log, 1)
                os.dup2(log, 2)
                try:
                    run({**job, "rank": rank})
                except BaseException:
                    traceback.print_exc()
                    os._exit(1)
                sys.stdout.flush()
                os._exit(0)
            children.append(child)
        failed += sum(os.waitpid(child, 0)[1] != 0 for child in children)
    print(f"{len(jobs)} jobs, {failed} failed")


if __name__ == "__main__":
    main(*sys.argv[1:3])
