"""Every way out of a crash inside an effect, with a process that is really killed and effects counted outside the
store."""

from __future__ import annotations

from typing import Any

from colours import Colour
from processes import Biller, counted
from server import Server

CHARGE = 3  # read, charge:a, charge:b


def crashed(server: Server, colour: Colour, run: str) -> Biller:
    """A process is killed inside the charge of invoice b, after the effect, and the run is held."""
    biller = Biller(server, colour, run)
    biller.dies_in("charge:b")
    server.vouch_dead(run)
    assert server.status(run) == "crashed"
    assert biller.planned() == {"read": "replay", "charge:a": "replay", "charge:b": "decide"}
    return biller


def resume(server: Server, run: str, *choices: dict[str, Any]) -> None:
    """Resumes on the plan as it is now."""
    plan = server.operator.plan(run)
    server.decide(run, "resume", choices=list(choices), plan=plan["hash"])
    assert server.status(run) == "ready"


def ends_as_planned(biller: Biller) -> dict[str, str]:
    """Another process takes the run to its end, and does with each recorded step what the plan says."""
    planned = biller.planned()
    did = biller.ends()
    assert {key: did[key] for key in planned} == planned
    return did


def test_a_kill_inside_an_effect_shows_as_crashed_with_its_effect_and_its_key(
    server: Server, colour: Colour, run_id: str
) -> None:
    biller = Biller(server, colour, run_id)
    biller.dies_in("charge:b", ttl=1.0)
    server.until_status(run_id, "crashed")  # Nobody vouches: the lease runs out by itself.
    step = server.client.step(run_id, CHARGE)
    assert step["status"] == "crashed"
    assert step["effect"] == {"target": "bank", "description": "charge invoice b", "dedupe_ms": 86_400_000}
    [attempt] = step["attempts"]
    assert attempt["outcome"] == "crashed"
    assert biller.effects()[-1] == f"charge:b {attempt['idempotency_key']}"
    assert server.client.state(run_id) == {"read": 3, "receipts": [f"re_{run_id}:2"], "mailed": False}


def test_a_retry_uses_the_same_key(server: Server, colour: Colour, run_id: str) -> None:
    biller = crashed(server, colour, run_id)
    resume(server, run_id, {"kind": "retry", "step": CHARGE})
    assert biller.planned()["charge:b"] == "execute"
    did = ends_as_planned(biller)
    assert did == {
        "read": "replay",
        "charge:a": "replay",
        "charge:b": "execute",
        "charge:c": "execute",
        "mail": "execute",
    }
    key = f"{run_id}:{CHARGE}"
    assert counted(biller.effects())[f"charge:b {key}"] == 2, "the provider can tell: it is the same key"


def test_a_retry_with_a_new_key_is_another_charge_to_the_provider(server: Server, colour: Colour, run_id: str) -> None:
    biller = crashed(server, colour, run_id)
    resume(server, run_id, {"kind": "retry", "step": CHARGE, "new_key": True})
    ends_as_planned(biller)
    first, second = (line for line in biller.effects() if line.startswith("charge:b"))
    assert first != second


def test_what_happened_is_not_done_again_and_is_folded_in(server: Server, colour: Colour, run_id: str) -> None:
    biller = crashed(server, colour, run_id)
    resume(server, run_id, {"kind": "commit", "step": CHARGE, "result": {"id": "by hand"}})
    assert ends_as_planned(biller)["charge:b"] == "given"
    assert len(biller.effects()) == 3
    assert server.client.state(run_id)["receipts"] == [f"re_{run_id}:2", "by hand", f"re_{run_id}:4"]


def test_what_is_skipped_is_not_done(server: Server, colour: Colour, run_id: str) -> None:
    biller = crashed(server, colour, run_id)
    resume(server, run_id, {"kind": "skip", "step": CHARGE, "result": {"id": "skipped"}})
    assert ends_as_planned(biller)["charge:b"] == "given"
    assert len(biller.effects()) == 3
    assert server.client.state(run_id)["receipts"][1] == "skipped"


def test_an_edited_state_reaches_the_agent_and_what_its_type_does_not_know_survives(
    server: Server, colour: Colour, run_id: str
) -> None:
    biller = crashed(server, colour, run_id)
    patch = [
        {"op": "add", "path": "/note", "value": "by hand"},
        {"op": "replace", "path": "/receipts/0", "value": "edited"},
    ]
    server.decide(run_id, "edit", patch=patch)
    resume(server, run_id, {"kind": "retry", "step": CHARGE})
    ends_as_planned(biller)
    state = server.client.state(run_id)
    assert state["note"] == "by hand"
    assert state["receipts"] == ["edited", f"re_{run_id}:3", f"re_{run_id}:4"]


def test_a_rewind_makes_a_new_step_with_a_new_key(server: Server, colour: Colour, run_id: str) -> None:
    biller = crashed(server, colour, run_id)
    server.decide(run_id, "rewind", step=2, again=[2, 3])
    resume(server, run_id)
    assert biller.planned() == {"read": "replay"}
    did = ends_as_planned(biller)
    assert did["charge:a"] == did["charge:b"] == "execute"
    assert server.client.state(run_id)["receipts"] == [f"re_{run_id}:{seq}" for seq in (4, 5, 6)]
    assert len(biller.effects()) == 5, "two before, three after: what was left behind was named and chosen"


def test_a_fork_goes_its_own_way_and_leaves_the_origin_as_it_was(server: Server, colour: Colour, run_id: str) -> None:
    biller = crashed(server, colour, run_id)
    forked = f"{run_id}-fork"
    server.decide(run_id, "fork", step=CHARGE, again=[CHARGE], new_run_id=forked)
    fork = Biller(server, colour, forked)
    assert fork.planned() == {"read": "replay", "charge:a": "replay"}
    ends_as_planned(fork)
    assert [line.split()[0] for line in fork.effects()] == ["charge:b", "charge:c"]
    assert len(biller.effects()) == 2
    assert server.status(run_id) == "crashed"


def test_two_processes_that_race_for_one_run_make_one_effect(server: Server, colour: Colour, run_id: str) -> None:
    biller = Biller(server, colour, run_id)
    racers = [biller.start(), biller.start()]
    ended = [(racer.communicate()[0], racer.returncode) for racer in racers]
    assert sorted(code for _, code in ended) == [0, 1], ended
    assert set(counted(biller.effects()).values()) == {1}
    assert len(biller.effects()) == 3
    assert server.status(run_id) == "done"
