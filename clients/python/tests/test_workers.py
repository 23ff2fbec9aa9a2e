"""Workers: they claim runs, carry several on at a time, and leave between two steps when they are asked to end."""

from __future__ import annotations

import asyncio
import itertools
import signal
import sys
import threading
from typing import Any

import pytest
from colours import Colour
from processes import counted, lines, start
from server import Server, eventually

import step47


def signed(server: Server, agent: str) -> list[str]:
    return lines(server.folder / f"{agent}.effects")


def test_a_worker_asked_to_end_releases_its_runs_between_two_steps_and_another_goes_on(
    server: Server, colour: Colour, run_id: str
) -> None:
    runs = [f"{run_id}-{n}" for n in range(3)]
    for run in runs:
        server.client.create(f"agent-{run_id}", id=run)
    first = start(server, "workers.py", colour.name, f"agent-{run_id}", str(server.folder), "2")
    inside = [f"{run} 1" for run in runs[:2]]
    eventually("two runs are carried on", lambda: set(inside) <= set(signed(server, f"agent-{run_id}")))
    assert server.status(runs[2]) == "pending", "there is room for two"

    first.send_signal(signal.SIGTERM)
    for run in runs:
        (server.folder / f"{run}.go").touch()
    said, _ = first.communicate()
    assert first.returncode == 0, said
    for run in runs[:2]:
        found = server.client.run(run)
        assert (found["status"], found["committed"]) == ("ready", 2), "what was in flight is committed"

    second = start(server, "workers.py", colour.name, f"agent-{run_id}", str(server.folder), "2")
    for run in runs:
        server.until_status(run, "done")
        assert server.client.run(run)["result"] == 3
    second.send_signal(signal.SIGINT)
    said, _ = second.communicate()
    assert second.returncode == 0, said
    assert set(counted(signed(server, f"agent-{run_id}")).values()) == {1}


def test_a_killed_workers_runs_go_to_the_next(server: Server, colour: Colour, run_id: str) -> None:
    server.client.create(f"agent-{run_id}", id=run_id)
    first = start(server, "workers.py", colour.name, f"agent-{run_id}", str(server.folder), "1")
    eventually("it works", lambda: f"{run_id} 1" in signed(server, f"agent-{run_id}"))
    worker = server.client.run(run_id)["lease"]["worker"]
    first.kill()
    first.communicate()
    server.vouch_dead(run_id, worker)
    assert server.status(run_id) == "crashed", "nobody knows whether it was signed"
    server.decide(run_id, "commit", step=2, result=1)
    server.decide(run_id, "resume")
    second = start(server, "workers.py", colour.name, f"agent-{run_id}", str(server.folder), "1")
    server.until_status(run_id, "done")
    second.send_signal(signal.SIGTERM)
    second.communicate()
    assert signed(server, f"agent-{run_id}") == [f"{run_id} {n}" for n in range(3)]


def test_a_second_signal_ends_it_at_once(server: Server, colour: Colour, run_id: str) -> None:
    server.client.create(f"agent-{run_id}", id=run_id)
    worker = start(server, "workers.py", colour.name, f"agent-{run_id}", str(server.folder), "1")
    eventually("it is inside a step", lambda: f"{run_id} 1" in signed(server, f"agent-{run_id}"))
    worker.send_signal(signal.SIGINT)
    assert worker.stdout
    assert any("asked to end" in line for line in worker.stdout), "the first signal was heard"
    worker.send_signal(signal.SIGINT)
    worker.communicate()
    assert worker.returncode == -signal.SIGINT
    assert server.status(run_id) == "running", "nobody had time to say goodbye"


def test_plain_and_asynchronous_agents_share_a_worker(server: Server, run_id: str) -> None:
    worker = step47.Worker(server.client, concurrency=3)

    @worker.agent(f"plain-{run_id}")
    def plain(run: step47.Run[dict[str, Any]]) -> Any:
        return run.input()

    @worker.agent(f"async-{run_id}")
    async def asynchronous(run: step47.AsyncRun[dict[str, Any]]) -> Any:
        await run.milestone("here")
        return run.input()

    @worker.agent(f"fails-{run_id}")
    def fails(run: step47.Run[dict[str, Any]]) -> None:
        raise LookupError(run.id)

    async def work() -> None:
        task = asyncio.ensure_future(worker.arun())
        await asyncio.to_thread(watch)
        worker.stop()
        await task

    def watch() -> None:
        for agent in ("plain", "async", "fails"):
            server.client.create(f"{agent}-{run_id}", id=f"{agent}-{run_id}", input=agent)
        for agent in ("plain", "async"):
            server.until_status(f"{agent}-{run_id}", "done")
            assert server.client.run(f"{agent}-{run_id}")["result"] == agent
        server.until_status(f"fails-{run_id}", "failed")

    asyncio.run(work())


def test_a_worker_in_a_thread_can_be_stopped(server: Server, run_id: str) -> None:
    worker = step47.Worker(server.client)
    worker.agent(run_id)(lambda run: run.id)
    thread = threading.Thread(target=worker.run)
    thread.start()
    server.client.create(run_id, id=run_id)
    server.until_status(run_id, "done")
    worker.stop()
    thread.join(30)
    assert not thread.is_alive()


def test_a_worker_with_a_wrong_token_says_so(server: Server) -> None:
    worker = step47.Worker(step47.Client(server.url, "s47_wrong"))
    worker.agent("any")(lambda run: None)
    with pytest.raises(step47.Refused, match="STEP47_TOKEN"):
        worker.run()


def test_a_worker_whose_task_is_cancelled_leaves_its_runs_between_two_steps(server: Server, run_id: str) -> None:
    worker = step47.Worker(server.client)

    @step47.step(key="{n}")
    async def work(n: int) -> int:
        return n

    @worker.agent(run_id)
    async def endless(run: step47.AsyncRun[dict[str, Any]]) -> None:
        for n in itertools.count():
            await work(n)

    async def agent() -> None:
        task = asyncio.ensure_future(worker.arun())
        await asyncio.to_thread(server.client.create, run_id, id=run_id)
        await asyncio.to_thread(server.until_step, run_id, 2, "committed")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 30)

    asyncio.run(agent())
    assert server.status(run_id) == "ready"


def test_an_agent_that_ends_its_process_fails_its_run_and_the_worker_goes_on(
    server: Server, colour: Colour, run_id: str
) -> None:
    worker, called = step47.Worker(server.client), list[str]()

    def exits(run: Any) -> None:
        called.append(run.id)
        sys.exit("enough")

    async def aexits(run: Any) -> None:
        exits(run)

    worker.agent(run_id)(exits if colour.name == "plain" else aexits)
    thread = threading.Thread(target=worker.run)
    thread.start()
    for run in (run_id, f"{run_id}-next"):
        server.client.create(run_id, id=run)
        server.until_status(run, "failed")
        assert server.client.run(run)["error"]["kind"] == "SystemExit"
    worker.stop()
    thread.join(30)
    assert called == [run_id, f"{run_id}-next"]
