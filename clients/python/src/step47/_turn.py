"""One at a time, in the order they came. Whoever waits for a turn needs no thread to wait in."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Future


class Turn:
    """A lock whose waiters may be threads and coroutines alike: each has a place, a future that is done at its turn."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._queue: deque[Future[None]] = deque()
        self._taken = False

    def queue(self) -> Future[None]:
        """A place. Whatever becomes of it, `leave` it in the end."""
        place: Future[None] = Future()
        with self._guard:
            if self._taken:
                self._queue.append(place)
                return place
            self._taken = True
        place.set_result(None)
        return place

    def leave(self, place: Future[None]) -> None:
        """The turn of this place is over; or it is given up before its turn has come."""
        if not place.cancel():
            self._next()

    def _next(self) -> None:
        with self._guard:
            following = None
            while self._queue and following is None:
                place = self._queue.popleft()
                # From here on, giving it up means giving the turn on.
                following = place if place.set_running_or_notify_cancel() else None
            self._taken = following is not None
        if following:
            following.set_result(None)
