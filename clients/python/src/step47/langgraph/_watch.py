"""`watch`: nodes that use the output that an operator gave, or that is recorded, instead of working."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, TypeVar

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.config import get_config
from langgraph.pregel import Pregel

from .._context import StepContext
from .._context import current as plain
from .._core import _in_loop
from .._errors import SetupError
from ._hook import hook
from ._reads import settings
from ._thread import Step
from ._turns import run_id
from .saver import Step47Saver

G = TypeVar("G", bound=Pregel[Any, Any, Any, Any])
_TASK = "__pregel_task_id"
# Where LangGraph itself cannot tell which node it is.
_here: ContextVar[RunnableConfig | None] = ContextVar("step47_node", default=None)


class Watched(Runnable[Any, Any]):
    """A node's work, unless its output is known."""

    def __init__(self, work: Runnable[Any, Any]) -> None:
        self.work = work
        self.name = getattr(work, "name", None)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        known, output = _known(config)
        if known:
            return output
        with _inside(config):
            return self.work.invoke(input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        known, output = _known(config)
        if known:
            return output
        with _inside(config):
            return await self.work.ainvoke(input, config, **kwargs)


@contextlib.contextmanager
def _inside(config: RunnableConfig | None) -> Iterator[None]:
    token = _here.set(config)
    try:
        yield
    finally:
        _here.reset(token)


def _known(config: RunnableConfig | None) -> tuple[bool, Any]:
    conf = settings(config)
    turn = hook.turn(run_id(str(conf.get("thread_id"))))
    task = conf.get(_TASK)
    if turn is None or task not in turn.thread.results:
        return False, None
    return True, turn.thread.results.pop(task)


def current(config: RunnableConfig | None = None) -> StepContext:
    """The attempt at the step that this node is: its `idempotency_key` for the outside provider, `progress`, `log`,
    `usage`. Like `step47.current()`, outside of a run it is one that records nothing.

    `config`: what the node was called with; only needed by asynchronous nodes on Python 3.10, in a graph that is
    neither watched nor served.
    """
    step = _step(config)
    return plain() if step is None else step.context


def checking(config: RunnableConfig | None = None) -> bool:
    """Whether this node crashed before (`"recovery": "check"`), and should look first whether its work has happened."""
    step = _step(config)
    return step is not None and step.check


def _step(config: RunnableConfig | None) -> Step | None:
    conf = settings(config or _config())
    turn = hook.turn(run_id(str(conf.get("thread_id"))))
    return turn.thread.steps.get(conf.get(_TASK, "")) if turn is not None else None


def _config() -> RunnableConfig | None:
    try:
        return get_config()
    except RuntimeError as why:
        if (here := _here.get()) is None and sys.version_info < (3, 11) and _in_loop() and hook.busy:
            # A key that is another one at every attempt would be worse than none.
            raise SetupError("on Python 3.10, an asynchronous node must say where it is: current(config)") from why
        return here


def watch(graph: G) -> G:
    """Makes the nodes of a compiled graph use what operators decided: a step whose result was given in the console ("it
    happened", skip) is not done again. Subgraphs too. Returns the same graph."""
    if isinstance(graph.checkpointer, Step47Saver):
        graph.checkpointer.watched()
    for node in graph.nodes.values():
        if node.subgraphs and isinstance(node.bound, Pregel):
            watch(node.bound)
        elif not isinstance(node.bound, Watched):
            node.bound = Watched(node.bound)
            node.__dict__.pop("node", None)
    return graph
