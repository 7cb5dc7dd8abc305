"""An operator of the emulator's, with its gradient."""

from harness.framework.ops.elementwise import Unary
from harness.framework.tensor import call as emit


class Cube(Unary):
    """x to the third power."""

    name = "Cube"
    accepts = "f"

    def kernel(self, call, x):
        return x * x * x

    def gradient(self, b):
        three = emit("Add", emit("Add", b.dout, b.dout), b.dout)
        return (emit("Mul", three, emit("Square", b.inputs[0])),)
