"""`@step`: a function whose result is recorded, and not made twice."""

from __future__ import annotations

import functools
import hashlib
import inspect
import itertools
import json
import typing
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, ParamSpec, TypeVar, overload

from . import _calls as calls
from ._context import StepContext
from ._core import Core
from ._current import run_here
from ._drive import adrive, drive
from ._errors import ShapeError
from ._flow import Do, Flow
from ._shape import encode
from ._state import Fold
from ._take import Order, take

P = ParamSpec("P")
R = TypeVar("R")
A = TypeVar("A")
Json = dict[str, Any]
Kind = Literal["code", "llm", "tool", "milestone"]
Recovery = Literal["retry", "check", "ask"]


@dataclass(frozen=True)
class Effect:
    """A step's mark that it changes the world outside."""

    target: str
    """What it changes: a payment provider, a mail server, a file."""
    summary: str | None = None
    """What it does there, for the person who must decide after a crash; may hold `{arguments}` like a key."""
    dedupe_seconds: float | None = None
    """How long the provider recognises a repeated idempotency key."""


@dataclass(frozen=True)
class Retry:
    """How often a failure is tried again by itself."""

    attempts: int
    """How many attempts there are in all."""
    backoff: float = 1.0
    """Seconds before the second attempt; doubles from there."""
    on: tuple[type[Exception], ...] = (Exception,)
    """What is worth another attempt; anything else fails for good."""


@dataclass(frozen=True)
class Ref:
    """Something outside that a step relied on, and what it looked like then: a change since shows as drift."""

    uri: str
    hash: str


@dataclass(frozen=True)
class _Rules:
    """What the decorator was told."""

    key: str | Callable[..., str] | None
    name: str | None
    kind: Kind | None
    tool: str | None
    effect: Effect | str | None
    recovery: Recovery | None
    check: Callable[..., Any] | None
    retry: Retry | int | None
    timeout: float | None
    fold: Fold | str | None
    refs: Callable[..., Iterable[Ref]] | None
    links: Mapping[str, str] | None
    input: Sequence[str] | None
    result: Any


