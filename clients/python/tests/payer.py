"""An agent in a process of its own that goes on while its server is killed: many small steps, each with an effect.

`python payer.py COLOUR RUN FOLDER STEPS`
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

from biller import write
from colours import COLOURS
from server import LONG, WORKER

import step47


async def pay(colour_name: str, run_id: str, folder: Path, count: int) -> None:
    colour = next(colour for colour in COLOURS if colour.name == colour_name)

    @colour.step(key="pay:{n}", effect="bank", fold=lambda state, n: state["paid"].append(n))
    def pay(n: int) -> int:
        time.sleep(0.01)  # The bank takes its time.
        write(folder / f"{run_id}.effects", f"{n}")
        return n

    opened: Any = {"agent": "payer", "id": run_id, "state": {"paid": []}, "worker": WORKER, "ttl": LONG}
    if colour.name == "plain":
        with step47.run(**opened):
            await colour.each(pay, list(range(count)))
    else:
        async with step47.arun(**opened):
            for n in range(count):
                await pay(n)


if __name__ == "__main__":
    colour_name, run_id, folder, count = sys.argv[1:]
    asyncio.run(pay(colour_name, run_id, Path(folder), int(count)))
