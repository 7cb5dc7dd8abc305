"""A result that is never fetched: the wait for it ends, whatever Dask does. Nothing here is a cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from harness.scale import link as links
from harness.scale.link import Landed, Link


class Client:
    """A client of a scheduler that has each task's result at once, and lets ``answer`` fetch it."""

    def __init__(self, answer: Any) -> None:
        self.scheduler, self.address, self.gather = self, "tcp://nowhere", answer
        self.released: list[str] = []

    def submit(self, *_: Any, key: str, **__: Any) -> Any:
        client = self

        class Future:
            status = "finished"

            def __init__(self) -> None:
                self.key = key

            async def exception(self) -> None:
                """The task has none."""

            def release(self) -> None:
                client.released.append(key)

        return Future()


async def never(keys: list[str]) -> None:
    await asyncio.Event().wait()


async def at_once(keys: list[str]) -> dict[str, Any]:
    return {"status": "OK", "data": {key: len(key) for key in keys}}


@pytest.fixture
def hours(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A clock that goes on by an hour whenever somebody looks at it."""
    passing = iter(range(0, 3600 * 1000, 3600))
    monkeypatch.setattr(links, "clock", lambda: next(passing))
    monkeypatch.setattr(links, "TICK", 0.001)
    return


def landed(link: Link) -> Landed:
    return asyncio.run(link.perform("four", len, ("four",), None))


@pytest.mark.usefixtures("hours")
def test_a_result_that_does_not_come_is_lost() -> None:
    client = Client(never)
    found = landed(Link(None, client, 10_000.0))  # type: ignore[arg-type]
    assert found == ("lost", "the worker that had the result is gone")
    assert client.released == ["four"]


def test_a_worker_that_goes_ends_what_is_fetched_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "TICK", 0.001)

    async def goes(keys: list[str]) -> None:
        link.gone += 1
        await never(keys)

    link = Link(None, Client(goes), float("inf"))  # type: ignore[arg-type]
    assert landed(link).kind == "lost"


def test_a_result_that_comes_is_given() -> None:
    assert landed(Link(None, Client(at_once), 1.0)) == ("done", 4)  # type: ignore[arg-type]
