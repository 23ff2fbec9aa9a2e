"""A whole agent: it reads a ticket, asks a person, pays the money back, and survives being killed at any point.

    python refund.py ticket-88121

Kill it, start it again with the same name: what is committed is not done again.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import bank

import step47


@dataclass
class Ticket:
    customer: str
    complaint: str
    cents: int


@dataclass
class Case:
    ticket: Ticket | None = None
    approved: bool | None = None
    refund: str | None = None


@step47.step(key="read", tool="helpdesk.get", retry=3, fold="ticket")
def read_ticket() -> Ticket:
    return Ticket("cus_Lk42", "The suitcase arrived with a broken wheel.", 12_000)


def paid(customer: str, cents: int) -> str | None:
    """After a crash in between, nobody knows whether the money went out. The bank does."""
    return bank.find(step47.current().idempotency_key)


@step47.step(
    key="refund",
    effect=step47.Effect("bank.refund", "refund {cents} cents to {customer}"),
    check=paid,
    fold="refund",
)
def refund(customer: str, cents: int) -> str:
    line = f"{step47.current().idempotency_key} refund {customer} {cents}"
    bank.write(line)
    return line


def remember(case: Case, answer: step47.Answer[None]) -> None:
    case.approved = answer.approved


def main(name: str) -> None:
    with step47.run("refund-example", id=name, title="Broken suitcase", state=Case) as run:
        ticket = read_ticket()
        question = f"Send {ticket.cents / 100:.2f} EUR back to the customer?"
        answer = run.gate("approve", question, context={"complaint": ticket.complaint}, fold=remember)
        print(refund(ticket.customer, ticket.cents) if answer.approved else "declined")


if __name__ == "__main__":
    main(sys.argv[1])
