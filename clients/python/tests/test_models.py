"""Model calls of a wrapped client: steps with tokens and cost, replayed after a crash, without any provider's
package."""

from __future__ import annotations

import asyncio
import copy
import pickle
from types import SimpleNamespace
from typing import Any

import pytest
from server import Server

import step47


class Fake:
    """A client like OpenAI's and Anthropic's at once. It counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.chat = SimpleNamespace(completions=SimpleNamespace(create=self._chat))
        self.messages = SimpleNamespace(create=self._message, stream=lambda **_: "a stream")
        self.models = SimpleNamespace(list=lambda: ["m-1"])

    def with_options(self, **_: Any) -> Fake:
        return self

    def _chat(self, **asked: Any) -> Any:
        self.asked.append(asked)
        choice = SimpleNamespace(message=SimpleNamespace(role="assistant", content=f"answer {len(self.asked)}"))
        usage = SimpleNamespace(prompt_tokens=1000, completion_tokens=500)
        return SimpleNamespace(model="m-1", choices=[choice], usage=usage)

    def _message(self, **asked: Any) -> Any:
        self.asked.append(asked)
        usage = {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 2}
        return {"model": "m-2", "content": [{"type": "text", "text": "hello"}], "usage": usage}


class AsyncFake(Fake):
    def __init__(self) -> None:
        super().__init__()
        self.chat = SimpleNamespace(completions=SimpleNamespace(create=self._achat))

    async def _achat(self, **asked: Any) -> Any:
        await asyncio.sleep(0)
        return self._chat(**asked)


PRICES = {"m-1": (2.0, 10.0)}
QUESTION = {"model": "m-1", "messages": [{"role": "user", "content": "hi"}]}


def test_a_model_call_is_a_step_with_its_model_tokens_and_cost(server: Server, run_id: str) -> None:
    fake = Fake()
    client: Any = step47.wrap(fake, prices=PRICES)
    with step47.run("test-agent", id=run_id, client=server.client):
        first = client.chat.completions.create(**QUESTION)
        second = client.with_options(timeout=3).chat.completions.create(**QUESTION)
        message = client.messages.create(model="m-2", messages=[])
        assert client.models.list() == ["m-1"], "what is no model call is left alone"
    texts = [answer.choices[0].message.content for answer in (first, second)]
    assert texts == ["answer 1", "answer 2"], "two equal calls are two steps"
    assert message.content[0]["text"] == message["content"][0].text == "hello"
    steps = [server.client.step(run_id, seq) for seq in (1, 2, 3)]
    assert [(step["kind"], step["tool"]) for step in steps] == [("llm", "m-1"), ("llm", "m-1"), ("llm", "m-2")]
    assert steps[0]["attempts"][0]["usage"] == {"input_tokens": 1000, "output_tokens": 500, "cost_usd": 0.007}
    assert steps[2]["attempts"][0]["usage"] == {"input_tokens": 15, "output_tokens": 2}
    assert steps[0]["input"] == QUESTION


def test_after_a_crash_the_recorded_answer_comes_back(server: Server, run_id: str) -> None:
    fake = Fake()
    client: Any = step47.wrap(fake)
    texts = []
    for life in range(2):
        try:
            with step47.run("test-agent", id=run_id, client=server.client):
                texts.append(client.chat.completions.create(**QUESTION).choices[0].message.content)
                if life == 0:
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            pass
    assert texts == ["answer 1", "answer 1"]
    assert len(fake.asked) == 1


def test_an_asynchronous_client_is_awaited(server: Server, run_id: str) -> None:
    client: Any = step47.wrap(AsyncFake())

    async def agent() -> list[str]:
        async with step47.arun("test-agent", id=run_id, client=server.client):
            answers = [await client.chat.completions.create(**QUESTION) for _ in range(2)]
        return [answer.choices[0].message.content for answer in answers]

    assert asyncio.run(agent()) == ["answer 1", "answer 2"]


def test_inside_a_step_its_tokens_are_the_steps(server: Server, run_id: str) -> None:
    client: Any = step47.wrap(Fake(), prices=lambda model, usage: 0.25 if model == "m-1" else None)

    @step47.step(kind="llm")
    def think() -> str:
        answers = [client.chat.completions.create(**QUESTION) for _ in range(2)]
        return str(answers[-1].choices[0].message.content)

    with step47.run("test-agent", id=run_id, client=server.client):
        assert think() == "answer 2"
    [step] = server.client.steps(run_id)
    usage = server.client.step(run_id, step["seq"])["attempts"][0]["usage"]
    assert usage == {"input_tokens": 2000, "output_tokens": 1000, "cost_usd": 0.5}


def test_a_stream_is_refused_inside_a_run_and_plain_outside(server: Server, run_id: str) -> None:
    client: Any = step47.wrap(Fake())
    assert client.messages.stream() == "a stream"
    with step47.run("test-agent", id=run_id, client=server.client):
        with pytest.raises(TypeError, match="without stream=True"):
            client.chat.completions.create(**QUESTION, stream=True)
        with pytest.raises(TypeError, match="use create"):
            client.messages.stream()
    assert client.chat.completions.create(**QUESTION).model == "m-1"


def test_a_stream_inside_a_step_is_the_steps_own_and_not_counted(server: Server, run_id: str) -> None:
    class Streams(Fake):
        def _chat(self, **asked: Any) -> Any:
            return iter(["an", "swer"])

    class AsyncStreams(Streams):
        def __init__(self) -> None:
            super().__init__()
            self.chat = SimpleNamespace(completions=SimpleNamespace(create=self._achat))

        async def _achat(self, **asked: Any) -> Any:
            return self._chat(**asked)

    client: Any = step47.wrap(Streams())
    aclient: Any = step47.wrap(AsyncStreams())

    @step47.step
    def think() -> str:
        return "".join(client.chat.completions.create(**QUESTION, stream=True))

    @step47.step
    async def athink() -> str:
        return "".join(await aclient.chat.completions.create(**QUESTION, stream=True))

    async def agent() -> str:
        async with step47.arun("test-agent", id=f"{run_id}-async", client=server.client):
            return await athink()

    with step47.run("test-agent", id=run_id, client=server.client):
        assert think() == "answer"
    assert asyncio.run(agent()) == "answer"


def test_a_plain_client_does_not_block_an_event_loop(server: Server, run_id: str) -> None:
    client: Any = step47.wrap(Fake())

    async def agent() -> Any:
        async with step47.arun("test-agent", id=run_id, client=server.client):
            with pytest.raises(TypeError, match=r"asynchronous client instead, or call it as `await asyncio.to_thread"):
                client.chat.completions.create(**QUESTION)
            return await asyncio.to_thread(client.chat.completions.create, **QUESTION)

    assert asyncio.run(agent()).model == "m-1"
    assert len(server.client.steps(run_id)) == 1


def test_a_recorded_answer_can_be_copied() -> None:
    record = step47.Record({"model": "m-1", "choices": [{"text": "hi"}]})
    for copied in (copy.copy(record), copy.deepcopy(record), pickle.loads(pickle.dumps(record))):
        assert copied == record
        assert copied.choices[0].text == "hi"
