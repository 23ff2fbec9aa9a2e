"""A run in the hands of this worker: what its steps, gates and endings share."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from typing import Any

from ._lease import Lease
from ._state import Live
from ._turn import Turn
from ._wire import Wire

_NOT = object()


class Core:
    """One leased run. Steps of it may run at the same time, in threads or tasks."""

    def __init__(self, wire: Wire, lease: Lease, detail: dict[str, Any], live: Live, *, loops: bool) -> None:
        self.wire, self.lease, self.detail, self.live = wire, lease, detail, live
        # It was opened in an event loop, which no step may block.
        self.loops = loops
        # One fold and commit at a time: a patch is made from the state that it is applied to.
        self.turn = Turn()
        # Steps that a commit has begun in the same breath, by key, and what the store said.
        self._ahead: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
        self.drifted: list[str] = []
        # The keys of the steps that are settled, once somebody had to know.
        self.settled: set[str] | None = None
        self._guard = threading.Lock()
        self._in_flight = 0
        self._leaving: Any = _NOT
        self._calls: Counter[str] = Counter()

    def may_block(self, name: str, instead: str) -> None:
        """Refuses a plain call in the event loop of this run: others may wait there for what it waits for."""
        if self.loops and _in_loop():
            raise TypeError(
                f"{name} is a plain function, which would block the event loop of this run: "
                f"{instead}, or call it as `await asyncio.to_thread({name}, …)`"
            )

    def take_off(self) -> None:
        """A step is in flight, from before it begins until it has ended."""
        with self._guard:
            self._in_flight += 1

    def land(self) -> None:
        """A step has ended."""
        with self._guard:
            self._in_flight -= 1

    def leave(self, after_ms: int | None) -> None:
        """The run is to be released, at once or when the last step in flight has ended."""
        with self._guard:
            if self._leaving is _NOT:
                self._leaving = after_ms

    @property
    def may_go(self) -> bool:
        """Whether it is to be released, and nothing is in flight any more."""
        with self._guard:
            return self._leaving is not _NOT and self._in_flight == 0

    @property
    def after_ms(self) -> int | None:
        """The pause until a released run may go on."""
        return None if self._leaving is _NOT else self._leaving

    def put_ahead(self, step: dict[str, Any], answer: dict[str, Any]) -> None:
        """A commit has begun this step as well."""
        with self._guard:
            self._ahead[step["key"]] = (step, answer)

    def take_ahead(self, step: dict[str, Any]) -> dict[str, Any] | None:
        """What the store said of this step, if a commit has begun it."""
        with self._guard:
            begun, answer = self._ahead.get(step["key"], (None, None))
            if answer is None or begun != step:
                return None
            del self._ahead[step["key"]]
            return answer

    def numbered(self, key: str) -> str:
        """A key that no call gave by itself: the second call with it gets another."""
        with self._guard:
            self._calls[key] += 1
            times = self._calls[key]
        return key if times == 1 else f"{key}#{times}"


def _in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
