"""LangGraph agents as real processes, and what they did outside the store."""

from __future__ import annotations

import subprocess
from pathlib import Path

from colours import Colour
from grapher import goes_on, graph_of
from processes import lines, start
from server import Server


class Grapher:
    """The agent of `grapher.py` on one thread, one process after the other."""

    def __init__(self, server: Server, colour: Colour, thread: str) -> None:
        self._server, self._colour, self.run = server, colour, thread

    def start(self, mode: str = "invoke", die_at: str = "") -> subprocess.Popen[str]:
        args = [self._colour.name, self.run, str(self._server.folder), mode, die_at]
        return start(self._server, "grapher.py", *args)

    def dies_in(self, node: str, mode: str = "invoke") -> None:
        """A process takes the thread until it is killed inside this node."""
        _, said = (process := self.start(mode, node)).communicate()
        assert process.returncode == -9, said
        self._server.vouch_dead(self.run)

    def goes_on(self, mode: str = "invoke") -> None:
        """This process takes the thread as far as it gets."""
        graph = graph_of(
            self._colour.name, self._server.folder, asks=mode.startswith("ask"), client=self._server.client
        )
        goes_on(graph, self._colour.name, self.run, mode)

    def effects(self) -> list[str]:
        """`node idempotency_key` for each time that the world was changed."""
        return lines(self._file("effects"))

    def reads(self) -> int:
        """How often the first node has worked."""
        return len(lines(self._file("journal")))

    def planned(self) -> dict[str, str]:
        """What the server's plan says of each recorded step, by node."""
        steps = self._server.operator.plan(self.run)["steps"]
        return {step["key"].split(":")[0]: step["action"] for step in steps if step.get("seq")}

    def _file(self, name: str) -> Path:
        return self._server.folder / f"{self.run}.{name}"
