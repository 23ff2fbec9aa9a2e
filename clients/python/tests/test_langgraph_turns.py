"""What a graph does on a thread, as the run shows it: turns, questions, subgraphs, tasks, failures, time travel."""

from __future__ import annotations

import asyncio
import operator
import uuid
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.channels.delta import DeltaChannel
from langgraph.func import entrypoint, task
from langgraph.graph import START, StateGraph
from langgraph.types import Command, RetryPolicy, Send, interrupt
from server import LONG, WORKER, Server

from step47 import Refused, SetupError, ShapeError, StepError
from step47.langgraph import CannotForget, Step47Saver, _thread, checking, current, watch
from step47.langgraph._thread import Thread

# LangGraph's own annotations want every node to name its parameter `state`.
Graph: Any = StateGraph


class Notes(TypedDict, total=False):
    n: int
    log: Annotated[list[Any], operator.add]


def saver(server: Server, **options: Any) -> Step47Saver:
    return Step47Saver(agent="turns", client=server.client, worker=WORKER, ttl=LONG, **options)


def on(thread: str) -> Any:
    return {"configurable": {"thread_id": thread}}


def chain(server: Server, *nodes: tuple[str, Callable[[Any], Any]], **options: Any) -> Any:
    """A graph of these nodes, one after the other."""
    builder = Graph(Notes)
    before = START
    for name, node in nodes:
        builder.add_node(name, node)
        builder.add_edge(before, name)
        before = name
    return watch(builder.compile(checkpointer=saver(server), **options))


def called(graph: Any, thread: str, asynchronous: bool) -> Any:
    """One turn, in an event loop or without one."""
    said = {"n": 1, "log": []}
    return asyncio.run(graph.ainvoke(said, on(thread))) if asynchronous else graph.invoke(said, on(thread))


def seen(server: Server, run: str) -> list[tuple[str, str, int]]:
    """Node, status and attempts of each step."""
    steps = (server.client.step(run, step["seq"]) for step in server.client.steps(run))
    return [(step["key"].split(":")[0], step["status"], len(step["attempts"])) for step in steps]


def gates(server: Server, run: str) -> list[dict[str, Any]]:
    return [server.client.step(run, step["seq"]) for step in server.client.steps(run) if step["status"] == "waiting"]


@pytest.mark.needs("reopen")
def test_a_turn_is_steps_and_the_next_turn_goes_on_in_the_same_run(server: Server, run_id: str) -> None:
    graph = chain(server, ("a", lambda notes: {"n": notes["n"] + 1}), ("b", lambda notes: {"log": [notes["n"]]}))
    assert graph.invoke({"n": 1, "log": []}, on(run_id)) == {"n": 2, "log": [2]}
    assert server.turn_over(run_id)
    assert seen(server, run_id) == [("a", "committed", 1), ("b", "committed", 1)]
    assert server.client.step(run_id, 1)["result"] == {"n": 2}
    state = server.client.state(run_id)
    assert (state["n"], state["log"]) == (2, [2])
    assert graph.invoke({"n": 5}, on(run_id)) == {"n": 6, "log": [2, 6]}
    assert server.turn_over(run_id)
    assert len(seen(server, run_id)) == 4
    assert graph.get_state(on(run_id)).values == {"n": 6, "log": [2, 6]}


def test_a_graph_in_an_event_loop(server: Server, run_id: str) -> None:
    async def add(notes: Notes) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"log": [current().idempotency_key]}

    async def main() -> list[Any]:
        graph = chain(server, ("a", add), ("b", add))
        updates = [each async for each in graph.astream({"n": 1, "log": []}, on(run_id), stream_mode="updates")]
        assert (await graph.aget_state(on(run_id))).next == ()
        return updates

    assert asyncio.run(main()) == [{"a": {"log": [f"{run_id}:1"]}}, {"b": {"log": [f"{run_id}:2"]}}]
    assert seen(server, run_id) == [("a", "committed", 1), ("b", "committed", 1)]


