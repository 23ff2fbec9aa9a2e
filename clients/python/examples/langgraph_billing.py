"""A LangGraph agent that asks before it charges much, and charges once, whatever is killed meanwhile.

    python langgraph_billing.py invoice-7                   # begins, until it asks; or goes on where it was
    python langgraph_billing.py invoice-7 yes               # answers, and goes on
    python langgraph_billing.py invoice-8 --cents 4900      # so little is charged without a question
    python langgraph_billing.py serve                       # carries on whatever an operator has decided about

Kill either of them at any point. An invoice that was being charged waits for an operator, because nobody but the bank
knows whether it happened; what the operator decides ("it happened", retry, skip, an edited state) reaches the graph.
"""

from __future__ import annotations

import argparse
from typing import Any, TypedDict

import bank
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from step47.langgraph import Step47Saver, current, serve, watch

MUCH = 10_000


class Invoice(TypedDict):
    customer: str
    cents: int
    approved: bool
    receipt: str


def price(state: Invoice) -> dict[str, Any]:
    return {"customer": "cus_Lk42", "approved": state["cents"] < MUCH}


def approve(state: Invoice) -> dict[str, Any]:
    answer = interrupt({"question": f"Charge {state['cents'] / 100:.2f} EUR?", "customer": state["customer"]})
    return {"approved": bool(answer)}


def charge(state: Invoice) -> dict[str, Any]:
    line = f"{current().idempotency_key} charge {state['customer']} {state['cents']}"
    current().progress({"sent": line})
    bank.write(line)
    bank.answers()
    return {"receipt": line}


def priced(state: Invoice) -> str:
    return "charge" if state["approved"] else "approve"


def asked(state: Invoice) -> str:
    return "charge" if state["approved"] else END


effect = {"target": "bank", "description": "charge the customer"}
builder = StateGraph(Invoice)
builder.add_node("price", price)
builder.add_node("approve", approve)
builder.add_node("charge", charge, metadata={"step47": {"effect": effect}})
builder.add_edge(START, "price")
builder.add_conditional_edges("price", priced, ["charge", "approve"])
builder.add_conditional_edges("approve", asked, ["charge", END])
builder.add_edge("charge", END)


def main(invoice: str, answer: str | None, cents: int) -> None:
    thread: Any = {"configurable": {"thread_id": invoice}}
    found = graph.get_state(thread)
    if found.created_at is None:
        said: Any = {"cents": cents}
    elif not found.next:
        print(found.values)  # It has ended: new input would begin another turn, and charge again.
        return
    else:
        # `None` goes on where it was: what is committed is not done again.
        said = Command(resume=answer == "yes") if answer and found.interrupts else None
    print(graph.invoke(said, thread))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("invoice", help="its id, or serve")
    parser.add_argument("answer", nargs="?", choices=["yes", "no"])
    parser.add_argument("--cents", type=int, default=12_000)
    parser.add_argument("--ttl", type=float, default=30.0, help="seconds without a word after which it counts as dead")
    args = parser.parse_args()
    # The one line, and one more so that results which operators gave are used here too.
    graph: Any = builder.compile(checkpointer=Step47Saver(agent="langgraph-billing", ttl=args.ttl))
    watch(graph)
    if args.invoice == "serve":
        serve(graph)
    else:
        main(args.invoice, args.answer, args.cents)
