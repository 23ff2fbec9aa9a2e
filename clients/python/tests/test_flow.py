"""A request and what comes back, step by step: the flow is told what the server would say."""

from __future__ import annotations

import logging
from typing import Any

import pytest

import step47
from step47 import _flow
from step47._core import Core
from step47._flow import Rest, Send, ask
from step47._lease import Lease, clock
from step47._state import Live
from step47._take import begin
from step47._wire import Away, Reply, Wire, post

EXECUTE = b'{"outcome":"execute","seq":1,"attempt":1,"idempotency_key":"k"}'


def lease() -> Lease:
    return Lease("r", 1, 60.0, clock())


def wire(**options: Any) -> Wire:
    return Wire("http://127.0.0.1:1", "t", **options)


def ended(flow: _flow.Flow[Any], outcome: Any) -> Any:
    """What the flow gives when it is told this."""
    with pytest.raises(StopIteration) as end:
        flow.send(outcome)
    return end.value.value


def test_an_acknowledged_answer_counts_although_the_lease_ran_out_on_its_way_back() -> None:
    held = lease()
    flow = ask(wire(), post("/v1/x", {}), lease=held)
    assert isinstance(next(flow), Send)
    held.lose()
    assert ended(flow, Reply(200, b"7")) == 7


def test_nothing_is_sent_again_under_a_lease_that_ran_out() -> None:
    held = lease()
    flow = ask(wire(), post("/v1/x", {}), lease=held)
    next(flow)
    held.lose()
    with pytest.raises(step47.LeaseLost):
        flow.send(Away("no answer"))


def test_work_does_not_start_under_a_lease_that_ran_out_while_it_was_begun() -> None:
    held = lease()
    core = Core(wire(), held, {}, Live(dict, {}, 0), loops=False)
    flow = begin(core, {"key": "k", "name": "n"})
    next(flow)
    held.lose()
    with pytest.raises(step47.LeaseLost):
        flow.send(Reply(201, EXECUTE))


def test_a_request_that_is_sent_again_and_again_is_told_at_first_and_each_minute(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    at = 0.0
    monkeypatch.setattr(_flow, "clock", lambda: at)
    flow = ask(wire(), post("/v1/x", {}), lease=lease())
    next(flow)
    with caplog.at_level(logging.WARNING, "step47"):
        for seconds in (0.0, 30.0, 59.0, 61.0, 90.0, 125.0):
            at = seconds
            assert isinstance(flow.send(Away("connection refused")), Rest)
            assert isinstance(flow.send(None), Send)
    assert [record.getMessage() for record in caplog.records] == [
        f"POST /v1/x: sent again after {seconds} s: connection refused" for seconds in (0, 61, 125)
    ]


def test_what_is_more_than_the_server_takes_is_refused_before_it_is_sent() -> None:
    flow = ask(wire(body_max=100), post("/v1/x", {"a": "b" * 100}), lease=lease())
    with pytest.raises(step47.Refused, match=r"holds 108 bytes, and a request takes 100 .*refs=") as refused:
        next(flow)
    assert refused.value.code == "too_large"
