"""Agents as real processes, and what they did outside the store."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

from colours import Colour
from server import LONG, Server, clean

HERE = Path(__file__).parent


class Biller:
    """The agent of `biller.py`, one process after the other."""

    def __init__(self, server: Server, colour: Colour, run: str) -> None:
        self._server, self._colour, self.run = server, colour, run

    def start(self, die_at: str = "", ttl: float = LONG) -> subprocess.Popen[str]:
        args = [self._colour.name, self.run, str(self._server.folder), die_at, str(ttl)]
        return start(self._server, "biller.py", *args)

    def dies_in(self, key: str, ttl: float = LONG) -> None:
        """A process takes the run until it is killed inside this step."""
        _, said = (process := self.start(key, ttl)).communicate()
        assert process.returncode == -9, said

    def ends(self) -> dict[str, str]:
        """A process takes the run to its end; what it did with each step: `execute`, `given` or `replay`."""
        journal = self._server.folder / f"{self.run}.journal"
        before = len(lines(journal))
        _, said = (process := self.start()).communicate()
        assert process.returncode == 0, said
        assert self._server.status(self.run) == "done"
        did = dict.fromkeys(["read", "charge:a", "charge:b", "charge:c", "mail"], "replay")
        for line in lines(journal)[before:]:
            verb, key = line.split(" ", 1)
            if verb == "execute" or did[key] == "replay":
                did[key] = "execute" if verb == "execute" else "given"
        return did

    def effects(self, run: str | None = None) -> list[str]:
        """`key idempotency_key` for each time that the world was changed."""
        return lines(self._server.folder / f"{run or self.run}.effects")

    def planned(self) -> dict[str, str]:
        """What the server's plan says of each recorded step."""
        steps = self._server.operator.plan(self.run)["steps"]
        return {step["key"]: step["action"] for step in steps if step.get("seq")}


def start(server: Server, script: str, *args: str) -> subprocess.Popen[str]:
    """Starts a script of this folder as an agent of the server."""
    return subprocess.Popen(
        [sys.executable, str(HERE / script), *args],
        env={**clean(), "STEP47_URL": server.url, "STEP47_TOKEN": server.token, "PYTHONPATH": str(HERE)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def counted(items: list[str]) -> dict[str, int]:
    """How often each was seen."""
    return dict(Counter(items))
