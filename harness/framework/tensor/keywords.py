"""Keywords of MindSpore's methods of a tensor: other names than here, and methods of two forms (2.10.0, measured)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from harness.errors import KernelError, SettingTypeError
from harness.framework import kinds
from harness.framework.tensor.arguments import brought
from harness.framework.tensor.dispatch import is_eager

F = TypeVar("F", bound=Callable[..., Any])

#: for each method its forms: all keywords that may be given together, each with its name here after ``=`` if that is
#: another one; ``*`` stands for the only argument (also given as several), ``-`` for one that changes nothing. In
#: front: ``ext:`` for a form of another operator (``ext=True`` here), ``eager:`` for one that has no kernel in graphs,
#: ``none:`` for one that has none at all
_FORMS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("eq", "equal", "mul", "true_divide"), ("other=y",)),
    "multiply": ("other=y", "eager: value=y"),
    "add": ("other", "ext: other alpha"),
    **dict.fromkeys(("all", "any"), ("axis keep_dims", "dim=axis keepdim=keep_dims")),
    "argmax": ("axis keepdims", "ext: dim=axis keepdim=keepdims"),
    "argmin": ("axis keepdims", "eager: dim=axis keepdim=keepdims"),
    **dict.fromkeys(("argsort", "sort"), ("axis descending", "eager: dim=axis descending stable=-")),
    "chunk": ("chunks axis", "eager: chunks dim=axis"),
    "count_nonzero": ("axis keep_dims dtype", "none: dim"),
    "cumsum": ("axis dtype", "eager: dim=axis dtype"),
    "expand_as": ("x=other", "eager: other"),
    "flatten": ("order start_dim end_dim",),
    "float_power": ("other=exponent",),
    "gather": ("input_indices axis batch_dims", "ext: dim=axis index=input_indices"),
    "index_select": ("axis index", "eager: dim=axis index"),
    "isclose": ("other rtol atol equal_nan", "x2=other rtol atol equal_nan"),
    **dict.fromkeys(("logical_and", "logical_or"), ("other", "y=other")),
    "matmul": ("tensor2=other", "other"),
    "mean": ("axis keep_dims", "ext: dim=axis keepdim=keep_dims dtype"),
    "median": ("axis keepdims", "eager: dim=axis keepdim=keepdims"),
    "narrow": ("axis start length",),
    "permute": ("axis=*", "dims=*"),
    "prod": ("dim=axis keepdim=keep_dims dtype",),
    "remainder": ("divisor=other", "ext: other"),
    "repeat_interleave": ("repeats dim=axis", "none: repeats dim output_size"),
    "reshape": ("shape=*",),
    "scatter": ("axis index src", "dim=axis index src"),
    "select": ("condition y", "ext: dim=condition index=y"),
    "split": ("split_size_or_sections axis", "ext: split_size=split_size_or_sections dim=axis"),
    "std": ("axis ddof keepdims", "eager: dim=axis correction=ddof keepdim=keepdims"),
    "sub": ("y=other", "ext: other alpha"),
    "sum": ("axis dtype keepdims initial", "dim=axis keepdim=keepdims dtype"),
    "take": ("indices axis mode", "eager: index=indices"),
    "tile": ("dims=*", "reps=*"),
    "transpose": ("axes=*", "ext: dim0 dim1"),
    "unsqueeze": ("dim", "axis=dim"),
    "var": ("axis ddof keepdims", "none: dim correction keepdim"),
    "view": ("shape=*",),
    "where": ("condition y", "eager: condition other=y"),
}


class _Form(NamedTuple):
    kind: str
    names: dict[str, str]


def _form(text: str) -> _Form:
    kind, _, words = text.rpartition(":")
    return _Form(kind, {name: own or name for name, _, own in (word.partition("=") for word in words.split())})


def with_their_keywords(method: str, function: F) -> F:
    """``function`` that takes MindSpore's keywords of ``method``, and checks its arguments.

    Raises, when called:
        SettingTypeError: keywords that are of no form, or not of one.
        KernelError: those of a form that MindSpore's CPU has no kernel for.
    """
    name = f"Tensor.{method}"
    function = brought(name, kinds.checked(name, function, 1), 1)
    if method not in _FORMS:
        return function
    forms = [_form(text) for text in _FORMS[method]]

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            return function(*args)
        taken = len(args) - 1
        form = next(
            (form for form in forms if kwargs.keys() <= form.names.keys() - set(list(form.names)[:taken])), None
        )
        if form is None:
            known = " or ".join(", ".join(form.names) for form in forms)
            raise SettingTypeError(f"Tensor.{method} takes the keywords {known}, got {', '.join(kwargs)}")
        if form.kind == "none" or (form.kind == "eager" and not is_eager()):
            place = "" if form.kind == "none" else " in a graph"
            raise KernelError(f"Tensor.{method}({', '.join(kwargs)}) has no CPU kernel{place}; use other keywords")
        given = {form.names[name]: value for name, value in kwargs.items() if form.names[name] != "-"}
        only = (given.pop("*"),) if "*" in given else ()
        if "*" not in form.names.values() and taken <= len(form.names) and form.kind == "ext":
            # What is given by position has this form's names.
            given |= dict(zip(form.names.values(), args[1:], strict=False))
            args = args[:1]
        return function(*args, *only, **given, **({"ext": True} if form.kind == "ext" else {}))

    return called  # type: ignore[return-value]
