"""A worker: claims runs of the agents it knows and carries them on, several at a time."""

from __future__ import annotations

import asyncio
import inspect
import logging
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from . import _calls as calls
from . import _open as opening
from ._client import Client
from ._core import Core
from ._current import within
from ._drive import adrive, drive
from ._errors import Left, Refused, Step47Error
from ._flow import ask
from ._lease import clock
from ._run import AsyncRun, Run, state_kind, worker_name

log = logging.getLogger("step47")
T = TypeVar("T")
Function = TypeVar("Function", bound=Callable[..., Any])
Json = dict[str, Any]

# How long one claim waits for a run to become runnable.
CLAIM_WAIT_MS = 20_000
# How long to rest when the server cannot be asked for work.
REST = 2.0
# Refusals that no waiting changes.
FOR_GOOD = ("unauthorized", "forbidden", "invalid", "malformed", "not_found")


@dataclass(frozen=True)
class _Agent:
    name: str
    version: str | None
    model: str | None
    kind: Any
    function: Callable[..., Any]

    @property
    def asynchronous(self) -> bool:
        return inspect.iscoroutinefunction(self.function)


class Worker:
    """Claims runs and calls the agent's function for each: what it returns becomes the run's result.

    ```python
    worker = step47.Worker(concurrency=4)

    @worker.agent("papers", version="1", state=Notes)
    def papers(run: step47.Run[Notes]) -> int: ...

    worker.run()
    ```

    `concurrency`: how many runs of each agent are carried on at the same time, plain functions in threads, asynchronous
    ones in one event loop. `ttl`: seconds for which a run is held without a heartbeat. `name`: what people see.
    """

    def __init__(
        self,
        client: Client | None = None,
        *,
        name: str | None = None,
        concurrency: int = 1,
        ttl: float = 30.0,
    ) -> None:
        self._client = client or Client()
        self._name, self._concurrency, self._ttl = name or worker_name(), max(1, concurrency), ttl
        self._agents: list[_Agent] = []
        self._held: set[Core] = set()
        self._left = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._leaving: asyncio.Event | None = None

    def agent(
        self, name: str, *, version: str | None = None, model: str | None = None, state: Any = None
    ) -> Callable[[Function], Function]:
        """Registers the function that carries a run of this agent to its end; `state` is the type of its state."""
        kind, initial = state_kind(state)
        if initial is not None:
            raise TypeError("a worker takes the type of the state: what a run starts from is said where it is created")

        def register(function: Function) -> Function:
            self._agents.append(_Agent(name, version, model, kind, function))
            return function

        return register

    def run(self) -> None:
        """Works until the process is asked to end (Ctrl-C or SIGTERM): runs under way are released between two
        steps. A second signal ends it at once."""
        asyncio.run(self.arun())

    async def arun(self) -> None:
        """The same in an event loop that is running already."""
        self._loop, self._leaving = asyncio.get_running_loop(), asyncio.Event()
        if self._left.is_set():
            return
        threads = ThreadPoolExecutor(self._concurrency * max(1, len(self._agents)), "step47-run")
        with self._signals():
            claims = [asyncio.ensure_future(self._claims(agent, threads)) for agent in self._agents]
            try:
                await asyncio.gather(*claims)
            finally:
                self.stop()
                await asyncio.gather(*claims, return_exceptions=True)
                threads.shutdown(wait=False)

    def stop(self) -> None:
        """Asks the worker to leave: no more claims, and each run is released at its next step boundary. Any thread
        may call it."""
        self._left.set()
        for core in list(self._held):
            core.lease.ask_to_stop("process")
        if self._loop and self._leaving and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._leaving.set)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """The first signal asks to leave. A second one ends the process by the system's own hand: agents in threads
        cannot be stopped, and Python would wait for them."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop, ours = asyncio.get_running_loop(), (signal.SIGINT, signal.SIGTERM)

        def leave(*_: object) -> None:
            for each in ours:
                signal.signal(each, signal.SIG_DFL)
            loop.call_soon_threadsafe(self._asked_to_end)

        # Not the loop's own way, which Windows has not.
        before = {each: signal.signal(each, leave) for each in ours}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler or signal.SIG_DFL)

    def _asked_to_end(self) -> None:
        log.info("worker %s: asked to end", self._name)
        self.stop()

    async def _claims(self, agent: _Agent, threads: ThreadPoolExecutor) -> None:
        """Claims runs of one agent, as many at a time as there is room for."""
        log.info("worker %s: waiting for runs of %s", self._name, agent.name)
        room, under_way = asyncio.Semaphore(self._concurrency), set[asyncio.Task[None]]()
        try:
            while not self._left.is_set() and await self._unless_leaving(room.acquire()):
                claimed = await self._unless_leaving(self._claim(agent))
                if claimed is None:
                    room.release()
                    continue
                task = asyncio.ensure_future(self._carry(agent, threads, *claimed))
                under_way.add(task)
                task.add_done_callback(under_way.discard)
                task.add_done_callback(lambda _: room.release())
        finally:
            self.stop()  # However it came to this, what is under way is waited for, so it must hear of it.
            if under_way:
                await asyncio.wait(under_way)

    async def _unless_leaving(self, waited: Awaitable[T]) -> T | None:
        """What is waited for; nothing when the worker is asked to leave first."""
        assert self._leaving is not None
        leaving = asyncio.ensure_future(self._leaving.wait())
        waiting = asyncio.ensure_future(waited)
        try:
            await asyncio.wait({leaving, waiting}, return_when=asyncio.FIRST_COMPLETED)
            return waiting.result() if waiting.done() else None
        finally:
            leaving.cancel()
            if not waiting.done():
                waiting.cancel()
                await asyncio.wait({waiting})

    async def _claim(self, agent: _Agent) -> tuple[Json, float] | None:
        body = calls.given(
            worker=self._name,
            agents=[agent.name],
            ttl_ms=round(self._ttl * 1000),
            wait_ms=CLAIM_WAIT_MS,
            version=agent.version,
            model=agent.model,
        )
        asked = clock()
        try:
            answer = await adrive(ask(self._client.wire, calls.claim(body), patience=self._client.patience))
        except Step47Error as why:
            if isinstance(why, Refused) and why.code in FOR_GOOD:
                raise
            log.warning("worker %s: no runs can be claimed now: %s", self._name, why)
            await asyncio.sleep(REST)
            return None
        return None if answer is None else (answer, asked)

    async def _carry(self, agent: _Agent, threads: ThreadPoolExecutor, answer: Json, asked: float) -> None:
        """One run, from its checkpoint to wherever it gets."""
        loops = agent.asynchronous
        start = opening.start(self._client.wire, answer, asked, self._ttl, agent.kind, loops=loops)
        try:
            core = await adrive(start)
        except (Exception, Left) as why:
            log.error("run %s: it was claimed but did not start: %s", answer["run"]["id"], why)
            return
        self._held.add(core)
        if self._left.is_set():
            core.lease.ask_to_stop("process")
        try:
            if loops:
                await self._in_loop(agent, core)
            else:
                await asyncio.get_running_loop().run_in_executor(threads, self._in_thread, agent, core)
        except (Exception, Left) as why:
            log.error("run %s: its end was not recorded: %s", core.lease.run, why)
        finally:
            self._held.discard(core)

    async def _in_loop(self, agent: _Agent, core: Core) -> None:
        try:
            with within(core):
                result = await agent.function(AsyncRun(core))
        except GeneratorExit:  # The event loop is gone: nothing more can be sent.
            core.lease.lose("its event loop has ended")
            raise
        except BaseException as error:
            self._told(core, error)
            await adrive(opening.settle_quietly(core, error, goes_on=True))
            if isinstance(error, asyncio.CancelledError):
                raise
        else:
            await adrive(opening.settle(core, None, result, goes_on=True))

    def _in_thread(self, agent: _Agent, core: Core) -> None:
        try:
            with within(core):
                result = agent.function(Run(core))
        except BaseException as error:
            self._told(core, error)
            drive(opening.settle_quietly(core, error, goes_on=True))
        else:
            drive(opening.settle(core, None, result, goes_on=True))

    def _told(self, core: Core, error: BaseException) -> None:
        if isinstance(error, Left | asyncio.CancelledError):
            log.info("run %s: it was left: %s", core.lease.run, error)
        else:
            log.error("run %s: the agent failed", core.lease.run, exc_info=error)
