"""An agent in a process of its own, to be killed: it bills three invoices, and what it does is written down outside
the store.

`python biller.py COLOUR RUN FOLDER [DIE_AT]`: with `DIE_AT`, it kills itself inside the step with that key, after
its effect.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from colours import COLOURS
from server import WORKER

import step47

INVOICES = ["a", "b", "c"]


@dataclass
class Bill:
    read: int = 0
    receipts: list[str] = field(default_factory=list)
    mailed: bool = False


@dataclass
class Receipt:
    id: str


def write(file: Path, line: str) -> None:
    with file.open("a") as opened:
        opened.write(line + "\n")


async def bill(colour_name: str, run_id: str, folder: Path, die_at: str | None, ttl: float) -> None:
    colour = next(colour for colour in COLOURS if colour.name == colour_name)
    journal, effects = folder / f"{run_id}.journal", folder / f"{run_id}.effects"

    def worked() -> None:
        write(journal, f"execute {step47.current().key}")

    def dies() -> None:
        if step47.current().key == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def folds(key: str) -> None:
        write(journal, f"fold {key}")

    def fold_read(state: Bill, count: int) -> None:
        folds("read")
        state.read += count

    def fold_receipt(state: Bill, receipt: Receipt) -> None:
        folds(f"charge:{INVOICES[len(state.receipts)]}")
        state.receipts.append(receipt.id)

    def fold_mailed(state: Bill, _: Any) -> None:
        folds("mail")
        state.mailed = True

    @colour.step(key="read", fold=fold_read)
    def read() -> int:
        worked()
        dies()
        return len(INVOICES)

    effect = step47.Effect("bank", "charge invoice {invoice}", dedupe_seconds=86_400)

    @colour.step(key="charge:{invoice}", effect=effect, fold=fold_receipt, result=Receipt)
    def charge(invoice: str) -> Receipt:
        worked()
        step = step47.current()
        write(effects, f"{step.key} {step.idempotency_key}")
        dies()
        return Receipt(f"re_{step.idempotency_key}")

    @colour.step(key="mail", fold=fold_mailed)
    def mail() -> str:
        worked()
        dies()
        return "sent"

    opened: Any = {"agent": "biller", "id": run_id, "state": Bill, "worker": WORKER, "ttl": ttl}

    async def agent() -> None:
        await read()
        for invoice in INVOICES:
            await charge(invoice)
        await mail()

    if colour.name == "plain":
        with step47.run(**opened):
            await agent()
    else:
        async with step47.arun(**opened):
            await agent()


if __name__ == "__main__":
    colour_name, run_id, folder, die_at, ttl = sys.argv[1:]
    asyncio.run(bill(colour_name, run_id, Path(folder), die_at or None, float(ttl)))
