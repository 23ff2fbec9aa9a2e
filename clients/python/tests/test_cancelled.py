"""An agent that stops waiting for a step: what the store has and what the agent knows stay the same."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from server import LONG, WORKER, Server

import step47
from step47._wire import Abort, Away, Reply, Request, Wire


class Gate:
    """Holds each answer to a commit back until it is let through."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._loop = asyncio.get_running_loop()
        self.answered, self._open = asyncio.Event(), asyncio.Event()
        exchange = Wire.exchange

        def held_back(wire: Wire, request: Request, timeout: float, abort: Abort | None = None) -> Reply | Away:
            reply = exchange(wire, request, timeout, abort)
            if request.path.endswith("/commit"):
                self._loop.call_soon_threadsafe(self.answered.set)
                asyncio.run_coroutine_threadsafe(self._open.wait(), self._loop).result()
            return reply

        monkeypatch.setattr(Wire, "exchange", held_back)

    def open(self) -> None:
        self._open.set()


@step47.step(key="add:{n}", fold=lambda state, n: state.update(sum=state.get("sum", 0) + n))
async def add(n: int) -> int:
    return n


@step47.step(key="look:{n}")
async def look(n: int) -> int:
    return n


def test_a_commit_that_is_under_way_is_waited_for_and_the_state_is_right(
    server: Server, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def agent() -> Any:
        async with step47.arun("test-agent", id=run_id, client=server.client) as run:
            gate = Gate(monkeypatch)
            first = asyncio.ensure_future(add(1))
            await gate.answered.wait()
            first.cancel()
            gate.open()
            with pytest.raises(asyncio.CancelledError):
                await first
            await look(2)
            await add(10)
            return run.state

    assert asyncio.run(agent()) == {"sum": 11}
    assert server.client.state(run_id) == {"sum": 11}
    assert server.status(run_id) == "done"


def test_a_step_that_is_cancelled_before_its_turn_to_commit_holds_nobody_up(
    server: Server, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def agent() -> Any:
        async with step47.arun("test-agent", id=run_id, client=server.client) as run:
            gate = Gate(monkeypatch)
            first = asyncio.ensure_future(add(1))
            await gate.answered.wait()
            second, third = asyncio.ensure_future(add(10)), asyncio.ensure_future(add(100))
            core = run._core
            while len(core.turn._queue) < 2:
                await asyncio.sleep(0)
            second.cancel()
            gate.open()
            await asyncio.gather(first, third)
            with pytest.raises(asyncio.CancelledError):
                await second
            assert await add(10) == 10
            return run.state

    assert asyncio.run(agent()) == {"sum": 111}
    assert server.client.state(run_id) == {"sum": 111}


def test_a_worker_that_does_not_know_the_state_any_more_changes_nothing(
    server: Server, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while a commit was under way, and the agent went on."""
    exchange = Wire.exchange

    def interrupted(wire: Wire, request: Request, timeout: float, abort: Abort | None = None) -> Reply | Away:
        exchange(wire, request, timeout, abort)
        if request.path.endswith("/commit"):
            raise KeyboardInterrupt
        return exchange(wire, request, timeout, abort)

    @step47.step(key="plain:{n}", fold=lambda state, n: state.update(sum=state.get("sum", 0) + n))
    def plain(n: int) -> int:
        return n

    @step47.step
    def nothing() -> None: ...

    def agent() -> None:
        with step47.run("test-agent", id=run_id, client=server.client, ttl=LONG, worker=WORKER):
            with monkeypatch.context() as patched:
                patched.setattr(Wire, "exchange", interrupted)
                with pytest.raises(KeyboardInterrupt):
                    plain(1)
            nothing()

    with pytest.raises(step47.LeaseLost):
        agent()
    assert server.client.state(run_id) == {"sum": 1}
