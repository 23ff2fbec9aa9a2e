"""A run from its beginning to its end: created or found, leased, restored, and told how it ended."""

from __future__ import annotations

import logging
from asyncio import CancelledError
from collections.abc import Iterator
from typing import Any

from . import _calls as calls
from . import _heart
from ._core import Core
from ._errors import LeaseLost, Left, Refused, ShapeError
from ._flow import Flow, Rest, ask
from ._lease import Lease, clock
from ._shape import encode
from ._state import Live
from ._take import last, release, told_of
from ._wire import Wire

log = logging.getLogger("step47")
Json = dict[str, Any]

# How often a held lease is looked at while its holder may be dead.
LOOK = 0.5
# Refusals of what is sent, not of when.
UNFIT = ("invalid", "malformed", "too_large")


def open_run(wire: Wire, create: Json, lease: Json, kind: Any, patience: float, *, loops: bool) -> Flow[Core]:
    """Creates the run or finds it by its id, takes its lease, and restores its newest checkpoint."""
    found = yield from ask(wire, calls.create(create), patience=patience)
    answer, asked = yield from _lease_when_free(wire, found["run"]["id"], lease, patience)
    return (yield from start(wire, answer, asked, lease["ttl_ms"] / 1000, kind, loops=loops))


def _lease_when_free(wire: Wire, run: str, body: Json, patience: float) -> Flow[tuple[Json, float]]:
    """The lease, and when the request that got it was sent.

    A run that another worker holds is waited for until that lease should end; if it was renewed meanwhile, its worker
    is alive, and the refusal (`lease_held`) is raised.
    """
    held_until = None
    while True:
        asked = clock()
        try:
            return (yield from ask(wire, calls.lease(run, body), patience=patience)), asked
        except Refused as refused:
            if refused.code == "run_not_runnable":
                refused = Refused(refused.code, refused.detail, refused.status, {**refused.fields, "run": run})
                raise refused from None
            until = refused.fields.get("expires_at")
            if refused.code != "lease_held" or until is None or until > (held_until or until):
                raise
            held_until = held_until or until
            log.info("run %s: held by another worker until %s; waiting for that lease to end", run, until)
        yield Rest(LOOK)


def start(wire: Wire, answer: Json, asked: float, ttl: float, kind: Any, *, loops: bool) -> Flow[Core]:
    """Restores the newest checkpoint of a run that was just leased."""
    detail = answer["run"]
    lease = Lease(detail["id"], answer["epoch"], ttl, asked, detail.get("signal"))
    if clock() - asked > ttl / 3:
        # After a long poll the term may be half over: it is renewed before it is relied on.
        sent = clock()
        renewed = yield from ask(wire, calls.heartbeat(lease), patience=ttl)
        lease = Lease(lease.run, lease.epoch, ttl, sent, renewed.get("signal") or lease.stop)
    try:
        live = Live(kind, answer["state"], answer["snapshot"])
    except ShapeError as why:
        # Released, it would be handed out for ever; failed, an operator sees what is wrong.
        body = {"outcome": "failed", "error": calls.error("shape", str(why))}
        yield from ask(wire, calls.finish(lease, body), lease=lease)
        lease.ending()
        lease.ended()
        raise
    log.info("run %s: checkpoint %s restored in epoch %s", lease.run, live.snapshot, lease.epoch)
    _heart.start(wire, lease)
    return Core(wire, lease, detail, live, loops=loops)


def finish(core: Core, result: Any) -> Flow[None]:
    """Ends the run well."""
    body = {"outcome": "done", "result": encode(result)}
    yield from last(core, lambda: calls.finish(core.lease, body))
    log.info("run %s: done", core.lease.run)


def fail(core: Core, error: Json) -> Flow[None]:
    """Ends the run badly: an operator will look at it."""
    body = {"outcome": "failed", "error": error}
    yield from last(core, lambda: calls.finish(core.lease, body))
    log.error("run %s: failed: %s: %s", core.lease.run, error["kind"], error["message"])


def settle(core: Core, error: BaseException | None, result: Any = None, *, goes_on: bool = False) -> Flow[None]:
    """Ends or releases the run as the agent's function ended: a result finishes it, an exception fails it, and what
    only stopped here leaves it for the next worker. `goes_on`: the process does, whatever this run ended with."""
    try:
        yield from _end(core, error, result, goes_on)
    except GeneratorExit:  # The event loop is gone: nothing more can be sent.
        core.lease.lose("its event loop has ended")
        raise
    except BaseException:
        yield from _abandon(core)
        raise


def settle_quietly(core: Core, error: BaseException, *, goes_on: bool = False) -> Flow[None]:
    """The same where the agent's own error is on its way: what goes wrong here must not hide it."""
    try:
        yield from settle(core, error, goes_on=goes_on)
    except (Exception, Left) as why:
        log.warning("run %s: its end was not recorded: %s", core.lease.run, why)


def _end(core: Core, error: BaseException | None, result: Any, goes_on: bool) -> Flow[None]:
    if error is None:
        if not core.lease.given_back:  # An agent may have finished by itself.
            yield from _finish_or_fail(core, result)
        return
    causes = list(_causes(error))
    if core.lease.over or any(isinstance(cause, LeaseLost) for cause in causes):
        return
    if any(_leaves(cause, goes_on) for cause in causes):
        # Paused, asleep, interrupted: what is in flight has crashed, and the run goes on later.
        yield from release(core)
        return
    try:
        yield from fail(core, told_of(error))
    except Refused as refused:
        if refused.code != "step_in_flight":
            raise
        # Something was left begun: it is not known how it ended, so it counts as crashed.
        yield from release(core)


def _finish_or_fail(core: Core, result: Any) -> Flow[None]:
    """A result that cannot be recorded is the agent's error, and would be the same in its next life."""
    try:
        yield from finish(core, result)
    except (ShapeError, Refused) as why:
        if isinstance(why, Refused) and why.code not in UNFIT:
            raise
        yield from fail(core, told_of(why))


def _leaves(cause: BaseException, goes_on: bool) -> bool:
    """Whether the run goes on elsewhere after this. `sys.exit()` ends a process; in one that goes on, it would be the
    same again with every worker that takes the run."""
    return isinstance(cause, Left | CancelledError) if goes_on else not isinstance(cause, Exception)


def _abandon(core: Core) -> Flow[None]:
    """The end was not recorded. Held on to, the run would be kept from everybody for as long as this process lives."""
    try:
        yield from release(core)
    except (Exception, Left) as why:
        log.warning("run %s: it was not released: %s", core.lease.run, why)
    finally:
        core.lease.lose("its end was not recorded")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exceptions in a group, or the one that is none."""
    inner = getattr(error, "exceptions", None)
    if not isinstance(inner, tuple):
        yield error
        return
    for each in inner:
        yield from _causes(each)
