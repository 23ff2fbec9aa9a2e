"""How turns and tasks are noticed: a callback handler that LangChain adds to every run of this process by itself.

It does nothing for runs that no `Step47Saver` keeps.
"""

from __future__ import annotations

import logging
import threading
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tracers.context import register_configure_hook
from langgraph.constants import START
from langgraph.errors import GraphBubbleUp, ParentCommand

from ._thread import Step
from ._turns import Turn

log = logging.getLogger("step47")

_PUSH = "__pregel_push"


class _Quiet(BaseCallbackHandler):
    """It is not called for what is no chain."""

    @property
    def ignore_retriever(self) -> bool:
        return True

    @property
    def ignore_agent(self) -> bool:
        return True

    @property
    def ignore_chat_model(self) -> bool:
        return True

    @property
    def ignore_custom_event(self) -> bool:
        return True


class Step47Hook(_Quiet):
    """Tells turns what happens in their graphs."""

    # What keeps a task from being done is raised from here.
    raise_error = True
    run_inline = False

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: dict[UUID, Turn] = {}
        self._open: dict[str, Turn] = {}

    def opened(self, turn: Turn) -> None:
        """From now on its tasks are steps."""
        with self._lock:
            self._open[turn.thread.run] = turn
            for run in turn.family:
                self._turns[run] = turn

    @property
    def busy(self) -> bool:
        """Whether any turn is under way."""
        return bool(self._open)

    def turn(self, run: str) -> Turn | None:
        """The turn that is under way on a run."""
        return self._open.get(run)

    def on_chain_start(
        self,
        serialized: dict[str, Any] | None,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        metadata = metadata or {}
        thread = metadata.get("thread_id")
        turn = self._belongs(run_id, parent_run_id)
        if thread is None:
            return
        node, path = metadata.get("langgraph_node"), metadata.get("langgraph_checkpoint_ns")
        ours = turn is not None and node and path and str(thread) == turn.name
        if turn is not None and ours and self._is_task(turn, kwargs.get("name"), tags, metadata):
            turn.starts(run_id, str(node), str(path), metadata, inputs)

    def _belongs(self, run: UUID, parent: UUID | None) -> Turn | None:
        with self._lock:
            turn = self._turns.get(parent) if parent else None
            if turn is not None:
                self._turns[run] = turn
                turn.family.add(run)
        if turn is not None and (step := turn.step_of(parent)) is not None:
            step.runs.add(run)
        return turn

    @staticmethod
    def _is_task(turn: Turn, name: Any, tags: list[str] | None, metadata: dict[str, Any]) -> bool:
        """Whether it is the node itself that starts, and nothing inside it."""
        if any(tag.startswith("graph:step:") for tag in tags or ()):
            return bool(metadata["langgraph_node"] != START)
        if metadata.get("langgraph_path", ("",))[0] != _PUSH or name != metadata["langgraph_node"]:
            return False
        step = turn.thread.steps.get(str(metadata["langgraph_checkpoint_ns"]).rsplit(":", 1)[-1])
        return step is None or step.done or step.error is not None

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        turn = self._turns.get(run_id)
        if turn is None:
            return
        step = turn.step_of(run_id)
        if step is not None and step.own_run == run_id:
            step.done, step.output = True, outputs
        self._ends(turn, run_id, None)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        turn = self._turns.get(run_id)
        if turn is None:
            return
        step = turn.step_of(run_id)
        if step is not None and step.own_run == run_id:
            if isinstance(error, ParentCommand):
                step.done = step.handed_over = True
            elif not isinstance(error, GraphBubbleUp):
                step.error = error
        self._ends(turn, run_id, error)

    def _ends(self, turn: Turn, run: UUID, error: BaseException | None) -> None:
        with self._lock:
            self._turns.pop(run, None)
            turn.family.discard(run)
            if run != turn.root:
                return
            for each in turn.family:
                self._turns.pop(each, None)
        self.close(turn, error)

    def close(self, turn: Turn, error: BaseException | None) -> None:
        """The turn is over."""
        try:
            turn.ends(error)
        finally:
            with self._lock:
                if self._open.get(turn.thread.run) is turn:
                    del self._open[turn.thread.run]

    def on_llm_end(self, response: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any) -> None:
        """Tokens that a model call in a node used are the step's."""
        turn = self._turns.get(parent_run_id) if parent_run_id else None
        step = turn.step_of(parent_run_id) if turn is not None else None
        if step is None:
            return
        for generations in getattr(response, "generations", ()):
            for each in generations[:1]:
                _use(step, getattr(getattr(each, "message", None), "usage_metadata", None))


@dataclass
class Call:
    """A run that could be the graph of a thread, with its input."""

    thread: str
    run: UUID
    inputs: Any
    # It is the root of a turn.
    taken: bool = False


class Notice(_Quiet):
    """Notes which run has started last where it was called: a graph that then looks for its checkpoint is that run,
    whatever else starts on the same thread at the same moment."""

    # In the context of whoever called, which an event loop copies for other handlers.
    run_inline = True

    def on_chain_start(
        self,
        serialized: dict[str, Any] | None,
        inputs: Any,
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        thread = (metadata or {}).get("thread_id")
        if thread is not None:
            _newest.set(Call(str(thread), run_id, inputs))


def called(thread: str) -> Call | None:
    """The call of the graph, in this context, that looks for this thread."""
    call = _newest.get()
    return call if call is not None and call.thread == thread else None


def _use(step: Step, usage: Any) -> None:
    if isinstance(usage, dict):
        step.context.usage(input_tokens=usage.get("input_tokens"), output_tokens=usage.get("output_tokens"))


def _is_news(record: logging.LogRecord) -> bool:
    """LangChain warns of whatever a callback raises; what this one raises reaches the caller in any case."""
    return "Error in Step47Hook." not in record.getMessage()


logging.getLogger("langchain_core.callbacks.manager").addFilter(_is_news)
hook = Step47Hook()
_added: ContextVar[Step47Hook | None] = ContextVar("step47_langgraph", default=hook)
register_configure_hook(_added, True)
_newest: ContextVar[Call | None] = ContextVar("step47_langgraph_newest", default=None)
_notices: ContextVar[Notice | None] = ContextVar("step47_langgraph_notices", default=Notice())  # noqa: B039
register_configure_hook(_notices, True)
