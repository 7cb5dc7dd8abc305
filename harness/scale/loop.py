"""A separate event loop: every wait on Dask is a coroutine in it, and every wait has a limit.

Nothing else of this package waits on Dask. A wait of Dask's own may last for ever (a result whose worker is gone, an
answer over a cut link), so it is either asked for with a limit here, or begun and watched (``flights.py``).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

#: Seconds that the end of a loop is waited for.
_END = 5.0


class Loop:
    """Runs coroutines in a thread that ends with the process at the latest."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="msdump-scale", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        # The receiver of a fault tells the user; what Dask drops at its end concerns nobody.
        self._loop.set_exception_handler(lambda loop, context: None)
        self._loop.run_forever()

    def begin(self, coroutine: Coroutine[Any, Any, Any]) -> Future[Any]:
        """Starts a coroutine; to be watched, or cancelled."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def turn(self) -> Future[None]:
        """Done as soon as the loop has come to all that was begun before: it may be busy."""
        return self.begin(asyncio.sleep(0))

    def ask(self, coroutine: Coroutine[Any, Any, Any], seconds: float) -> Any:
        """Waits for a coroutine and returns its result.

        Raises:
            TimeoutError: it gives nothing for so many seconds; it is cancelled.
            Exception: its own.
        """
        future = self.begin(coroutine)
        try:
            return future.result(seconds)
        finally:
            future.cancel()

    def close(self) -> None:
        """Ends what still runs, then the thread."""
        with suppress(Exception):
            self.ask(self._cancelled(), _END)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_END)
        if not self._thread.is_alive():
            self._loop.close()

    async def _cancelled(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        if others:
            await asyncio.wait(others, timeout=_END / 2)