def test_a_thread_whose_name_is_no_run_id(server: Server) -> None:
    graph, thread = chain(server, ("a", lambda _: {"n": 2})), f"Lieferung 7/ü {uuid.uuid4()}"
    graph.invoke({"n": 1, "log": []}, on(thread))
    assert graph.get_state(on(thread)).values == {"n": 2, "log": []}
    [found] = graph.checkpointer.list(None, limit=1)
    assert found.config["configurable"]["thread_id"] == thread
    named: Any = uuid.uuid4()
    graph.invoke({"n": 1}, on(named))
    assert server.turn_over(str(named))


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_thread_without_a_name_is_refused_by_that(server: Server, asynchronous: bool) -> None:
    graph = chain(server, ("a", lambda _: {"n": 2}))
    with pytest.raises(SetupError, match="thread_id is empty"):
        called(graph, "", asynchronous)
    with pytest.raises(SetupError, match="thread_id is empty"):
        graph.get_state(on(""))


def test_what_is_sent_is_the_change_and_never_a_whole_channel(
    server: Server, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = chain(server, ("a", lambda _: {"log": ["x" * 1000]}))
    graph.invoke({"log": ["y" * 1_000_000]}, on(run_id))
    sent: list[int] = []
    exchange = server.client.wire.exchange

    def counted(request: Any, *args: Any) -> Any:
        sent.append(len(request.body or b""))
        return exchange(request, *args)

    monkeypatch.setattr(server.client.wire, "exchange", counted)
    graph.invoke({"log": ["z"]}, on(run_id))
    assert sum(sent) < 20_000


@pytest.mark.needs("suspend", "reopen")
def test_a_question_is_a_gate_and_its_answer_is_what_interrupt_gives(server: Server, run_id: str) -> None:
    def asks(_: Notes) -> dict[str, Any]:
        schema = {"type": "object", "properties": {"amount": {"type": "integer"}}, "required": ["amount"]}
        first = interrupt("Publish it?")
        second = interrupt({"question": "How much?", "draft": 7}, response_schema=schema)
        return {"log": [first, second]}

    graph = chain(server, ("asks", asks))
    assert graph.invoke({"log": []}, on(run_id))["__interrupt__"][0].value == "Publish it?"
    assert server.status(run_id) == "waiting"
    [gate] = gates(server, run_id)
    assert gate["gate"]["title"] == "Publish it?"
    assert [each.value for each in graph.invoke(None, on(run_id))["__interrupt__"]] == ["Publish it?"]
    server.decide(run_id, "approve", step=1)
    assert graph.invoke(None, on(run_id))["__interrupt__"][0].value["question"] == "How much?"
    [gate] = gates(server, run_id)
    assert gate["gate"]["title"] == "How much?"
    assert gate["gate"]["context"] == {"question": "How much?", "draft": 7}
    assert gate["gate"]["schema"]["required"] == ["amount"]
    with pytest.raises(Refused):
        server.decide(run_id, "answer", step=1, result={"amount": "much"})
    server.decide(run_id, "answer", step=1, result={"amount": 5})
    assert graph.invoke(None, on(run_id)) == {"log": [True, {"amount": 5}]}
    assert seen(server, run_id) == [("asks", "committed", 3)]


@pytest.mark.needs("suspend", "reopen")
def test_a_rejection_is_false(server: Server, run_id: str) -> None:
    graph = chain(server, ("asks", lambda _: {"log": [interrupt("Go on?")]}))
    graph.invoke({"log": []}, on(run_id))
    server.decide(run_id, "reject", step=1)
    assert graph.invoke(None, on(run_id)) == {"log": [False]}


def test_the_program_answers_by_itself(server: Server, run_id: str) -> None:
    graph = chain(server, ("asks", lambda _: {"log": [interrupt("Go on?")]}))
    graph.invoke({"log": []}, on(run_id))
    assert graph.invoke(Command(resume={"say": "yes"}), on(run_id)) == {"log": [{"say": "yes"}]}
    assert seen(server, run_id) == [("asks", "committed", 2)]


@pytest.mark.needs("suspend", "reopen")
def test_two_questions_at_once_are_answered_one_by_one_or_together(server: Server, run_id: str) -> None:
    builder = Graph(Notes)
    for name in ("one", "two", "three"):
        builder.add_node(name, lambda _, name=name: {"log": [(name, interrupt(name))]})
        builder.add_edge(START, name)
    graph = builder.compile(checkpointer=saver(server))
    asked = {each.value: each.id for each in graph.invoke({"log": []}, on(run_id))["__interrupt__"]}
    steps = {gate["key"].split(":")[0]: gate["seq"] for gate in gates(server, run_id)}
    server.decide(run_id, "answer", step=steps["one"], result="by hand")
    graph.invoke(None, on(run_id))
    assert server.status(run_id) == "waiting"
    assert {gate["key"].split(":")[0] for gate in gates(server, run_id)} == {"two", "three"}
    graph.invoke(Command(resume={asked["two"]: "by program"}), on(run_id))
    server.decide(run_id, "approve", step=steps["three"])
    said = graph.invoke(None, on(run_id))
    assert sorted(map(tuple, said["log"])) == [("one", "by hand"), ("three", True), ("two", "by program")]


@pytest.mark.needs("suspend", "reopen")
@pytest.mark.parametrize("answered", ["inside", "around", "program"])
def test_a_question_in_a_subgraph_can_be_answered_inside_it_and_around_it(
    server: Server, run_id: str, answered: str
) -> None:
    inner = Graph(Notes).add_node("inner", lambda _: {"log": [interrupt("Inside?")]}).add_edge(START, "inner")
    builder = Graph(Notes).add_node("before", lambda _: {"n": 2}).add_node("sub", inner.compile())
    graph = watch(builder.add_edge(START, "before").add_edge("before", "sub").compile(checkpointer=saver(server)))
    graph.invoke({"n": 1, "log": []}, on(run_id))
    assert seen(server, run_id) == [("before", "committed", 1), ("sub", "waiting", 1), ("inner", "waiting", 1)]
    state = graph.get_state(on(run_id), subgraphs=True)
    assert state.tasks[0].state.next == ("inner",)
    if answered == "program":
        said = graph.invoke(Command(resume=True), on(run_id))
    else:
        server.decide(run_id, "approve", step=3 if answered == "inside" else 2)
        said = graph.invoke(None, on(run_id))
    assert said == {"n": 2, "log": [True]}
    assert seen(server, run_id) == [("before", "committed", 1), ("sub", "committed", 2), ("inner", "committed", 2)]
    assert server.client.state(run_id)["$langgraph"]["subgraphs"] == {}, "the state does not grow with what is over"


def test_the_effect_of_a_node_is_not_that_of_the_graph_inside_it(server: Server, run_id: str) -> None:
    inner = Graph(Notes).add_node("inner", lambda _: {"n": 3}).add_edge(START, "inner").compile()
    builder = Graph(Notes).add_node("sub", inner, metadata={"step47": {"effect": "bank", "recovery": "check"}})
    builder.add_edge(START, "sub").compile(checkpointer=saver(server)).invoke({"n": 1}, on(run_id))
    effects = [server.client.step(run_id, seq).get("effect") for seq in (1, 2)]
    assert [effect and effect["target"] for effect in effects] == ["bank", None]


def test_a_command_for_the_graph_around_ends_both_steps(server: Server, run_id: str) -> None:
    def hands_over(_: Notes) -> Any:
        return Command(graph=Command.PARENT, goto="other", update={"log": ["handed over"]})

    inner = Graph(Notes).add_node("inner", hands_over).add_edge(START, "inner").compile()
    builder = Graph(Notes).add_node("sub", inner).add_node("other", lambda _: {"n": 3}).add_edge(START, "sub")
    said = builder.compile(checkpointer=saver(server)).invoke({"n": 1, "log": []}, on(run_id))
    assert said == {"n": 3, "log": ["handed over"]}
    assert seen(server, run_id) == [("sub", "committed", 1), ("inner", "committed", 1), ("other", "committed", 1)]
    assert server.turn_over(run_id)


def test_a_run_of_another_agent_is_left_alone(server: Server, run_id: str) -> None:
    server.client.create("somebody-else", id=run_id)
    with pytest.raises(SetupError, match="somebody-else"):
        chain(server, ("a", lambda _: {"n": 2})).invoke({"n": 1}, on(run_id))
    assert server.status(run_id) == "ready"


def test_a_mark_that_is_none_is_refused(server: Server, run_id: str) -> None:
    builder = Graph(Notes).add_node("a", lambda _: {"n": 3}, metadata={"step47": {"efect": "bank"}})
    with pytest.raises(SetupError, match="no field 'efect'"):
        builder.add_edge(START, "a").compile(checkpointer=saver(server)).invoke({"n": 1}, on(run_id))


@pytest.mark.needs("suspend", "reopen")
def test_tasks_and_an_entrypoint(server: Server, run_id: str) -> None:
    calls: list[int] = []

    @task
    def double(n: int) -> int:
        calls.append(n)
        return 2 * n

    @entrypoint(checkpointer=saver(server))
    def flow(n: int) -> Any:
        doubled = [each.result() for each in [double(n), double(n + 1)]]
        return [doubled, interrupt("Go on?")]

    flow.invoke(1, on(run_id))
    assert sorted(seen(server, run_id)) == [
        ("double", "committed", 1),
        ("double", "committed", 1),
        ("flow", "waiting", 1),
    ]
    assert flow.invoke(Command(resume="yes"), on(run_id)) == [[2, 4], "yes"]
    assert sorted(calls) == [1, 2], "what was committed is not done again"
    assert server.turn_over(run_id)


def test_what_is_sent_to_a_node_is_shown_with_its_step(server: Server, run_id: str) -> None:
    builder = Graph(Notes).add_node("work", lambda sent: {"log": [sent["i"]]})
    builder.add_conditional_edges(START, lambda _: [Send("work", {"i": i}) for i in range(3)], ["work"])
    assert builder.compile(checkpointer=saver(server)).invoke({"log": []}, on(run_id)) == {"log": [0, 1, 2]}
    inputs = [server.client.step(run_id, seq)["input"] for seq in (1, 2, 3)]
    assert sorted(each["i"] for each in inputs) == [0, 1, 2]


@pytest.mark.needs("reopen")
def test_a_failure_ends_the_turn_and_the_next_one_tries_again(server: Server, run_id: str) -> None:
    broken = [True]

    def fails(_: Notes) -> dict[str, Any]:
        if broken:
            raise ValueError("boom")
        return {"n": 2}

    graph = chain(server, ("before", lambda _: {"log": ["once"]}), ("fails", fails))
    with pytest.raises(ValueError, match="boom"):
        graph.invoke({"n": 1, "log": []}, on(run_id))
    assert server.status(run_id) == "failed"
    assert server.client.step(run_id, 2)["attempts"][0]["error"]["kind"] == "ValueError"
    broken.clear()
    assert graph.invoke(None, on(run_id)) == {"n": 2, "log": ["once"]}
    assert seen(server, run_id) == [("before", "committed", 1), ("fails", "committed", 2)]


def test_an_operator_has_a_failed_node_tried_again(server: Server, run_id: str) -> None:
    broken = [True]

    def fails(_: Notes) -> dict[str, Any]:
        if broken:
            raise ValueError("boom")
        return {"n": 2}

    graph = chain(server, ("before", lambda _: {"log": ["once"]}), ("fails", fails))
    with pytest.raises(ValueError, match="boom"):
        graph.invoke({"n": 1, "log": []}, on(run_id))
    assert server.status(run_id) == "failed"
    broken.clear()
    plan = server.operator.plan(run_id)
    choices = [{"kind": "retry", "step": step["seq"]} for step in plan["steps"] if step["action"] == "decide"]
    server.decide(run_id, "resume", plan=plan["hash"], choices=choices)
    assert graph.invoke(None, on(run_id)) == {"n": 2, "log": ["once"]}
    assert seen(server, run_id) == [("before", "committed", 1), ("fails", "committed", 2)]


def test_tries_of_a_retry_policy_are_attempts(server: Server, run_id: str) -> None:
    tries: list[str] = []

    def fails(_: Notes) -> dict[str, Any]:
        tries.append(current().idempotency_key)
        if len(tries) < 3:
            raise ValueError("boom")
        return {"n": 2}

    builder = Graph(Notes)
    policy = RetryPolicy(initial_interval=0.01, max_interval=0.01, max_attempts=3, retry_on=ValueError)
    builder.add_node("fails", fails, retry_policy=policy).add_edge(START, "fails")
    builder.compile(checkpointer=saver(server)).invoke({"n": 1}, on(run_id))
    assert seen(server, run_id) == [("fails", "committed", 3)]
    assert len(set(tries)) == 1


def test_an_effect_that_may_have_happened_is_not_tried_again_by_a_retry_policy(server: Server, run_id: str) -> None:
    tries: list[int] = []

    def charges(_: Notes) -> dict[str, Any]:
        tries.append(1)
        raise ValueError("timeout")

    builder = Graph(Notes)
    policy = RetryPolicy(initial_interval=0.01, max_attempts=3, retry_on=ValueError)
    builder.add_node("charge", charges, retry_policy=policy, metadata={"step47": {"effect": "bank"}})
    graph = watch(builder.add_edge(START, "charge").compile(checkpointer=saver(server)))
    with pytest.raises(ValueError, match="timeout"):
        graph.invoke({"n": 1}, on(run_id))
    assert len(tries) == 1
    assert server.status(run_id) == "crashed"
    plan = server.operator.plan(run_id)
    server.decide(run_id, "resume", plan=plan["hash"], choices=[{"kind": "commit", "step": 1, "result": {"n": 8}}])
    assert graph.invoke(None, on(run_id)) == {"n": 8, "log": []}
    assert len(tries) == 1


def test_a_failure_that_certainly_did_nothing_may_be_tried_again(server: Server, run_id: str) -> None:
    tries: list[int] = []

    def charges(_: Notes) -> dict[str, Any]:
        tries.append(1)
        if len(tries) == 1:
            raise StepError("refused before anything happened", effect="none")
        return {"n": 2}

    builder = Graph(Notes)
    policy = RetryPolicy(initial_interval=0.01, max_attempts=3, retry_on=StepError)
    builder.add_node("charge", charges, retry_policy=policy, metadata={"step47": {"effect": "bank"}})
    builder.add_edge(START, "charge").compile(checkpointer=saver(server)).invoke({"n": 1}, on(run_id))
    assert seen(server, run_id) == [("charge", "committed", 2)]


def test_a_pause_stops_between_two_nodes(server: Server, run_id: str) -> None:
    def pauses(_: Notes) -> dict[str, Any]:
        server.decide(run_id, "pause")
        return {"n": 2}

    graph = chain(server, ("a", pauses), ("b", lambda _: {"log": ["b"]}))
    assert graph.invoke({"n": 1, "log": []}, on(run_id)) == {"n": 2, "log": []}
    assert server.status(run_id) == "paused"
    assert graph.get_state(on(run_id)).next == ("b",)
    server.decide(run_id, "resume", plan=server.operator.plan(run_id)["hash"])
    assert graph.invoke(None, on(run_id)) == {"n": 2, "log": ["b"]}


def test_a_breakpoint_ends_the_turn(server: Server, run_id: str) -> None:
    graph = chain(server, ("a", lambda _: {"n": 2}), ("b", lambda _: {"log": ["b"]}), interrupt_before=["b"])
    assert graph.invoke({"n": 1, "log": []}, on(run_id)) == {"n": 2, "log": []}
    assert server.status(run_id) in ("done", "paused"), "no worker passes it by itself"
    if server.status(run_id) == "paused":
        server.decide(run_id, "resume", plan=server.operator.plan(run_id)["hash"])
    assert graph.invoke(None, on(run_id)) == {"n": 2, "log": ["b"]}


def test_time_travel_and_update_state(server: Server, run_id: str) -> None:
    graph = chain(server, ("a", lambda _: {"n": 2}), ("b", lambda notes: {"log": [notes["n"]]}))
    graph.invoke({"n": 1, "log": []}, on(run_id))
    [old] = [each for each in graph.get_state_history(on(run_id)) if each.next == ("b",)]
    assert graph.invoke(None, old.config) == {"n": 2, "log": [2]}
    changed = graph.update_state(old.config, {"n": 9})
    assert graph.invoke(None, changed) == {"n": 9, "log": [9]}
    assert graph.get_state(on(run_id)).values == {"n": 9, "log": [9]}
    assert graph.get_state(old.config).values == {"n": 2, "log": []}, "the past stays as it was"
    assert len(list(graph.get_state_history(on(run_id)))) == 8


@pytest.mark.needs("agents fork")
def test_a_thread_can_be_copied_but_not_deleted(server: Server, run_id: str) -> None:
    graph = chain(server, ("a", lambda _: {"n": 2}))
    graph.invoke({"n": 1}, on(run_id))
    graph.checkpointer.copy_thread(run_id, f"{run_id}-copy")
    assert graph.get_state(on(f"{run_id}-copy")).values == graph.get_state(on(run_id)).values
    kept: Any = graph.checkpointer
    for forget, given in ((kept.delete_thread, run_id), (kept.delete_for_runs, ["x"]), (kept.prune, [run_id])):
        with pytest.raises(CannotForget, match="for now"):
            forget(given)


def test_an_edited_type_is_refused_and_runs_nothing(server: Server, run_id: str, tmp_path: Any) -> None:
    def pauses(_: Notes) -> dict[str, Any]:
        server.decide(run_id, "pause")
        return {"n": 2}

    graph = chain(server, ("a", pauses), ("b", lambda _: {"n": 3}))
    graph.invoke({"n": 1, "log": []}, on(run_id))
    file = tmp_path / "ran"
    evil = {"$type": "os:system", "$ext": 0, "value": f"touch {file}"}
    # The server takes no such edit; that the saver makes nothing of it either is what test_langgraph_values shows.
    with pytest.raises(Refused, match="names a type anew"):
        server.decide(run_id, "edit", patch=[{"op": "replace", "path": "/n", "value": evil}])
    assert graph.get_state(on(run_id)).values["n"] == 2
    assert not file.exists()


def test_a_thread_is_worked_on_once_at_a_time(server: Server, run_id: str) -> None:
    def again(_: Notes) -> dict[str, Any]:
        with pytest.raises(Refused, match="in this process already"):
            other.invoke({"n": 1}, on(run_id))
        return {"n": 2}

    other = chain(server, ("x", lambda _: {"n": 0}))
    assert chain(server, ("a", again)).invoke({"n": 1}, on(run_id))["n"] == 2


@pytest.mark.parametrize("turns", [0, 1])
def test_of_calls_at_the_same_moment_one_works_and_no_node_is_unrecorded(
    server: Server, run_id: str, turns: int
) -> None:
    worked: list[str] = []
    others = [0]

    async def main() -> list[Any]:
        refused = asyncio.Event()

        async def pays(_: Notes) -> dict[str, Any]:
            worked.append(current().idempotency_key)
            await asyncio.wait_for(refused.wait(), 30)
            return {"n": 2}

        async def call(n: int) -> Any:
            try:
                return await graph.ainvoke({"n": n}, on(run_id))
            except Refused as why:
                return why.code
            finally:
                others[0] += 1
                if others[0] == 2:
                    refused.set()

        async def before(_: Notes) -> dict[str, Any]:
            return {"n": 0}

        for _ in range(turns):
            await chain(server, ("before", before)).ainvoke({"n": 0}, on(run_id))
        builder = Graph(Notes).add_node("pays", pays, metadata={"step47": {"effect": "bank"}})
        graph = builder.add_edge(START, "pays").compile(checkpointer=saver(server))
        return await asyncio.gather(*map(call, range(3)))

    said = asyncio.run(main())
    assert sorted(map(str, said)) == sorted(["lease_held", "lease_held", str({"n": 2, "log": []})])
    assert worked == [f"{run_id}:{turns + 1}"]
    assert seen(server, run_id)[turns:] == [("pays", "committed", 1)]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_an_effect_that_failed_under_a_retry_policy_ends_with_its_own_error(
    server: Server, run_id: str, asynchronous: bool, caplog: pytest.LogCaptureFixture
) -> None:
    worked: list[str] = []

    def pays(_: Notes) -> dict[str, Any]:
        worked.append(current().idempotency_key)
        raise ValueError("declined")

    policy = RetryPolicy(max_attempts=3, initial_interval=0.0, jitter=False, retry_on=ValueError)
    builder = Graph(Notes).add_node("pays", pays, metadata={"step47": {"effect": "bank"}}, retry_policy=policy)
    graph = builder.add_edge(START, "pays").compile(checkpointer=saver(server))
    with pytest.raises(ValueError, match="declined"):
        called(graph, run_id, asynchronous)
    assert worked == [f"{run_id}:1"]
    assert server.status(run_id) == "crashed"
    [attempt] = server.client.step(run_id, 1)["attempts"]
    assert attempt["error"]["message"] == "declined"
    assert "was not begun" not in caplog.text
    assert "callback" not in caplog.text, "the stop before another attempt is no error of its own"


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("value", [object(), lambda: 1, 2**70], ids=["object", "function", "number"])
def test_what_cannot_be_stored_fails_at_once(
    server: Server, run_id: str, value: Any, asynchronous: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    until = Thread.until

    def impatient(thread: Thread, what: str, holds: Callable[[], bool]) -> None:
        until(thread, what, holds)
        if not holds():
            looked.append(what)

    monkeypatch.setattr(_thread, "PATIENCE", 3.0)
    monkeypatch.setattr(Thread, "until", impatient)
    graph = chain(server, ("gives", lambda _: {"n": value}), ("next", lambda _: {"log": ["next"]}))
    with pytest.raises(ShapeError, match="'n' cannot be stored"):
        called(graph, run_id, asynchronous)
    assert looked == [], "nobody waits for a write that cannot come"
    assert [name for name, *_ in seen(server, run_id)] == ["gives"]
    [attempt] = server.client.step(run_id, 1)["attempts"]
    assert "'n' cannot be stored" in attempt["error"]["message"]
    again = chain(server, ("gives", lambda _: {"n": 2}), ("next", lambda _: {"log": ["next"]}))
    assert again.invoke(None, on(run_id)) == {"n": 2, "log": ["next"]}


def test_an_effect_whose_output_cannot_be_stored_is_for_an_operator(server: Server, run_id: str) -> None:
    builder = Graph(Notes).add_node("pays", lambda _: {"n": object()}, metadata={"step47": {"effect": "bank"}})
    graph = watch(builder.add_edge(START, "pays").compile(checkpointer=saver(server)))
    with pytest.raises(ShapeError, match="'n' cannot be stored"):
        graph.invoke({"n": 1}, on(run_id))
    assert server.status(run_id) == "crashed"
    [attempt] = server.client.step(run_id, 1)["attempts"]
    assert "'n' cannot be stored" in attempt["error"]["message"]
    plan = server.operator.plan(run_id)
    server.decide(run_id, "resume", plan=plan["hash"], choices=[{"kind": "commit", "step": 1, "result": {"n": 8}}])
    assert graph.invoke(None, on(run_id)) == {"n": 8, "log": []}


def test_a_node_can_look_whether_its_work_has_happened(server: Server, run_id: str) -> None:
    looked: list[bool] = []

    def charges(_: Notes) -> dict[str, Any]:
        looked.append(checking())
        if len(looked) == 1:
            raise KeyboardInterrupt
        return {"n": 2}

    builder = Graph(Notes)
    builder.add_node("charge", charges, metadata={"step47": {"effect": "bank", "recovery": "check"}})
    graph = builder.add_edge(START, "charge").compile(checkpointer=saver(server))
    with pytest.raises(KeyboardInterrupt):
        graph.invoke({"n": 1}, on(run_id))
    assert server.status(run_id) == "ready"
    graph.invoke(None, on(run_id))
    assert looked == [False, True]


def test_a_graph_without_checkpoints_on_its_way_has_no_steps(server: Server, run_id: str) -> None:
    graph = chain(server, ("a", lambda _: {"n": 2}), ("b", lambda _: {"n": 3}))
    assert graph.invoke({"n": 1}, on(run_id), durability="exit")["n"] == 3
    assert server.turn_over(run_id)
    assert seen(server, run_id) == []
    assert graph.get_state(on(run_id)).values["n"] == 3


def test_a_channel_that_keeps_changes_only_is_read_whole(server: Server, run_id: str) -> None:
    class Deltas(TypedDict):
        log: Annotated[list[str], DeltaChannel(lambda old, new: [*old, *(each for part in new for each in part)])]

    builder = Graph(Deltas)
    for before, name in (START, "a"), ("a", "b"), ("b", "c"):
        builder.add_node(name, lambda _, name=name: {"log": [name]}).add_edge(before, name)
    graph = builder.compile(checkpointer=saver(server))
    assert graph.invoke({"log": ["in"]}, on(run_id)) == {"log": ["in", "a", "b", "c"]}
    assert graph.get_state(on(run_id)).values == {"log": ["in", "a", "b", "c"]}
    past = [each.values["log"] for each in graph.get_state_history(on(run_id))]
    assert past == [["in", "a", "b", "c"], ["in", "a", "b"], ["in", "a"], ["in"], []]


class Model(GenericFakeChatModel):
    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self


@pytest.mark.needs("suspend", "reopen")
@pytest.mark.parametrize("decision", ["approve", "reject", "edit"])
def test_an_agent_with_a_human_in_the_loop(server: Server, run_id: str, decision: str) -> None:
    sent: list[str] = []

    @tool
    def send_email(to: str) -> str:
        """Sends an e-mail."""
        sent.append(to)
        return "sent"

    def agent(*messages: AIMessage) -> Any:
        return create_agent(
            Model(messages=iter(messages)),
            [send_email],
            middleware=[HumanInTheLoopMiddleware(interrupt_on={"send_email": True})],
            checkpointer=saver(server, nodes={"tools/send_email": {"effect": "mail"}}),
        )

    usage: Any = {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}
    call: Any = {"name": "send_email", "args": {"to": "bob"}, "id": "c1"}
    asks = agent(AIMessage("", tool_calls=[call], usage_metadata=usage))
    asks.invoke({"messages": [HumanMessage("mail bob")]}, on(run_id))
    [gate] = gates(server, run_id)
    assert gate["gate"]["title"] == "Go on with send_email?"
    assert gate["gate"]["schema"]["required"] == ["decisions"]
    assert server.client.step(run_id, 1)["attempts"][0]["usage"]["output_tokens"] == 7
    if decision == "edit":
        edited = {"type": "edit", "edited_action": {"name": "send_email", "args": {"to": "eve"}}}
        server.decide(run_id, "answer", step=gate["seq"], result={"decisions": [edited]})
    else:
        server.decide(run_id, decision, step=gate["seq"])
    said = agent(AIMessage("done")).invoke(None, on(run_id))
    assert said["messages"][-1].content == "done"
    assert sent == {"approve": ["bob"], "reject": [], "edit": ["eve"]}[decision]
    marked = [step for step in server.client.steps(run_id) if (step.get("effect") or {}).get("target") == "mail"]
    assert [step["tool"] for step in marked] == ["send_email"] * len(sent)
    assert server.turn_over(run_id)
