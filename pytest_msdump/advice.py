"""What to do about a first mistake with the fixture, in one or two indented lines each."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Iterable
from typing import Any

from pytest_msdump.variants import FIXTURE, MARKER_ARGUMENTS, TAKE_IT, UNITTEST

METHODS = ("run", "train", "check", "inject")
ON_MARKER = (
    "  backends, modes, tolerance and level belong to the marker: "
    "@pytest.mark.msdump(backends=['cpu', 'gpu'], tolerance=1e-3)"
)
_CALLED = re.compile(r"Msdump\.(\w+)\(\) ")
_KEYWORD = re.compile(r"unexpected keyword argument '(\w+)'")
#: what people call the marker's arguments
_OF_MARKER = frozenset({*MARKER_ARGUMENTS, "backend", "mode", "rtol", "atol", "tol"})
#: failed imports of the fixture, as Python words them
_IMPORTS = ("No module named 'msdump'", "cannot import name 'msdump'", "name 'msdump' is not defined")


def on_misuse(error: BaseException) -> list[str]:
    """What to do about a wrong call of the fixture; empty for any other error."""
    from pytest_msdump.fixture import Msdump

    if isinstance(error, AttributeError) and isinstance(error.obj, Msdump):
        near = difflib.get_close_matches(str(error.name), METHODS, n=1, cutoff=0.5)
        hint = f"did you mean {FIXTURE}.{near[0]}? " if near else ""
        return [f"  {hint}it has {', '.join(METHODS)}, backend and mode"]
    if not isinstance(error, TypeError):
        return []
    text = str(error)
    if text == "'Msdump' object is not callable":
        return [f"  {usage('run')}", f"  {usage('check')}"]
    called = _CALLED.match(text)
    unknown = _KEYWORD.search(text)
    if called is None and unknown is not None and unknown[1] in _OF_MARKER:  # run hands it on to the network
        return [f"  {usage('run')}", ON_MARKER]
    if called is None or called[1] not in METHODS:
        return []
    return [f"  {usage(called[1])}", *([ON_MARKER] if unknown is not None and unknown[1] in _OF_MARKER else [])]


def usage(name: str) -> str:
    """How a method of the fixture is called: ``msdump.run(network, *inputs, steps=1)``."""
    from pytest_msdump.fixture import Msdump

    shown = [
        str(each.replace(annotation=inspect.Parameter.empty))
        for each in list(inspect.signature(getattr(Msdump, name)).parameters.values())[1:]
        if each.kind is not inspect.Parameter.KEYWORD_ONLY or each.name == "steps"
    ]
    return f"it is called as {FIXTURE}.{name}({', '.join(shown)})"


def on_absence(error: BaseException) -> list[str]:
    """What to do where a test lacks the fixture that it uses; empty for any other error."""
    if isinstance(error, NameError) and error.name == FIXTURE:
        return [TAKE_IT]
    missing = f"missing 1 required positional argument: '{FIXTURE}'"
    return UNITTEST.split("\n") if isinstance(error, TypeError) and str(error).endswith(missing) else []


def on_import(text: str) -> str:
    """The message for a test file that imports the fixture, or uses it outside of a test; empty for any other
    ``text`` of a failed collection."""
    found = next((each for each in _IMPORTS if each in text), "")
    return f"{found}\n{TAKE_IT}" if found else ""


def on_inputs(error: BaseException, inputs: Iterable[Any]) -> list[str]:
    """What to do about inputs that are no tensors, or of a dtype that the network does not compute with."""
    given = list(inputs)
    if not all(
        each is None or isinstance(each, (bool, int, float, complex)) or hasattr(each, "dtype") for each in given
    ):
        return ["  cells take tensors, numpy arrays and numbers; of a list: Tensor([...], float32)"]
    dtypes = {str(getattr(each, "dtype", "")).lower() for each in given}
    if type(error).__name__ == "DtypeError" and "float64" in dtypes:
        return ["  numpy makes float64 where nothing else is said; give float32: x.astype(np.float32)"]
    return []
