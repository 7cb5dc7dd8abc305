"""What fails while rows are made: a ``RuntimeError``, whose text holds what the user's function raised.

Source: MindSpore 2.10.0, measured (``tests/data/programs/dataset_refusals.txt``).
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from typing import Any

from harness.errors import HarnessError, StateError

_LINE = "-" * 66


def failed(error: Exception, operation: str = "") -> StateError:
    """The error for what a user's function raised: where, and its own traceback; ``operation`` ran it."""
    own = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    said = f"map operation: [{operation}] failed. Error description:\n{type(error).__name__}: " if operation else ""
    return StateError(
        "Exception thrown from user defined Python function in dataset. \n\n"
        f"{_LINE}\n- Python Call Stack: \n{_LINE}\n{said}{own}\n"
    )


def asked(function: Callable[..., Any], *values: Any, operation: str = "") -> Any:
    """The function's result; what it raises becomes a ``StateError``, unless it is an error of ours."""
    try:
        return function(*values)
    except HarnessError:
        raise
    except Exception as error:
        raise failed(error, operation) from error


def drawn(items: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """The items of a user's generator or iterable, in the same way."""
    try:
        yield from items()
    except HarnessError:
        raise
    except Exception as error:
        raise failed(error) from error
