"""Stands in for the ``msdump`` fixture outside of pytest: runs what a network's ``play`` gives it, and nothing else."""

from harness import nn


class Recorder:
    """Same methods as the fixture."""

    def run(self, network, *inputs, steps=1):
        for _ in range(steps):
            network(*inputs)

    def train(self, network, loss, optimizer, batches):
        step = nn.TrainOneStepCell(nn.WithLossCell(network, loss), optimizer)
        step.set_train()
        for batch in batches:
            step(*batch)
