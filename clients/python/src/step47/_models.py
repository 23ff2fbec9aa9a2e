"""`wrap`: model calls become steps of the kind `llm`, with their tokens, model and cost.

Nothing of the providers' packages is needed: a client is known by what it has, such as `chat.completions.create`.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import logging
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ._context import StepContext
from ._current import run_here, step_here
from ._drive import adrive, drive
from ._flow import Do, Flow
from ._shape import encode
from ._take import Order, take

log = logging.getLogger("step47")
C = TypeVar("C")
Json = dict[str, Any]
Prices = Mapping[str, tuple[float, float]] | Callable[[str, Json], float | None]

# The calls that are recorded, the names of their steps, and the class of their answers, where that package is there.
_RECORDED = {
    ("chat", "completions", "create"): ("chat", "openai.types.chat:ChatCompletion"),
    ("responses", "create"): ("response", "openai.types.responses:Response"),
    ("embeddings", "create"): ("embed", "openai.types:CreateEmbeddingResponse"),
    ("messages", "create"): ("message", "anthropic.types:Message"),
}
# What gives another client of the same kind.
_SAME = ("with_options", "copy")
# What cannot be recorded as one answer.
_STREAMS = ("stream",)


class Record(Mapping[str, Any]):
    """A recorded answer: its fields as attributes and as items."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = fields

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # What `copy` and `pickle` look for, also before there are any fields.
            raise AttributeError(name)
        try:
            return _view(self._fields[name])
        except KeyError:
            raise AttributeError(f"the model's answer has no {name}") from None

    def __getitem__(self, name: str) -> Any:
        return _view(self._fields[name])

    def __iter__(self) -> typing.Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __repr__(self) -> str:
        return f"Record({self._fields!r})"


def _view(value: Any) -> Any:
    if isinstance(value, dict):
        return Record(value)
    return [_view(item) for item in value] if isinstance(value, list) else value


@dataclass(frozen=True)
class _Rules:
    prices: Prices | None
    key: Callable[[Json], str] | None
    asynchronous: bool | None


def wrap(
    client: C,
    *,
    prices: Prices | None = None,
    key: Callable[[dict[str, Any]], str] | None = None,
    asynchronous: bool | None = None,
) -> C:
    """A client of OpenAI, of Anthropic, or like them, whose model calls are recorded.

    Called by the agent itself, `chat.completions.create`, `responses.create`, `embeddings.create` and
    `messages.create` are steps of their own: after a crash the recorded answer comes back, and no token is paid
    twice. Inside a step they add their tokens to that step. Outside a run they are plain calls.

    - `prices`: dollars per million tokens, in and out, by model: `{"gpt-5": (1.25, 10.0)}`; or a function of the
      model and the answer's `usage` that gives dollars.
    - `key`: the step's key as a function of the call's arguments. Without it, a hash of them and, from the second equal
      call on, a number.
    - `asynchronous`: whether the client's calls are awaited, where that cannot be seen.

    Answers are the provider's own classes where its package is installed, else a `Record` with the same fields. A
    streamed answer cannot be recorded: inside a run it is refused, inside a step it is not counted.
    """
    return typing.cast("C", _Wrapped(client, (), _Rules(prices, key, asynchronous), client))


class _Wrapped:
    """A client, or a part of one, on the way to its calls."""

    def __init__(self, target: Any, path: tuple[str, ...], rules: _Rules, client: Any) -> None:
        self._target, self._path, self._rules, self._client = target, path, rules, client

    def __getattr__(self, name: str) -> Any:
        value, path = getattr(self._target, name), (*self._path, name)
        if path in _RECORDED:
            return self._recorded(value, path)
        if not self._path and name in _SAME:
            return lambda *args, **kwargs: _Wrapped((made := value(*args, **kwargs)), (), self._rules, made)
        if any(known[: len(path)] == path for known in _RECORDED):
            return _Wrapped(value, path, self._rules, self._client)
        if name in _STREAMS and self._path:
            return _refusing(value, ".".join(path))
        return value

    def __repr__(self) -> str:
        return f"step47.wrap({self._target!r})"

    def _recorded(self, create: Callable[..., Any], path: tuple[str, ...]) -> Callable[..., Any]:
        name, answers = _RECORDED[path]
        model = _Model(create, name, answers, self._rules)
        if self._asynchronous(create):

            async def acall(**arguments: Any) -> Any:
                core, step = run_here.get(), step_here.get()
                if core is None:
                    return await create(**arguments)
                if step is not None:
                    return model.counted(step, arguments, await create(**arguments))
                return model.answer(await adrive(take(core, model.order(core.numbered, arguments))))

            return acall

        def call(**arguments: Any) -> Any:
            core, step = run_here.get(), step_here.get()
            if core is None:
                return create(**arguments)
            if step is not None:
                return model.counted(step, arguments, create(**arguments))
            core.may_block(".".join(path), "wrap the provider's asynchronous client instead")
            return model.answer(drive(take(core, model.order(core.numbered, arguments))))

        return call

    def _asynchronous(self, create: Callable[..., Any]) -> bool:
        if self._rules.asynchronous is not None:
            return self._rules.asynchronous
        if inspect.iscoroutinefunction(inspect.unwrap(create)):
            return True
        return any(kind.__name__.startswith("Async") for kind in type(self._client).__mro__)


