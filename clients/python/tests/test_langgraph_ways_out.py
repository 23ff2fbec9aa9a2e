"""Every way out of a crash inside a node with an effect, with a process that is really killed and effects counted
outside the store."""

from __future__ import annotations

import signal
from typing import Any

import pytest
from colours import COLOURS, Colour
from graphs import Grapher
from server import Server, eventually

from step47 import Refused

CHARGE = 2  # read, charge, mail
# What does not depend on how nodes are written is tried with plain functions only.
plain = pytest.mark.parametrize("colour", COLOURS[:1], ids=["plain"])


def crashed(server: Server, colour: Colour, run: str) -> Grapher:
    """A process is killed inside the charge, after the effect, and the run is held."""
    agent = Grapher(server, colour, run)
    agent.dies_in("charge")
    assert server.status(run) == "crashed"
    assert agent.planned() == {"read": "replay", "charge": "decide"}
    return agent


def resume(server: Server, run: str, *choices: dict[str, Any]) -> None:
    """Resumes on the plan as it is now."""
    plan = server.operator.plan(run)
    server.decide(run, "resume", choices=list(choices), plan=plan["hash"])
    assert server.status(run) == "ready"


def ends(server: Server, agent: Grapher) -> dict[str, Any]:
    """Another process takes the thread to its end; the state then."""
    agent.goes_on()
    assert server.turn_over(agent.run)
    state: dict[str, Any] = server.client.state(agent.run)
    assert state["mailed"] is True
    return state


def test_a_kill_inside_a_node_shows_as_crashed_with_its_effect_and_its_key(
    server: Server, colour: Colour, run_id: str
) -> None:
    agent = crashed(server, colour, run_id)
    step = server.client.step(run_id, CHARGE)
    assert step["status"] == "crashed"
    assert step["effect"] == {"target": "bank", "description": "charge the invoice", "dedupe_ms": 86_400_000}
    [attempt] = step["attempts"]
    assert agent.effects() == [f"charge {attempt['idempotency_key']}"]
    state = server.client.state(run_id)
    assert (state["amount"], state["receipts"]) == (7, [])
    with pytest.raises(Refused, match="An operator has to decide first"):
        agent.goes_on()


def test_a_retry_uses_the_same_key(server: Server, colour: Colour, run_id: str) -> None:
    agent = crashed(server, colour, run_id)
    resume(server, run_id, {"kind": "retry", "step": CHARGE})
    assert ends(server, agent)["receipts"] == [f"{run_id}:2 for 7"]
    assert agent.effects()[:2] == [f"charge {run_id}:2"] * 2, "the provider can tell: it is the same key"
    assert agent.reads() == 1, "what was committed is not done again"


@plain
def test_a_retry_with_a_new_key_is_another_charge_to_the_provider(server: Server, colour: Colour, run_id: str) -> None:
    agent = crashed(server, colour, run_id)
    resume(server, run_id, {"kind": "retry", "step": CHARGE, "new_key": True})
    ends(server, agent)
    first, second, _ = agent.effects()
    assert first != second


def test_what_happened_is_not_done_again_and_reaches_the_graph(server: Server, colour: Colour, run_id: str) -> None:
    agent = crashed(server, colour, run_id)
    resume(server, run_id, {"kind": "commit", "step": CHARGE, "result": {"receipts": ["by hand"]}})
    assert ends(server, agent)["receipts"] == ["by hand"]
    assert [line.split()[0] for line in agent.effects()] == ["charge", "mail"]


@plain
def test_what_is_skipped_is_not_done(server: Server, colour: Colour, run_id: str) -> None:
    agent = crashed(server, colour, run_id)
    resume(server, run_id, {"kind": "skip", "step": CHARGE, "result": {"receipts": ["skipped"]}})
    assert ends(server, agent)["receipts"] == ["skipped"]
    assert [line.split()[0] for line in agent.effects()] == ["charge", "mail"]


