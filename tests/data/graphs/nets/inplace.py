"""Values changed in place: ``x += y`` and its like on results, inputs, parameters and constants; gradients of it."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3) + 1)
y = Tensor(np.full((2, 3), 2, np.float32))
row = Tensor(np.array([1, 2, 3], np.float32))
half = Tensor(np.arange(6, dtype=np.float16).reshape(2, 3) + 1)
whole = Tensor(np.arange(6, dtype=np.int32).reshape(2, 3) + 1)


def run(function, *inputs, differentiated=None):
    """A cell that computes ``function``, run once; with the gradients of some inputs if they are named."""

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.relu = nn.ReLU()

        def construct(self, *inputs):
            return function(self, *inputs)

    net = Net()
    if differentiated is None:
        net(*inputs)
        return
    gradients = ms.value_and_grad(net, differentiated, None)

    @ms.jit
    def step(*inputs):
        return gradients(*inputs)

    step(*inputs)


def add_on_op(net, x, y):
    z = x * 2
    z += y
    return z


def sub_t(net, x, y):
    z = x * 2
    z -= y
    return z


def mul_t(net, x, y):
    z = x * 2
    z *= y
    return z


def div_t(net, x, y):
    z = x * 2
    z /= y
    return z


def add_s(net, x):
    z = x * 2
    z += 1
    return z


def sub_s(net, x):
    z = x * 2
    z -= 1.5
    return z


def mul_s(net, x):
    z = x * 2
    z *= 1.5
    return z


def div_s(net, x):
    z = x * 2
    z /= 1.5
    return z


def floordiv(net, x, y):
    z = x * 2
    z //= y
    return z


def mod(net, x, y):
    z = x * 2
    z %= y
    return z


def alias(net, x, y):
    z = x * 2
    a = z
    z += y
    return a, z


def read_before(net, x, y):
    z = x * 2
    b = z * 3
    z += y
    return b, z


def read_both(net, x, y):
    z = x * 2
    b = z + 3
    z += y
    c = z * 3
    return b * c


def bcast(net, x, r):
    z = x * 2
    z += r
    return z


def twice(net, x, y):
    z = x * 2
    z += y
    z += y
    return z


def self_add(net, x):
    z = x * 2
    z += z
    return z


def alias_read_both(net, x, y):
    z = x * 2
    a = z
    b = a + 1
    z += y
    c = a * 3
    return b * c * z


def input_before(net, x, y):
    b = x + 1
    x += y
    return b


def two_values(net, x, y):
    z = x * 2
    w = y * 2
    z += w
    w += z
    return z * w


def dead(net, x, y):
    z = x * 2
    z += y
    return x


def reshaped(net, x, y):
    z = x * 2
    v = z.reshape((3, 2))
    z += y
    return v, z


def loop(net, x, y):
    z = ops.zeros_like(x)
    for k in range(3):
        z += y * k
    return z


def int_f(net, i):
    z = i * 2
    z += 1.5
    return z


def int_div(net, i):
    z = i * 2
    z /= 2
    return z


def relu(net, x, y):
    z = net.relu(x)
    z += y
    return net.relu(z)


def f_scalar_t(net, x):
    z = x * 2
    z += ops.reduce_sum(x)
    return z


def muls_neg(net, x):
    x *= -1
    x -= 2
    x /= 2
    return x


def mod_s(net, x):
    z = x * 2
    z %= 3
    z //= 2
    return z


def g_relu(net, x, y):
    z = net.relu(x)
    z += y
    return net.relu(z)


def g_sigmoid(net, x, y):
    z = ops.sigmoid(x)
    z += y
    return ops.sigmoid(z)


def g_alias(net, x, y):
    z = x * y
    a = z
    z *= y
    return a * z


def g_twice(net, x, y):
    z = x * y
    z += y
    z *= y
    return z * 2


def g_addb(net, x, r):
    z = x * 2
    z += r
    return z * x


def g_addh(net, x, h):
    z = x * 2
    z += h
    return z * x


def g_subb(net, x, r):
    z = x * 2
    z -= r
    return z * x


def g_mulb(net, x, r):
    z = x * 2
    z *= r
    return z * x


def g_mulh(net, x, h):
    z = x * 2
    z *= h
    return z * x


def g_divb(net, x, r):
    z = x * 2
    z /= r
    return z * x


def g_adds(net, x, y):
    z = x * y
    z += 1
    z -= 2
    z *= 3
    z /= 4
    return z * x


def g_mul_x(net, x, y):
    z = x * 2
    z *= y
    return z * y


def g_mod(net, x, y):
    z = x * 2
    z %= y
    return z * y


def g_self(net, x):
    z = x * 2
    z += z
    return z * x


def g_concat(net, x, y):
    z = x * y
    b = ops.concat((z, y))
    z += y
    c = ops.concat((z, y))
    return b * c


def g_items(net, x, y):
    a, b = ops.split(x * y, 1, 0)
    a += b
    return a * b


def g_out(net, x, y):
    z = ops.sigmoid(x)
    t = z * y
    z += t
    return z * y


def g_input(net, x, y):
    z = x * y
    x += y
    return z * x


def g_const(net, x):
    z = ops.zeros((2, 3), ms.float32)
    z += x * x
    return z * x


def g_rb_mul2(net, x, y):
    z = x * y
    z *= y
    z *= x
    return z * 3


run(add_on_op, x, y)
run(sub_t, x, y)
run(mul_t, x, y)
run(div_t, x, y)
run(add_s, x)
run(sub_s, x)
run(mul_s, x)
run(div_s, x)
run(floordiv, x, y)
run(mod, x, y)
run(alias, x, y)
run(read_before, x, y)
run(read_both, x, y)
run(bcast, x, row)
run(twice, x, y)
run(self_add, x)
run(alias_read_both, x, y)
run(input_before, x, y)
run(two_values, x, y)
run(dead, x, y)
run(reshaped, x, y)
run(loop, x, y)
run(int_f, whole)
run(int_div, whole)
run(relu, x, y)
run(f_scalar_t, x)
run(muls_neg, x)
run(mod_s, x)
run(g_relu, x, y, differentiated=(0, 1))
run(g_sigmoid, x, y, differentiated=(0, 1))
run(g_alias, x, y, differentiated=(0, 1))
run(g_twice, x, y, differentiated=(0, 1))
run(g_addb, x, row, differentiated=(0, 1))
run(g_addh, x, half, differentiated=(0, 1))
run(g_subb, x, row, differentiated=(0, 1))
run(g_mulb, x, row, differentiated=(0, 1))
run(g_mulh, x, half, differentiated=(0, 1))
run(g_divb, x, row, differentiated=(0, 1))
run(g_adds, x, y, differentiated=(0, 1))
run(g_mul_x, x, y, differentiated=0)
run(g_mod, x, y, differentiated=(0, 1))
run(g_self, x, differentiated=0)
run(g_concat, x, y, differentiated=(0, 1))
run(g_items, x, y, differentiated=(0, 1))
run(g_out, x, y, differentiated=(0, 1))
run(g_input, x, y, differentiated=(0, 1))
run(g_const, x, differentiated=0)
run(g_rb_mul2, x, y, differentiated=(0, 1))
