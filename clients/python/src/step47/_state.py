"""The run's state as the agent sees it (its own type) and as the store has it (JSON), side by side."""

from __future__ import annotations

import json
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ._errors import ShapeError
from ._patch import Op, changed, diff, same
from ._shape import decode, encode

Fold = Callable[[Any, Any], Any]


@dataclass(slots=True)
class Draft:
    """A change that is not committed yet."""

    work: Any
    plain: Any
    stored: Any
    patch: list[Op]


class Live:
    """The state after the newest commit."""

    def __init__(self, kind: Any, stored: Any, snapshot: int) -> None:
        self.kind, self.snapshot = kind, snapshot
        # What the store has: it may hold more than the agent's type knows.
        self._stored = stored
        # What folds change. Never handed out: a change outside a fold would be done again by every replay.
        self._work = restored(kind, stored)
        self._plain = encode(self._work)
        self._seen: Any = _UNSEEN

    @property
    def typed(self) -> Any:
        """The state as the agent's own type: a copy, made once for each snapshot."""
        if self._seen is _UNSEEN:
            self._seen = restored(self.kind, self._stored)
        return self._seen

    def fold(self, fold: Fold | None, result: Any) -> Draft:
        """The state with a result folded in. If that raises, or is not settled, `forget` it."""
        if fold is None:
            return Draft(self._work, self._plain, self._stored, [])
        folded = fold(self._work, result)
        work = self._work if folded is None else self._checked(folded)
        plain = encode(work)
        stored = _keep_unknown(self._stored, self._plain, plain)
        return Draft(work, plain, stored, diff(self._stored, stored))

    def settle(self, draft: Draft, snapshot: int) -> None:
        """The store took the change."""
        if draft.patch:
            self._seen = _UNSEEN
        self._work, self._plain, self._stored, self.snapshot = draft.work, draft.plain, draft.stored, snapshot

    def forget(self) -> None:
        """The store did not take the change: back to what it has."""
        self._work = restored(self.kind, self._stored)

    def _checked(self, folded: Any) -> Any:
        """A fold changes the state in place, or returns a new one; anything else is a slip."""
        if type(folded) is type(self._work) or _numbers(folded, self._work):
            return folded
        raise ShapeError(
            f"the fold returned {folded!r}: change the state in place and return None, or return the new state"
        )


class _Unseen:
    pass


_UNSEEN = _Unseen()


def restored(kind: Any, stored: Any) -> Any:
    """The stored state as the agent's type. One that was never written is the type's default."""
    if stored == {} and isinstance(stored, dict):
        try:
            return decode(kind, stored)
        except ShapeError:
            return _default(kind)
    try:
        return decode(kind, stored)
    except ShapeError as why:
        raise ShapeError(f"the run's state does not fit the agent's type: {why}") from why


def _default(kind: Any) -> Any:
    try:
        return (typing.get_origin(kind) or kind)()
    except Exception as why:
        name = getattr(kind, "__qualname__", kind)
        raise ShapeError(
            f"the run has no state yet, and {name} has no default: give its fields defaults, "
            f"or pass an instance to start from (state={name}(…))"
        ) from why


def _numbers(a: Any, b: Any) -> bool:
    return {type(a), type(b)} <= {int, float}


def _keep_unknown(stored: Any, old: Any, new: Any) -> Any:
    """The new state, with what the store has but the agent's type does not know: a field of another version of the
    agent, or one that an operator added, survives this one."""
    if same(old, new):
        return stored
    if same(stored, old):
        return new
    if isinstance(stored, dict) and isinstance(old, dict) and isinstance(new, dict):
        kept = {key: value for key, value in stored.items() if key not in old}
        for key, value in new.items():
            known = key in stored and key in old
            kept[key] = _keep_unknown(stored[key], old[key], value) if known else value
        return kept
    if isinstance(stored, list) and isinstance(old, list) and isinstance(new, list) and len(stored) == len(old):
        return _keep_in_items(stored, old, new)
    return new


def _keep_in_items(stored: list[Any], old: list[Any], new: list[Any]) -> list[Any]:
    """An item that moved takes what the type does not know along."""
    origins = _origins(old, new)
    gone = {_text(old[i]): stored[i] for i in set(range(len(old))).difference(origins)}
    return [
        gone.pop(_text(value), value) if i is None else _keep_unknown(stored[i], old[i], value)
        for i, value in zip(origins, new, strict=True)
    ]


def _origins(old: list[Any], new: list[Any]) -> list[int | None]:
    """For each new item, which old one it was."""
    origins: list[int | None] = []
    at = 0
    for i1, i2, j1, j2 in changed(old, new):
        origins += range(at, i1)
        both = min(i2 - i1, j2 - j1)
        # Of a stretch that grew or shrank: is it at its start or at its end that the items are the same ones?
        i = max((i1, i2 - both), key=lambda i: _alike(old[i : i + both], new[j1 : j1 + both]))
        j = max((j1, j2 - both), key=lambda j: _alike(old[i : i + both], new[j : j + both]))
        origins += [*[None] * (j - j1), *range(i, i + both), *[None] * (j2 - j - both)]
        at = i2
    return origins + list(range(at, len(old)))


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _alike(old: list[Any], new: list[Any]) -> int:
    """How many fields the items of two lists have in common, one by one."""
    pairs = [pair for pair in zip(old, new, strict=True) if isinstance(pair[0], dict) and isinstance(pair[1], dict)]
    return sum(key in before and same(before[key], value) for before, after in pairs for key, value in after.items())
