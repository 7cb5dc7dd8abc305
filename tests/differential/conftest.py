"""The fixtures of processes with the real MindSpore, and with this project in its place."""

from tests.interop.conftest import both, mindspore_python, mindspore_side, own_side

__all__ = ["both", "mindspore_python", "mindspore_side", "own_side"]
