"""Values that nothing reads: which is inferred first depends on all names of a function (the parser's hash map)."""

# ruff: noqa: F841, RUF059 - values that nothing reads are what it shows

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
data = Tensor(np.arange(16, dtype=np.float32).reshape(4, 4) / 8)


class Part(nn.Cell):
    def construct(self, x):
        return ops.silu(x)


class Parts(nn.Cell):
    def __init__(self, count):
        super().__init__()
        for at in range(count):
            setattr(self, f"part{at}", Part())


class Idle0(Parts):
    def construct(self, x):
        gate = self.part0(x)
        a_longer_name_of_it = self.part1(x)
        return ops.silu(x)


class Idle1(Parts):
    def construct(self, x):
        v12 = self.part0(x)
        v7 = self.part1(x)
        score, score_more = ops.chunk(self.part2(x), 2, 0)
        return ops.silu(x)


class Idle2(Parts):
    def construct(self, x):
        v3 = self.part0(x)
        hidden = self.part1(x)
        z = self.part2(x)
        x1 = self.part3(x)
        return ops.silu(x)


class Idle3(Parts):
    def construct(self, x):
        v7 = self.part0(x)
        value_of_the_query = self.part1(x)
        a_longer_name_of_it = self.part2(x)
        out = self.part3(x)
        return ops.silu(x)


class Idle4(Parts):
    def construct(self, x):
        gate = self.part0(x)
        keys = self.part1(x)
        value_of_the_query, value_of_the_query_more = ops.chunk(self.part2(x), 2, 0)
        y = self.part3(x)
        tmp = self.part4(x)
        return ops.silu(x)


class Idle5(Parts):
    def construct(self, x):
        weight_sum = self.part0(x)
        v12 = self.part1(x)
        tmp, tmp_more = ops.chunk(self.part2(x), 2, 0)
        h = self.part3(x)
        x1 = self.part4(x)
        return ops.silu(x)


class Idle6(Parts):
    def construct(self, x):
        tmp = self.part0(x)
        n = self.part1(x)
        h = self.part2(x)
        weight_sum = self.part3(x)
        a_longer_name_of_it = self.part4(x)
        v3 = self.part5(x)
        return ops.silu(x)


class Idle7(Parts):
    def construct(self, x):
        y = self.part0(x)
        hidden = self.part1(x)
        mask, mask_more = ops.chunk(self.part2(x), 2, 0)
        v7 = self.part3(x)
        gate = self.part4(x)
        z = self.part5(x)
        v12 = self.part6(x)
        return ops.silu(x)


class Idle8(Parts):
    def construct(self, x):
        score = self.part0(x)
        tmp = self.part1(x)
        hidden, hidden_more = ops.chunk(self.part2(x), 2, 0)
        a_longer_name_of_it = self.part3(x)
        x1 = self.part4(x)
        attention = self.part5(x)
        v3 = self.part6(x)
        keys = self.part7(x)
        y = self.part8(x)
        return ops.silu(x)


class Idle9(Parts):
    def construct(self, x):
        a_longer_name_of_it = self.part0(x)
        keys = self.part1(x)
        h = self.part2(x)
        v28 = self.part3(x)
        z = self.part4(x)
        n = self.part5(x)
        v3 = self.part6(x)
        value_of_the_query = self.part7(x)
        gate = self.part8(x)
        hidden = self.part9(x)
        return ops.silu(x)


class Idle10(Parts):
    def construct(self, x):
        gate = self.part0(x)
        a_longer_name_of_it = self.part1(x)
        tmp, tmp_more = ops.chunk(self.part2(x), 2, 0)
        out = self.part3(x)
        hidden = self.part4(x)
        x1 = self.part5(x)
        n = self.part6(x)
        mask = self.part7(x)
        v3 = self.part8(x)
        value_of_the_query = self.part9(x)
        v7 = self.part10(x)
        return ops.silu(x)


class Idle11(Parts):
    def construct(self, x):
        score = self.part0(x)
        mask = self.part1(x)
        v3 = self.part2(x)
        h = self.part3(x)
        hidden = self.part4(x)
        keys = self.part5(x)
        v12 = self.part6(x)
        z = self.part7(x)
        v7 = self.part8(x)
        gate = self.part9(x)
        value_of_the_query = self.part10(x)
        n = self.part11(x)
        return ops.silu(x)


class Idle12(Parts):
    def construct(self, x):
        y = self.part0(x)
        v28 = self.part1(x)
        mask = self.part2(x)
        h = self.part3(x)
        value_of_the_query = self.part4(x)
        out = self.part5(x)
        z = self.part6(x)
        x1 = self.part7(x)
        n = self.part8(x)
        v12 = self.part9(x)
        v3 = self.part10(x)
        score = self.part11(x)
        attention = self.part12(x)
        hidden = self.part13(x)
        return ops.silu(x)


class Idle13(Parts):
    def construct(self, x):
        weight_sum = self.part0(x)
        a_longer_name_of_it = self.part1(x)
        attention = self.part2(x)
        x1 = self.part3(x)
        out = self.part4(x)
        n = self.part5(x)
        y = self.part6(x)
        score = self.part7(x)
        v3 = self.part8(x)
        mask = self.part9(x)
        value_of_the_query = self.part10(x)
        keys = self.part11(x)
        z = self.part12(x)
        hidden = self.part13(x)
        h = self.part14(x)
        v7 = self.part15(x)
        return ops.silu(x)


class Chosen(Parts):
    def construct(self, x):
        v28 = self.part0(x)
        hidden = self.part1(x)
        a_longer_name_of_it = self.part2(x)
        if self.training:
            x = x + 1
        else:
            x = x + 2
        h = self.part3(x)
        attention = self.part4(x)
        v3 = self.part5(x)
        z = self.part6(x)
        score = self.part7(x)
        return ops.silu(x)


class Looped(Parts):
    def construct(self, x):
        for _ in range(2):
            x = ops.sin(x)
        v28 = self.part0(x)
        hidden = self.part1(x)
        a_longer_name_of_it = self.part2(x)
        h = self.part3(x)
        attention = self.part4(x)
        v3 = self.part5(x)
        z = self.part6(x)
        score = self.part7(x)
        return ops.silu(x)


for net in (
    Idle0(2), Idle1(3), Idle2(4), Idle3(4), Idle4(5), Idle5(5), Idle6(6), Idle7(7), Idle8(9), Idle9(10),
    Idle10(11), Idle11(12), Idle12(14), Idle13(16), Chosen(8), Looped(8),
):  # fmt: skip
    net(data)
