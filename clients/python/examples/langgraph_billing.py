"""A LangGraph agent that asks before it charges, and charges once, whatever is killed meanwhile.

    python langgraph_billing.py invoice-7         # begins, until it asks; or goes on where it was
    python langgraph_billing.py invoice-7 yes     # answers, and goes on
    python langgraph_billing.py serve             # carries on whatever an operator has decided about

Kill either of them at any point. An invoice that was being charged waits for an operator, because nobody but the bank
knows whether it happened; what the operator decides ("it happened", retry, skip, an edited state) reaches the graph.
"""

from __future__ import annotations

import sys
from typing import Any, TypedDict

import bank
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from step47.langgraph import Step47Saver, current, serve, watch


class Invoice(TypedDict):
    customer: str
    cents: int
    approved: bool
    receipt: str


def price(state: Invoice) -> dict[str, Any]:
    return {"customer": "cus_Lk42", "cents": 12_000}


def approve(state: Invoice) -> dict[str, Any]:
    answer = interrupt({"question": f"Charge {state['cents'] / 100:.2f} EUR?", "customer": state["customer"]})
    return {"approved": bool(answer)}


def charge(state: Invoice) -> dict[str, Any]:
    line = f"{current().idempotency_key} charge {state['customer']} {state['cents']}"
    bank.write(line)
    return {"receipt": line}


def after(state: Invoice) -> str:
    return "charge" if state["approved"] else END


effect = {"target": "bank", "description": "charge the customer"}
builder = StateGraph(Invoice)
builder.add_node("price", price)
builder.add_node("approve", approve)
builder.add_node("charge", charge, metadata={"step47": {"effect": effect}})
builder.add_edge(START, "price")
builder.add_edge("price", "approve")
builder.add_conditional_edges("approve", after, ["charge", END])
builder.add_edge("charge", END)


def main(invoice: str, answer: str | None = None) -> None:
    thread: Any = {"configurable": {"thread_id": invoice}}
    found = graph.get_state(thread)
    if found.created_at is None:
        said: Any = {}
    elif not found.next:
        print(found.values)  # It has ended: new input would begin another turn, and charge again.
        return
    else:
        # `None` goes on where it was: what is committed is not done again.
        said = Command(resume=answer == "yes") if answer and found.interrupts else None
    print(graph.invoke(said, thread))


if __name__ == "__main__":
    # The one line, and one more so that results which operators gave are used here too.
    graph: Any = builder.compile(checkpointer=Step47Saver(agent="langgraph-billing-example"))
    watch(graph)
    if sys.argv[1] == "serve":
        serve(graph)
    else:
        main(*sys.argv[1:3])
