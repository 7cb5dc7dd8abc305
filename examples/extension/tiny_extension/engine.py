"""A runtime in numpy that records what it runs: operators are declared as they run, buffers are used again."""

import numpy as np

from harness.recording import Recording

NAME = "tinyrt 1.0"
KERNELS = {
    "Scale": lambda out, x, factor: np.multiply(x, np.float32(factor), out=out),
    "Add": lambda out, x, y: np.add(x, y, out=out),
}


class Chain:
    """``(x * factor + x) * factor``, in three operators.

    Args:
        recording: what is told.
        factor: an attribute of the operators that scale.
    """

    def __init__(self, recording: Recording, factor: float = 2.0) -> None:
        self.recording, self.factor = recording, factor
        self.graph = recording.eager()

    def __call__(self, x, fail=False):
        x = np.asarray(x)
        buffers = np.empty((2, *x.shape), x.dtype)  # the second operator's buffer is the third's, too
        with self.recording.step(self.graph) as step:

            def launch(kind, scope, arrays, edges, out, **attributes):
                operator = self.graph.operator(kind, f"Default/{scope}", attributes, edges, mutates=())
                with step.launch(operator, arrays) as running:
                    if fail and scope == "last":
                        raise ArithmeticError("the kernel failed on purpose")
                    return operator, running.done(KERNELS[kind](out, *arrays, *attributes.values()))

            one, scaled = launch("Scale", "first", [x], [None], buffers[0], factor=self.factor)
            two, added = launch("Add", "sum", [scaled, x], [one, None], buffers[1])
            _, made = launch("Scale", "last", [added], [two], buffers[0], factor=self.factor)
            return made.copy()