class _Model:
    """One kind of model call."""

    def __init__(self, create: Callable[..., Any], name: str, answers: str, rules: _Rules) -> None:
        self._create, self._name, self._answers, self._rules = create, name, answers, rules

    def order(self, numbered: Callable[[str], str], arguments: Json) -> Order:
        """The call as a step."""
        if arguments.get("stream"):
            raise TypeError("a streamed answer cannot be recorded: call without stream=True inside a run")
        recorded = encode(arguments)
        if self._rules.key:
            key = self._rules.key(arguments)
        else:
            text = json.dumps(recorded, sort_keys=True, ensure_ascii=False)
            key = numbered(f"{self._name}:{hashlib.sha256(text.encode()).hexdigest()[:16]}")

        def work(step: StepContext) -> Flow[Any]:
            assert step.core is not None
            answer = plain((yield Do(lambda: self._create(**arguments), step, step.core.lease)))
            self.count(step, arguments, answer)
            return answer

        body = {"key": key, "name": self._name, "kind": "llm", "input": recorded}
        if arguments.get("model"):
            body["tool"] = str(arguments["model"])
        return Order(body, work)

    def counted(self, step: StepContext, arguments: Json, answer: Any) -> Any:
        """The answer to a call inside a step, which counts it. Of a stream, the step itself can say it."""
        if not arguments.get("stream"):
            self.count(step, arguments, plain(answer))
        return answer

    def count(self, step: StepContext, arguments: Json, answer: Any) -> None:
        """Adds the tokens and the cost of an answer to its step."""
        usage = answer.get("usage") if isinstance(answer, dict) else None
        if not isinstance(usage, dict):
            return
        tokens_in, tokens_out = _tokens(usage)
        model = str(answer.get("model") or arguments.get("model") or "")
        cost = self._cost(model, str(arguments.get("model") or ""), usage, tokens_in, tokens_out)
        step.usage(input_tokens=tokens_in, output_tokens=tokens_out, cost_usd=cost)

    def _cost(self, model: str, asked: str, usage: Json, tokens_in: int | None, tokens_out: int | None) -> float | None:
        prices = self._rules.prices
        if prices is None:
            return None
        if not isinstance(prices, Mapping):
            return prices(model, usage)
        price = prices.get(model) or prices.get(asked)
        if price is None:
            log.warning("there is no price for the model %s: its cost is not recorded", model or asked)
            return None
        return ((tokens_in or 0) * price[0] + (tokens_out or 0) * price[1]) / 1_000_000

    def answer(self, recorded: Any) -> Any:
        """A recorded answer as the provider's class, where its package is there."""
        module, _, name = self._answers.partition(":")
        try:
            kind = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            return _view(recorded)
        return kind.construct(**recorded)


def plain(answer: Any) -> Any:
    """A model's answer as JSON."""
    if isinstance(answer, Record):
        return dict(answer._fields)
    if isinstance(answer, types.SimpleNamespace):
        return {name: plain(value) for name, value in vars(answer).items()}
    if isinstance(answer, list | tuple):
        return [plain(item) for item in answer]
    if isinstance(answer, dict):
        return {name: plain(value) for name, value in answer.items()}
    return encode(answer)


def _tokens(usage: Json) -> tuple[int | None, int | None]:
    """Tokens in and out, in either provider's words; what was read from or written to a cache went in as well."""
    read = [usage.get(name) for name in ("input_tokens", "prompt_tokens")]
    cached = [usage.get(name) for name in ("cache_creation_input_tokens", "cache_read_input_tokens")]
    tokens_in = next((tokens for tokens in read if tokens is not None), None)
    if tokens_in is not None:
        tokens_in += sum(tokens or 0 for tokens in cached)
    written = [usage.get(name) for name in ("output_tokens", "completion_tokens")]
    return tokens_in, next((tokens for tokens in written if tokens is not None), None)


def _refusing(value: Any, name: str) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        if run_here.get() is not None and step_here.get() is None:
            raise TypeError(f"{name} cannot be recorded: use create, or call it inside a step of your own")
        return value(*args, **kwargs)

    return call
