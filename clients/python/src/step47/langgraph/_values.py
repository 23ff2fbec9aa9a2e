"""Values in and out of a run's state, and the types that may be made from it."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from ._json import SAFE, TypeName, from_json, names, to_json

log = logging.getLogger("step47")


class Values:
    """Encodes and decodes. All savers that were made from one another share it."""

    def __init__(self, allow: Iterable[type | TypeName], serde: SerializerProtocol | None = None) -> None:
        self._own = serde
        self._allowed: set[TypeName] = set(SAFE)
        self._written: set[TypeName] = set()
        self.serde: SerializerProtocol = serde or JsonPlusSerializer(allowed_msgpack_modules=None)
        self.allow(allow)

    def allow(self, types: Iterable[type | TypeName]) -> None:
        """More types that may be made from a state."""
        self._add(names(types))

    def _add(self, found: set[TypeName]) -> None:
        if found <= self._allowed and self.serde is not None:
            return
        self._allowed |= found
        if self._own is None:
            self.serde = JsonPlusSerializer(allowed_msgpack_modules=tuple(self._allowed))

    def encode(self, value: Any) -> Any:
        """The value as tagged JSON."""
        return to_json(self.serde, value, self._uses)

    def decode(self, value: Any) -> Any:
        """The value again; a type that is not on the list is refused, and nothing of it is run."""
        return from_json(self.serde, value, self._allows)

    def _allows(self, name: TypeName) -> bool:
        return name in self._allowed

    def _uses(self, name: TypeName) -> None:
        """What this process has written it may read; another one needs to be told, and this is the time to say so."""
        if name in self._allowed:
            return
        log.warning(
            "the graph's state holds a %s.%s: name it in Step47Saver(…, allow=[%s]), or another process will refuse to "
            "make it from the state",
            *name,
            name[1],
        )
        self._add({name})
