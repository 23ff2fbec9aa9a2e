"""How long to wait before a request is sent again."""

from __future__ import annotations

import random

FIRST = 0.1
LONGEST = 5.0
# A server may ask for more than LONGEST, but not for ever.
OBEYED = 60.0


def pause(tries: int, chance: float) -> float:
    """Doubles from try to try; between half and all of it, by chance, so that a herd of workers spreads out."""
    return float(min(FIRST * 2 ** min(tries, 16), LONGEST) * (0.5 + chance / 2))


class Backoff:
    """The pauses of one request."""

    def __init__(self) -> None:
        self._tries = 0

    def next(self, asked: float | None) -> float:
        """The next pause, no shorter than the server asked for."""
        own = pause(self._tries, random.random())
        self._tries += 1
        return max(own, min(asked or 0.0, OBEYED))
