"""A run in the agent's hands: `step47.run` and `step47.arun`."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Generic, ParamSpec, TypeVar, overload

from . import _calls as calls
from . import _child as children
from . import _gates as gates
from . import _open as opening
from ._child import AsyncChild, Child
from ._client import Client
from ._core import Core
from ._current import step_here, within
from ._drive import adrive, drive
from ._flow import Flow
from ._gates import Answer
from ._schema import schema_of
from ._shape import decode, encode
from ._step import Step
from ._take import release

S = TypeVar("S")
R = TypeVar("R")
P = ParamSpec("P")
Json = dict[str, Any]


def worker_name() -> str:
    """The machine and the process."""
    return f"{socket.gethostname()}:{os.getpid()}"


class _Held(Generic[S]):
    """What a run knows without asking anyone."""

    def __init__(self, core: Core) -> None:
        self._core = core

    @property
    def id(self) -> str:
        """The run's id, the same over all restarts."""
        return self._core.lease.run

    @property
    def state(self) -> S:
        """The state after the newest commit, as the agent's own type. A copy: folds change the state, nothing else
        does."""
        state: S = self._core.live.typed
        return state

    @property
    def detail(self) -> Json:
        """The run as the server described it when it was leased."""
        return self._core.detail

    @overload
    def input(self) -> Any: ...
    @overload
    def input(self, kind: type[R]) -> R: ...
    def input(self, kind: Any = Any) -> Any:
        """What the run was created with, as this type."""
        return decode(kind, self._core.detail.get("input"))

    @property
    def drift(self) -> list[str]:
        """The keys of steps that were replayed although their input or a reference is another one now."""
        return list(self._core.drifted)

    def interrupt(self) -> None:
        """Asks the agent to stop at its next step boundary; that step raises `Interrupted`. Any thread may call it."""
        self._core.lease.ask_to_stop("process")


