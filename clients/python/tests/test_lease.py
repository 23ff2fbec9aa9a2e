"""The lease, judged by the worker's own clock."""

from __future__ import annotations

import threading

import pytest

import step47
from step47._backoff import Backoff, pause
from step47._lease import Lease, awake, clock, margin


def lease(left: float) -> Lease:
    """One that is certainly ours for this long."""
    return Lease("r", 1, 30.0, clock() - 30.0 + margin(30.0) + left)


def test_the_margin_is_a_tenth_but_at_least_half_a_second_and_never_the_whole_term() -> None:
    assert [margin(1.0), margin(3.0), margin(30.0), margin(0.6)] == [0.5, 0.5, 3.0, 0.3]


def test_a_lease_whose_time_is_over_is_lost_for_good() -> None:
    held = lease(-0.001)
    assert not held.held()
    held.renew(clock(), None)
    assert not held.held(), "no late answer revives it"
    with pytest.raises(step47.LeaseLost):
        held.check()


def test_a_wait_ends_when_the_lease_does() -> None:
    held = lease(0.02)
    held.wait(60, stoppable=False)
    assert held.over


def test_a_wait_ends_when_somebody_wants_the_run_to_stop() -> None:
    held = lease(60)
    threading.Timer(0.01, lambda: held.ask_to_stop("pause")).start()
    held.wait(60, stoppable=True)
    assert held.stop == "pause"
    assert held.held()


def test_a_last_call_that_is_refused_was_not_the_last() -> None:
    held = lease(9)
    assert held.ending()
    assert not held.held(), "no heartbeat may come after it"
    held.kept()
    assert held.ending()
    held.ended()
    assert held.given_back
    assert not held.ending(), "there is nothing left to give back"


def test_an_operators_word_replaces_our_own_leaving() -> None:
    held = lease(9)
    for stop in ("process", "cancel", "process"):
        held.ask_to_stop(stop)
    assert isinstance(held.stopped(), step47.Cancelled)


def test_control_flow_is_no_exception() -> None:
    kinds = (step47.LeaseLost, step47.Paused, step47.Cancelled, step47.Interrupted, step47.Waiting)
    for kind in (*kinds, step47.Asleep, step47.Held):
        assert issubclass(kind, step47.Left)
        assert not issubclass(kind, Exception)


def test_pauses_double_up_to_a_limit_and_never_shrink_below_half() -> None:
    assert [pause(0, 0.0), pause(0, 1.0), pause(3, 1.0), pause(99, 0.0), pause(99, 1.0)] == [0.05, 0.1, 0.8, 2.5, 5.0]
    assert Backoff().next(7.0) == 7.0
    assert Backoff().next(1e9) == 60.0


def test_the_clock_goes_on_while_the_machine_is_suspended() -> None:
    linux, mac, windows = {"CLOCK_BOOTTIME": 7, "CLOCK_MONOTONIC": 1}, {"CLOCK_MONOTONIC": 6}, dict[str, int]()
    assert [awake(clocks) for clocks in (linux, mac, windows)] == [7, 6, None]
