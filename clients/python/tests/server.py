"""A server process with a store of its own, and what tests ask it."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import found

from step47 import Client, Refused, Unreachable
from step47 import _calls as calls
from step47._drive import drive
from step47._flow import ask
from step47._lease import Lease, clock
from step47._wire import get

T = TypeVar("T")
Json = dict[str, Any]

DEADLINE = 60.0
# A term that no healthy process misses, however busy the machine is. Tests end it by vouching that the worker is dead.
LONG = 60.0
WORKER = "test-worker"


def eventually(what: str, look: Callable[[], T | None]) -> T:
    """Looks until it is there. Fails loudly when it never comes."""
    end = time.monotonic() + DEADLINE
    while True:
        seen = look()
        if seen is not None and seen is not False:
            return seen
        assert time.monotonic() < end, f"never came: {what}"
        time.sleep(0.01)


class Server:
    """`step47 serve` on a free port."""

    # Those that were started and not stopped.
    running: ClassVar[list[Server]] = []

    def __init__(self) -> None:
        self.binary = os.environ.get("STEP47_BIN", "step47")
        self.folder = Path(tempfile.mkdtemp(prefix="step47-python-"))
        self.store = f"sqlite:{self.folder / 'step47.db'}"
        self._looked = 0
        self.url = self._serve("127.0.0.1:0")
        self.token = self._token("agent")
        self.client = Client(self.url, self.token)
        self.operator = Client(self.url, self._token("operator"))
        self.running.append(self)

    def _serve(self, listen: str) -> str:
        self._said = self.folder / "said"
        with self._said.open("w") as said, (self.folder / "log").open("a") as log:
            self._process = subprocess.Popen(
                [self.binary, "serve", "--store", self.store, "--listen", listen],
                cwd=self.folder,
                env={**clean(), "STEP47_LOG": "warn"},
                stdout=said,
                stderr=log,
                # SIGXFSZ stays ignored: a write past a limit on the size of files is an error and no signal.
                restore_signals=False,
            )
        return eventually("the server says where it listens", self._listens)

    def _listens(self) -> str | None:
        assert self._process.poll() is None, (self.folder / "log").read_text()
        lines = self._said.read_text().splitlines(keepends=True)
        found = [line for line in lines if line.startswith("listening on ") and line.endswith("\n")]
        return found[0].removeprefix("listening on ").strip() if found else None

    def _token(self, role: str) -> str:
        create = [self.binary, "token", "create", "--role", role, "--name", "test", "--store", self.store]
        return subprocess.run(
            create, cwd=self.folder, env=clean(), check=True, capture_output=True, text=True
        ).stdout.strip()

    def can(self, what: str) -> bool:
        """Whether this server has what an older one lacks: `suspend`, `reopen`, or that `agents fork`."""
        if what == "agents fork":
            try:
                self.client.decide("no-such-run", "fork", new_run_id="no-such-fork")
            except Refused as refused:
                return refused.code != "forbidden"
        document = json.dumps(drive(ask(self.client.wire, get("/v1/openapi.json"))))
        return {"suspend": "/suspend", "reopen": '"reopen"'}[what] in document

    def turn_over(self, run: str) -> bool:
        """Whether a graph has come to its end: done, where a run that is done may have another turn."""
        return self.status(run) == ("done" if self.can("reopen") else "ready")

    def kill(self) -> None:
        """Gone without a goodbye."""
        self._process.kill()
        self._process.wait()

    def start_again(self) -> None:
        """Back on the same address."""
        self._serve(self.url.removeprefix("http://"))

    def takes_no_writes(self) -> None:
        """From now on no file of the server grows or changes, as on a disk that is full. Linux only."""
        _, hard = resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (0, hard))

    def takes_writes_again(self) -> None:
        _, hard = resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (hard, hard))

    def refuses_writes(self) -> bool:
        """Whether a write that is tried once hears that the disk takes none."""
        # A run that is there already would be answered without a write.
        probe = calls.create({"id": f"probe-{uuid.uuid4().hex}", "agent": "probe"})
        try:
            drive(ask(self.client.wire, probe, patience=0))
        except Unreachable as away:
            return "disk" in str(away)
        return False

    def stop(self) -> None:
        """Ends the process and removes the store."""
        self.kill()
        self.running.remove(self)
        lines = self.found()
        shutil.rmtree(self.folder, ignore_errors=True)
        assert not lines, lines

    def found(self) -> list[str]:
        """Panics and answers of 500 in what the server said since the last look. No test here makes a store fail."""
        with (self.folder / "log").open(errors="replace") as log:
            log.seek(self._looked)
            text = log.read()
            self._looked = log.tell()
        return found.in_log(text)

    def status(self, run: str) -> str:
        return str(self.client.run(run)["status"])

    def until_status(self, run: str, status: str) -> None:
        eventually(f"{run} is {status}", lambda: self.status(run) == status)

    def until_step(self, run: str, seq: int, status: str) -> Json:
        def look() -> Json | None:
            try:
                step = self.client.step(run, seq)
            except Refused:
                return None
            return step if step["status"] == status else None

        return eventually(f"step {seq} of {run} is {status}", look)

    def steps(self, run: str) -> dict[str, Json]:
        """The steps of a run that count, by key."""
        return {step["key"]: step for step in self.client.steps(run) if step["status"] != "superseded"}

    def decide(self, run: str, kind: str, **fields: Any) -> Json:
        """An operator's decision on the run as it is now."""
        version = self.client.run(run)["version"]
        return self.operator.decide(run, kind, if_version=version, reason="I looked", **fields)

    def vouch_dead(self, run: str, worker: str = WORKER) -> None:
        """The process that held the run is dead: its lease ends now, not a term later."""
        body = {"worker": worker, "ttl_ms": 60_000, "takeover": True}
        try:
            answer = drive(ask(self.client.wire, calls.lease(run, body)))
        except Refused as refused:
            assert refused.code == "run_not_runnable", refused  # It needs an operator now.
            return
        lease = Lease(run, answer["epoch"], LONG, clock())
        drive(ask(self.client.wire, calls.release(lease, None)))


def clean() -> dict[str, str]:
    """The environment without the settings of whoever runs the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("STEP47_")}
    site = os.environ.get("LEPTOS_SITE_ROOT")
    return {**kept, "LEPTOS_SITE_ROOT": site} if site else kept
