"""A thread's checkpoints, read from the server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple

from .. import _calls as calls
from .._drive import drive
from .._errors import Refused
from .._flow import ask
from .._wire import Request, Wire
from . import _document as document
from ._turns import run_id
from ._values import Values

Json = dict[str, Any]

# What a tag says of its checkpoint beside the metadata that LangGraph filters by.
PARENT, AGENT = "$parent", "$agent"
PAGE = 50


class Reads:
    """What can be read without a lease."""

    def __init__(self, wire: Wire, patience: float, values: Values) -> None:
        self._wire, self._patience, self.values = wire, patience, values

    def _ask(self, request: Request) -> Json:
        answer: Json = drive(ask(self._wire, request, patience=self._patience))
        return answer

    def detail(self, run: str) -> Json | None:
        """The run, if there is one."""
        try:
            detail: Json = self._ask(calls.run(run))["run"]
        except Refused as refused:
            if refused.code == "not_found":
                return None
            raise
        return detail

    def newest(self, run: str) -> Json | None:
        """The state as it is now."""
        detail = self.detail(run)
        if detail is None:
            return None
        state: Json = self._ask(calls.snapshot(run, detail["snapshot"]))["state"]
        return state if isinstance(state, dict) else None

    def tagged(self, run: str | None, **query: Any) -> Iterator[Json]:
        """Checkpoints with their states, newest first, page by page."""
        limit = query.pop("limit", PAGE)
        if meta := query.pop("meta", None):
            query["meta"] = json.dumps(meta, separators=(",", ":"))
        query |= calls.given(run=run, limit=limit, full="true")
        while True:
            try:
                page = self._ask(calls.tags(query))
            except Refused as refused:
                if refused.code == "not_found":
                    return  # There is no such run.
                raise
            yield from (tag for tag in page["tags"] if PARENT in tag["meta"])
            if not page.get("next") or limit < PAGE:
                return
            query["before"] = page["next"]

    def first(self, run: str, **query: Any) -> Json | None:
        """The newest of them."""
        return next(self.tagged(run, limit=1, **query), None)

    def writes(self, run: str, newest: Json, ns: str, checkpoint: str, own: Json) -> Json:
        """What the tasks of a checkpoint have written: in the state now, or when its newest child was made."""
        found = document.tasks(newest, checkpoint)
        if found is None and document.head(newest, ns) != checkpoint:
            child = self.first(run, space=ns, meta={PARENT: checkpoint})
            found = document.tasks(child["state"], checkpoint) if child else None
        if found is None:
            found = document.tasks(own, checkpoint)
        return found or {}

    def tuple(self, thread: str, ns: str, doc: Json, writes: Json) -> CheckpointTuple:
        """The checkpoint that a state is at, as LangGraph knows it."""
        at = document.position(doc, ns)
        assert at is not None
        values = self.values
        channels = document.channels(doc, ns)
        return CheckpointTuple(
            config=configured(thread, ns, at["id"]),
            checkpoint={
                "v": at["v"],
                "ts": at["ts"],
                "id": at["id"],
                "channel_values": {name: values.decode(value) for name, value in channels.items()},
                # LangGraph changes these in place; the state is nobody's to change.
                "channel_versions": dict(at["versions"]),
                "versions_seen": {node: dict(seen) for node, seen in at["seen"].items()},
                "updated_channels": at["updated"] and list(at["updated"]),
            },
            metadata=values.decode(at["metadata"]),
            parent_config=configured(thread, ns, at["parent"]) if at["parent"] else None,
            pending_writes=[(task, channel, values.decode(value)) for task, channel, value in document.written(writes)],
        )


def configured(thread: str, ns: str, checkpoint: str) -> RunnableConfig:
    """How LangGraph names a checkpoint."""
    return {"configurable": {"thread_id": thread, "checkpoint_ns": ns, "checkpoint_id": checkpoint}}


def settings(config: RunnableConfig | None) -> Mapping[str, Any]:
    """What a config names: the thread, its checkpoint, and what LangGraph keeps there for itself."""
    return (config or {}).get("configurable") or {}


def thread_of(run: str, doc: Json) -> str:
    """The name of a run's thread. A fork is a thread of its own, named like its run."""
    said = document.place(doc).get("thread")
    return said if isinstance(said, str) and run_id(said) == run else run


def fits(metadata: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    """Whether a checkpoint has the metadata that was asked for."""
    return all(metadata.get(name) == value for name, value in (wanted or {}).items())
