"""What the server can do. An older one has no `suspend` (a step that asks while it works) and no `reopen` (another turn
of a run that is done): there, a graph's questions are answered by its own program only, and a thread between two turns
is `ready`."""

from __future__ import annotations

import functools
import json

from .. import _wire as wires
from .._drive import drive
from .._errors import Step47Error
from .._flow import ask
from .._wire import Wire


class Able:
    """Asked once, when it first matters."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    @functools.cached_property
    def _document(self) -> str:
        try:
            return json.dumps(drive(ask(self._wire, wires.get("/v1/openapi.json"), patience=5.0)))
        except Step47Error:
            return ""

    @property
    def suspends(self) -> bool:
        """Whether a step may wait for a person in the middle of its work."""
        return not self._document or "/suspend" in self._document

    @property
    def reopens(self) -> bool:
        """Whether a run that is done may have another turn."""
        return not self._document or '"reopen"' in self._document
