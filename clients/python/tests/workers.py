"""A worker in a process of its own: it signs each paper, and takes its time until a file says go.

`python workers.py COLOUR AGENT FOLDER CONCURRENCY`
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from pathlib import Path
from typing import Any

from biller import write

import step47

colour, agent, where, concurrency = sys.argv[1:]
folder = Path(where)
logging.basicConfig(level=logging.INFO)
worker = step47.Worker(concurrency=int(concurrency), ttl=60)


def signs(run_id: str, n: int) -> None:
    write(folder / f"{agent}.effects", f"{run_id} {n}")


def wait_for(run_id: str) -> bool:
    return (folder / f"{run_id}.go").exists()


if colour == "plain":

    @step47.step(key="sign:{n}", effect="pen", fold=lambda state, n: state.update({str(n): True}))
    def sign(run_id: str, n: int) -> int:
        signs(run_id, n)
        while n == 1 and not wait_for(run_id):
            time.sleep(0.01)
        return n

    @worker.agent(agent, version="1")
    def work(run: step47.Run[dict[str, Any]]) -> int:
        return sum(sign(run.id, n) for n in range(3))

else:

    @step47.step(key="sign:{n}", effect="pen", fold=lambda state, n: state.update({str(n): True}))
    async def asign(run_id: str, n: int) -> int:
        signs(run_id, n)
        while n == 1 and not wait_for(run_id):
            await asyncio.sleep(0.01)
        return n

    @worker.agent(agent, version="1")
    async def awork(run: step47.AsyncRun[dict[str, Any]]) -> int:
        return sum([await asign(run.id, n) for n in range(3)])


worker.run()
