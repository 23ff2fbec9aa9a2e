"""A worker: it takes up runs as they come, several at a time, until it is asked to end (Ctrl-C).

    python worker.py

Give it work from anywhere:

    python -c 'import step47; step47.Client().create("invoice-example", input={"invoice": "inv-7", "cents": 1999})'
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TypedDict

import bank

import step47


class Invoice(TypedDict):
    invoice: str
    cents: int


@dataclass
class Books:
    receipts: list[str] = field(default_factory=list)


@step47.step(
    key="charge:{invoice}",
    effect=step47.Effect("bank", "charge {cents} cents for {invoice}", dedupe_seconds=86_400),
    fold=lambda books, receipt: books.receipts.append(receipt),
)
def charge(invoice: str, cents: int) -> str:
    receipt = f"{step47.current().idempotency_key} charge {invoice} {cents}"
    bank.write(receipt)
    return receipt


worker = step47.Worker(concurrency=4)


@worker.agent("invoice-example", version="1.0.0", state=Books)
def bill(run: step47.Run[Books]) -> list[str]:
    asked = run.input(Invoice)
    charge(asked["invoice"], asked["cents"])
    run.sleep("cool-down", 0.2)
    return run.state.receipts


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    worker.run()
