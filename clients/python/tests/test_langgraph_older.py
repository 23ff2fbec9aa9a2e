"""A server without gates inside steps, or without reopening: a graph still has turns, and answers its own questions."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from langgraph.types import Command, interrupt
from server import Server
from test_langgraph_turns import chain, on, seen

pytestmark = pytest.mark.lacks("suspend", "reopen")


def test_a_thread_has_another_turn(server: Server, run_id: str) -> None:
    graph = chain(server, ("a", lambda notes: {"log": [notes["n"]]}))
    for n in (1, 2, 3):
        graph.invoke({"n": n, "log": []}, on(run_id))
    assert graph.get_state(on(run_id)).values["log"] == [1, 2, 3]
    assert seen(server, run_id) == [("a", "committed", 1)] * 3


def test_the_program_answers_what_its_graph_asks(server: Server, run_id: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "step47")
    asks = ("asks", lambda _: {"log": [interrupt("one?"), interrupt("two?")]})
    graph = chain(server, asks, ("goes_on", lambda _: {"log": ["gone on"]}))
    said: Any = graph.invoke({"log": []}, on(run_id))
    for answer in ("yes", "no"):
        assert said["__interrupt__"]
        said = graph.invoke(Command(resume=answer), on(run_id))
    assert said == {"log": ["yes", "no", "gone on"]}
    assert seen(server, run_id) == [("asks", "committed", 3), ("goes_on", "committed", 1)]
    assert not [each for each in caplog.records if each.levelno >= logging.WARNING], "a question is no error"
    assert "asks, and its program answers" in caplog.text
    assert "did not come" not in caplog.text, "a task behind the question waits for no answer"
