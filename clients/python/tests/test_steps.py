"""What a step does: executed once, typed, folded into the state, tried again, checked, replayed."""

from __future__ import annotations

import asyncio
import enum
import threading
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

import pydantic
import pytest
from colours import Colour
from server import Server

import step47


class Currency(enum.Enum):
    EUR = "EUR"


@dataclass
class Receipt:
    id: str
    cents: int
    currency: Currency
    at: datetime
    lines: list[tuple[str, int]] = field(default_factory=list)
    note: str | None = None


@dataclass
class Books:
    receipts: list[Receipt] = field(default_factory=list)
    total: int = 0


class Paper(pydantic.BaseModel):
    title: str
    pages: int = 1


class Library(pydantic.BaseModel):
    papers: list[Paper] = []


def receipt() -> Receipt:
    return Receipt("r1", 120, Currency.EUR, datetime(2026, 11, 18, tzinfo=timezone.utc), [("wheel", 120)])


def test_a_result_is_the_same_typed_value_when_it_is_made_and_when_it_is_replayed(
    server: Server, colour: Colour, run_id: str
) -> None:
    calls: list[str] = []

    def put(books: Books, made: Receipt) -> None:
        books.receipts.append(made)
        books.total += made.cents

    @colour.step(key="charge:{invoice}", fold=put, result=Receipt)
    def charge(invoice: str) -> Receipt:
        calls.append(invoice)
        return receipt()

    async def agent() -> tuple[Any, Any, Books]:
        async with colour.open(server, run_id, state=Books) as run:
            first, second = await charge("i"), await charge("i")
            return first, second, run.state

    assert asyncio.run(agent()) == (receipt(), receipt(), Books([receipt()], 120))
    assert calls == ["i"]
    assert server.client.run(run_id)["status"] == "done"


def test_pydantic_models_are_states_and_results(server: Server, colour: Colour, run_id: str) -> None:
    @colour.step(key="read:{title}", fold=lambda library, paper: library.papers.append(paper), result=Paper)
    def read(title: str) -> Paper:
        return Paper(title=title, pages=7)

    async def agent() -> tuple[Any, Any]:
        async with colour.open(server, run_id, state=Library) as run:
            return await read("p"), run.state

    paper = Paper(title="p", pages=7)
    assert asyncio.run(agent()) == (paper, Library(papers=[paper]))


def test_a_state_is_sent_as_a_patch_and_a_change_outside_a_fold_is_not_kept(
    server: Server, colour: Colour, run_id: str
) -> None:
    @colour.step(key="add:{n}", fold=lambda state, n: state["numbers"].append(n))
    def add(n: int) -> int:
        return n

    async def agent() -> Any:
        async with colour.open(server, run_id, state={"numbers": [0], "deep": {"1": True}}) as run:
            await add(1)
            run.state["numbers"].clear()
            await add(2)
            return run.state

    assert asyncio.run(agent()) == {"numbers": [0, 1, 2], "deep": {"1": True}}
    assert server.client.state(run_id) == {"numbers": [0, 1, 2], "deep": {"1": True}}


def test_a_failure_is_tried_again_and_at_the_end_raised_alike_in_every_life(
    server: Server, colour: Colour, run_id: str
) -> None:
    tried: list[int] = []

    @colour.step(key="flaky", retry=step47.Retry(3, backoff=0.01))
    def flaky() -> None:
        tried.append(step47.current().attempt)
        raise ValueError("no")

    async def agent() -> list[str]:
        told = []
        async with colour.open(server, run_id):
            for _ in range(2):
                with pytest.raises(step47.StepFailed) as failed:
                    await flaky()
                told.append(str(failed.value))
        return told

    assert asyncio.run(agent()) == ["ValueError: no", "ValueError: no"]
    assert tried == [1, 2, 3]


def test_an_error_that_no_attempt_would_change_is_not_tried_again(server: Server, colour: Colour, run_id: str) -> None:
    tried: list[str] = []

    @colour.step(key="{how}", retry=step47.Retry(3, backoff=0.01, on=(OSError,)))
    def fails(how: str) -> None:
        tried.append(how)
        raise (ValueError("v") if how == "value" else step47.StepError("s", kind="Broken", retryable=False))

    async def agent() -> list[str]:
        kinds = []
        async with colour.open(server, run_id):
            for how in ("value", "said"):
                with pytest.raises(step47.StepFailed) as failed:
                    await fails(how)
                kinds.append(failed.value.kind)
        return kinds

    assert asyncio.run(agent()) == ["ValueError", "Broken"]
    assert tried == ["value", "said"]


