"""`step47 demo` with a Python at hand: a LangGraph graph is killed inside a node, and an operator lets it go on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import found
from server import clean, eventually

BINARY = os.environ.get("STEP47_BIN", "step47")


def test_the_demos_graph_is_killed_in_a_node_and_goes_on_when_an_operator_says_so(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'demo.db'}"

    def step47(*words: str) -> str:
        command = [BINARY, *words, "--store", store]
        return subprocess.run(command, env=clean(), check=True, capture_output=True, text=True).stdout

    def billing() -> Any:
        [run] = json.loads(step47("runs", "list", "--agent", "langgraph-billing", "--json"))["runs"]
        return run

    said = tmp_path / "said"
    words = ["demo", "--listen", "127.0.0.1:0", "--history", "20", "--store", store, "--python", sys.executable]
    with said.open("w") as out:
        demo = subprocess.Popen([BINARY, *words], env=clean(), cwd=tmp_path, stdout=out, stderr=subprocess.STDOUT)
    try:

        def told(line: str) -> bool:
            assert demo.poll() is None, said.read_text()
            return line in said.read_text()

        eventually("the graph is killed", lambda: told("inside its node charge"))
        eventually("the demo is ready", lambda: told("sign in: "))
        run = billing()
        assert run["status"] == "crashed", run
        step47("retry", run["id"], "--new-key", "--resume", "-m", "the bank has no such charge")
        eventually("the graph goes on", lambda: billing()["status"] == "done")
        charge = json.loads(step47("show", run["id"], "--step", "2", "--json"))
        assert (charge["name"], charge["tries"]) == ("charge", 2), charge
    finally:
        demo.send_signal(signal.SIGTERM)
        ended, text = demo.wait(60), said.read_text()
        found_in_log = found.in_log(text)
        assert ended == 0, text
        assert not found_in_log, text
