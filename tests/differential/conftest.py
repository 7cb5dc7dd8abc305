"""The fixture that names the real MindSpore's interpreter."""

from tests.interop.conftest import mindspore_python

__all__ = ["mindspore_python"]
