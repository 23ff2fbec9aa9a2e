"""How many steps a second one process takes: `STEP47_URL=… STEP47_TOKEN=… python bench/steps.py [STEPS] [RUNS]`.

`RUNS` runs at the same time, in threads, of `STEPS` steps each; a step changes the state and is begun with the
commit before it. Print the figure together with the machine, the server's build and its store: it means nothing
without them.
"""

from __future__ import annotations

import sys
import threading
import time
import uuid
from typing import Any

import step47


def count(state: dict[str, Any], n: int) -> None:
    state["sum"] = state.get("sum", 0) + n


@step47.step(key="add:{n}", fold=count)
def add(n: int) -> int:
    return n


def work(client: step47.Client, steps: int) -> None:
    with step47.run("bench", id=f"bench-{uuid.uuid4()}", client=client) as run:
        step47.each(add, range(steps))
        assert run.state["sum"] == steps * (steps - 1) // 2


def main(steps: int = 2_000, runs: int = 1) -> None:
    client = step47.Client()
    threads = [threading.Thread(target=work, args=(client, steps)) for _ in range(runs)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - started
    print(f"{runs} × {steps} steps in {seconds:.2f} s: {runs * steps / seconds:.0f} steps/s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
