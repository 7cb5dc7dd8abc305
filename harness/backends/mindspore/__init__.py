"""The real MindSpore: programs run in separate processes, under an interpreter that has it."""

from harness.backends.mindspore.backend import MINDSPORE, Mindspore

__all__ = ["MINDSPORE", "Mindspore"]
