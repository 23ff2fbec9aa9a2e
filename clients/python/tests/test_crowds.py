"""Many steps of one event loop at once: none waits for a thread that only another one can give back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from server import Server

import step47
from step47 import _drive as driving
from step47 import _threads as pools
from step47._turn import Turn


@pytest.fixture
def one_thread(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The pool of 256 threads, as it is with 256 of everything under way and room for one more."""
    with ThreadPoolExecutor(1) as one:
        for module in (driving, pools):
            monkeypatch.setattr(module, "threads", one, raising=False)
        yield


@pytest.mark.usefixtures("one_thread")
def test_steps_that_wait_for_their_turn_to_commit_leave_the_threads_to_the_one_that_commits(
    server: Server, run_id: str
) -> None:
    @step47.step(key="{n}", fold=lambda state, n: state.update(sum=state.get("sum", 0) + n))
    async def add(n: int) -> int:
        return n

    async def agent() -> object:
        async with step47.arun("test-agent", id=run_id, client=server.client) as run:
            await asyncio.wait_for(asyncio.gather(*map(add, range(20))), 60)
            return run.state

    assert asyncio.run(agent()) == {"sum": 190}


@pytest.mark.usefixtures("one_thread")
def test_open_gates_leave_the_threads_to_commits(server: Server, run_id: str) -> None:
    @step47.step
    async def work() -> int:
        return 1

    async def agent() -> None:
        async with step47.arun("test-agent", id=run_id, client=server.client, ttl=120) as run:
            gate: asyncio.Future[step47.Answer[Any]] = asyncio.ensure_future(run.gate("ok", "Go on?"))
            await asyncio.to_thread(server.until_step, run_id, 1, "waiting")
            # Shorter than a look at a gate lasts.
            assert await asyncio.wait_for(work(), 20) == 1
            await asyncio.to_thread(server.decide, run_id, "approve", step=1)
            assert (await gate).approved

    asyncio.run(agent())


def test_turns_come_in_order_and_a_place_that_is_given_up_is_passed_over() -> None:
    turn = Turn()
    places = [turn.queue() for _ in range(4)]
    assert [place.done() for place in places] == [True, False, False, False]
    turn.leave(places[1])
    turn.leave(places[0])
    assert [place.done() for place in places[2:]] == [True, False]
    turn.leave(places[2])
    turn.leave(places[3])
    assert turn.queue().done(), "it is free again"


def test_a_place_that_is_given_up_when_its_turn_has_come_gives_it_on() -> None:
    turn = Turn()
    first, second, third = (turn.queue() for _ in range(3))
    turn.leave(first)
    turn.leave(second)
    assert third.done()
