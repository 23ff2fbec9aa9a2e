"""Another run that this one starts, and waits for."""

from __future__ import annotations

import hashlib
import re
from typing import Any, TypeVar, overload

from . import _calls as calls
from ._context import StepContext
from ._core import Core
from ._drive import adrive, drive
from ._errors import StepError
from ._flow import Flow, ask
from ._take import Order, rest, take

R = TypeVar("R")
Json = dict[str, Any]

# A step of this status has an outcome that a replay gives.
SETTLED = ("committed", "failed", "skipped")
# Steps that are read at once.
PAGE = 1000


def child_id(run: str, key: str) -> str:
    """The same each time the agent comes by, and a run id whatever the key holds."""
    plain = f"{run}:{key}"
    if re.fullmatch(r"[A-Za-z0-9._:-]{1,128}", plain):
        return plain
    return f"{run[:80]}:{hashlib.sha256(key.encode()).hexdigest()[:32]}"


def start_child(core: Core, key: str, create: Json) -> Flow[str]:
    """Creates a run that has this one as its parent; a worker of its agent takes it up."""

    def create_it(step: StepContext) -> Flow[str]:
        parent = {"run": core.lease.run, "seq": step.seq}
        made = yield from ask(core.wire, calls.create({**create, "parent": parent}), lease=core.lease)
        return str(made["run"]["id"])

    body = calls.given(key=key, name=f"start {create['agent']}", input=create.get("input"))
    return (yield from take(core, Order(body, create_it, str)))  # type: ignore[no-any-return]


def child_result(core: Core, key: str, run: str, kind: Any) -> Flow[Any]:
    """Waits until a child run has ended, and records its result as a step of this one. What is recorded counts,
    whatever became of the child since: an operator may have resumed it."""
    if key not in (yield from _settled(core)):
        yield from _ended(core, run)

    def read(_: StepContext) -> Flow[Any]:
        ended = yield from _ended(core, run)
        if ended["status"] != "done":
            status = ended["status"]
            raise StepError(f"the child run {run} is {status}", kind=f"child_{status}", retryable=False)
        return ended.get("result")

    return (yield from take(core, Order({"key": key, "name": "wait for child", "input": run}, read, kind)))


def _settled(core: Core) -> Flow[set[str]]:
    """The keys of the steps that were settled when this was asked first under this lease."""
    if core.settled is None:
        found, after = set[str](), 0
        while after is not None:
            page = yield from ask(core.wire, calls.steps(core.lease.run, after, PAGE), lease=core.lease)
            found.update(step["key"] for step in page["steps"] if step["status"] in SETTLED)
            after = page.get("next")
        core.settled = found
    return core.settled


def _ended(core: Core, run: str) -> Flow[Json]:
    """The run, once it has ended."""
    pause = 0.1
    while True:
        detail: Json = (yield from ask(core.wire, calls.run(run), lease=core.lease))["run"]
        if detail["status"] in ("done", "failed", "cancelled"):
            return detail
        yield from rest(core, pause)
        pause = min(pause * 2, 5.0)


class _Started:
    def __init__(self, core: Core, key: str, run: str) -> None:
        self._core, self._key = core, key
        self.id = run

    def _ended(self, kind: Any) -> Flow[Any]:
        return child_result(self._core, f"{self._key}:result", self.id, kind)


class Child(_Started):
    """A run that this one started; `id` is its id."""

    @overload
    def result(self) -> Any: ...
    @overload
    def result(self, kind: type[R]) -> R: ...
    def result(self, kind: Any = Any) -> Any:
        """Waits until the child has ended and gives its result, recorded as a step of this run. One that failed or
        was cancelled raises `StepFailed`."""
        return drive(self._ended(kind))


class AsyncChild(_Started):
    """A run that this one started; `id` is its id."""

    @overload
    async def result(self) -> Any: ...
    @overload
    async def result(self, kind: type[R]) -> R: ...
    async def result(self, kind: Any = Any) -> Any:
        """See `Child.result`."""
        return await adrive(self._ended(kind))
