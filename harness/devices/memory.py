"""How much memory a device takes for a tensor.

Sources: CPU measured on MindSpore 2.10.0 (80 bytes take 512); Ascend from the public source of its allocator; GPU not
checked, taken like the CPU.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Memory:
    """Alignment of a device's memory, in bytes.

    Attributes:
        block: sizes are multiples of it.
        tail: bytes a tensor needs behind its own before it is rounded up.
        communication_tail: bytes added to a buffer of a collective after it is rounded up.
    """

    block: int = 512
    tail: int = 0
    communication_tail: int = 0

    def aligned(self, size: int, communication: bool = False) -> int:
        """Bytes taken for ``size`` bytes; 0 stays 0. A collective's buffer has no ``tail`` within."""
        if size < 0:
            raise ValueError(f"a size in bytes is at least 0, got {size}")
        if size == 0:
            return 0
        tail = 0 if communication else self.tail
        whole = -(-(size + tail) // self.block) * self.block
        return whole + (self.communication_tail if communication else 0)
