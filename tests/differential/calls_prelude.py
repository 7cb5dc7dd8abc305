"""The begin of each program of ``calls.py``, after that of ``mistakes.py``: arguments, and how results are told."""
# ruff: noqa: F821 - the names of the other prelude

SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-3, 65504.0, -2.5)


def drawn(shape, dtype, seed, special=False, low=-12, high=13):
    count = int(np.prod(shape))
    values = np.random.RandomState(seed).randint(low, high, count) / (4 if "int" not in dtype else 1)
    if special:
        values = np.where(np.random.RandomState(seed + 1).rand(count) < 0.4, np.resize(SPECIAL, count), values)
    values = values.reshape(shape)
    if dtype == "bool_":
        return Tensor(values > 0)
    if "complex" in dtype:
        return Tensor((values + 1j * values[..., ::-1] if shape else values + 1j).astype(dtype))
    if dtype == "bfloat16":
        return Tensor(values.astype(np.float32)).astype(ms.bfloat16)
    return Tensor(values.astype(np.int64).astype(dtype) if "int" in dtype else values.astype(dtype))


def given(act):
    try:
        return [whole(act()), "", []]
    except Exception as raised:
        bases = [k.__name__ for k in type(raised).__mro__ if k.__module__ == "builtins"]
        kept = [name for name in bases if name not in ("Exception", "BaseException", "object")] or ["Exception"]
        return [None, f"{type(raised).__name__}: {raised}"[:60000], kept]


def whole(value):
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, [whole(v) for v in value]]
    if isinstance(value, ms.Tensor):
        wide = value.astype(ms.float32) if value.dtype == ms.bfloat16 else value
        return [str(value.dtype), list(value.shape), flat(wide.asnumpy())]
    if isinstance(value, (np.ndarray, np.generic)):
        return [f"numpy {value.dtype}", list(value.shape), flat(value)]
    if isinstance(value, (bool, int, float)):
        return [type(value).__name__, [], [repr(value)]]
    return [type(value).__name__, [], [str(value)]]


def flat(array):
    return [repr(x) for x in np.asarray(array).ravel()[:200].tolist()]


def say(number, mode, act):
    ms.set_context(mode=0 if mode == "graph" else 1)
    first = given(act)
    again = given(act) if mode != "graph" and not first[2] else first
    print("\n" + json.dumps({"call": number, "mode": mode, "out": first, "same": first == again}), flush=True)
