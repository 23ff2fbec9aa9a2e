"""`serve`: a worker that carries on the runs of a graph, whoever made them ready."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.pregel import Pregel

from .._errors import Left, SetupError
from .._worker import Worker, _Agent
from . import _document as document
from ._reads import thread_of
from ._thread import Json, Thread
from ._watch import watch
from .saver import Step47Saver

log = logging.getLogger("step47")
Graph = Pregel[Any, Any, Any, Any]


class GraphWorker(Worker):
    """Claims runs of a graph's agent and calls the graph for each: new runs with their input, others from where they
    stand. `serve` and `aserve` make one and let it work; `stop()` asks it to leave."""

    def __init__(
        self,
        graph: Graph,
        *,
        config: RunnableConfig | None = None,
        name: str | None = None,
        concurrency: int = 1,
        loops: bool = False,
    ) -> None:
        saver = graph.checkpointer
        if not isinstance(saver, Step47Saver):
            raise SetupError(
                "this graph was not compiled with a Step47Saver: builder.compile(checkpointer=Step47Saver(…))"
            )
        super().__init__(saver.client, name=name, concurrency=concurrency, ttl=saver.ttl)
        self._graph, self._saver, self._config, self._loops = watch(graph), saver, config or {}, loops
        self._agents.append(_Agent(saver.agent, saver.version, saver.model, dict, graph.invoke))

    async def _carry(self, agent: _Agent, threads: ThreadPoolExecutor, answer: Json, asked: float) -> None:
        """One run, from its checkpoint to wherever it gets."""
        run = answer["run"]["id"]
        try:
            held = await asyncio.to_thread(self._saver.claimed, answer, self._ttl, asked)
        except (Exception, Left) as why:
            log.error("run %s: it was claimed but did not start: %s", run, why)
            return
        self._held.add(held.core)
        if self._left.is_set():
            held.lease.ask_to_stop("process")
        try:
            said = self._said(held)
            config: RunnableConfig = {**self._config, "configurable": self._configurable(held)}
            if self._loops:
                await self._graph.ainvoke(said, config)
            else:
                loop = asyncio.get_running_loop()
                await loop.run_in_executor(threads, lambda: self._graph.invoke(said, config))
        except (Exception, Left) as why:
            log.error("run %s: the graph failed: %s", run, why, exc_info=isinstance(why, Exception))
        finally:
            self._held.discard(held.core)
            await asyncio.to_thread(self._leaves, held)

    def _said(self, held: Thread) -> Any:
        """A run that has not begun gets its input; any other goes on from where it stands."""
        if document.position(held.doc, "") is not None:
            return None
        return self._saver.values.decode(held.detail.get("input"))

    def _configurable(self, held: Thread) -> Json:
        return {**self._config.get("configurable", {}), "thread_id": thread_of(held.run, held.doc)}

    def _leaves(self, held: Thread) -> None:
        """A run whose turn did not even begin is given back."""
        self._saver.unclaimed(held)
        if not held.lease.over:
            try:
                held.release()
            except (Exception, Left) as why:
                log.warning("run %s: it was not given back: %s", held.run, why)


def serve(graph: Graph, *, config: RunnableConfig | None = None, name: str | None = None, concurrency: int = 1) -> None:
    """Works on the graph's runs until the process is asked to end (Ctrl-C or SIGTERM): what an operator decides in the
    console (retry, it happened, skip, edit, rewind, fork, an answer at a gate) reaches the graph from here.

    `concurrency`: how many runs are carried on at the same time. `config`: more of LangChain's config for each of them.
    """
    GraphWorker(graph, config=config, name=name, concurrency=concurrency).run()


async def aserve(
    graph: Graph, *, config: RunnableConfig | None = None, name: str | None = None, concurrency: int = 1
) -> None:
    """The same in an event loop, for graphs with asynchronous nodes."""
    await GraphWorker(graph, config=config, name=name, concurrency=concurrency, loops=True).arun()
