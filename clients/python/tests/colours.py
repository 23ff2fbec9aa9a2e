"""One test for both ways to write an agent: plain functions, and asynchronous ones."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol

from server import LONG, WORKER, Server

import step47

Call = Callable[..., Awaitable[Any]]


class Colour(Protocol):
    """How an agent is written. Everything is awaited; what is plain below has then happened already."""

    name: str

    def step(self, **rules: Any) -> Callable[[Callable[..., Any]], Call]:
        """`@step` on a function: plain, or made asynchronous."""
        ...

    def open(self, server: Server, run: str, **options: Any) -> AbstractAsyncContextManager[Any]:
        """`step47.run` or `step47.arun`."""
        ...

    async def done(self, outcome: Any) -> Any:
        """What a method of the run gave."""
        ...

    async def each(self, step: Call, items: list[Any]) -> list[Any]:
        """`step47.each` or `step47.aeach`."""
        ...


def options_of(server: Server, run: str, options: dict[str, Any]) -> dict[str, Any]:
    given = {"agent": "test-agent", "worker": WORKER, "ttl": LONG, "client": server.client, **options}
    return {"id": run, **given}


class Plain:
    name = "plain"

    def step(self, **rules: Any) -> Callable[[Callable[..., Any]], Call]:
        def made(function: Callable[..., Any]) -> Call:
            step = step47.step(**rules)(function)

            async def call(*args: Any, **kwargs: Any) -> Any:
                return step(*args, **kwargs)

            call.step = step  # type: ignore[attr-defined]
            return call

        return made

    @asynccontextmanager
    async def open(self, server: Server, run: str, **options: Any) -> AsyncIterator[Any]:
        with step47.run(**options_of(server, run, options)) as opened:
            yield opened

    async def done(self, outcome: Any) -> Any:
        return outcome

    async def each(self, step: Any, items: list[Any]) -> list[Any]:
        return step47.each(step.step, items)


class Asynchronous:
    name = "async"

    def step(self, **rules: Any) -> Callable[[Callable[..., Any]], Call]:
        def made(function: Callable[..., Any]) -> Call:
            @functools.wraps(function)
            async def work(*args: Any, **kwargs: Any) -> Any:
                outcome = function(*args, **kwargs)
                return await outcome if isinstance(outcome, Awaitable) else outcome

            step: Call = step47.step(**rules)(work)
            return step

        return made

    @asynccontextmanager
    async def open(self, server: Server, run: str, **options: Any) -> AsyncIterator[Any]:
        async with step47.arun(**options_of(server, run, options)) as opened:
            yield opened

    async def done(self, outcome: Any) -> Any:
        return await outcome

    async def each(self, step: Any, items: list[Any]) -> list[Any]:
        return await step47.aeach(step, items)


COLOURS: list[Colour] = [Plain(), Asynchronous()]
