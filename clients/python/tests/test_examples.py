"""The README's quick start and the examples do what they say, as processes of their own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from processes import lines
from server import Server, clean

import step47

HOME = Path(__file__).parents[1]


def start(server: Server, script: Path, *args: str) -> subprocess.Popen[str]:
    ledger = server.folder / f"{script.stem}.ledger"
    return subprocess.Popen(
        [sys.executable, str(script), *args],
        env={
            **clean(),
            "STEP47_URL": server.url,
            "STEP47_TOKEN": server.token,
            "EXAMPLE_LEDGER": str(ledger),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def ledger(server: Server, example: str) -> list[str]:
    return lines(server.folder / f"{example}.ledger")


def test_the_quick_start_works_when_it_is_pasted(server: Server) -> None:
    pasted = re.search(r"```python\n(# quick_start.py\n.+?)```", (HOME / "README.md").read_text(), re.S)
    assert pasted
    script = server.folder / "quick_start.py"
    script.write_text(pasted[1])
    said, _ = start(server, script).communicate()
    assert said.splitlines() == [
        "charging inv-1",
        "charging inv-2",
        "charging inv-3",
        "Books(receipts=['receipt november:1', 'receipt november:2', 'receipt november:3'])",
    ]
    again, _ = start(server, script).communicate()
    assert "It has ended: use a new id for new work" in again


def test_the_refund_waits_for_a_person_and_is_paid_once(server: Server) -> None:
    example = start(server, HOME / "examples/refund.py", "ticket-1")
    server.until_step("ticket-1", 2, "waiting")
    server.decide("ticket-1", "approve", step=2)
    said, _ = example.communicate()
    assert example.returncode == 0, said
    assert ledger(server, "refund") == ["ticket-1:3 refund cus_Lk42 12000"]
    assert server.client.state("ticket-1")["approved"] is True


def test_the_papers_are_asked_about_once_and_cost_what_they_cost(server: Server) -> None:
    example = start(server, HOME / "examples/papers.py", "reading")
    said, _ = example.communicate()
    assert example.returncode == 0, said
    assert len(ledger(server, "papers")) == 3
    kinds = [step["kind"] for step in server.client.steps("reading")]
    assert kinds == ["llm", "code"] * 3
    run = server.client.run("reading")
    assert run["result"]["2401.00001"] == "2401.00001 is worth reading."


def test_the_pages_are_fetched_once_though_one_fails_first(server: Server) -> None:
    example = start(server, HOME / "examples/fetch.py", "crawl")
    said, _ = example.communicate()
    assert example.returncode == 0, said
    assert len(ledger(server, "fetch")) == 8
    assert sorted(step["tries"] for step in server.client.steps("crawl")) == [1] * 7 + [2]


def test_the_worker_charges_sleeps_and_goes_on(server: Server) -> None:
    example = start(server, HOME / "examples/worker.py")
    asked = {"invoice": "inv-7", "cents": 1999}
    run = server.client.create("invoice-example", input=asked)["id"]
    server.until_status(run, "done")
    assert server.client.run(run)["result"] == [f"{run}:1 charge inv-7 1999"]
    assert ledger(server, "worker") == [f"{run}:1 charge inv-7 1999"]
    os.kill(example.pid, signal.SIGINT)
    said, _ = example.communicate()
    assert example.returncode == 0, said


def test_the_langgraph_agent_asks_and_charges_once(server: Server) -> None:
    script = HOME / "examples/langgraph_billing.py"
    # Called once more, it has nothing to go on with.
    for words in (["invoice-8"], ["invoice-8", "yes"], ["invoice-8"]):
        said, _ = (example := start(server, script, *words)).communicate()
        assert example.returncode == 0, said
    [charged] = ledger(server, "langgraph_billing")
    assert charged.startswith("invoice-8:"), charged
    assert charged.endswith(" charge cus_Lk42 12000"), charged
    assert server.client.state("invoice-8")["receipt"] == charged


@pytest.mark.needs("suspend")
def test_the_langgraph_agent_is_answered_in_the_console(server: Server) -> None:
    script = HOME / "examples/langgraph_billing.py"
    said, _ = (example := start(server, script, "invoice-7")).communicate()
    assert example.returncode == 0, said
    assert server.status("invoice-7") == "waiting"
    worker = start(server, script, "serve")
    server.decide("invoice-7", "approve", step=2)
    server.until_status("invoice-7", "done")
    os.kill(worker.pid, signal.SIGINT)
    said, _ = worker.communicate()
    assert worker.returncode == 0, said
    assert ledger(server, "langgraph_billing") == ["invoice-7:3 charge cus_Lk42 12000"]
    assert server.client.state("invoice-7")["receipt"] == "invoice-7:3 charge cus_Lk42 12000"


def test_the_reference_page_is_up_to_date() -> None:
    check = subprocess.run(
        [sys.executable, str(HOME / "reference.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert check.returncode == 0, check.stderr


def test_everything_public_says_what_it_is() -> None:
    for name in step47.__all__:
        assert getattr(step47, name).__doc__, name
