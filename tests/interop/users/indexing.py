import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

t = Tensor(np.arange(60).reshape(3, 4, 5), ms.float32)


def show(name, f):
    try:
        r = f()
        if isinstance(r, Tensor):
            print(name, r.shape, r.dtype, r.asnumpy().ravel()[:12].tolist())
        else:
            print(name, r)
    except Exception as e:
        print(name, "raises", next(c.__name__ for c in type(e).__mro__ if c.__module__ == "builtins"))


show("int", lambda: t[1])
show("neg", lambda: t[-1, -2, -3])
show("slice", lambda: t[0:2, ::2, 1:-1])
show("negstep", lambda: t[::-1])
show("negstep2", lambda: t[:, 3:0:-2])
show("ell", lambda: t[..., 0])
show("none", lambda: t[None, :, None, 0])
show("none2", lambda: t[..., None].shape)
show("list", lambda: t[[0, 2]])
show("list2", lambda: t[[0, 2], [1, 3]])
show("list3", lambda: t[:, [0, 1, 1], 2:4])
show("list4", lambda: t[[0, 2], :, [1, 3]])
show("nested", lambda: t[[[0, 1], [1, 2]]])
show("bool", lambda: t[Tensor([True, False, True])])
show("boollist", lambda: t[[True, False, True]])
show("bool2d", lambda: t[t > 55])
show("boolmix", lambda: t[Tensor([True, False, True]), 1:3])
show("tensor", lambda: t[Tensor([2, 0], ms.int32)])
show("tensor0d", lambda: t[Tensor(1)])
show("tensorneg", lambda: t[Tensor([-1, -2])])
show("true", lambda: t[True])
show("false", lambda: t[False])
show("numpy int", lambda: t[np.int64(1)])
show("numpy arr", lambda: t[np.array([0, 1])])
show("range", lambda: t[range(2)])
show("tuple in", lambda: t[0, 1])
show("oob", lambda: t[3])
show("oob2", lambda: t[:, 9])
show("slice beyond", lambda: t[1:99].shape)
show("empty", lambda: t[3:].shape)
show("too many", lambda: t[0, 0, 0, 0])
show("broadcast idx", lambda: t[Tensor([[0], [2]]), Tensor([[1, 3]])])
show("float", lambda: t[1.0])
show("str", lambda: t["a"])


def setit(name, f):
    x = Tensor(np.arange(24).reshape(2, 3, 4), ms.float32)
    try:
        f(x)
        print("set", name, x.asnumpy().ravel().tolist())
    except Exception as e:
        print("set", name, "raises", next(c.__name__ for c in type(e).__mro__ if c.__module__ == "builtins"))


def s1(x):
    x[0] = 1


def s2(x):
    x[:, 1] = Tensor([9.0, 8.0, 7.0, 6.0])


def s3(x):
    x[x > 20] = -1


def s4(x):
    x[..., ::2] = 0


def s5(x):
    x[[0, 1], [2, 0]] = 100.0


def s6(x):
    x[1, 1:, -1] += 5


def s7(x):
    x[Tensor([0]), 1] = Tensor([[1.0, 2, 3, 4]])


def s8(x):
    x[None, 0] = 3


def s9(x):
    x[0] = [1, 2, 3, 4]


def s10(x):
    x[0] = np.ones(4)


def s11(x):
    x[5] = 1


def s12(x):
    x[0, 0] = Tensor([1.0, 2.0])


def s13(x):
    x[:] = 2


def s14(x):
    x[True] = 2


def s15(x):
    x[0][1] = 50


def s17(x):
    x[:, -2:, 1:3] = Tensor(np.ones((2, 2)), ms.int32)


def s18(x):
    x[(x > 3) & (x < 9)] *= 2


def s19(x):
    x[0, [1, 2]] = Tensor([[1.0], [2.0]])


for i in (*range(1, 16), 17, 18, 19):
    setit(f"s{i}", globals()[f"s{i}"])
i = Tensor(np.arange(6).reshape(2, 3), ms.int64)
i[0, 0] = 2.7
print(i, i.dtype)
for row in i:
    print(row, [int(v) for v in row])
print(len(i), 3 in i, i[1, 1] in [4], list(i[0]), tuple(i.shape))
a, b = i
print(a, b)
print(i[1, 1].item(), i.min().item())
print(i.index_select(1, Tensor([2, 0])), ops.gather(i, Tensor([1]), 0), i.take(Tensor([0, 5])))
print(ops.gather_elements(i, 1, Tensor([[0, 0], [2, 1]])), ops.gather_d(i, 0, Tensor([[0, 1, 0]])))
print(ops.gather_nd(i, Tensor([[0, 1], [1, 2]])), i.gather_nd(Tensor([[1]])))
print(
    ops.tensor_scatter_update(i, Tensor([[0, 0]]), Tensor([77])),
    ops.scatter_nd(Tensor([[1], [3]]), Tensor([5.0, 6.0]), (5,)),
)
print(
    ops.masked_fill(i, i > 2, 0),
    i.masked_select(i > 2),
    ops.nonzero(i > 2),
    ops.index_add(ms.Parameter(Tensor([1.0, 2, 3])), Tensor([0, 2], ms.int32), Tensor([10.0, 20.0]), 0),
)
