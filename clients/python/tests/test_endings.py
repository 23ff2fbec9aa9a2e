"""However an agent ends: its run is finished, failed or given back, and never held on to."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from colours import Colour
from server import Server

import step47
from step47._core import Core
from step47._flow import Send
from step47._lease import Lease, clock
from step47._open import settle
from step47._state import Live
from step47._wire import Reply, Wire

INVALID = Reply(422, b'{"code":"invalid","detail":"because"}')


@pytest.mark.parametrize("result", [b"bytes", float("nan"), "half a character \udc80", "no \0"])
def test_a_result_that_cannot_be_recorded_fails_the_run(server: Server, run_id: str, result: Any) -> None:
    worker = step47.Worker(server.client)
    worker.agent(run_id)(lambda run: result)
    thread = threading.Thread(target=worker.run)
    thread.start()
    server.client.create(run_id, id=run_id)
    server.until_status(run_id, "failed")
    worker.stop()
    thread.join(30)
    assert server.client.run(run_id)["error"]["kind"] in ("ShapeError", "invalid", "malformed")


def test_an_error_is_recorded_whatever_its_text_holds(server: Server, colour: Colour, run_id: str) -> None:
    @colour.step(key="open")
    def opens() -> None:
        raise FileNotFoundError("no file \udc80\0.txt")

    async def agent() -> None:
        async with colour.open(server, run_id):
            await opens()

    with pytest.raises(step47.StepFailed):
        asyncio.run(agent())
    run = server.client.run(run_id)
    assert run["status"] == "failed"
    assert run["error"]["message"] == "no file \\udc80\\x00.txt"
    assert server.client.step(run_id, 1)["status"] == "failed"


def test_an_agent_may_fail_its_run_with_any_words(server: Server, colour: Colour, run_id: str) -> None:
    async def agent() -> None:
        async with colour.open(server, run_id) as run:
            await colour.done(run.fail("", "\ud800" + "x" * 200_000))

    asyncio.run(agent())
    run = server.client.run(run_id)
    assert (run["status"], run["error"]["kind"]) == ("failed", "error")


def test_a_run_whose_end_is_refused_is_given_back(server: Server, run_id: str) -> None:
    """A step was cancelled, and the agent ends as if all were well."""

    @step47.step
    async def endless() -> None:
        await asyncio.Event().wait()

    async def agent() -> None:
        async with step47.arun("test-agent", id=run_id, client=server.client):
            step = asyncio.ensure_future(endless())
            await asyncio.to_thread(server.until_step, run_id, 1, "running")
            step.cancel()

    with pytest.raises(step47.Refused, match="step_in_flight"):
        asyncio.run(agent())
    assert server.client.run(run_id).get("lease") is None
    assert server.status(run_id) == "ready"


def test_a_run_that_can_neither_be_ended_nor_given_back_is_not_held_on_to() -> None:
    lease = Lease("r", 1, 60.0, clock())
    core = Core(Wire("http://127.0.0.1:1", "t"), lease, {}, Live(dict, {}, 0), loops=False)
    flow = settle(core, None)
    command, asked = next(flow), list[str]()

    def refuse() -> None:
        nonlocal command
        while isinstance(command, Send):
            asked.append(command.request.path)
            command = flow.send(INVALID)

    with pytest.raises(step47.Refused):
        refuse()
    assert asked == ["/v1/runs/r/finish", "/v1/runs/r/finish", "/v1/runs/r/release"]
    assert lease.over, "no heartbeat keeps it from everybody else"


def test_an_agent_whose_event_loop_is_gone_lets_its_run_go(server: Server, run_id: str) -> None:
    opened: list[step47.AsyncRun[Any]] = []

    async def agent() -> None:
        async with step47.arun("test-agent", id=run_id, client=server.client) as run:
            opened.append(run)
            asyncio.get_running_loop().stop()
            await asyncio.Event().wait()

    loop = asyncio.new_event_loop()
    coroutine = agent()
    task = loop.create_task(coroutine)
    loop.run_forever()
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    loop.close()
    assert opened[0]._core.lease.held()
    coroutine.close()
    assert opened[0]._core.lease.over