class Step(Generic[P, R]):
    """A function that `@step` made a step. Called inside a run it is one; outside it is the plain function."""

    __name__: str

    def __init__(self, function: Callable[P, R], rules: _Rules, receiver: tuple[Any, ...] = ()) -> None:
        functools.update_wrapper(self, function)
        self._function, self._rules, self._receiver = function, rules, receiver
        self._signature = inspect.signature(function)
        self.asynchronous = inspect.iscoroutinefunction(function)
        check = rules.check
        if check is None and rules.recovery == "check":
            raise TypeError(f"{self._name}: recovery='check' needs check=…, which looks whether it happened")
        if check is not None and rules.recovery not in (None, "check"):
            raise TypeError(f"{self._name}: check=… means recovery='check', not {rules.recovery!r}")
        if inspect.iscoroutinefunction(check) and not self.asynchronous:
            raise TypeError(f"{self._name}: its check is asynchronous, so it must be, too (async def)")

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Takes the step: does the work and records it, or gives what is recorded."""
        core = run_here.get()
        if core is None:
            return typing.cast("Callable[..., R]", self._function)(*self._receiver, *args, **kwargs)
        return self.on(core, args, kwargs)

    def __get__(self, instance: object, owner: type | None = None) -> Step[..., R]:
        if instance is None:
            return self
        bound: Step[..., R] = Step(typing.cast("Callable[..., R]", self._function), self._rules, (instance,))
        return bound

    def bind(self, *args: P.args, **kwargs: P.kwargs) -> Bound[R]:
        """The step with its arguments, to be taken later: `charge.bind(7).then(mail.bind(7))()`."""
        return Bound(self, args, kwargs)

    @property
    def _name(self) -> str:
        return self._rules.name or str(getattr(self._function, "__name__", "step"))

    def on(
        self,
        core: Core,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        body: Json | None = None,
        then: Json | None = None,
    ) -> R:
        """Takes the step in this run; `body` is what was said when it was begun ahead."""
        flow = take(core, self._order(core, args, kwargs, body, then))
        if self.asynchronous:
            return typing.cast("R", adrive(flow))
        core.may_block(self._name, "make it `async def`")
        return typing.cast("R", drive(flow))

    def _order(
        self,
        core: Core,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        body: Json | None,
        then: Json | None,
    ) -> Order:
        bound = self.arguments(args, kwargs)
        rules, retry = self._rules, _retry(self._rules.retry)
        check = rules.check
        return Order(
            body or self.body(core, bound.arguments),
            self._doing(lambda: self._function(*bound.args, **bound.kwargs)),
            self._result,
            None if check is None else self._doing(lambda: check(*bound.args, **bound.kwargs)),
            _fold(rules.fold),
            lambda error: retry is None or isinstance(error, retry.on),
            then,
        )

    def arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> inspect.BoundArguments:
        """What the function is called with, defaults included."""
        bound = self._signature.bind(*self._receiver, *args, **kwargs)
        bound.apply_defaults()
        return bound

    @property
    def named(self) -> bool:
        """Whether its key follows from its arguments alone."""
        return self._rules.key is not None

    def _doing(self, call: Callable[[], Any]) -> Callable[[StepContext], Flow[Any]]:
        def work(step: StepContext) -> Flow[Any]:
            assert step.core is not None
            return (yield Do(call, step, step.core.lease, self._rules.timeout))

        return work

    @functools.cached_property
    def _result(self) -> Any:
        """The type of the result: what the function says it returns."""
        if self._rules.result is not None:
            return self._rules.result
        try:
            return typing.get_type_hints(self._function).get("return", Any)
        except NameError as why:
            raise ShapeError(
                f"{self._name} says that it returns what cannot be found ({why}): define the type at module level"
            ) from why

    def body(self, core: Core, arguments: Mapping[str, Any]) -> Json:
        """The step on the wire."""
        rules = self._rules
        given = {name: value for name, value in arguments.items() if name not in ("self", "cls")}
        recorded = self._input(given)
        retry = _retry(rules.retry)
        body = calls.given(
            key=self._key(core, given, recorded),
            name=self._name,
            kind=rules.kind or ("tool" if rules.tool else None),
            tool=rules.tool,
            input=recorded or None,
            effect=self._effect(given),
            recovery="check" if rules.check else rules.recovery,
        )
        if retry:
            body["retry"] = {"max_attempts": retry.attempts, "backoff_ms": round(retry.backoff * 1000)}
        if rules.refs:
            refs = rules.refs(**given)
            body["refs"] = [{"uri": ref.uri, "hash": ref.hash} for ref in refs]
        if rules.links:
            links = rules.links.items()
            body["links"] = [{"label": label, "url": url.format(**given)} for label, url in links]
        return body

    def _input(self, given: Mapping[str, Any]) -> Json:
        names = given if self._rules.input is None else self._rules.input
        recorded = {name: given[name] for name in names}
        try:
            return typing.cast("Json", encode(recorded))
        except ShapeError as why:
            told = f"the arguments of {self._name} cannot be recorded: {why}"
            raise ShapeError(f"{told}; or name those to record (input=['…'])") from why

    def _key(self, core: Core, given: Mapping[str, Any], recorded: Json) -> str:
        key = self._rules.key
        if callable(key):
            return key(**given)
        if key is not None:
            try:
                return key.format(**given)
            except (KeyError, IndexError, AttributeError) as why:
                raise ShapeError(f"the key {key!r} of {self._name} names what it is not called with: {why}") from why
        if not recorded:
            return core.numbered(self._name)
        text = json.dumps(recorded, sort_keys=True, ensure_ascii=False)
        return core.numbered(f"{self._name}:{hashlib.sha256(text.encode()).hexdigest()[:16]}")

    def _effect(self, given: Mapping[str, Any]) -> Json | None:
        effect = self._rules.effect
        if effect is None:
            return None
        if isinstance(effect, str):
            return {"target": effect}
        dedupe = effect.dedupe_seconds
        return calls.given(
            target=effect.target,
            description=effect.summary and effect.summary.format(**given),
            dedupe_ms=None if dedupe is None else round(dedupe * 1000),
        )


class Bound(Generic[R]):
    """A step with its arguments. Call it to take the step."""

    def __init__(self, step: Step[..., R], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self._step, self._args, self._kwargs = step, args, kwargs
        self._then: Bound[Any] | None = None
        self._body: Json | None = None

    def then(self, following: Bound[Any]) -> Bound[R]:
        """The step that certainly comes next: it is begun with this one's commit, one request instead of two. It must
        then be taken, with the same arguments."""
        self._then = following
        return self

    def __call__(self) -> R:
        """Takes the step."""
        core = run_here.get()
        if core is None:
            return self._step(*self._args, **self._kwargs)
        then = None if self._then is None else self._then._ahead(core)
        return self._step.on(core, self._args, self._kwargs, self._body, then)

    def _ahead(self, core: Core) -> Json:
        """Its body, made before its turn has come."""
        if not self._step.named:
            raise TypeError(f"{self._step.__name__} needs a key of its own to be begun ahead: @step(key='…')")
        self._body = self._step.body(core, self._step.arguments(self._args, self._kwargs).arguments)
        return self._body


@overload
def step(function: Callable[P, R], /) -> Step[P, R]: ...
@overload
def step(
    *,
    key: str | Callable[..., str] | None = None,
    name: str | None = None,
    kind: Kind | None = None,
    tool: str | None = None,
    effect: Effect | str | None = None,
    recovery: Recovery | None = None,
    check: Callable[..., Any] | None = None,
    retry: Retry | int | None = None,
    timeout: float | None = None,
    fold: Fold | str | None = None,
    refs: Callable[..., Iterable[Ref]] | None = None,
    links: Mapping[str, str] | None = None,
    input: Sequence[str] | None = None,
    result: Any = None,
) -> Callable[[Callable[P, R]], Step[P, R]]: ...
def step(
    function: Callable[..., Any] | None = None,
    /,
    *,
    key: str | Callable[..., str] | None = None,
    name: str | None = None,
    kind: Kind | None = None,
    tool: str | None = None,
    effect: Effect | str | None = None,
    recovery: Recovery | None = None,
    check: Callable[..., Any] | None = None,
    retry: Retry | int | None = None,
    timeout: float | None = None,
    fold: Fold | str | None = None,
    refs: Callable[..., Iterable[Ref]] | None = None,
    links: Mapping[str, str] | None = None,
    input: Sequence[str] | None = None,  # noqa: A002
    result: Any = None,
) -> Any:
    """Makes a function a step: its result is recorded, and a committed step's work is not called again.

    - `key`: names the step in its run, the same each time the agent comes by, with the arguments in it:
      `"charge:{invoice_id}"`; or a function of the arguments. Without one, the name, a hash of the arguments and, from
      the second equal call on, a number.
    - `name`, `kind`, `tool`: what people see; the name is the function's unless given.
    - `effect`: the work changes the world outside: an `Effect`, or just its target.
    - `recovery`: what may happen after a crash inside the work. `"retry"` (default without an effect): it is done
      again; `"ask"` (default with one): a person must decide; `"check"`: see `check`.
    - `check`: after a crash, is called with the same arguments and looks whether the work has happened: what it
      returns is the result; at `None` the work is done.
    - `retry`: how often a failure is tried again, a `Retry` or just the number of attempts.
    - `timeout`: seconds after which an attempt has failed. Asynchronous work is cancelled; a plain function cannot be
      stopped, so it runs in a thread of its own and is left behind.
    - `fold`: puts the result into the run's state: a function of state and result that changes the state in place or
      returns a new one, or the name of the field that takes the result. State and result are committed together.
    - `refs`: what the work relies on outside, as a function of the arguments.
    - `links`: labels and URLs for people who look at the step; a URL may hold `{arguments}`.
    - `input`: the names of the arguments to record; all of them unless given.
    - `result`: the type of the result, where the function's annotation does not say it.
    """
    rules = _Rules(key, name, kind, tool, effect, recovery, check, retry, timeout, fold, refs, links, input, result)
    if function is not None:
        return Step(function, rules)
    return lambda function: Step(function, rules)


def each(step: Step[[A], R], items: Iterable[A]) -> list[R]:
    """Takes the step for every item in order. Each is begun with the commit before it: one request a step, not two."""
    return [bound() for bound in _chained(step, items)]


async def aeach(step: Step[[A], Coroutine[Any, Any, R]], items: Iterable[A]) -> list[R]:
    """The same for an asynchronous step."""
    return [await bound() for bound in _chained(step, items)]


def _chained(step: Step[[A], Any], items: Iterable[A]) -> list[Bound[Any]]:
    bounds = [step.bind(item) for item in items]
    if step.named:
        for bound, following in itertools.pairwise(bounds):
            bound.then(following)
    return bounds


def _fold(fold: Fold | str | None) -> Fold | None:
    if not isinstance(fold, str):
        return fold
    field = fold

    def put(state: Any, result: Any) -> None:
        if isinstance(state, dict):
            state[field] = result
        elif hasattr(state, field):
            setattr(state, field, result)
        else:
            raise ShapeError(f"the state has no field {field!r} to fold the result into")

    return put


def _retry(retry: Retry | int | None) -> Retry | None:
    return Retry(retry) if isinstance(retry, int) else retry
