"""A LangGraph agent in a process of its own, to be killed: it bills one invoice, and what it does to the world is
written down outside the store.

`python grapher.py COLOUR THREAD FOLDER MODE DIE_AT`: with DIE_AT, it kills itself inside the node of that name, after
its effect. MODE is `invoke`, `resume` (goes on with the answer "yes") or `serve`.
"""

from __future__ import annotations

import asyncio
import operator
import os
import signal
import sys
from pathlib import Path
from typing import Annotated, Any, TypedDict

from biller import write
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from server import LONG, WORKER

from step47 import Client
from step47.langgraph import Step47Saver, aserve, current, serve, watch

AGENT = "grapher"


class Bill(TypedDict):
    amount: int
    receipts: Annotated[list[str], operator.add]
    mailed: bool


def graph_of(
    colour: str, folder: Path, die_at: str = "", *, agent: str = AGENT, asks: bool = False, client: Client | None = None
) -> Any:
    saver = Step47Saver(agent=agent, worker=WORKER, ttl=LONG, client=client)

    def changes_the_world(node: str) -> str:
        key = current().idempotency_key
        write(folder / f"{current().run_id}.effects", f"{node} {key}")
        if node == die_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return key

    def read(bill: Bill) -> dict[str, Any]:
        write(folder / f"{current().run_id}.journal", "read")
        return {"amount": 7}

    def charge(bill: Bill) -> dict[str, Any]:
        said = interrupt("Charge it?") if asks else "yes"
        assert said in ("yes", True)
        return {"receipts": [f"{changes_the_world('charge')} for {bill['amount']}"]}

    def mail(bill: Bill) -> dict[str, Any]:
        changes_the_world("mail")
        return {"mailed": True}

    async def aread(bill: Bill) -> dict[str, Any]:
        return read(bill)

    async def acharge(bill: Bill) -> dict[str, Any]:
        return charge(bill)

    async def amail(bill: Bill) -> dict[str, Any]:
        return mail(bill)

    plain = colour == "plain"
    effect = {"target": "bank", "description": "charge the invoice", "dedupe_ms": 86_400_000}
    recovery = "retry" if asks else "ask"
    builder: Any = StateGraph(Bill)
    builder.add_node("read", read if plain else aread)
    builder.add_node(
        "charge", charge if plain else acharge, metadata={"step47": {"effect": effect, "recovery": recovery}}
    )
    builder.add_node("mail", mail if plain else amail, metadata={"step47": {"effect": "post"}})
    builder.add_edge(START, "read").add_edge("read", "charge").add_edge("charge", "mail")
    return watch(builder.compile(checkpointer=saver))


def goes_on(graph: Any, colour: str, thread: str, mode: str) -> None:
    """Calls the graph on the thread: with its input the first time, then from where it stands."""
    config: Any = {"configurable": {"thread_id": thread}}
    began = graph.checkpointer.get_tuple(config) is not None
    said: Any = None if began else {"amount": 0, "receipts": [], "mailed": False}
    if mode == "ask-resume":
        said = Command(resume="yes")
    if colour == "plain":
        graph.invoke(said, config)
    else:
        asyncio.run(graph.ainvoke(said, config))


def main(colour: str, thread: str, folder: Path, mode: str, die_at: str) -> None:
    graph = graph_of(colour, folder, die_at, agent=thread if mode == "serve" else AGENT, asks=mode.startswith("ask"))
    if mode != "serve":
        goes_on(graph, colour, thread, mode)
    elif colour == "plain":
        serve(graph, name=WORKER)
    else:
        asyncio.run(aserve(graph, name=WORKER))


if __name__ == "__main__":
    colour, thread, folder, mode, die_at = sys.argv[1:]
    main(colour, thread, Path(folder), mode, die_at)
