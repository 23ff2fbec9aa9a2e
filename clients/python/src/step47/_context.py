"""What a step's work can know and tell while it runs."""

from __future__ import annotations

import asyncio
import logging
import threading
import uuid
from collections import deque
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar, overload

from . import _calls as calls
from ._current import step_here
from ._drive import drive
from ._errors import LeaseLost, Step47Error
from ._flow import Flow, Until, ask
from ._shape import decode, encode
from ._threads import threads
from ._wire import Request

if TYPE_CHECKING:
    from ._core import Core

log = logging.getLogger("step47")
T = TypeVar("T")

# How long work is held up by telling about itself while the server is away.
PATIENCE = 2.0


class StepContext:
    """One attempt at a step, from the inside: `step47.current()`.

    Outside a run there is one as well: it logs to the logger `step47` and records nothing.
    """

    run_id: str
    """The run that the step belongs to."""
    key: str
    """The step's key."""
    seq: int
    """The step's number in its run."""
    attempt: int
    """Which try at the step this is, from 1."""
    idempotency_key: str
    """For the outside provider: the same over all attempts at this step, so that it can deduplicate."""

    def __init__(
        self,
        core: Core | None,
        key: str,
        seq: int,
        attempt: int,
        idempotency_key: str,
        partial: Any = None,
    ) -> None:
        self.core = core
        self.run_id = core.lease.run if core else ""
        self.key, self.seq, self.attempt, self.idempotency_key = key, seq, attempt, idempotency_key
        self._partial = partial
        self._used: dict[str, float] = {}
        self._closed = False
        self._queue: deque[Request] = deque()
        self._telling: Future[None] | None = None
        self._lock = threading.Lock()

    @overload
    def partial(self) -> Any: ...
    @overload
    def partial(self, kind: type[T]) -> T | None: ...
    def partial(self, kind: Any = Any) -> Any:
        """The last progress of the attempt before, if that crashed after telling any and it still reads as `kind`."""
        try:
            return None if self._partial is None else decode(kind, self._partial)
        except Step47Error:
            return None

    def progress(self, partial: Any) -> None:
        """Says how far the work is. It replaces what was said before, and the next attempt gets it after a crash."""
        if self.core:
            self._tell(calls.progress(self.core.lease, self.seq, self.attempt, partial=encode(partial)))

    def log(self, message: str, level: str = "info") -> None:
        """Adds a line to the step's log."""
        if self.core:
            line = {"level": level, "message": message}
            self._tell(calls.progress(self.core.lease, self.seq, self.attempt, line=line))
        else:
            log.info("%s: %s: %s", self.key, level, message)

    def usage(
        self,
        *,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        cost_usd: float | None = None,
    ) -> None:
        """Adds to what this attempt used; sent with its end, whatever the end is."""
        given = {"input_tokens": input_tokens, "output_tokens": output_tokens, "cost_usd": cost_usd}
        with self._lock:
            for name, amount in given.items():
                if amount is not None:
                    self._used[name] = self._used.get(name, 0) + amount

    @property
    def used(self) -> dict[str, float] | None:
        """What this attempt used so far."""
        return dict(self._used) or None

    def close(self) -> None:
        """The attempt is over: work that could not be stopped can tell nothing more."""
        self._closed = True

    def flush(self) -> None:
        """Waits until all that was told has been sent."""
        drive(self._told())

    def _told(self) -> Flow[None]:
        """The same as part of a flow. It ends with the lease at the latest: then nothing more is sent."""
        telling = self._telling
        if telling:
            yield Until(telling)

    def _tell(self, request: Request) -> None:
        """Never fails the work: what is told here is for people who watch. But work whose lease is lost ends here."""
        if self._closed or (self.core and not self.core.lease.held()):
            raise LeaseLost
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            self._send(request)
            return
        # An event loop does not wait for it: it is sent in order, and before the step ends.
        with self._lock:
            self._queue.append(request)
            if self._telling is None or self._telling.done():
                self._telling = threads.submit(self._send_queued)

    def _send_queued(self) -> None:
        while True:
            with self._lock:
                if not self._queue:
                    self._telling = None
                    return
                request = self._queue.popleft()
            try:
                self._send(request)
            except LeaseLost:
                return  # The lease has noted it, and whoever runs this work cancels it now.

    def _send(self, request: Request) -> None:
        if self.core is None:
            return
        try:
            drive(ask(self.core.wire, request, lease=self.core.lease, patience=PATIENCE))
        except Step47Error as why:
            log.warning("run %s: progress of step %s was not recorded: %s", self.run_id, self.seq, why)


def current() -> StepContext:
    """The step whose work calls this. Outside a run: a stand-in, so that a step stays a plain function there."""
    return step_here.get() or StepContext(None, "", 0, 1, str(uuid.uuid4()))