@plain
def test_an_edited_state_reaches_the_node(server: Server, colour: Colour, run_id: str) -> None:
    agent = crashed(server, colour, run_id)
    patch = [{"op": "replace", "path": "/amount", "value": 9}, {"op": "add", "path": "/note", "value": "by hand"}]
    server.decide(run_id, "edit", patch=patch)
    resume(server, run_id, {"kind": "retry", "step": CHARGE})
    state = ends(server, agent)
    assert state["receipts"] == [f"{run_id}:2 for 9"]
    assert state["note"] == "by hand", "what is no channel stays"


@plain
def test_a_rewind_makes_new_steps(server: Server, colour: Colour, run_id: str) -> None:
    agent = crashed(server, colour, run_id)
    server.decide(run_id, "rewind", step=1, again=[CHARGE])
    resume(server, run_id)
    assert ends(server, agent)["receipts"] == [f"{run_id}:4 for 7"]
    assert agent.reads() == 2
    assert len(agent.effects()) == 3, "one before, two after: what was left behind was named and chosen"


@plain
def test_a_fork_is_a_thread_of_its_own(server: Server, colour: Colour, run_id: str) -> None:
    agent = crashed(server, colour, run_id)
    forked = f"{run_id}-fork"
    server.decide(run_id, "fork", step=CHARGE, again=[CHARGE], new_run_id=forked)
    fork = Grapher(server, colour, forked)
    assert ends(server, fork)["receipts"] == [f"{forked}:2 for 7"]
    assert (len(fork.effects()), fork.reads(), len(agent.effects())) == (2, 0, 1)
    assert server.status(run_id) == "crashed"


@plain
def test_two_processes_that_race_for_one_thread_make_one_effect(server: Server, colour: Colour, run_id: str) -> None:
    agent = crashed(server, colour, run_id)
    resume(server, run_id, {"kind": "commit", "step": CHARGE, "result": {"receipts": ["by hand"]}})
    racers = [agent.start(), agent.start()]
    for racer in racers:
        racer.communicate()
    assert server.turn_over(run_id)
    assert [line.split()[0] for line in agent.effects()] == ["charge", "mail"]


@pytest.mark.needs("suspend")
def test_an_answer_outlives_the_process_that_goes_on_with_it(server: Server, colour: Colour, run_id: str) -> None:
    agent = Grapher(server, colour, run_id)
    agent.goes_on("ask")
    assert server.status(run_id) == "waiting"
    server.decide(run_id, "approve", step=CHARGE)
    for _ in range(2):
        agent.dies_in("charge", "ask")
    agent.goes_on("ask")
    assert server.turn_over(run_id)
    assert len(agent.effects()) == 4, "three charges with one key, one mail, and it was asked once"
    assert len(set(agent.effects())) == 2


@pytest.mark.needs("suspend", "reopen")
@plain
def test_the_programs_own_answer_outlives_it(server: Server, colour: Colour, run_id: str) -> None:
    agent = Grapher(server, colour, run_id)
    agent.goes_on("ask")
    agent.dies_in("charge", "ask-resume")
    agent.goes_on("ask")
    assert server.turn_over(run_id)
    assert len(set(agent.effects())) == 2


def test_a_worker_goes_on_with_what_an_operator_decides(server: Server, colour: Colour, run_id: str) -> None:
    server.client.create(run_id, id=run_id, input={"amount": 1, "receipts": [], "mailed": False})
    agent = Grapher(server, colour, run_id)
    agent.dies_in("charge", "serve")
    worker = agent.start("serve")
    try:
        resume(server, run_id, {"kind": "commit", "step": CHARGE, "result": {"receipts": ["by hand"]}})
        server.until_status(run_id, "done")
        assert server.client.state(run_id)["receipts"] == ["by hand"]
        server.decide(run_id, "fork", step=CHARGE, again=[CHARGE, 3], new_run_id=f"{run_id}-fork")
        server.until_status(f"{run_id}-fork", "done")
        eventually("the fork is read", lambda: server.client.state(f"{run_id}-fork")["mailed"])
    finally:
        worker.send_signal(signal.SIGTERM)
        said, _ = worker.communicate()
    assert worker.returncode == 0, said
