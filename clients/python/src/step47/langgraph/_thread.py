"""A thread's run in the hands of this process: its lease, its state, and the steps that are under way."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from .. import _calls as calls
from .. import _heart
from .. import _open as opening
from .._context import StepContext
from .._core import Core
from .._drive import drive
from .._errors import LeaseLost, Refused, SetupError, ShapeError, Step47Error
from .._flow import ask
from .._lease import Lease, clock
from .._patch import Op, diff
from .._state import Live
from .._take import last
from .._wire import Request, Wire
from . import _document as document
from ._able import Able

log = logging.getLogger("step47")
Json = dict[str, Any]
Mutate = Callable[[Json], Json]

# How long one write of the graph waits for another that must come first. Both are sent by LangGraph at the same time.
PATIENCE = 30.0
# A thread that has ended a turn like this can have another one.
REOPENED = ("done", "failed", "waiting", "paused")
# How often a change is made again from a state that somebody else has changed.
TRIES = 3


@dataclass
class Step:
    """A task whose intent is recorded, until its output is."""

    task: str
    key: str
    ns: str
    body: Json
    seq: int
    attempt: int
    context: StepContext
    # An operator settled it: the work is not done.
    given: bool = False
    # It was begun with a person's answer to what it asked.
    answered: bool = False
    # What its node says of itself, and where it is in the graph and its subgraphs.
    marks: Json | None = None
    path: str = ""
    # It has ended with a command for the graph around it: its end is recorded with that of the task around it.
    handed_over: bool = False
    # It was begun to look whether it happened.
    check: bool = False
    # The run of the node as LangChain's callbacks know it, and the runs inside it.
    own_run: UUID | None = None
    runs: set[UUID] = field(default_factory=set)
    error: BaseException | None = None
    # The work has ended and LangGraph is about to record its output.
    done: bool = False
    output: Any = None


def _stands(refused: Refused) -> str | None:
    """The status of a run that cannot be leased as it is."""
    if refused.code != "run_not_runnable":
        return None
    return str(refused.fields.get("run_status", refused.fields.get("status")))


class Thread:
    """A leased run. Any thread of the process may use it."""

    def __init__(self, wire: Wire, answer: Json, ttl: float, asked: float, able: Able) -> None:
        self.wire, self.detail, self.ttl, self.able = wire, answer["run"], ttl, able
        # A worker has claimed it: nobody else is about to call the graph.
        self.claimed = False
        self.lease = Lease(self.detail["id"], answer["epoch"], ttl, asked, self.detail.get("signal"))
        self.doc: Json = answer["state"]
        self.snapshot: int = answer["snapshot"]
        self.answers: list[Json] = answer.get("answers") or []
        self.core = Core(wire, self.lease, self.detail, Live(Any, {}, 0), loops=False)
        self.steps: dict[str, Step] = {}
        # Outputs that are recorded or were given, by task: they are used instead of the node's work.
        self.results: dict[str, Any] = {}
        # An effect may have happened or not: an operator decides.
        self.held = False
        # The graph must be called again to go on with what was found out.
        self.again = False
        self._turn = threading.RLock()
        self._moved = threading.Condition()
        # Changes that can wait for the next one: losing them costs nothing.
        self._later: list[Mutate] = []
        # Why a checkpoint or a task's output could not be recorded: who waits for it need not wait on.
        self._broken: BaseException | None = None

    @classmethod
    def taken(cls, wire: Wire, run: str, create: Json, lease: Json, patience: float, able: Able) -> Thread:
        """Takes the lease on a run: one that has ended or waits is reopened, and if there is none, it is created."""
        while True:
            try:
                answer, asked = drive(opening._lease_when_free(wire, run, lease, patience))
                return cls.leased(wire, answer, lease["ttl_ms"] / 1000, asked, able)
            except Refused as refused:
                if refused.code == "not_found":
                    drive(ask(wire, calls.create({"id": run, **create}), patience=patience))
                elif _stands(refused) in REOPENED and "reopen" not in lease:
                    lease = {**lease, "reopen": True}
                elif "reopen" in lease and refused.code in ("malformed", "invalid"):
                    raise SetupError("this server cannot reopen a run for another turn: update it") from refused
                else:
                    raise

    @classmethod
    def leased(cls, wire: Wire, answer: Json, ttl: float, asked: float, able: Able) -> Thread:
        """A run that was just leased or claimed."""
        thread = cls(wire, answer, ttl, asked, able)
        if clock() - asked > ttl / 3:
            sent = clock()
            renewed = drive(ask(wire, calls.heartbeat(thread.lease), patience=ttl))
            thread.lease.renew(sent, (renewed or {}).get("signal"))
        log.info("run %s: snapshot %s restored in epoch %s", thread.lease.run, thread.snapshot, thread.lease.epoch)
        _heart.start(wire, thread.lease)
        return thread

    @property
    def run(self) -> str:
        return self.lease.run

    def ask(self, request: Request) -> Json:
        """Sends under the lease."""
        answer: Json = drive(ask(self.wire, request, lease=self.lease)) or {}
        if answer.get("signal"):
            self.lease.ask_to_stop(answer["signal"])
        return answer

    def change(
        self, mutate: Mutate, send: Callable[[list[Op], int], Request | None], *, alone: bool = False
    ) -> Json | None:
        """Changes the state: `send` makes the request from the patch and the snapshot that it is made from. Without a
        patch, `alone` sends nothing."""
        answer: Json | None = None
        with self._turn:
            for tries in range(TRIES):
                before, later = self.doc, len(self._later)
                after = before
                for each in self._later:
                    after = each(after)
                after = mutate(after)
                patch = diff(before, after)
                request = None if alone and not patch else send(patch, self.snapshot)
                if request is None:
                    return None
                try:
                    answer = self.ask(request)
                except Refused as refused:
                    if refused.code != "state_conflict" or tries + 1 == TRIES:
                        raise
                    self._read_again()
                    continue
                self.doc, self.snapshot = after, answer.get("snapshot", self.snapshot)
                del self._later[:later]
                break
        self.tell()
        return answer

    def later(self, mutate: Mutate) -> None:
        """A change that goes along with the next one."""
        with self._turn:
            self._later.append(mutate)

    def _read_again(self) -> None:
        """An operator changed the state meanwhile: it is the truth."""
        detail = self.ask(calls.run(self.run))["run"]
        self.snapshot = detail["snapshot"]
        self.doc = self.ask(calls.snapshot(self.run, self.snapshot))["state"]

    def save(self, mutate: Mutate, tag: Json | None = None) -> None:
        """A checkpoint between steps."""

        def send(patch: list[Op], base: int) -> Request:
            return calls.save(self.lease, calls.given(patch=patch, base=base, tag=tag))

        self.change(mutate, send, alone=tag is None)

    def tell(self) -> None:
        """Something has changed: who waits looks again."""
        with self._moved:
            self._moved.notify_all()

    def broke(self, error: BaseException) -> None:
        """A checkpoint, or what a task has written, could not be recorded. The first reason is the one that counts."""
        self._broken = self._broken or error
        self.tell()

    def until(self, what: str, holds: Callable[[], bool]) -> None:
        """Waits for another write of this graph that is under way."""
        end = clock() + PATIENCE
        with self._moved:
            while self._broken is not None or not holds():
                if not self.lease.held():
                    raise LeaseLost
                if isinstance(self._broken, ShapeError):
                    raise ShapeError(str(self._broken)) from self._broken
                if self._broken is not None:
                    raise Step47Error(f"a checkpoint could not be written: {self._broken}") from self._broken
                if clock() >= end:
                    log.warning("run %s: %s did not come within %g s", self.run, what, PATIENCE)
                    return
                self._moved.wait(min(1.0, max(0.0, end - clock())))

    def open_in(self, ns: str) -> bool:
        """Whether a task of this graph or subgraph has begun and its output is not recorded."""
        return any(step.ns == ns for step in list(self.steps.values()))

    def close(self, step: Step) -> None:
        """The step's end is recorded."""
        step.context.close()
        if self.steps.get(step.task) is step:
            del self.steps[step.task]
        self.tell()

    def finish(self, body: Json) -> None:
        """Ends the run, or this turn of it."""
        if body["outcome"] == "done" and not self.claimed and not self.able.reopens:
            self.release()  # Done, it could have no other turn.
            return
        drive(last(self.core, lambda: calls.finish(self.lease, body)))

    def release(self) -> None:
        """Gives the run back as it is."""
        if self.lease.held():
            drive(last(self.core, lambda: calls.release(self.lease, None)))

    def pause(self) -> None:
        """Gives the run back so that no worker takes it by itself."""
        if self.lease.held():
            drive(last(self.core, lambda: calls.pause(self.lease)))

    def waits(self) -> bool:
        """Whether a task waits for a person."""
        return next(document.asking(self.doc), None) is not None
