"""What the calls of ``graph_calls.txt`` use, as text: functions, methods and cells of a user."""
# ruff: noqa: F821 - after the begin of ``tests/differential/mistakes_prelude.py``

import functools


def one(x):
    return x * 2


def dflt(x, y=1):
    return x * y


def star(*xs):
    return xs[0]


def kws(x, **k):
    return x


def konly(x, *, y):
    return x * y


def outer_wrong(x):
    return one(x, 1)


def nested(x):
    def inner(z):
        return z + 1

    return inner(x, 1)


def nested2(x):
    def inner(z):
        return z + 1

    return inner(y=x)


lam = lambda x: x + 1  # noqa: E731
part = functools.partial(dflt, y=2)


class Cell1(nn.Cell):
    def construct(self, x, y=2):
        return x * y


class CellK(nn.Cell):
    def construct(self, x, **k):
        return x


class WithMethod(nn.Cell):
    def helper(self, x):
        return x * 2

    @staticmethod
    def stat(x):
        return x * 2

    @classmethod
    def cm(cls, x):
        return x * 2

    def construct(self, x):
        return self.helper(x)


class M1(WithMethod):
    def construct(self, x):
        return self.helper(x, 1)


class M2(WithMethod):
    def construct(self, x):
        return self.helper()


class M3(WithMethod):
    def construct(self, x):
        return self.helper(y=x)


class M4(WithMethod):
    def construct(self, x):
        return self.stat(x, 1)


class M5(WithMethod):
    def construct(self, x):
        return self.stat(y=x)


class M6(WithMethod):
    def construct(self, x):
        return self.cm(x, 1)


class Plain:
    def __init__(self, k=1):
        self.k = k

    def act(self, x):
        return x * self.k

    def __call__(self, x):
        return x * self.k


plain = Plain()


@ms.jit_class
class JC:
    def __init__(self, k=1):
        self.k = k

    def act(self, x):
        return x * self.k

    def __call__(self, x):
        return x * self.k


jc = JC()
cell1, cellk, wm = Cell1(), CellK(), WithMethod()
m1, m2, m3, m4, m5, m6 = M1(), M2(), M3(), M4(), M5(), M6()
dense, relu, mse, seq = nn.Dense(3, 2), nn.ReLU(), nn.MSELoss(), nn.SequentialCell(nn.ReLU())
conv = nn.Conv2d(2, 3, 2)


def thrower(x):
    raise TypeError("mine")


@ms.jit
def jitted(x):
    return x * 2


# what no graph is made of, whether or not it would run
def with_set(x):
    a = {1, 2}
    return x * len(a)


def with_set_that_never_runs(x):
    if x is None:
        return {1}
    return x * 2


def with_try(x):
    try:
        return x * 2
    except ValueError:
        return x


def with_import(x):
    import math

    return x * math.pi


def with_class(x):
    class A:
        pass

    return x * 2


def with_named(x):
    return x * (k := 2) + k


def with_delete(x):
    a = 2
    del a
    return x * 2


def with_nonlocal(x):
    k = 1

    def inner():
        nonlocal k
        k = 2
        return x * k

    return inner()


def with_inner_set(x):
    def inner():
        return {1}

    return x * 2


class Flags(nn.Cell):
    def __init__(self, kind=None):
        super().__init__()
        self.flag, self.none = False, None


class FlagSet(Flags):
    def construct(self, x):
        if self.flag:
            x = {1}
        return x


class FlagReturned(Flags):
    def construct(self, x):
        if not self.flag:
            return x
        return {1}


class FlagElse(Flags):
    def construct(self, x):
        if self.none is None and not self.flag:
            x = x * 2
        else:
            x = {x}
        return x


class FlagTaken(Flags):
    def construct(self, x):
        if not self.flag:
            x = x * len({1})
        return x


class FlagExpression(Flags):
    def construct(self, x):
        return {1} if self.flag else x


class MadeWithSet:
    def __init__(self):
        self.a = {1}

    def act(self, x):
        return x * len(self.a)


class CellWithTry(nn.Cell):
    def construct(self, x):
        try:
            return x
        finally:
            pass


flag_set, flag_returned, flag_else, flag_taken = FlagSet(), FlagReturned(), FlagElse(), FlagTaken()
flag_expression, cell_with_try = FlagExpression(), CellWithTry()
