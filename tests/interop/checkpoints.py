"""Writes and reads checkpoints: ``checkpoints.py write|read DIRECTORY``, under the real MindSpore or ``msdump run``.

``write`` leaves files of both formats; ``read`` reads what another process left and prints, as JSON, what it found.
"""

from __future__ import annotations

import json
import os
import sys

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import Tensor, nn
from mindspore.train import CheckpointConfig, Model, ModelCheckpoint

DTYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32",
          "float64", "bool_")  # fmt: skip
CONFIGS = {
    "default": {},
    "steps2": {"save_checkpoint_steps": 2},
    "steps4": {"save_checkpoint_steps": 4},
    "last": {"save_checkpoint_steps": 100, "append_info": ["epoch_num", "step_num", {"rate": 0.5, "on": True}]},
    "keep2": {"keep_checkpoint_max": 2},
    "never": {"save_checkpoint_steps": 0, "save_checkpoint_seconds": 0},
    "minutes": {"keep_checkpoint_max": 0, "keep_checkpoint_per_n_minutes": 1},
    "safetensors": {"format": "safetensors", "keep_checkpoint_max": 2},
    "crc": {"crc_check": True, "save_checkpoint_steps": 100},
}


def rows():
    for at in range(12):
        yield np.float32([at % 5, (at * 7) % 3, 1]) / 4, np.array(at % 2, np.int32)


def model():
    network = nn.Dense(3, 2)
    network.weight.set_data(Tensor(np.float32([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]])))
    network.bias.set_data(Tensor(np.float32([0, 0])))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    return Model(network, loss, nn.Adam(network.trainable_params(), 0.1), metrics={"loss"})


def data():
    return ds.GeneratorDataset(rows, ["data", "label"], shuffle=False).batch(4)


def tensors():
    return [{"name": name, "data": Tensor(np.array([[1, 0, 1]]), getattr(ms, name))} for name in DTYPES]


def write(folder):
    os.chdir(folder)
    more = {"whole": 7, "part": 0.25, "yes": True}
    ms.save_checkpoint(tensors(), "all.ckpt", append_dict={**more, "text": "naïve text"}, crc_check=True)
    ms.save_checkpoint(tensors(), "all.safetensors", append_dict=more, format="safetensors")
    for name, settings in CONFIGS.items():
        for _ in range(2):
            model().train(2, data(), ModelCheckpoint("P", name, CheckpointConfig(**settings)))


def shown(value):
    if isinstance(value, str):
        return value
    return [str(value.dtype), list(value.shape), value.astype(ms.float64).asnumpy().tolist()]


def read(folder):
    found = {}
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            for file in sorted(os.listdir(path)):
                if not file.endswith(".meta"):
                    form = file.rpartition(".")[2]
                    loaded = ms.load_checkpoint(os.path.join(path, file), format=form)
                    other = model()
                    missing = ms.load_param_into_net(other._train_network, loaded)
                    found[f"{name}/{file}"] = [
                        list(loaded),
                        missing[0],
                        shown(other._train_network.trainable_params()[0]),
                    ]
        elif name.startswith("all."):
            form = name.rpartition(".")[2]
            loaded = ms.load_checkpoint(path, format=form, crc_check=form == "ckpt")
            found[name] = {key: shown(value) for key, value in loaded.items()}
    print(json.dumps(found))


if __name__ == "__main__":
    ms.set_context(mode=ms.GRAPH_MODE)
    {"write": write, "read": read}[sys.argv[1]](sys.argv[2])
