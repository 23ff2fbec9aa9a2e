"""The way to a server, and what can be read and decided there."""

from __future__ import annotations

import os
from typing import Any

from . import _calls as calls
from ._drive import drive
from ._errors import SetupError
from ._flow import PATIENCE, ask
from ._shape import encode
from ._wire import BODY_MAX, Request, Wire

Json = dict[str, Any]
DEFAULT_URL = "http://127.0.0.1:3047"


class Client:
    """A server and a token for it. Safe to share between threads, and never shows its token.

    `url` defaults to `STEP47_URL`, then to `http://127.0.0.1:3047`; `token` to `STEP47_TOKEN`. `patience`: for how many
    seconds a request is sent again while the server is away; under a lease, its end is the limit. `body_max`: the most
    bytes in a request, where the server is set up for more than 32 MiB.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        patience: float = PATIENCE,
        body_max: int = BODY_MAX,
    ) -> None:
        token = token or os.environ.get("STEP47_TOKEN")
        if not token:
            raise SetupError(
                "there is no token: set STEP47_TOKEN to what `step47 token create --role agent --name NAME` prints"
            )
        self.wire = Wire(url or os.environ.get("STEP47_URL") or DEFAULT_URL, token, body_max)
        self.patience = patience

    def __repr__(self) -> str:
        return f"Client({self.wire.url!r})"

    def run(self, run: str) -> Json:
        """A run as it is now."""
        return self._one(calls.run(run), "run")

    def runs(self, **query: Any) -> Json:
        """A page of runs: `status`, `agent`, `label`, `q`, `limit`, `cursor`."""
        return self._ask(calls.runs(calls.given(**query)))

    def steps(self, run: str, *, after: int = 0, limit: int = 100) -> list[Json]:
        """A page of a run's steps after `after`, in order."""
        return list(self._ask(calls.steps(run, after, limit))["steps"])

    def step(self, run: str, seq: int, *, wait_ms: int = 0) -> Json:
        """One step with its attempts; with `wait_ms`, answered once it changes or the time is over."""
        return self._one(calls.step(run, seq, wait_ms), "step")

    def state(self, run: str, snapshot: int | None = None) -> Any:
        """The state of a run after a snapshot, the newest unless given."""
        number = self.run(run)["snapshot"] if snapshot is None else snapshot
        return self._ask(calls.snapshot(run, number))["state"]

    def plan(self, run: str) -> Json:
        """What will happen when a worker takes the run."""
        return self._ask(calls.plan(run))

    def create(self, agent: str, **fields: Any) -> Json:
        """Creates a run for a worker to take up, or finds the one that has this `id` already."""
        body = calls.given(agent=agent, **{name: encode(value) for name, value in fields.items()})
        return self._one(calls.create(body), "run")

    def decide(self, run: str, kind: str, **fields: Any) -> Json:
        """What an operator's token may do: `retry`, `commit`, `skip`, `approve`, `resume`, `pause`, `fork`, …"""
        body = {"kind": kind, **{name: encode(value) for name, value in fields.items()}}
        return self._ask(calls.decide(run, body))

    def _ask(self, request: Request) -> Json:
        answer: Json = drive(ask(self.wire, request, patience=self.patience))
        return answer

    def _one(self, request: Request, name: str) -> Json:
        found: Json = self._ask(request)[name]
        return found