class Run(_Held[S]):
    """A leased run. Threads may use it at the same time."""

    def call(self, step: Step[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Takes a step in this run: for threads, which do not know which run they belong to."""
        with within(self._core):
            return step(*args, **kwargs)

    def gate(
        self,
        key: str,
        title: str,
        *,
        answer: type[R] | None = None,
        choices: Sequence[Any] | None = None,
        schema: Json | None = None,
        context: Any = None,
        name: str | None = None,
        fold: Callable[[S, Answer[R]], Any] | None = None,
        release: bool = False,
    ) -> Answer[R]:
        """Asks a person, and waits for the answer.

        `choices`: what can be answered. `answer`: the type of a free answer (a dataclass, a pydantic model, a plain
        type); its schema makes the form, unless `schema` is given. `context`: what the person should see beside the
        question. `fold` puts the answer into the state. With `release`, the run is given back while nobody has
        answered: the agent ends with `Waiting`, and a worker takes the run up again after the answer.
        """
        body = _gate(key, title, answer, choices, schema, context, name)
        return drive(gates.gate(self._core, body, answer or Any, fold, release))

    def sleep(self, key: str, seconds: float, *, hold: bool = False) -> None:
        """A pause that outlives the worker, counted from the first time the agent comes by: the run is released, the
        agent ends with `Asleep`, and the worker that takes the run up again passes this point. With `hold`, it waits
        here instead."""
        drive(gates.sleep(self._core, key, seconds, hold))

    def milestone(self, key: str, name: str | None = None) -> None:
        """Marks the end of a phase."""
        drive(gates.milestone(self._core, key, name or key))

    def child(self, key: str, agent: str, *, id: str | None = None, **fields: Any) -> Child:  # noqa: A002
        """Starts another run with this one as its parent, once; a worker of that agent takes it up. The other fields
        are those of `step47.run`: `input`, `title`, `labels`, …"""
        create = _create(agent, id or children.child_id(self.id, key), fields)
        return Child(self._core, key, drive(children.start_child(self._core, key, create)))

    def finish(self, result: Any = None) -> None:
        """Ends the run well, before the end of the `with` block."""
        drive(opening.finish(self._core, result))

    def fail(self, kind: str, message: str) -> None:
        """Ends the run badly: an operator will look at it."""
        drive(opening.fail(self._core, calls.error(kind, message)))

    def release(self) -> None:
        """Gives the run back as it is, for the next worker."""
        drive(release(self._core))


class AsyncRun(_Held[S]):
    """A leased run in an event loop. Tasks may use it at the same time."""

    def call(self, step: Step[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Takes a step in this run: for code that does not know which run it belongs to."""
        with within(self._core):
            return step(*args, **kwargs)

    async def gate(
        self,
        key: str,
        title: str,
        *,
        answer: type[R] | None = None,
        choices: Sequence[Any] | None = None,
        schema: Json | None = None,
        context: Any = None,
        name: str | None = None,
        fold: Callable[[S, Answer[R]], Any] | None = None,
        release: bool = False,
    ) -> Answer[R]:
        """See `Run.gate`."""
        body = _gate(key, title, answer, choices, schema, context, name)
        return await adrive(gates.gate(self._core, body, answer or Any, fold, release))

    async def sleep(self, key: str, seconds: float, *, hold: bool = False) -> None:
        """See `Run.sleep`."""
        await adrive(gates.sleep(self._core, key, seconds, hold))

    async def milestone(self, key: str, name: str | None = None) -> None:
        """See `Run.milestone`."""
        await adrive(gates.milestone(self._core, key, name or key))

    async def child(self, key: str, agent: str, *, id: str | None = None, **fields: Any) -> AsyncChild:  # noqa: A002
        """See `Run.child`."""
        create = _create(agent, id or children.child_id(self.id, key), fields)
        return AsyncChild(self._core, key, await adrive(children.start_child(self._core, key, create)))

    async def finish(self, result: Any = None) -> None:
        """See `Run.finish`."""
        await adrive(opening.finish(self._core, result))

    async def fail(self, kind: str, message: str) -> None:
        """See `Run.fail`."""
        await adrive(opening.fail(self._core, calls.error(kind, message)))

    async def release(self) -> None:
        """See `Run.release`."""
        await adrive(release(self._core))


class _Opening(Generic[S]):
    """A run to be opened by `with`, or by `async with`."""

    def __init__(self, client: Client, create: Json, lease: Json, kind: Any) -> None:
        self._client, self._create, self._lease, self._kind = client, create, lease, kind

    def _open(self, *, loops: bool) -> Flow[Core]:
        wire = self._client.wire
        patience = self._client.patience
        return opening.open_run(wire, self._create, self._lease, self._kind, patience, loops=loops)

    def _enter(self, core: Core) -> None:
        self._core, self._within = core, within(core)
        self._within.__enter__()

    def _settle(self, error: BaseException | None) -> Flow[None]:
        self._within.__exit__(None, None, None)
        if error is None:
            return opening.settle(self._core, None)
        return opening.settle_quietly(self._core, error)


class RunOpening(_Opening[S]):
    """`with` opens the run; the end of the block ends or releases it."""

    def __enter__(self) -> Run[S]:
        self._enter(drive(self._open(loops=False)))
        return Run(self._core)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        drive(self._settle(error))


class AsyncRunOpening(_Opening[S]):
    """`async with` opens the run; the end of the block ends or releases it."""

    async def __aenter__(self) -> AsyncRun[S]:
        self._enter(await adrive(self._open(loops=True)))
        return AsyncRun(self._core)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, GeneratorExit):  # The event loop is gone: nothing more can be sent.
            self._core.lease.lose("its event loop has ended")
        else:
            await adrive(self._settle(error))


@overload
def run(
    agent: str, *, id: str | None = None, state: None = None, client: Client | None = None, **options: Any
) -> RunOpening[dict[str, Any]]: ...
@overload
def run(
    agent: str, *, id: str | None = None, state: type[S], client: Client | None = None, **options: Any
) -> RunOpening[S]: ...
@overload
def run(
    agent: str, *, id: str | None = None, state: S, client: Client | None = None, **options: Any
) -> RunOpening[S]: ...
def run(
    agent: str,
    *,
    id: str | None = None,  # noqa: A002
    state: Any = None,
    client: Client | None = None,
    **options: Any,
) -> RunOpening[Any]:
    """Opens a run: creates it or finds it by its id, takes its lease and restores its state.

    ```python
    with step47.run("billing", id="invoice-7", state=Bill) as run:
        charge("inv-7", 1999)
    ```

    The end of the block finishes the run, an exception fails it, and whatever only stopped here (`Left`) releases it
    for the next worker. A run that another worker holds is waited for until that lease should end.

    - `id`: the run's own id, the same at each start; without one, every start is a new run.
    - `state`: the type of the state (with defaults), or the state to start from; a `dict` unless given.
    - `client`: a `Client`, unless `STEP47_URL` and `STEP47_TOKEN` say where.
    - `input`, `title`, `version`, `model`, `labels`, `links` (label → URL), `plan` (names of expected steps, or
      objects), `state_schema`, `on_crash` (`"resume"` or `"hold"`), `max_recoveries`: recorded with the run.
    - `ttl`: seconds for which the run is held without a heartbeat, 30 unless given. `worker`: this worker's name.
      `takeover=True`: ends the lease of the worker of that name at once; the caller vouches that it is dead.

    Opened inside a step of another run, it is that run's child.
    """
    client = client or Client()
    return RunOpening(client, *_described(agent, id, state, options))


@overload
def arun(
    agent: str, *, id: str | None = None, state: None = None, client: Client | None = None, **options: Any
) -> AsyncRunOpening[dict[str, Any]]: ...
@overload
def arun(
    agent: str, *, id: str | None = None, state: type[S], client: Client | None = None, **options: Any
) -> AsyncRunOpening[S]: ...
@overload
def arun(
    agent: str, *, id: str | None = None, state: S, client: Client | None = None, **options: Any
) -> AsyncRunOpening[S]: ...
def arun(
    agent: str,
    *,
    id: str | None = None,  # noqa: A002
    state: Any = None,
    client: Client | None = None,
    **options: Any,
) -> AsyncRunOpening[Any]:
    """The same in an event loop: `async with step47.arun(…) as run:`."""
    client = client or Client()
    return AsyncRunOpening(client, *_described(agent, id, state, options))


_LEASED = ("ttl", "worker", "takeover")
_CREATED = (
    "input", "title", "version", "model", "labels", "links", "plan", "state_schema", "on_crash", "max_recoveries",
    "parent",
)  # fmt: skip


def _described(agent: str, id: str | None, state: Any, options: Json) -> tuple[Json, Json, Any]:  # noqa: A002
    leased = {name: options.pop(name) for name in _LEASED if name in options}
    kind, initial = state_kind(state)
    create = _create(agent, id, options)
    if initial is not None:
        create["state"] = initial
    step = step_here.get()
    if step is not None and step.core is not None:
        create.setdefault("parent", {"run": step.run_id, "seq": step.seq})
    lease = calls.given(
        worker=leased.get("worker") or worker_name(),
        ttl_ms=round(leased.get("ttl", 30) * 1000),
        version=create.get("version"),
        model=create.get("model"),
        takeover=leased.get("takeover"),
    )
    return create, lease, kind


def state_kind(state: Any) -> tuple[Any, Any]:
    """The type of the state, and what a new run starts from, if anything."""
    if state is None:
        return dict[str, Any], None
    if isinstance(state, type) or hasattr(state, "__origin__"):
        return state, None
    kind = dict[str, Any] if isinstance(state, dict) else type(state)
    return kind, encode(state)


def _create(agent: str, id: str | None, fields: Mapping[str, Any]) -> Json:  # noqa: A002
    unknown = sorted(set(fields) - set(_CREATED))
    if unknown:
        raise TypeError(f"a run has no {', '.join(unknown)}; it takes {', '.join((*_CREATED, *_LEASED))}")
    body = calls.given(id=id, agent=agent, **{name: encode(value) for name, value in fields.items()})
    if isinstance(body.get("links"), dict):
        body["links"] = [{"label": label, "url": url} for label, url in body["links"].items()]
    if "plan" in body:
        body["plan"] = gates.planned(body["plan"])
    return body


def _gate(
    key: str,
    title: str,
    answer: Any,
    choices: Iterable[Any] | None,
    schema: Json | None,
    context: Any,
    name: str | None,
) -> Json:
    if choices is None and schema is None and answer is not None:
        schema = schema_of(answer)
    question = calls.given(
        title=title,
        context=encode(context),
        schema=schema,
        choices=None if choices is None else [encode(choice) for choice in choices],
    )
    return {"key": key, "name": name or key.split(":")[0], "kind": "gate", "gate": question}
