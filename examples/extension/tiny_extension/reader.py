"""A reader of logs: ``msdump diff one.tinylog other.tinylog``. A line is an operator, its type, and its numbers."""

import numpy as np

from harness.capture.logs import LogReader, Slot

HEAD = "# tinyrt log"


class TinyLog(LogReader):
    name = "tinylog"
    suffixes = (".tinylog",)
    backend = "tinyrt"
    mode = "tensor"

    @classmethod
    def recognises(cls, head):
        return head.startswith(HEAD)

    def records(self, path, problems):
        with open(path, encoding="utf-8") as file:
            for line in file:
                if not line.startswith("#"):
                    operator, kind, *numbers = line.split()
                    values = np.array(numbers, np.float32)
                    slot = Slot(operator, kind, "output", 0, "float32", values.shape, values=values)
                    yield self.record(slot, self.begins(operator))
