"""The worker's side of a lease: kept alive by heartbeats, and given up in time by its own clock.

The store decides who holds a run. But a worker that was stopped or cut off cannot ask it, so it counts for itself:
from the moment a heartbeat was *sent*, on a clock that nobody sets. One margin before the term can be over, the
lease counts as lost for good.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Literal

from ._errors import Cancelled, Interrupted, LeaseLost, Left, Paused

log = logging.getLogger("step47")

Stop = Literal["pause", "cancel", "process"]

_STOPPED: dict[str, type[Left]] = {"pause": Paused, "cancel": Cancelled, "process": Interrupted}


def awake(clocks: Mapping[str, Any]) -> int | None:
    """The clock that goes on while the machine is suspended, as the store's does. On macOS that is CLOCK_MONOTONIC, and
    not `time.monotonic`; Windows has none."""
    found: int | None = clocks.get("CLOCK_BOOTTIME", clocks.get("CLOCK_MONOTONIC"))
    return found


_AWAKE = awake(vars(time))


def clock() -> float:
    """Seconds that only grow."""
    return time.monotonic() if _AWAKE is None else time.clock_gettime(_AWAKE)


def margin(ttl: float) -> float:
    """How long before its end a lease counts as lost."""
    return min(max(ttl / 10, 0.5), ttl / 2)


class Hold(Enum):
    """How the lease stands."""

    HELD = 1
    # The call that gives it back is under way: no heartbeat may come after it.
    ENDING = 2
    ENDED = 3
    LOST = 4


class Lease:
    """A run that this worker holds. Any thread may ask."""

    def __init__(self, run: str, epoch: int, ttl: float, asked: float, stop: Stop | None = None) -> None:
        self.run, self.epoch, self.ttl = run, epoch, ttl
        self.stop: Stop | None = stop
        # The store cannot have granted the term before it was asked, so it lasts at least from there.
        self._safe_until = asked + ttl - margin(ttl)
        self._hold = Hold.HELD
        self._changed = threading.Condition(threading.RLock())
        self._watchers: set[Callable[[], None]] = set()

    def left(self) -> float:
        """Seconds for which the lease is certainly ours."""
        return self._safe_until - clock()

    def held(self) -> bool:
        """Ours, by the last word of the store and by our own clock. Once lost, it stays lost."""
        if self._hold is Hold.HELD and self.left() <= 0:
            self._turn(Hold.HELD, Hold.LOST, "no heartbeat came through in time")
        return self._hold is Hold.HELD

    def check(self) -> None:
        """Raises `LeaseLost` unless the lease is held, or is just being given back."""
        if not self.held() and not (self._hold is Hold.ENDING and self.left() > 0):
            raise LeaseLost

    @property
    def over(self) -> bool:
        """Lost or given back: there is nothing more to do under this lease."""
        return self._hold in (Hold.ENDED, Hold.LOST)

    @property
    def given_back(self) -> bool:
        """Released or finished by us."""
        return self._hold is Hold.ENDED

    def lose(self, why: str = "the store has ended it") -> None:
        """Nothing more can be done under it. It may run on in the store until its term is over."""
        self._turn(Hold.HELD, Hold.LOST, why)
        self._turn(Hold.ENDING, Hold.LOST, why)

    def ending(self) -> bool:
        """Starts the last call under this lease."""
        return self.held() and self._turn(Hold.HELD, Hold.ENDING)

    def ended(self) -> None:
        """The last call was answered."""
        self._turn(Hold.ENDING, Hold.ENDED)

    def kept(self) -> None:
        """The last call was refused: it was not the last."""
        self._turn(Hold.ENDING, Hold.HELD)

    def renew(self, sent: float, signal: Stop | None) -> None:
        """A heartbeat that was sent then came through."""
        if self.held():
            with self._changed:
                self._safe_until = sent + self.ttl - margin(self.ttl)
        if signal:
            self.ask_to_stop(signal)

    def ask_to_stop(self, stop: Stop) -> None:
        """Wants the work to stop at the next step boundary; an operator's word is more telling than our own leaving."""
        with self._changed:
            if self.stop is not None and stop == "process":
                return
            self.stop = stop
        self._tell()

    def stopped(self) -> Left:
        """What ends the agent's function when it was asked to stop."""
        return _STOPPED[self.stop or "process"]()

    def wait(self, seconds: float, *, stoppable: bool) -> None:
        """Waits; ends early when the lease is gone or, if `stoppable`, when somebody wants the run to stop."""
        until = clock() + seconds
        with self._changed:
            while self.held() and not (stoppable and self.stop) and clock() < until:
                self._changed.wait(max(0.0, min(until - clock(), self.left())))

    def wait_over(self, seconds: float) -> bool:
        """Waits until the lease is over, but no longer than this."""
        with self._changed:
            self._changed.wait_for(lambda: self.over, seconds)
            return self.over

    def watch(self, watcher: Callable[[], None]) -> Callable[[], None]:
        """Calls `watcher`, from any thread, whenever something changes; returns what ends that."""
        with self._changed:
            self._watchers.add(watcher)
        return lambda: self._watchers.discard(watcher)

    def _turn(self, before: Hold, after: Hold, why: str | None = None) -> bool:
        with self._changed:
            if self._hold is not before:
                return False
            self._hold = after
        if why:
            log.warning("run %s: lease lost in epoch %s: %s", self.run, self.epoch, why)
        self._tell()
        return True

    def _tell(self) -> None:
        with self._changed:
            self._changed.notify_all()
            watchers = list(self._watchers)
        for watcher in watchers:
            watcher()
