"""A turn of a thread: from `invoke` to what it returns. The run is leased for it, and each task in it is a step."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from langgraph.checkpoint.serde.types import RESUME
from langgraph.types import Command

from .. import _calls as calls
from .._errors import LeaseLost, Left, Refused, Step47Error, StepError
from .._take import _held, told_of
from . import _answers as answers
from . import _document as document
from . import _marks as marks
from ._steps import Stopped, Task, begin, fail
from ._thread import Json, Step, Thread
from ._values import Values

log = logging.getLogger("step47")

# Inputs of tasks that were called with arguments are recorded up to this many characters.
_INPUT = 20_000
_NAME = 200


class Turn:
    """One call of the graph, from its start to its end."""

    def __init__(
        self,
        thread: Thread,
        name: str,
        values: Values,
        root: UUID,
        said: Any,
        *,
        steps: bool,
        watched: bool,
        nodes: Mapping[str, Json],
    ) -> None:
        self.thread, self.name, self.values, self.root = thread, name, values, root
        # The nodes use outputs that are known already.
        self._watched = watched
        # What was said of nodes that their graph's author did not mark.
        self._nodes = nodes
        # With durability "exit" the graph records nothing on its way, so there are no steps.
        self._steps = steps
        # The graph and the subgraphs that keep checkpoints.
        self.namespaces = {""}
        # The runs of LangChain's callbacks that belong to it.
        self.family: set[UUID] = {root}
        self._resume = said.resume if isinstance(said, Command) else None
        self._resume_seen = False
        self._going: set[str] = set()
        self._takes_answers()

    def _takes_answers(self) -> None:
        """What people answered since is part of the state before anything goes on."""
        if not self.thread.answers:
            return
        doc, self._going = answers.answered(self.thread.doc, self.values, self.thread.answers)
        self.thread.save(lambda _: doc)

    def starts(self, run: UUID, node: str, path: str, metadata: Mapping[str, Any], inputs: Any) -> None:
        """A node is about to work: its intent is recorded first."""
        around, _, last = path.rpartition("|")
        task = last.rsplit(":", 1)[-1]
        parent = self.thread.steps.get(around.rpartition("|")[2].rsplit(":", 1)[-1])
        called = _called(metadata)
        if called and parent is None:
            return
        ns = parent.ns if called and parent is not None else around
        if not self._steps or ns not in self.namespaces:
            return
        tried = self.thread.steps.get(task)
        if tried is not None:
            self._tries_again(tried)
        self._awaits(ns, metadata)
        said = marks.marked(metadata)
        # What is said of the node around it is said of everything in it.
        own = None if parent is not None and said == parent.marks else said
        tool = marks.tool(inputs)
        if own is None:
            own = self._nodes.get(f"{node}/{tool}") or self._nodes.get(node)
        body = {"key": f"{node[:_NAME]}:{task}", **marks.body(node, own, tool)}
        if called or "__pregel_push" in str(metadata.get("langgraph_path", ("",))[0]):
            body |= calls.given(input=self._input(inputs))
        begun = Task(task, ns, body, watched=self._watched and not called, called=called)
        step = begin(self.thread, self.values, begun, lambda: self._answer(task))
        if step is None:
            return
        step.marks, step.path = said, path
        step.own_run = run
        step.runs.add(run)
        if step.answered and self._resume is None and task not in self._going and not self._is_answered(task):
            self._comes_back(step)

    def _awaits(self, ns: str, metadata: Mapping[str, Any]) -> None:
        """The checkpoint that the task starts from, and the program's own answer, are recorded before its intent."""
        number = metadata.get("langgraph_step")

        def based() -> bool:
            at = document.position(self.thread.doc, ns)
            return at is not None and (number is None or int(at["metadata"].get("step", number)) >= int(number) - 1)

        self.thread.until("the checkpoint before a step", based)
        if self._resume is not None and not _is_map(self._resume) and not self._resume_seen:
            self.thread.until("the answer that the graph goes on with", self._resume_is_here)
            # Later tasks start from later checkpoints, which it is no write of.
            self._resume_seen = True

    def _resume_is_here(self) -> bool:
        """Whether the program's own answer is recorded."""
        entries = document.place(self.thread.doc).get("writes", {}).values()
        tasks = (entry["tasks"].get(document.NULL_TASK) for entry in entries if not entry.get("past"))
        return any(task is not None and document.said(task, RESUME) is not None for task in tasks)

    def _input(self, inputs: Any) -> Any:
        try:
            encoded = self.values.encode(inputs)
        except Exception as why:  # Arguments may be anything; they are recorded for people only.
            log.debug("the input of a task cannot be shown: %s", why)
            return None
        return encoded if len(str(encoded)) <= _INPUT else None

    def _answer(self, task: str) -> Json | None:
        """What the program itself says to a gate: it resumes the graph, or a gate inside the task was answered."""
        if task in self._going or self._is_answered(task):
            return {"decision": "answer", "result": None}
        if self._resume is None:
            return None
        if not _is_map(self._resume):
            return {"decision": "answer", "result": self.values.encode(self._resume)}
        asked = (entry for _, _, asking, entry in document.asking(self.thread.doc) if asking == task)
        for each in (question for entry in asked for question in answers.interrupts(self.values, entry)):
            if each.id in self._resume:
                return {"decision": "answer", "result": self.values.encode(self._resume[each.id])}
        return None

    def _is_answered(self, task: str) -> bool:
        """Whether the state has the answer to what a task asks."""
        if self._resume_is_here():
            return True
        asked = (entry for _, _, asking, entry in document.asking(self.thread.doc) if asking == task)
        return any(len(document.said(entry, RESUME) or []) > int(entry.get("answers", 0)) for entry in asked)

    def _comes_back(self, step: Step) -> None:
        """It was answered after the graph had been loaded: the answer is recorded for the next turn."""
        seen = self.thread.ask(calls.step(self.thread.run, step.seq))["step"]
        answer = {"key": step.key, "decision": seen.get("decision") or "answer", "result": seen.get("result")}
        error = Step47Error("answered while the graph was under way: it goes on in its next turn")
        fail(self.thread, step, error, lambda doc: answers.answered(doc, self.values, [answer])[0], retryable=True,
             undone=True)  # fmt: skip
        self.thread.close(step)
        raise Stopped(())

    def _tries_again(self, step: Step) -> None:
        """LangGraph's own retry policy: the attempt before has failed."""
        error = step.error or Step47Error("the graph began it again before it had ended")
        if _held(step.body, error.effect if isinstance(error, StepError) else None):
            # Whether its effect happened is not known: it is not tried again, and ends with the error it ended with.
            raise error if isinstance(error, Exception) else Step47Error(f"it was cut off: {error!r}") from error
        fail(self.thread, step, error, lambda doc: doc, retryable=True)
        self.thread.close(step)

    def step_of(self, run: UUID | None) -> Step | None:
        """The step that a run of LangChain's callbacks belongs to: the innermost."""
        around = [step for step in list(self.thread.steps.values()) if run in step.runs]
        return max(around, key=lambda step: len(step.path), default=None)

    def ends(self, error: BaseException | None) -> None:
        """The call is over: the run is finished, or given back for who goes on with it."""
        try:
            self._leaves(error)
        except (Exception, Left) as why:
            if error is None:
                raise
            log.warning("run %s: its end was not recorded: %s", self.thread.run, why)

    def _leaves(self, error: BaseException | None) -> None:
        thread = self.thread
        if thread.lease.over or isinstance(error, LeaseLost):
            return
        for step in list(thread.steps.values()):
            self._abandons(step, error)
        if error is not None and not isinstance(error, Exception):
            thread.release()  # Cut off, not failed: what was in flight has crashed.
        elif error is not None:
            self._fails(error)
        elif thread.held or thread.again or thread.lease.stop or (thread.waits() and thread.able.suspends):
            thread.release()
        elif thread.waits() and thread.claimed:
            thread.pause()  # Without gates, a worker would ask for ever.
        elif document.goes_on(thread.doc) and not thread.waits() and (thread.claimed or not thread.able.reopens):
            thread.pause()  # A breakpoint: no worker may pass it by itself. A program calls the graph again.
        else:
            thread.finish({"outcome": "done"})

    def _abandons(self, step: Step, error: BaseException | None) -> None:
        """LangGraph gave up a task because another one failed. One without an effect may be tried again; whether an
        effect happened is not known."""
        if step.body.get("effect") is None and isinstance(error, Exception):
            why = Step47Error("the graph gave it up, because another task failed")
            fail(self.thread, step, step.error or why, lambda doc: doc, retryable=True, undone=True)
            self.thread.close(step)

    def _fails(self, error: Exception) -> None:
        if self.thread.held or self.thread.steps or type(error).__name__ == "GraphDrained":
            self.thread.release()
            return
        try:
            self.thread.finish({"outcome": "failed", "error": told_of(error)})
        except Refused as refused:
            if refused.code != "step_in_flight":
                raise
            self.thread.release()


def _called(metadata: Mapping[str, Any]) -> bool:
    """Whether the task was called by another one, as `@task` functions are."""
    path: Sequence[Any] = metadata.get("langgraph_path") or ()
    return len(path) > 1 and isinstance(path[1], tuple | list)


def _is_map(resume: Any) -> bool:
    """LangGraph's answers to several questions, by their ids."""
    return isinstance(resume, dict) and all(
        isinstance(key, str) and len(key) == 32 and set(key) <= set("0123456789abcdef") for key in resume
    )


def run_id(thread: str) -> str:
    """The run of a thread: its own name where that is a run id."""
    plain = thread.isascii() and 0 < len(thread) <= 128 and thread not in (".", "..")
    if plain and all(each.isalnum() or each in "._:-" for each in thread):
        return thread
    return f"thread-{hashlib.sha256(thread.encode()).hexdigest()[:40]}"
