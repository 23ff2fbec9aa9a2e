"""A run's state as a graph's thread: the user's channels at the top level, the graph's position under `$langgraph`.

```json
{"messages": […], "paid": true,
 "$langgraph": {
   "thread": "invoice-7",
   "position": {"id": "…", "parent": "…", "metadata": {…}, "versions": {…}, "seen": {…}, "channels": {…}},
   "subgraphs": {"billing:<task>": {"values": {…}, "position": {…}}},
   "writes": {"<checkpoint>": {"ns": "", "tasks": {"<task>": {"path": "…", "writes": [[0, "paid", true]]}}}}}}
```

Functions here take a state and give a new one that shares with it what did not change. Values in it are tagged JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from langgraph.checkpoint.base import WRITES_IDX_MAP, writes_sort_key
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT, RESUME, TASKS

Json = dict[str, Any]

PLACE = "$langgraph"
NULL_TASK = "00000000-0000-0000-0000-000000000000"
# Channels of the graph's own machinery: nobody edits them.
_OWN = ("branch:", "join:", "start:", "__", "$")
# Writes that say how a task stands; every other one is output.
_CONTROL = (ERROR, INTERRUPT, RESUME, "__error_source_node__")


def is_users(channel: str) -> bool:
    """Whether it is a channel that the user declared."""
    return not channel.startswith(_OWN)


def place(doc: Json) -> Json:
    """What is kept beside the user's channels."""
    found = doc.get(PLACE)
    return found if isinstance(found, dict) else {}


def position(doc: Json, ns: str) -> Json | None:
    """Where the graph, or one of its subgraphs, stands."""
    if ns == "":
        return place(doc).get("position")
    return (place(doc).get("subgraphs", {}).get(ns) or {}).get("position")


def head(doc: Json, ns: str) -> str | None:
    """The checkpoint that the state is at."""
    at = position(doc, ns)
    return at["id"] if at else None


def channels(doc: Json, ns: str) -> Json:
    """The values of all channels that have one."""
    at = position(doc, ns)
    if at is None:
        return {}
    values = doc if ns == "" else place(doc)["subgraphs"][ns]["values"]
    known = {name: value for name, value in values.items() if name != PLACE}
    return {**known, **at["channels"]}


def namespaces(doc: Json) -> Iterator[str]:
    """Where the graph and its subgraphs stand."""
    if position(doc, "") is not None:
        yield ""
    yield from place(doc).get("subgraphs", {})


def _with_place(doc: Json, **fields: Any) -> Json:
    return {**doc, PLACE: {**place(doc), **fields}}


def named(doc: Json, thread: str) -> Json:
    """The state with the name of its thread."""
    return doc if place(doc).get("thread") == thread else _with_place(doc, thread=thread)


def put(
    doc: Json,
    ns: str,
    checkpoint: Mapping[str, Any],
    metadata: Json,
    parent: str | None,
    changed: Mapping[str, Any],
    encode: Callable[[Any], Any],
) -> Json:
    """The state at a new checkpoint. Only channels that `changed`, or that the state does not have, are encoded."""
    before = position(doc, ns)
    follows = before is not None and before["id"] == parent
    old = channels(doc, ns) if follows else {}
    values = checkpoint["channel_values"]
    new = {name: old[name] if name in old and name not in changed else encode(values[name]) for name in values}
    at = {
        "id": checkpoint["id"],
        "ts": checkpoint["ts"],
        "v": checkpoint["v"],
        "parent": parent,
        "metadata": metadata,
        "versions": dict(checkpoint["channel_versions"]),
        "seen": {node: dict(seen) for node, seen in checkpoint["versions_seen"].items()},
        "updated": checkpoint.get("updated_channels"),
        "channels": {name: value for name, value in new.items() if not is_users(name)},
    }
    users = {name: value for name, value in new.items() if is_users(name)}
    # What a person added beside the channels stays.
    was = {} if before is None else before["versions"]
    if ns == "":
        kept = {name: value for name, value in doc.items() if name not in was and name not in users}
        doc = _with_place({**kept, **users}, position=at)
    else:
        subgraphs = place(doc).get("subgraphs", {})
        section = {"values": users, "position": at}
        doc = _with_place(doc, subgraphs={**subgraphs, ns: section})
    return _tidied(doc, ns, parent)