def test_a_failure_with_an_unknown_effect_waits_for_an_operator_and_one_without_does_not(
    server: Server, colour: Colour, run_id: str
) -> None:
    @colour.step(key="{how}", effect="bank")
    def charge(how: str) -> None:
        raise step47.StepError("refused", effect="none" if how == "certain" else None)

    async def agent() -> None:
        async with colour.open(server, run_id):
            with pytest.raises(step47.StepFailed):
                await charge("certain")
            try:
                await charge("timed out")
            except Exception:
                pytest.fail("a tool wrapper would tell the model about it")

    with pytest.raises(step47.Held):
        asyncio.run(agent())
    assert server.status(run_id) == "crashed"
    assert [step["status"] for step in server.client.steps(run_id)] == ["failed", "crashed"]


def test_work_that_takes_too_long_has_failed(server: Server, colour: Colour, run_id: str) -> None:
    ended = threading.Event()

    @colour.step(key="slow", timeout=0.05)
    def slow() -> Any:
        return asyncio.sleep(60) if colour.name == "async" else ended.wait(60)

    async def agent() -> str:
        async with colour.open(server, run_id):
            with pytest.raises(step47.StepFailed) as failed:
                await slow()
            return failed.value.kind

    assert asyncio.run(agent()) == "TimeoutError"
    ended.set()


def test_after_a_crash_it_looks_before_it_acts(server: Server, colour: Colour, run_id: str) -> None:
    """The first life ends inside both steps; the second finds one of them done."""
    did: list[str] = []
    dying = True

    def looked(order: str) -> str | None:
        did.append(f"look {order} after {step47.current().partial()}")
        return "found" if order == "done" else None

    @colour.step(key="pay:{order}", effect="bank", check=looked)
    def pay(order: str) -> str:
        step47.current().progress("half way")
        did.append(f"pay {order}")
        if dying:
            raise KeyboardInterrupt
        return "paid"

    async def agent(order: str) -> Any:
        async with colour.open(server, f"{run_id}-{order}"):
            return await pay(order)

    for order in ("done", "lost"):
        dying = True
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(agent(order))
        assert server.client.step(f"{run_id}-{order}", 1)["status"] == "crashed"
        dying = False
        did.append(asyncio.run(agent(order)))
    assert did == [
        "pay done", "look done after half way", "found",
        "pay lost", "look lost after half way", "pay lost", "paid",
    ]  # fmt: skip


def test_another_input_or_reference_is_drift_and_still_a_replay(server: Server, colour: Colour, run_id: str) -> None:
    @colour.step(key="read", refs=lambda n: [step47.Ref("file:a", "1" if n < 3 else "2")])
    def read(n: int) -> int:
        return n

    async def agent() -> tuple[list[int], list[str]]:
        async with colour.open(server, run_id) as run:
            return [await read(1), await read(2)], run.drift

    assert asyncio.run(agent()) == ([1, 1], ["read"])


def test_what_a_step_tells_is_recorded(server: Server, colour: Colour, run_id: str) -> None:
    @colour.step(key="think", kind="llm", links={"ticket": "https://example.org/{n}"})
    def think(n: int) -> None:
        step = step47.current()
        for line in range(5):
            step.log(f"line {line}")
        step.progress({"done": n})
        step.usage(input_tokens=10, output_tokens=3)
        step.usage(input_tokens=5, cost_usd=0.5)

    async def agent() -> None:
        async with colour.open(server, run_id):
            await think(7)

    asyncio.run(agent())
    step = server.client.step(run_id, 1)
    assert [line["message"] for line in step["log"]] == [f"line {line}" for line in range(5)]
    [attempt] = step["attempts"]
    assert attempt["partial"] == {"done": 7}
    assert attempt["usage"] == {"input_tokens": 15, "output_tokens": 3, "cost_usd": 0.5}
    assert step["links"] == [{"label": "ticket", "url": "https://example.org/7"}]


def test_a_chain_of_steps_is_one_request_each_and_the_same_as_one_by_one(
    server: Server, colour: Colour, run_id: str
) -> None:
    @colour.step(key="sum:{n}", fold=lambda state, n: state.update(sum=state.get("sum", 0) + n))
    def add(n: int) -> int:
        return n

    async def agent() -> tuple[list[Any], Any]:
        async with colour.open(server, run_id) as run:
            once = await colour.each(add, [1, 2, 3, 2])
            return once + await colour.each(add, [3, 4]), run.state

    assert asyncio.run(agent()) == ([1, 2, 3, 2, 3, 4], {"sum": 10})
    assert [step["key"] for step in server.client.steps(run_id)] == ["sum:1", "sum:2", "sum:3", "sum:4"]


