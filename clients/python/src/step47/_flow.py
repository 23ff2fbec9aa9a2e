"""What the protocol wants done, said without doing it.

A flow is a generator: it yields commands (send this, wait that long, do this work) and is told what came of them. All
rules of the protocol are flows; `_drive` carries them out, in a thread or in an event loop.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Generator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ._backoff import Backoff
from ._errors import LeaseLost, Refused, Unreachable
from ._lease import Lease, clock
from ._wire import Answer, Away, Failed, Request, Wire, verdict

if TYPE_CHECKING:
    from ._context import StepContext

log = logging.getLogger("step47")

# How long one try of a request may take, beyond what it asks the server to wait.
TIMEOUT = 30.0
# How long a request is sent again while the server is away. Under a lease, its end is the limit.
PATIENCE = 60.0
# A server that failed may have failed for now (its disk was full), or at this very request, for good: it is asked
# again for no longer than this.
FAILED_PATIENCE = 10.0
# How often it is told that a request is still being sent again.
TOLD = 60.0


@dataclass(frozen=True, slots=True)
class Send:
    """One try of a request. With `stoppable`, it is cut off when somebody wants the run to stop."""

    wire: Wire
    request: Request
    timeout: float
    lease: Lease | None = None
    stoppable: bool = False


@dataclass(frozen=True, slots=True)
class Rest:
    """Wait, for as long as the lease is held."""

    seconds: float
    lease: Lease | None = None
    stoppable: bool = False


@dataclass(frozen=True, slots=True)
class Do:
    """Call the agent's own code inside a step."""

    call: Callable[[], Any]
    step: StepContext
    lease: Lease
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Until:
    """Wait for something that ends by itself."""

    future: Future[None]


@dataclass(frozen=True, slots=True)
class Whole:
    """Carry this out to its end, also when the caller is cancelled meanwhile: who stopped half way would not know
    what the store has."""

    flow: Flow[Any]


Command: TypeAlias = Send | Rest | Do | Until | Whole

T = TypeVar("T")
Flow: TypeAlias = Generator[Command, Any, T]


def ask(
    wire: Wire,
    request: Request,
    *,
    patience: float | None = None,
    timeout: float = TIMEOUT,
    lease: Lease | None = None,
    stoppable: bool = False,
) -> Flow[Any]:
    """Sends until there is an answer, it is refused, or patience is over. Under a lease, until that is lost."""
    size = len(request.body or b"")
    if size > wire.body_max:
        # A server hangs up on it, which looks as if it were away.
        told = f"{request.path} holds {size:,} bytes, and a request takes {wire.body_max:,}"
        raise Refused("too_large", told, 413, {"limit": wire.body_max})
    started, backoff, silent = clock(), Backoff(), -math.inf
    if patience is None:
        patience = PATIENCE if lease is None else math.inf
    while True:
        limit = timeout + request.wait
        if lease:
            lease.check()
            limit = min(limit, lease.left())
        answer = verdict((yield Send(wire, request, limit, lease, stoppable)))
        if isinstance(answer, Answer):
            # The server did it, also where the lease has run out on the way back.
            return answer.value
        if lease:
            lease.check()
            if stoppable and lease.stop:
                return None
        if isinstance(answer, Refused):
            if answer.code == "lease_lost":
                if lease:
                    lease.lose()
                raise LeaseLost
            raise answer
        pause = backoff.next(answer.asked if isinstance(answer, Away) else None)
        waited = clock() - started
        if isinstance(answer, Failed):
            if waited + pause > min(patience, FAILED_PATIENCE):
                raise answer.problem
        elif waited + pause > patience:
            why = f"{wire.url} gave no answer for {waited:.0f} s: {answer.why}"
            raise Unreachable(f"{why}. Is the server running there? Set STEP47_URL to where it listens")
        if clock() >= silent:
            silent = clock() + TOLD
            cause = answer.why if isinstance(answer, Away) else answer.problem
            log.warning("%s %s: sent again after %.0f s: %s", request.method, request.path, waited, cause)
        yield Rest(pause, lease, stoppable)
