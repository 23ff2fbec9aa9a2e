"""`watch`: nodes that use the output that an operator gave, or that is recorded, instead of working."""

from __future__ import annotations

from typing import Any, TypeVar

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.config import get_config
from langgraph.pregel import Pregel

from .._context import StepContext
from .._context import current as plain
from ._hook import hook
from ._reads import settings
from ._thread import Step
from ._turns import run_id
from .saver import Step47Saver

G = TypeVar("G", bound=Pregel[Any, Any, Any, Any])
_TASK = "__pregel_task_id"


class Watched(Runnable[Any, Any]):
    """A node's work, unless its output is known."""

    def __init__(self, work: Runnable[Any, Any]) -> None:
        self.work = work
        self.name = getattr(work, "name", None)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        known, output = _known(config)
        return output if known else self.work.invoke(input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        known, output = _known(config)
        return output if known else await self.work.ainvoke(input, config, **kwargs)


def _known(config: RunnableConfig | None) -> tuple[bool, Any]:
    conf = settings(config)
    turn = hook.turn(run_id(str(conf.get("thread_id"))))
    task = conf.get(_TASK)
    if turn is None or task not in turn.thread.results:
        return False, None
    return True, turn.thread.results.pop(task)


def current() -> StepContext:
    """The attempt at the step that this node is: its `idempotency_key` for the outside provider, `progress`, `log`,
    `usage`. Like `step47.current()`, outside of a run it is one that records nothing."""
    step = _step()
    return plain() if step is None else step.context


def checking() -> bool:
    """Whether this node crashed before (`"recovery": "check"`), and should look first whether its work has happened."""
    step = _step()
    return step is not None and step.check


def _step() -> Step | None:
    try:
        conf = settings(get_config())
    except RuntimeError:
        return None
    turn = hook.turn(run_id(str(conf.get("thread_id"))))
    return turn.thread.steps.get(conf.get(_TASK, "")) if turn is not None else None


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