def test_calls_without_a_key_of_their_own_are_steps_of_their_own(server: Server, colour: Colour, run_id: str) -> None:
    rolled: list[int] = []

    @colour.step()
    def roll(sides: int = 6) -> int:
        rolled.append(sides)
        return len(rolled)

    async def agent() -> list[Any]:
        async with colour.open(server, run_id):
            return [await roll(), await roll(), await roll(20)]

    assert asyncio.run(agent()) == [1, 2, 3]


def test_steps_at_the_same_time_lose_no_change_of_state(server: Server, run_id: str) -> None:
    @step47.step(key="add:{n}", fold=lambda state, n: state.update(sum=state.get("sum", 0) + n))
    async def add(n: int) -> int:
        await asyncio.sleep(0)
        return n

    @step47.step(key="thread:{n}", fold=lambda state, n: state.update(sum=state.get("sum", 0) + n))
    def add_in_thread(n: int) -> int:
        return n

    async def agent() -> Any:
        async with step47.arun("test-agent", id=run_id, client=server.client) as run:
            threads = (asyncio.to_thread(add_in_thread, n) for n in range(20))
            await asyncio.gather(*(add(n) for n in range(20)), *threads)
            return run.state

    assert asyncio.run(agent()) == {"sum": 380}


def test_a_plain_step_does_not_block_an_event_loop(server: Server, run_id: str) -> None:
    @step47.step
    def plain() -> int:
        return 1

    async def agent() -> None:
        async with step47.arun("test-agent", id=run_id, client=server.client):
            with pytest.raises(TypeError, match="await asyncio"):
                plain()

    asyncio.run(agent())


def test_outside_a_run_a_step_is_a_plain_function() -> None:
    @step47.step(key="double:{n}", effect="bank")
    def double(n: int) -> str:
        return f"{2 * n} {bool(step47.current().idempotency_key)}"

    class Shop:
        @step47.step(key="sell:{what}")
        def sell(self, what: str) -> str:
            return what

    assert double(2) == "4 True"
    assert Shop().sell("shoe") == "shoe"


def test_a_method_is_a_step_and_records_its_arguments_but_not_its_object(server: Server, run_id: str) -> None:
    class Shop:
        @step47.step(key="sell:{what}")
        def sell(self, what: str) -> str:
            return what

    with step47.run("test-agent", id=run_id, client=server.client):
        assert Shop().sell("shoe") == "shoe"
    assert server.client.step(run_id, 1)["input"] == {"what": "shoe"}


def test_a_thread_takes_steps_of_a_run_that_it_is_told(server: Server, run_id: str) -> None:
    @step47.step(key="n:{n}")
    def square(n: int) -> int:
        return n * n

    found: list[int] = []
    with step47.run("test-agent", id=run_id, client=server.client) as run:
        threads = [threading.Thread(target=lambda n=n: found.append(run.call(square, n))) for n in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(found) == [0, 1, 4, 9, 16]
    assert len(server.client.steps(run_id)) == 5


def test_a_fold_that_fails_ends_the_step_and_leaves_the_state_as_it_was(
    server: Server, colour: Colour, run_id: str
) -> None:
    @colour.step(key="{how}", fold=lambda state, how: state.update(how=how) or (1 / 0 if how == "bad" else None))
    def change(how: str) -> str:
        return how

    async def agent() -> Any:
        async with colour.open(server, run_id) as run:
            with pytest.raises(ZeroDivisionError):
                await change("bad")
            await change("good")
            return run.state

    assert asyncio.run(agent()) == {"how": "good"}
    assert [step["status"] for step in server.client.steps(run_id)] == ["failed", "committed"]


def test_an_agents_error_fails_its_run_with_what_it_said(server: Server, colour: Colour, run_id: str) -> None:
    async def agent() -> None:
        async with colour.open(server, run_id):
            raise LookupError("no such invoice")

    with pytest.raises(LookupError):
        asyncio.run(agent())
    run = server.client.run(run_id)
    assert run["status"] == "failed"
    assert run["error"]["kind"] == "LookupError"
    assert run["error"]["message"] == "no such invoice"
    assert "test_steps.py" in run["error"]["stack"]


def test_a_state_that_does_not_fit_the_type_fails_the_run_and_says_where(
    server: Server, colour: Colour, run_id: str
) -> None:
    async def agent() -> None:
        async with colour.open(server, run_id, state=Books) as run:
            await colour.done(run.release())

    asyncio.run(agent())
    server.decide(run_id, "edit", state={"total": "many"})
    with pytest.raises(step47.ShapeError, match="/total is 'many', not a int"):
        asyncio.run(agent())
    run = server.client.run(run_id)
    assert (run["status"], run["error"]["kind"]) == ("failed", "shape"), "released, it would be handed out for ever"
