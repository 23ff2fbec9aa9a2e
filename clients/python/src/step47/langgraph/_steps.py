"""A task of the graph as a step: begun before its work, ended with what it has written."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.base import get_checkpoint_id
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT
from langgraph.errors import GraphInterrupt

from .. import _calls as calls
from .._context import StepContext
from .._errors import Refused, SetupError, ShapeError, StepError, StepFailed
from .._patch import Op
from .._take import _held, told_of
from .._wire import Request
from . import _document as document
from ._gates import gate
from ._thread import Json, Mutate, Step, Thread

if TYPE_CHECKING:
    from ._values import Values

log = logging.getLogger("step47")
_RETURN = "__return__"
# A task's output is shown beside its step up to this many characters; the state has it in any case.
_SHOWN = 20_000


class Stopped(GraphInterrupt):
    """The graph stops before this task, and keeps what comes next."""


class _Asks(StepError):
    """An attempt that ended with a question, where a step cannot wait for its answer."""


@dataclass(frozen=True)
class Task:
    """A task of the graph that is about to be done."""

    id: str
    ns: str
    body: Json
    # Its node uses the output that is recorded for it, or that an operator gave, instead of working.
    watched: bool
    # Another task called it: its output is found with what that one has written.
    called: bool


def begin(thread: Thread, values: Values, task: Task, answer: Callable[[], Json | None]) -> Step | None:
    """Records the intent; nothing if the output is recorded already. Raises what keeps the task from being done.
    `answer` is what the program says to a gate."""
    if thread.lease.stop == "process":
        raise Stopped(())
    body = task.body
    said = thread.ask(calls.begin(thread.lease, body))
    if said["outcome"] == "waiting":
        given = answer()
        if given is None:
            raise Stopped(asked(thread, values, task.id))
        said = thread.ask(calls.begin(thread.lease, {**body, "answer": given}))
    again = 1
    if task.called and said["outcome"] in ("given", "replay"):
        _returns(thread, values, task, body, said)
    while said["outcome"] == "replay":
        if body.get("effect") and not task.watched:
            raise SetupError(
                f"{body['name']} has been done already in step {said['seq']}, and the graph wants to do it again: its "
                "output is used instead if step47.langgraph.watch(graph) is called first"
            )
        if task.watched and (body.get("effect") or said.get("result") is not None):
            thread.results[task.id] = values.decode(said.get("result"))
            return None
        # The program has gone back to an older checkpoint and does without an effect again: that is a step of its own.
        again += 1
        body = {**task.body, "key": f"{task.body['key']}#{again}"}
        said = thread.ask(calls.begin(thread.lease, body))
    outcome = said["outcome"]
    if outcome == "given" and not task.watched:
        raise SetupError(
            f"an operator has given the output of {body['name']} (step {said['seq']}): call "
            "step47.langgraph.watch(graph), or let step47.langgraph.serve(graph) carry the run on, so that it is used"
        )
    if outcome == "failed":
        error = said.get("error") or {}
        raise StepFailed(error.get("kind", ""), error.get("message", ""), error.get("stack"))
    if outcome == "stop":
        thread.held = thread.held or not said.get("signal")
        log.warning("run %s: %s was not begun: %s", thread.run, body["name"], _why(thread, said))
        raise Stopped(())
    return _opened(thread, values, task, body, said)


def _returns(thread: Thread, values: Values, task: Task, body: Json, said: Json) -> None:
    """The output of a called task is known: it is recorded where the graph finds it when it is called again."""
    at = document.position(thread.doc, task.ns)
    assert at is not None

    def mutate(doc: Json) -> Json:
        return document.write(doc, task.ns, at["id"], task.id, "", [(_RETURN, said.get("result"))])

    if said["outcome"] == "given":
        step = _opened(thread, values, task, body, said)
        commit(thread, values, step, mutate)
        thread.close(step)
    else:
        thread.save(mutate)
    thread.again = True
    raise Stopped(())


def _why(thread: Thread, said: Json) -> str:
    if said.get("signal"):
        return f"an operator asked to {said['signal']}"
    return f"it may have happened or not, and a person must decide: step47 plan {thread.run}"


def _opened(thread: Thread, values: Values, task: Task, body: Json, said: Json) -> Step:
    """What the server has begun."""
    context = StepContext(
        thread.core, body["key"], said["seq"], said["attempt"], said.get("idempotency_key", ""), said.get("partial")
    )
    begun = Step(task.id, body["key"], task.ns, body, said["seq"], said["attempt"], context)
    begun.check = said["outcome"] == "check"
    begun.answered = said.get("answer") is not None
    if said["outcome"] == "given":
        begun.given = True
        thread.results[task.id] = values.decode(said.get("result"))
    thread.steps[task.id] = begun
    return begun


def asked(thread: Thread, values: Values, task: str) -> tuple[Any, ...]:
    """What a task that waits has asked."""
    for _, _, asking, entry in document.asking(thread.doc):
        if asking == task:
            return tuple(values.decode(document.said(entry, INTERRUPT)) or ())
    return ()


def record(
    thread: Thread, values: Values, config: Mapping[str, Any], writes: Sequence[tuple[str, Any]], task: str, path: str,
    older: Callable[[str, str], Json | None],
) -> None:  # fmt: skip
    """What a task has written: its step ends with it."""
    conf = config["configurable"]
    ns, checkpoint = conf.get("checkpoint_ns", ""), get_checkpoint_id(config)  # type: ignore[arg-type]
    assert checkpoint is not None
    step = thread.steps.get(task)
    try:
        encoded = [(channel, _storable(values, channel, value)) for channel, value in writes]
    except ShapeError as why:
        if step is not None:
            try:
                fail(thread, step, why, lambda doc: doc, retryable=True)
            finally:
                # Before anything takes the task for done.
                thread.broke(why)
                thread.close(step)
        raise

    def mutate(doc: Json) -> Json:
        return document.write(doc, ns, checkpoint, task, path, encoded, lambda: older(ns, checkpoint))

    if step is None:
        # What the start of a graph does costs nothing to do again.
        if path.endswith(", __start__") and not path.startswith("~__pregel_push"):
            thread.later(lambda doc: mutate(doc) if document.head(doc, ns) == checkpoint else doc)
        else:
            thread.save(mutate)
        return
    found = dict(writes)
    try:
        if INTERRUPT in found:
            suspend(thread, values, step, mutate, found[INTERRUPT])
        elif isinstance(found.get(ERROR), BaseException):
            # The next turn tries it again: in LangGraph no failure is for good.
            fail(thread, step, found[ERROR], mutate, retryable=True)
        else:
            commit(thread, values, step, mutate)
            _ends_what_handed_over(thread, values, step)
    finally:
        thread.close(step)


def _storable(values: Values, channel: str, value: Any) -> Any:
    try:
        return values.encode(value)
    except Exception as why:
        raise ShapeError(f"what was written to {channel!r} cannot be stored: {why}") from why


def _ends_what_handed_over(thread: Thread, values: Values, around: Step) -> None:
    """Tasks in a subgraph that ended with a command for the graph around it: what it does is recorded now."""
    for step in list(thread.steps.values()):
        if step.handed_over and f"{step.ns}|".startswith(f"{around.path}|"):
            commit(thread, values, step, lambda doc: doc)
            thread.close(step)


def commit(thread: Thread, values: Values, step: Step, mutate: Mutate) -> None:
    """The task is done: its output is in the state, and shown beside its step."""
    step.context.flush()

    def send(patch: list[Op], base: int) -> Request:
        body: Json = {"attempt": step.attempt, "patch": patch}
        if patch:
            body["base"] = base
        if not step.given:
            shown = _shown(values, step.output, whole=step.body.get("effect") is not None)
            body |= calls.given(result=shown, usage=step.context.used)
        return calls.commit(thread.lease, step.seq, body)

    thread.change(mutate, send)
    log.info("run %s: step %s (%s), attempt %s: checkpoint saved", thread.run, step.seq, step.key, step.attempt)


def _shown(values: Values, output: Any, *, whole: bool) -> Any:
    """What a node returned. That of an effect is needed when the graph comes by again."""
    try:
        shown = values.encode(output)
    except Exception as why:  # What a node returns may be anything; what it wrote to channels is checked.
        log.debug("the output of a node cannot be shown: %s", why)
        return None
    return shown if whole or len(str(shown)) <= _SHOWN else None


def fail(
    thread: Thread, step: Step, error: BaseException, mutate: Mutate, *, retryable: bool, undone: bool = False
) -> None:
    """An attempt failed. `undone`: its work has certainly not touched the world."""
    step.context.flush()
    effect = "none" if undone else error.effect if isinstance(error, StepError) else None
    if isinstance(error, StepError):
        retryable = retryable and error.retryable

    def send(patch: list[Op], _: int) -> Request:
        told = told_of(error)
        body = calls.given(attempt=step.attempt, error=told, effect=effect, usage=step.context.used)
        if patch:
            body["patch"] = patch
        return calls.fail(thread.lease, step.seq, {**body, "retryable": retryable})

    answer = thread.change(mutate, send) or {}
    if isinstance(error, _Asks):
        log.info("run %s: step %s (%s) asks, and its program answers", thread.run, step.seq, step.key)
    else:
        log.warning(
            "run %s: attempt %s at step %s (%s) failed: %r", thread.run, step.attempt, step.seq, step.key, error
        )
    if answer.get("outcome") == "stop" and _held(step.body, effect):
        thread.held = True


def suspend(thread: Thread, values: Values, step: Step, mutate: Mutate, interrupts: Any) -> None:
    """The task asks a person: its step waits as a gate."""
    step.context.flush()
    if not thread.able.suspends:
        why = _Asks("it asks a person: on this server only the program itself can answer", kind="asks")
        fail(thread, step, why, mutate, retryable=True, undone=True)
        return
    listed = list(interrupts) if isinstance(interrupts, list | tuple) else [interrupts]
    question = gate(step.body["name"], listed, [values.encode(each.value) for each in listed])

    def sender(gate: Json) -> Callable[[list[Op], int], Request]:
        def send(patch: list[Op], _: int) -> Request:
            body = {"attempt": step.attempt, "gate": gate, **({"patch": patch} if patch else {})}
            return calls.suspend(thread.lease, step.seq, body)

        return send

    try:
        thread.change(mutate, sender(question))
    except Refused as refused:
        if refused.code != "invalid" or "schema" not in question:
            raise
        # A schema that the server cannot use must not lose the question.
        log.warning("run %s: the form of %s is left out: %s", thread.run, step.key, refused)
        thread.change(mutate, sender({name: value for name, value in question.items() if name != "schema"}))
