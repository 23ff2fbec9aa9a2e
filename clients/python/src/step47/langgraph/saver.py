"""`Step47Saver`: LangGraph's checkpointer on a Step47 server."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_serializable_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from .. import _calls as calls
from .._client import Client
from .._errors import Refused, SetupError, Step47Error
from .._run import worker_name
from .._threads import threads
from . import _document as document
from ._able import Able
from ._hook import called, hook
from ._reads import AGENT, PARENT, Reads, configured, fits, settings, thread_of
from ._steps import record
from ._thread import Json, Thread
from ._turns import Turn, run_id
from ._values import Values

T = TypeVar("T")
# What only a graph that is under way has in its config, and what only a task has.
_RUNTIME, _TASK, _DURABILITY = "__pregel_runtime", "__pregel_task_id", "__pregel_durability"


class CannotForget(Step47Error, NotImplementedError):
    """The server keeps every checkpoint: deleting threads is not possible yet."""


class _Shared:
    """What savers that were made from one another have together."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        # The nodes of the graph use outputs that are known already.
        self.watched = False
        # Runs that a worker has leased for the next turn on them.
        self.claimed: dict[str, Thread] = {}


class Step47Saver(BaseCheckpointSaver[int]):
    """Keeps the threads of a graph as runs on a Step47 server: each task is a step, recorded before its work and after
    it, and what an operator decides in the console reaches the graph. Where the server can do that, an interrupt is a
    gate; else the program answers it.

    ```python
    graph = builder.compile(checkpointer=Step47Saver(url, agent="billing"))
    graph.invoke({"amount": 1999}, {"configurable": {"thread_id": "invoice-7"}})
    ```

    - `url`, `token`: the server, as for `step47.Client`; or `client`, one that is there already.
    - `agent`: what the console calls the graph, and what `serve` claims.
    - `allow`: your own types (dataclasses, pydantic models, enums) that the state may hold. State can be edited, so a
      process makes only values of LangChain's messages, of plain Python and of these from it.
    - `nodes`: what `metadata={"step47": …}` says of a node, by its name, for nodes that you did not add yourself:
      `{"tools": {"effect": "shop"}}`; of one tool of an agent, `{"tools/send_email": {"effect": "mail"}}`.
    - `version`, `model`: recorded with the run. `ttl`: seconds for which a thread is held without a heartbeat.
      `worker`: this process's name; with `takeover=True`, the lease of the worker of that name ends at once.
    - `serde`: LangGraph's serializer, if it is not its own, for example an encrypting one. What it encrypts cannot be
      read, compared or edited in the console.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        agent: str,
        allow: Iterable[type | tuple[str, str]] = (),
        nodes: Mapping[str, Mapping[str, Any]] | None = None,
        client: Client | None = None,
        version: str | None = None,
        model: str | None = None,
        ttl: float = 30.0,
        worker: str | None = None,
        takeover: bool = False,
        serde: SerializerProtocol | None = None,
    ) -> None:
        super().__init__(serde=serde)
        self.agent, self.version, self.model, self.ttl = agent, version, model, ttl
        self.client = client or Client(url, token)
        self.values = Values(allow, serde)
        self._nodes = {name: dict(marks) for name, marks in (nodes or {}).items()}
        self._create = calls.given(agent=agent, version=version, model=model)
        self._lease = calls.given(
            worker=worker or worker_name(),
            ttl_ms=round(ttl * 1000),
            takeover=takeover or None,
            version=version,
            model=model,
        )
        self._reads = Reads(self.client.wire, self.client.patience, self.values)
        self._able = Able(self.client.wire)
        self._shared = _Shared()

    # Reading

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that a config names, or the newest of its thread. Where a graph starts to work, its thread is
        leased first."""
        thread, ns, checkpoint = _named(config)
        turn = hook.turn(run_id(thread))
        conf = settings(config)
        if _RUNTIME in conf:
            if _TASK not in conf:
                turn = self._starts(config, thread)
            elif turn is not None:
                turn.namespaces.add(ns)
        return self._read(thread, ns, checkpoint, turn)

    def _read(self, thread: str, ns: str, checkpoint: str | None, turn: Turn | None) -> CheckpointTuple | None:
        run, reads = run_id(thread), self._reads
        newest = turn.thread.doc if turn is not None else reads.newest(run)
        if newest is None:
            return None
        at = document.head(newest, ns)
        if at is not None and checkpoint in (None, at):
            return reads.tuple(thread, ns, newest, document.tasks(newest, at) or {})
        found = reads.first(run, space=ns, **calls.given(id=checkpoint))
        if found is None:
            return None
        doc = found["state"]
        return reads.tuple(thread, ns, doc, reads.writes(run, newest, ns, found["id"], doc))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints of a thread, or of all of this agent's threads, newest first."""
        conf = settings(config)
        thread = str(conf["thread_id"]) if config else None
        run = run_id(thread) if thread is not None else None
        wanted = calls.given(space=conf.get("checkpoint_ns"), id=get_checkpoint_id(config) if config else None)
        until = get_checkpoint_id(before) if before else None
        meta = {AGENT: self.agent, **{name: self.values.encode(value) for name, value in (filter or {}).items()}}
        newest: dict[str, Json | None] = {}
        # The state after a checkpoint holds what the tasks of the one before have written.
        children: dict[tuple[str, str, str], Json] = {}
        for tag in self._reads.tagged(run, meta=meta, **wanted) if limit is None or limit > 0 else ():
            each, ns, ident, doc = tag["run"], tag["space"], tag["id"], tag["state"]
            if parent := tag["meta"][PARENT]:
                children.setdefault((each, ns, parent), doc)
            if (until and ident >= until) or not fits(tag["meta"], meta):
                continue
            if each not in newest:
                newest[each] = self._reads.newest(each)
            now = newest[each] or {}
            child = children.get((each, ns, ident))
            writes = document.tasks(now, ident) or (document.tasks(child, ident) if child else None)
            if writes is None:
                writes = self._reads.writes(each, now, ns, ident, doc)
            yield self._reads.tuple(thread or thread_of(each, doc), ns, doc, writes)
            if limit is not None:
                limit -= 1
                if limit <= 0:
                    return

    # Writing

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """A checkpoint: the next state of the run, after what the tasks before it have written."""
        thread, ns, parent = _named(config)
        said = self.values.encode(get_serializable_checkpoint_metadata(config, metadata))
        tag = {"space": ns, "id": checkpoint["id"], "meta": {**said, PARENT: parent, AGENT: self.agent}}

        def mutate(doc: Json) -> Json:
            doc = document.put(doc, ns, checkpoint, said, parent, new_versions, self.values.encode)
            return document.named(doc, thread)

        with self._held(thread) as held:
            try:
                held.until("the output of a task", lambda: not held.open_in(ns))
                held.save(mutate, tag)
            except BaseException as error:
                held.broke(error)
                raise
        return configured(thread, ns, checkpoint["id"])

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """What a task has written: it ends the task's step."""
        thread, _, _ = _named(config)

        def older(ns: str, checkpoint: str) -> Json | None:
            child = self._reads.first(run_id(thread), space=ns, meta={PARENT: checkpoint})
            return document.tasks(child["state"], checkpoint) if child else None

        with self._held(thread) as held:
            try:
                record(held, self.values, config, writes, task_id, task_path, older)
            except BaseException as error:
                held.broke(error)
                raise

    # Threads

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Forks a thread: the new run shares its history. The target must not be there yet."""
        source, target = run_id(str(source_thread_id)), run_id(str(target_thread_id))
        detail = self._reads.detail(source)
        if detail is not None:
            self.client.decide(source, "fork", new_run_id=target)

    def delete_thread(self, thread_id: str) -> NoReturn:
        """Not possible yet: the server keeps every checkpoint."""
        raise CannotForget(f"thread {thread_id} cannot be deleted: a Step47 server keeps every checkpoint for now")

    def delete_for_runs(self, run_ids: Sequence[str]) -> NoReturn:
        """Not possible yet: the server keeps every checkpoint."""
        raise CannotForget("checkpoints cannot be deleted: a Step47 server keeps every one for now")

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> NoReturn:
        """Not possible yet: the server's own retention prunes by policy."""
        raise CannotForget("threads cannot be pruned: a Step47 server keeps every checkpoint for now")

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> Step47Saver:
        """More types that may be made from a state: LangGraph calls it with those of the graph's schemas."""
        self.values.allow((each[0], each[1]) for each in extra_allowlist)
        return self

    # The same in an event loop

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await _aside(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        found = iter(self.list(config, filter=filter, before=before, limit=limit))

        def following() -> CheckpointTuple | None:
            return next(found, None)

        while (each := await _aside(following)) is not None:
            yield each

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return await _aside(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await _aside(self.put_writes, config, writes, task_id, task_path)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await _aside(self.copy_thread, source_thread_id, target_thread_id)

    async def adelete_thread(self, thread_id: str) -> NoReturn:
        self.delete_thread(thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> NoReturn:
        self.delete_for_runs(run_ids)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> NoReturn:
        self.prune(thread_ids, strategy=strategy)

    # Leases

    def _starts(self, config: RunnableConfig, thread: str) -> Turn:
        """A graph starts to work on a thread: from here to its end, the thread's run is leased."""
        run = run_id(thread)
        with self._shared.lock:
            call, open_turn = called(thread), hook.turn(run)
            if open_turn is not None:
                if call is not None and call.run == open_turn.root:
                    return open_turn  # It looks once more.
                raise Refused("lease_held", f"thread {thread} is being worked on in this process already", 409)
            if call is None or call.taken:
                raise Step47Error("the graph was called without LangChain's callbacks, which tell where its turn ends")
            held = self._shared.claimed.pop(run, None) or self._take(thread)
            exits = settings(config).get(_DURABILITY) == "exit"
            watched = self._shared.watched
            turn = Turn(
                held,
                thread,
                self.values,
                call.run,
                call.inputs,
                steps=not exits,
                watched=watched,
                nodes=self._nodes,
            )
            call.taken, call.inputs = True, None
            hook.opened(turn)
        return turn

    def _take(self, thread: str) -> Thread:
        create = {**self._create, "title": thread, "state": {}}
        client = self.client
        held = Thread.taken(client.wire, run_id(thread), create, self._lease, client.patience, self._able)
        if (other := held.detail["agent"]) != self.agent:
            held.release()
            raise SetupError(f"run {held.run} is one of the agent {other!r}, not a thread of {self.agent!r}")
        return held

    @contextlib.contextmanager
    def _held(self, thread: str) -> Iterator[Thread]:
        """The thread's run, under the lease of the turn that is under way, or under a short one of its own."""
        turn = hook.turn(run_id(thread))
        if turn is not None:
            yield turn.thread
            return
        before = self._reads.detail(run_id(thread))
        held = self._take(thread)
        try:
            yield held
        finally:
            self._gives_back(held, before)

    @staticmethod
    def _gives_back(held: Thread, before: Json | None) -> None:
        """Between two turns a thread is what it was: nobody goes on with it until somebody calls the graph."""
        if held.lease.over:
            return
        if (held.waits() and held.able.suspends) or (before is not None and before["status"] == "ready"):
            held.release()
        elif before is not None and before["status"] == "failed" and before.get("error"):
            held.finish({"outcome": "failed", "error": before["error"]})
        else:
            held.finish({"outcome": "done"})

    # What `serve` and `watch` tell

    def claimed(self, answer: Json, ttl: float, asked: float) -> Thread:
        """A worker has claimed a run: the next turn on it goes on under that lease."""
        held = Thread.leased(self.client.wire, answer, ttl, asked, self._able)
        held.claimed = True
        self._shared.claimed[held.run] = held
        return held

    def unclaimed(self, held: Thread) -> None:
        """The turn did not take place."""
        self._shared.claimed.pop(held.run, None)

    def watched(self) -> None:
        """The nodes of the graph use outputs that are known already."""
        self._shared.watched = True


def _named(config: RunnableConfig) -> tuple[str, str, str | None]:
    """Thread, namespace and checkpoint that a config names."""
    conf = settings(config)
    if not str(conf["thread_id"]):
        raise SetupError("thread_id is empty: a thread needs a name, {'configurable': {'thread_id': 'invoice-7'}}")
    return str(conf["thread_id"]), conf.get("checkpoint_ns") or "", get_checkpoint_id(config)


async def _aside(call: Callable[..., T], *args: Any) -> T:
    """In a thread, so that the event loop goes on meanwhile; in the same context."""
    return await asyncio.wrap_future(threads.submit(contextvars.copy_context().run, call, *args))
