"""Plays programs of callbacks: ``train_programs.py PROGRAMS OUT`` reads a list of them and writes their traces (JSON).

The same file runs under the real MindSpore and under ``msdump run``. A program says what each hook does (stop, raise,
change the step number) and how callbacks enter and leave; its trace is what the hooks saw, in order, and how the run
ended.
"""

from __future__ import annotations

import json
import sys

import mindspore
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.train import Callback, LossMonitor, Model

HOOKS = ("begin", "epoch_begin", "step_begin", "step_end", "epoch_end", "end")
ROWS, BATCH, SEEN = 12, 4, ("cur_epoch_num", "cur_step_num", "batch_num", "epoch_num", "mode", "dataset_sink_mode")
ERRORS = {"ValueError": ValueError, "KeyError": KeyError, "KeyboardInterrupt": KeyboardInterrupt, "Custom": LookupError}
#: errors that scripts raised
RAISED = []


def fail(error):
    RAISED.append(error)
    raise error


def shown(error):
    """An error: its built-in type, and its words if a script chose them (others are each side's own)."""
    kind = next(each.__name__ for each in type(error).__mro__ if each.__module__ == "builtins")
    return [kind, str(error) if any(error is each for each in RAISED) else ""]


def rows():
    for at in range(ROWS):
        yield np.float32([at % 5, (at * 7) % 3, 1]) / 4, np.array(at % 2, np.int32)


def dataset():
    return ds.GeneratorDataset(rows, ["data", "label"], shuffle=False).batch(BATCH)


class Player:
    """What one callback does and notes."""

    def __init__(self, index, script, trace):
        self.index, self.script, self.trace, self.calls = index, script, trace, {}

    def note(self, hook, context):
        args = context.original_args()
        seen = {name: args.get(name) for name in SEEN}
        given = sorted(name for name in args if name not in SEEN)
        self.trace.append([self.index, hook, seen, given, context.get_stop_requested()])
        count = self.calls[hook] = self.calls.get(hook, 0) + 1
        for action in self.script["actions"]:
            if action["hook"] == hook and action["call"] == count:
                self.act(action, context, args)

    @staticmethod
    def act(action, context, args):
        kind = action["do"]
        if kind == "stop":
            context.request_stop()
        elif kind == "raise":
            fail(ERRORS[action["error"]](action["text"]))
        elif kind == "step":
            args.cur_step_num = action["value"]
        elif kind == "epoch":
            args.cur_epoch_num = action["value"]
        elif kind == "note":
            args.user_defined = action["value"]

    def enter(self, other):
        self.trace.append([self.index, "enter"])
        kind = self.script["enter"]
        if kind == "raise":
            fail(ValueError(f"enter {self.index}"))
        return {"self": None, "other": other, "nothing": 5}[kind]

    def exit(self, error):
        self.trace.append([self.index, "exit", None if error is None else shown(error)])
        kind = self.script["exit"]
        if kind == "raise":
            fail(ValueError(f"exit {self.index}"))
        return kind == "swallow"


def hook(name):
    def called(self, run_context):
        self.player.note(name, run_context)

    return called


def callback(index, script, trace):
    """A callback of a class of its own that defines the hooks the script names."""
    names = [name for part in script["hooks"] for name in part_of(part)]
    player = Player(index, script, trace)

    def enter(self):
        instead = player.enter(other)
        return self if instead is None else instead

    members = {name: hook(name) for name in names}
    members |= {"player": player, "__enter__": enter, "__exit__": lambda self, kind, error, trace: player.exit(error)}
    other = type("Other", (Callback,), {name: hook("other " + name) for name in names if name.startswith("on_")})()
    other.player = player
    return type("Scripted", (Callback,), members)()


def part_of(part):
    return HOOKS if part == "old" else [f"on_{part}_{name}" for name in HOOKS]


def play(program):
    """The trace of a program, and how it ended."""
    mindspore.set_context(mode=program["mode"])
    trace = []
    network = nn.Dense(3, 2)
    network.weight.set_data(mindspore.Tensor(np.float32([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]])))
    network.bias.set_data(mindspore.Tensor(np.float32([0, 0])))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = Model(network, loss, nn.Momentum(network.trainable_params(), 0.1, 0.9), metrics={"accuracy", "loss"})
    callbacks = [callback(at, script, trace) for at, script in enumerate(program["callbacks"])]
    if program["twice"] and callbacks:
        callbacks.append(callbacks[0])
    if program["monitor"]:
        callbacks.append(LossMonitor(program["monitor"]))
    given = tuple(callbacks) if program["tuple"] else callbacks
    try:
        if program["run"] == "eval":
            result = sorted(model.eval(dataset(), callbacks=given))
        elif program["run"] == "train":
            result = model.train(
                program["epochs"], dataset(), given, initial_epoch=program["initial"], sink_size=program["sink"],
                dataset_sink_mode=program["sink"] != -1,
            )  # fmt: skip
        else:
            result = model.fit(
                program["epochs"], dataset(), dataset(), valid_frequency=program["frequency"], callbacks=given,
                initial_epoch=program["initial"],
            )  # fmt: skip
        outcome = ["returned", result]
    except BaseException as error:
        outcome = ["raised", *shown(error)]
    return {"trace": trace, "outcome": outcome, "weights": network.weight.asnumpy().tolist()}


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        programs = json.load(file)
    results = [play(program) for program in programs]
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(results, file)
