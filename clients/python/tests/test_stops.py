"""Pause, cancel, gates, sleep, lost leases: where an agent stops, and how it goes on."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from typing import Any

import pytest
from colours import Colour
from server import Server, eventually

import step47
from step47._core import Core
from step47._flow import Send
from step47._lease import Lease, clock
from step47._state import Live
from step47._take import answered
from step47._wire import Wire

# Heartbeats come every third of it: signals reach a waiting agent soon, and a busy machine does not miss it.
BEATING = 6.0


@pytest.mark.parametrize(
    ("kind", "stopped", "status"), [("pause", step47.Paused, "paused"), ("cancel", step47.Cancelled, "cancelled")]
)
def test_an_operator_stops_a_run_between_two_steps(
    server: Server, colour: Colour, run_id: str, kind: str, stopped: type[step47.Left], status: str
) -> None:
    did: list[str] = []

    @colour.step(key="{name}")
    def work(name: str) -> str:
        did.append(name)
        if name == "first":
            server.operator.decide(run_id, kind, reason="looking into it")
        return name

    async def agent() -> None:
        async with colour.open(server, run_id):
            assert await work("first") == "first", "what is in flight may still commit"
            assert await work("first") == "first", "a replay is still answered"
            try:
                await work("second")
            except Exception:
                pytest.fail("no Exception: tool wrappers catch those")

    with pytest.raises(stopped):
        asyncio.run(agent())
    run = server.client.run(run_id)
    assert (run["status"], run["steps"], run.get("lease")) == (status, 1, None)
    assert did == ["first"]


def test_an_interrupted_run_is_released_between_two_steps(server: Server, colour: Colour, run_id: str) -> None:
    @colour.step(key="{name}")
    def work(name: str) -> str:
        return name

    async def agent() -> None:
        async with colour.open(server, run_id) as run:
            await work("first")
            run.interrupt()
            await work("second")

    with pytest.raises(step47.Interrupted):
        asyncio.run(agent())
    assert server.status(run_id) == "ready"


def test_the_last_step_in_flight_closes_the_door(server: Server, run_id: str) -> None:
    held = asyncio.Event()

    @step47.step(key="{name}")
    async def work(name: str) -> str:
        if name == "slow":
            await held.wait()
        return name

    async def agent() -> None:
        async with step47.arun("test-agent", id=run_id, client=server.client) as run:
            slow = asyncio.ensure_future(work("slow"))
            while not await asyncio.to_thread(server.client.steps, run_id):
                pass
            run.interrupt()
            with pytest.raises(step47.Interrupted):
                await work("next")
            assert (await asyncio.to_thread(server.client.run, run_id))["lease"], "a step is in flight"
            held.set()
            assert await slow == "slow"
            found = await asyncio.to_thread(server.client.run, run_id)
            assert (found["status"], found["committed"]) == ("ready", 1)

    asyncio.run(agent())


def decides(server: Server, run: str, kind: str, **fields: Any) -> threading.Thread:
    """An operator who decides about the first step once it waits."""

    def operate() -> None:
        server.until_step(run, 1, "waiting")
        server.decide(run, kind, **fields)

    thread = threading.Thread(target=operate)
    thread.start()
    return thread


def test_a_gate_waits_for_its_answer_and_folds_it_in_once(server: Server, colour: Colour, run_id: str) -> None:
    async def agent() -> tuple[Any, Any, Any]:
        async with colour.open(server, run_id) as run:
            ask: Any = {"choices": ["yes", "no"], "fold": lambda state, said: state.update(said=said.choice)}
            answer = await colour.done(run.gate("publish", "Publish?", **ask))
            again = await colour.done(run.gate("publish", "Publish?", **ask))
            return answer, again, run.state

    operator = decides(server, run_id, "answer", step=1, result={"choice": "yes"})
    answer, again, state = asyncio.run(agent())
    operator.join()
    assert answer == again
    assert (answer.decision, answer.choice, answer.approved) == ("answer", "yes", False)
    assert state == {"said": "yes"}
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(answer)


@dataclass
class Price:
    cents: int
    reason: str = ""


def test_a_free_answer_has_the_type_that_was_asked_for(server: Server, colour: Colour, run_id: str) -> None:
    async def agent() -> Any:
        async with colour.open(server, run_id) as run:
            return await colour.done(run.gate("price", "What is it worth?", answer=Price, context={"sku": 7}))

    def operate() -> None:
        gate = server.until_step(run_id, 1, "waiting")["gate"]
        assert gate["schema"]["required"] == ["cents"]
        assert gate["context"] == {"sku": 7}
        with pytest.raises(step47.Refused):
            server.decide(run_id, "answer", step=1, result={"cents": "many"})
        server.decide(run_id, "answer", step=1, result={"cents": 5})

    operator = threading.Thread(target=operate)
    operator.start()
    assert asyncio.run(agent()).result == Price(5)
    operator.join()


@pytest.mark.parametrize("kind", ["approve", "reject", "skip"])
def test_a_gate_gives_the_run_back_while_nobody_answers(server: Server, colour: Colour, run_id: str, kind: str) -> None:
    async def agent() -> Any:
        async with colour.open(server, run_id) as run:
            return await colour.done(run.gate("ok", "Go on?", release=True))

    with pytest.raises(step47.Waiting):
        asyncio.run(agent())
    assert server.status(run_id) == "waiting"
    server.decide(run_id, kind, step=1)
    answer = asyncio.run(agent())
    assert (answer.decision, answer.approved) == (kind, kind == "approve")


def test_a_look_at_a_gate_is_over_before_the_lease_would_cut_it_off() -> None:
    lease = Lease("r", 1, 30.0, clock())
    core = Core(Wire("http://127.0.0.1:1", "t"), lease, {}, Live(dict, {}, 0), loops=False)
    command = next(answered(core, 1))
    assert isinstance(command, Send)
    assert 10 < command.request.wait < command.timeout / 1.9


def test_a_gate_waits_under_its_lease_until_somebody_wants_the_run_to_stop(
    server: Server, colour: Colour, run_id: str
) -> None:
    async def agent() -> None:
        async with colour.open(server, run_id, ttl=BEATING) as run:
            await colour.done(run.gate("ok", "Go on?"))

    def operate() -> None:
        server.until_step(run_id, 1, "waiting")
        server.operator.decide(run_id, "pause", reason="not now")

    operator = threading.Thread(target=operate)
    operator.start()
    with pytest.raises(step47.Paused):
        asyncio.run(agent())
    operator.join()
    assert server.status(run_id) == "paused"


def test_a_sleep_outlives_the_process(server: Server, colour: Colour, run_id: str) -> None:
    async def agent() -> str:
        async with colour.open(server, run_id) as run:
            await colour.done(run.sleep("cool-down", 0.3))
            return "awake"

    with pytest.raises(step47.Asleep):
        asyncio.run(agent())

    def wakes() -> str | None:
        try:
            return asyncio.run(agent())
        except step47.Refused as refused:
            assert refused.code == "run_not_runnable", refused
            assert "sleeps" in str(refused)
            return None

    assert eventually("the sleep is over", wakes) == "awake"
    assert server.client.steps(run_id)[0]["tries"] == 1


def test_a_sleep_may_be_waited_for(server: Server, colour: Colour, run_id: str) -> None:
    async def agent() -> str:
        async with colour.open(server, run_id) as run:
            await colour.done(run.sleep("nap", 0.05, hold=True))
            await colour.done(run.milestone("rested"))
            return "awake"

    assert asyncio.run(agent()) == "awake"
    assert [step["kind"] for step in server.client.steps(run_id)] == ["code", "milestone"]


def test_work_whose_run_went_to_another_worker_is_not_recorded_but_kept_as_evidence(
    server: Server, colour: Colour, run_id: str
) -> None:
    """A plain function cannot be stopped: what it did is told once. Asynchronous work is cancelled."""

    @colour.step(key="charge", effect="bank")
    def charge() -> Any:
        step = step47.current()
        server.vouch_dead(run_id)
        if colour.name == "async":
            return asyncio.sleep(60)
        assert step.core
        eventually("a heartbeat tells", lambda: not step.core.lease.held() if step.core else None)
        return "charged"

    async def agent() -> None:
        async with colour.open(server, run_id, ttl=BEATING):
            await charge()

    with pytest.raises(step47.LeaseLost):
        asyncio.run(agent())
    step = server.client.step(run_id, 1)
    assert step["status"] == "crashed"
    evidence = step["attempts"][0].get("evidence")
    assert (evidence and evidence["result"]) == ("charged" if colour.name == "plain" else None)


def test_a_child_run_has_its_parent_and_its_result_is_a_step(server: Server, colour: Colour, run_id: str) -> None:
    async def agent() -> tuple[str, Any]:
        async with colour.open(server, run_id) as run:
            child = await colour.done(run.child("look", "looker", input={"what": "x"}))
            with step47.run("looker", id=child.id, input={"what": "x"}, client=server.client) as looker:
                looker.finish({"found": looker.input()["what"]})
            return child.id, await colour.done(child.result())

    child, result = asyncio.run(agent())
    assert result == {"found": "x"}
    assert server.client.run(child)["parent"] == {"run": run_id, "seq": 1}
    assert [step["status"] for step in server.client.steps(run_id)] == ["committed", "committed"]


def test_what_is_recorded_of_a_child_counts_although_it_goes_on(server: Server, colour: Colour, run_id: str) -> None:
    async def agent() -> str:
        async with colour.open(server, run_id) as run:
            child = await colour.done(run.child("look", "looker"))
            if server.status(child.id) == "pending":
                with step47.run("looker", id=child.id, client=server.client) as looker:
                    looker.fail("Lost", "nothing found")
            with pytest.raises(step47.StepFailed) as failed:
                await asyncio.wait_for(colour.done(child.result()), 60)
            assert failed.value.kind == "child_failed"
            await colour.done(run.release())
            return str(child.id)

    child = asyncio.run(agent())
    server.decide(child, "resume")
    assert server.status(child) == "ready"
    assert asyncio.run(agent()) == child


def test_a_run_opened_inside_a_step_is_a_child_of_that_step(server: Server, run_id: str) -> None:
    @step47.step
    def delegate() -> str:
        with step47.run("helper", id=f"{run_id}-helper", client=server.client) as run:
            return run.id

    with step47.run("test-agent", id=run_id, client=server.client):
        helper = delegate()
    assert server.client.run(helper)["parent"] == {"run": run_id, "seq": 1}
