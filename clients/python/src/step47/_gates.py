"""What a run does beside its own work: ask a person, sleep, mark a phase."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from . import _calls as calls
from ._context import StepContext
from ._core import Core
from ._errors import Asleep, ShapeError, Step47Error, Waiting
from ._flow import Flow, ask
from ._shape import decode, encode
from ._state import Fold
from ._take import Order, answered, begin, fold_in, leave, rest, take

R = TypeVar("R")
Json = dict[str, Any]
Decided = Literal["approve", "reject", "answer", "skip"]


@dataclass(frozen=True)
class Answer(Generic[R]):
    """What a person decided at a gate."""

    decision: Decided
    """`approve`, `reject`, `answer` or `skip`."""
    result: R | None
    """What came with it, as the type that the gate asked for."""
    choice: Any = None
    """Which of the gate's choices it was."""

    @property
    def approved(self) -> bool:
        """Whether it was approved."""
        return self.decision == "approve"

    def __bool__(self) -> bool:
        raise TypeError("an answer is neither true nor false: ask for .approved, .choice or .result")


def gate(core: Core, body: Json, kind: Any, fold: Fold | None, release: bool) -> Flow[Answer[Any]]:
    """Waits for the answer and folds it into the state, once."""
    while True:
        said = yield from begin(core, body)
        if said["outcome"] == "waiting":
            if release:
                raise (yield from leave(core, None, Waiting()))
            yield from answered(core, said["seq"])
        elif said["outcome"] == "given":
            yield from fold_in(core, said, fold, _answer(said["decision"], said.get("result"), body, kind))
            return _answer(said["decision"], said.get("result"), body, kind)
        elif said["outcome"] == "replay":
            decision = said.get("decision") or (yield from _decision(core, said["seq"]))
            return _answer(decision, said.get("result"), body, kind)
        else:
            raise Step47Error("a gate was begun as if it were work: is its key also the key of a step?")


def _answer(decision: Decided, result: Any, body: Json, kind: Any) -> Answer[Any]:
    if result is None:
        return Answer(decision, None)
    choice = result.get("choice") if body["gate"].get("choices") and isinstance(result, dict) else None
    try:
        return Answer(decision, decode(kind, result), choice)
    except ShapeError as why:
        raise ShapeError(f"the answer at {body['key']!r} does not fit: {why}") from why


def _decision(core: Core, seq: int) -> Flow[Decided]:
    """What was decided about a gate that is settled and folded in."""
    step = yield from ask(core.wire, calls.step(core.lease.run, seq), lease=core.lease)
    return step["step"]["decision"]  # type: ignore[no-any-return]


def sleep(core: Core, key: str, seconds: float, hold: bool) -> Flow[None]:
    """Sleeps until `seconds` are over, counted from the first time the agent comes by."""

    def until(_: StepContext) -> Flow[str]:
        end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
        return end.isoformat(timespec="microseconds").replace("+00:00", "Z")
        yield  # A flow that asks for nothing.

    end = yield from take(core, Order({"key": key, "name": "sleep"}, until, str))
    now = datetime.datetime.now(datetime.timezone.utc)
    left = (decode(datetime.datetime, end) - now).total_seconds()
    if left <= 0:
        return
    if hold:
        yield from rest(core, left)
        return
    raise (yield from leave(core, max(1, round(left * 1000)), Asleep(end)))


def milestone(core: Core, key: str, name: str) -> Flow[None]:
    """Marks the end of a phase."""
    yield from take(core, Order({"key": key, "name": name, "kind": "milestone"}, _nothing))


def _nothing(_: StepContext) -> Flow[None]:
    return
    yield


def planned(plan: Any) -> list[Json]:
    """The steps that an agent expects to take: names, or objects with `key`, `name`, `kind`, `tool`, `effect`."""
    return [{"name": step} if isinstance(step, str) else encode(step) for step in plan]
