"""The real MindSpore: programs run in processes of their own, under an interpreter that has it."""

from harness.backends.mindspore.backend import MINDSPORE, Mindspore

__all__ = ["MINDSPORE", "Mindspore"]