def _tidied(doc: Json, ns: str, parent: str | None) -> Json:
    """Without what older snapshots hold for good: writes on checkpoints that have gone on, and ended subgraphs."""
    below = f"{ns}|" if ns else ""

    def ended(name: str) -> bool:
        """A subgraph of one task: after the step it is part of the past. One without a task's id is kept for good."""
        return name != ns and name.startswith(below) and ":" in name[len(below) :].split("|")[0]

    subgraphs = {name: section for name, section in place(doc).get("subgraphs", {}).items() if not ended(name)}
    writes: Json = {}
    for checkpoint, entry in place(doc).get("writes", {}).items():
        if entry.get("past") and (entry["ns"] == ns or ended(entry["ns"])) and checkpoint != parent:
            continue
        gone_on = checkpoint == parent and entry["ns"] == ns
        writes[checkpoint] = {**entry, "past": True} if gone_on and not entry.get("past") else entry
    return _with_place(doc, subgraphs=subgraphs, writes=writes)


def tasks(doc: Json, checkpoint: str) -> Json | None:
    """What the tasks of a checkpoint's step have written so far, if the state still holds it."""
    entry = place(doc).get("writes", {}).get(checkpoint)
    return entry["tasks"] if entry else None


def write(
    doc: Json,
    ns: str,
    checkpoint: str,
    task: str,
    path: str,
    writes: Sequence[tuple[str, Any]],
    older: Callable[[], Json | None] = lambda: None,
) -> Json:
    """The state with what a task has written, encoded already. The first of a kind stays, but how a task stands is
    what was said last. `older`: what the tasks of this checkpoint have written, where the state does not hold it."""
    entries = place(doc).get("writes", {})
    entry = entries.get(checkpoint)
    if entry is None:
        gone_on = head(doc, ns) != checkpoint
        entry = {"ns": ns, "tasks": (older() if gone_on else None) or {}}
    known = entry["tasks"].get(task) or {"path": path, "writes": []}
    slots = {slot: [slot, channel, value] for slot, channel, value in known["writes"]}
    for index, (channel, value) in enumerate(writes):
        slot = WRITES_IDX_MAP.get(channel, index)
        if slot < 0 or slot not in slots:
            slots[slot] = [slot, channel, value]
    task_entry = {**known, "path": path or known["path"], "writes": [slots[slot] for slot in sorted(slots)]}
    if any(channel == INTERRUPT for channel, _ in writes):
        # So many answers came before this question.
        resumed = said(task_entry, RESUME)
        task_entry["answers"] = len(resumed) if isinstance(resumed, list) else 0
    fresh = {"ns": entry["ns"], "tasks": {**entry["tasks"], task: task_entry}}
    return _with_place(doc, writes={**entries, checkpoint: fresh})


def written(tasks: Json) -> list[tuple[str, str, Any]]:
    """Task, channel and encoded value of each write, in the order that the graph applies them in."""
    found = [
        (writes_sort_key(entry["path"], task, slot), (task, channel, value))
        for task, entry in tasks.items()
        for slot, channel, value in entry["writes"]
    ]
    return [each for _, each in sorted(found, key=lambda pair: pair[0])]


def said(entry: Json, channel: str) -> Any:
    """What a task has written to a channel last; `None` if it has not."""
    found = [value for _, name, value in entry["writes"] if name == channel]
    return found[-1] if found else None


def finished(entry: Json) -> bool:
    """Whether a task has given its output."""
    return any(channel not in _CONTROL for _, channel, _ in entry["writes"])


def asking(doc: Json) -> Iterator[tuple[str, str, str, Json]]:
    """Namespace, checkpoint, task and entry of each task that waits for an answer."""
    for checkpoint, entry in place(doc).get("writes", {}).items():
        if entry.get("past"):
            continue
        for task, each in entry["tasks"].items():
            if said(each, INTERRUPT) is not None and not finished(each):
                yield entry["ns"], checkpoint, task, each


def goes_on(doc: Json) -> bool:
    """Whether the graph has something to do next, as far as that can be seen without the graph: by the channels that
    LangGraph makes for edges, for `Send` and for the start."""
    at = position(doc, "")
    if at is None:
        return False
    for channel, value in at["channels"].items():
        if channel == TASKS and value:
            return True
        if channel.startswith("branch:to:") and _unseen(at, channel, channel.removeprefix("branch:to:")):
            return True
        if channel == "__start__" and not any(channel in seen for seen in at["seen"].values()):
            return True
        if channel.startswith("join:") and _joined(channel, value):
            node = channel.rsplit(":", 1)[1]
            if _unseen(at, channel, node):
                return True
    return False


def _unseen(at: Json, channel: str, node: str) -> bool:
    version, seen = at["versions"].get(channel), at["seen"].get(node, {}).get(channel)
    return version is not None and (seen is None or version > seen)


def _joined(channel: str, value: Any) -> bool:
    wanted = set(channel.removeprefix("join:").rsplit(":", 1)[0].split("+"))
    given = value.get("value") if isinstance(value, dict) else value
    return isinstance(given, list) and set(map(str, given)) == wanted
