"""One step: begun before the work, committed with its result and the new state after it, or replayed."""

from __future__ import annotations

import contextlib
import logging
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import _calls as calls
from ._context import StepContext
from ._core import Core
from ._errors import EffectKnown, Held, LeaseLost, Left, Refused, ShapeError, StepError, StepFailed
from ._flow import Flow, Rest, Send, Until, Whole, ask
from ._shape import decode, encode
from ._state import Draft, Fold

log = logging.getLogger("step47")
Json = dict[str, Any]

# The answers to a begun step that let its work start.
WORK = ("execute", "check")
# How long one look at an open gate lasts, at most.
WAIT_MS = 30_000
# How long a worker that lost its lease tries to tell what it has done.
EVIDENCE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Order:
    """A step to take: its body on the wire, and its work, which is a flow as well."""

    body: Json
    work: Callable[[StepContext], Flow[Any]]
    # The type of the result.
    kind: Any = Any
    # Looks whether it happened: something is committed, at `None` it is done.
    look: Callable[[StepContext], Flow[Any]] | None = None
    fold: Fold | None = None
    # Whether another attempt may help after this exception.
    retryable: Callable[[Exception], bool] = lambda _: True
    # The body of the step that certainly comes next.
    then: Json | None = None


def take(core: Core, order: Order) -> Flow[Any]:
    """Takes a step and gives its result, whoever made it and when."""
    while True:
        answer = yield from begin(core, order.body)
        outcome = answer["outcome"]
        if outcome == "waiting":
            yield from answered(core, answer["seq"])
        elif outcome == "replay":
            return _result(order, answer)
        elif outcome == "given":
            result = _result(order, answer)
            yield from fold_in(core, answer, order.fold, _result(order, answer))
            return result
        else:
            try:
                done, value = yield from _attempt(core, order, answer)
            except Exception:
                core.land()
                yield from let_go(core)
                raise
            except BaseException:
                core.land()
                raise
            core.land()
            yield from let_go(core)
            if done:
                return value
            yield from rest(core, value)


def _result(order: Order, answer: Json) -> Any:
    result = answer.get("result")
    try:
        return decode(order.kind, result)
    except ShapeError as why:
        if result is None and answer.get("decision") == "skip":
            told = f"step {answer['seq']} was skipped without a result, which its function never returns"
            raise ShapeError(f"{told}: let it return … | None, or skip it with a result") from why
        raise ShapeError(f"the recorded result of step {answer['seq']} does not fit: {why}") from why


def begin(core: Core, body: Json) -> Flow[Json]:
    """Begins a step, unless somebody wants the run to stop between two steps. What is to be worked on is in flight."""
    answer = core.take_ahead(body)
    if answer is None:
        core.lease.check()
        if core.lease.stop == "process":
            raise (yield from leave(core, None, core.lease.stopped()))
        core.take_off()
        try:
            answer = yield from ask(core.wire, calls.begin(core.lease, body), lease=core.lease)
            assert answer is not None
            if answer["outcome"] in WORK:
                core.lease.check()  # It may have run out while the answer was on its way.
        except BaseException:
            core.land()
            raise
    outcome, seq, key = answer["outcome"], answer["seq"], body["key"]
    if answer.get("signal"):
        core.lease.ask_to_stop(answer["signal"])
    if answer.get("drift"):
        core.drifted.append(key)
        log.warning("run %s: drift at step %s (%s): another input or reference than before", core.lease.run, seq, key)
    if outcome in WORK:
        return answer
    core.land()
    if outcome == "replay":
        log.info("run %s: step %s (%s) restored from its checkpoint", core.lease.run, seq, key)
    elif outcome == "failed":
        error = answer.get("error") or {}
        raise StepFailed(error.get("kind", ""), error.get("message", ""), error.get("stack"))
    elif outcome == "stop":
        held = Held("effect_unknown", f"{body['name']} may have happened or not")
        raise (yield from leave(core, None, core.lease.stopped() if answer.get("signal") else held))
    return answer


def _attempt(core: Core, order: Order, answer: Json) -> Flow[tuple[bool, Any]]:
    """Looks first if it is asked to, then works, then commits or fails: the result, or the pause before the next
    try."""
    check = answer["outcome"] == "check"
    if check and order.look is None:
        # Left as it is, the step crashes with the lease, and after a few rounds an operator is asked.
        raise Held("no_check", "the store asks whether it happened, and this agent has no `check` for it")
    key, seq, attempt = order.body["key"], answer["seq"], answer["attempt"]
    step = StepContext(core, key, seq, attempt, answer["idempotency_key"], answer.get("partial"))
    try:
        result = None
        if check and order.look is not None:
            result = yield from order.look(step)
            log.info("run %s: step %s checked after a crash: happened=%s", core.lease.run, seq, result is not None)
        if result is None:
            result = yield from order.work(step)
    except Exception as error:
        yield from step._told()
        return False, (yield from _fail(core, order, step, error, order.retryable(error)))
    except GeneratorExit:  # The event loop is gone: nothing more can be sent.
        raise
    except BaseException:
        yield from step._told()
        raise
    finally:
        step.close()
    yield from step._told()
    return True, (yield from _commit(core, order, step, result))


def _commit(core: Core, order: Order, step: StepContext, result: Any) -> Flow[Any]:
    """Commits what the work gave, and begins the step that comes next if that is certain."""
    try:
        plain = encode(result)
        result = decode(order.kind, plain)
        body = calls.given(attempt=step.attempt, result=plain, usage=step.used)
        if order.then is not None and core.lease.stop is None:
            body["next"] = order.then
        yield from _save(core, step.seq, body, order.fold, decode(order.kind, plain))
        return result
    except (Left, StepFailed):
        raise
    except Exception as error:
        # It cannot be recorded as done, and must not look as if it were still going on.
        with contextlib.suppress(StepFailed):
            yield from _fail(core, order, step, error, False)
        raise


def fold_in(core: Core, given: Json, fold: Fold | None, result: Any) -> Flow[None]:
    """Puts a result that an operator gave into the state; the result stays the operator's."""
    # Also when it changes nothing: this is how the store learns that it was folded in.
    yield from _save(core, given["seq"], {"attempt": given["attempt"], "patch": []}, fold, result)


def _save(core: Core, seq: int, body: Json, fold: Fold | None, result: Any) -> Flow[None]:
    """One at a time, so that each patch is made from the state that it is applied to."""
    live, place = core.live, core.turn.queue()
    try:
        yield Until(place)
        try:
            draft = live.fold(fold, result)
        except BaseException:
            live.forget()
            raise
        if draft.patch:
            body |= {"patch": draft.patch, "base": live.snapshot}
        yield Whole(_settle(core, seq, body, draft))
    finally:
        core.turn.leave(place)


def _settle(core: Core, seq: int, body: Json, draft: Draft) -> Flow[None]:
    """Commits a change, and holds it for the state from then on."""
    lease, live = core.lease, core.live
    try:
        if not lease.held():
            yield from _evidence(core, seq, body)
            raise LeaseLost
        answer = yield from ask(core.wire, calls.commit(lease, seq, body), lease=lease)
        if answer["snapshot"] != live.snapshot + ("patch" in body):
            # A commit whose answer never came (the process was interrupted then) has changed the state.
            lease.lose("its state is not the one that this worker has")
            raise LeaseLost
    except BaseException:
        live.forget()
        raise
    live.settle(draft, answer["snapshot"])
    log.info("run %s: step %s, attempt %s: checkpoint saved", lease.run, seq, body["attempt"])
    if answer.get("signal"):
        lease.ask_to_stop(answer["signal"])
    begun = answer.get("next")
    if begun and "outcome" in begun:
        core.take_off()
        core.put_ahead(body["next"], begun)


def _evidence(core: Core, seq: int, body: Json) -> Flow[None]:
    """Work in a thread cannot be stopped when the lease is lost. That it was done is told once: the store keeps it as
    evidence, and operators see it."""
    body.pop("next", None)
    yield Send(core.wire, calls.commit(core.lease, seq, body), EVIDENCE_SECONDS)


def _fail(core: Core, order: Order, step: StepContext, error: Exception, retryable: bool) -> Flow[float]:
    """Says that an attempt failed: how long to wait before the next one, or why there is none."""
    told = told_of(error)
    effect: EffectKnown | None = error.effect if isinstance(error, StepError) else None
    if isinstance(error, StepError):
        retryable = retryable and error.retryable
    body = calls.given(attempt=step.attempt, error=told, retryable=retryable, effect=effect, usage=step.used)
    core.lease.check()
    answer = yield from ask(core.wire, calls.fail(core.lease, step.seq, body), lease=core.lease)
    log.warning("run %s: attempt %s at step %s (%s) failed: %s: %s", core.lease.run, step.attempt, step.seq,
                step.key, told["kind"], told["message"])  # fmt: skip
    if answer["outcome"] == "retry":
        return float(answer.get("after_ms") or 0) / 1000
    if _held(order.body, effect):
        raise Held(told["kind"], told["message"]) from error
    raise StepFailed(told["kind"], told["message"], told.get("stack")) from error


def _held(body: Json, said: EffectKnown | None) -> bool:
    """Whether an operator will decide about this failure: the same rule that the store follows."""
    has_effect = body.get("effect") is not None
    unknown = (said or ("unknown" if has_effect else "none")) == "unknown"
    return unknown and body.get("recovery", "ask" if has_effect else "retry") == "ask"


def told_of(error: BaseException) -> Json:
    """The error as the store records it."""
    if isinstance(error, StepFailed | Held):
        return calls.error(error.kind, error.message, error.stack if isinstance(error, StepFailed) else None)
    if isinstance(error, Refused):
        return calls.error(error.code, str(error))
    kind = error.kind if isinstance(error, StepError) else type(error).__qualname__
    stack = "".join(traceback.format_exception(error))
    return calls.error(kind, str(error) or type(error).__qualname__, stack)


def rest(core: Core, seconds: float) -> Flow[None]:
    """Waits, unless somebody wants the run to stop first."""
    if seconds > 0:
        yield Rest(seconds, core.lease, stoppable=True)
    core.lease.check()
    if core.lease.stop and seconds > 0:
        raise (yield from leave(core, None, core.lease.stopped()))


def answered(core: Core, seq: int) -> Flow[None]:
    """Waits until somebody has answered."""
    lease = core.lease
    log.info("run %s: step %s waits for a person", lease.run, seq)
    while True:
        if lease.stop:
            raise (yield from leave(core, None, lease.stopped()))
        # A look is cut off with the lease, so it is over well before.
        look = calls.step(lease.run, seq, min(WAIT_MS, round(lease.left() * 500)))
        answer = yield from ask(core.wire, look, lease=lease, stoppable=True)
        if answer is not None and answer["step"]["status"] != "waiting":
            return


def leave(core: Core, after_ms: int | None, why: Left) -> Flow[Left]:
    """Releases the run, now or when the last step in flight has ended; what the agent's function ends with."""
    core.leave(after_ms)
    yield from let_go(core)
    return why


def let_go(core: Core) -> Flow[None]:
    """Called after each step: the last one out closes the door."""
    if core.may_go:
        yield from release(core)


def release(core: Core) -> Flow[None]:
    """Gives the run back, once."""
    if core.lease.held():
        yield from last(core, lambda: calls.release(core.lease, core.after_ms))
        log.info("run %s: released", core.lease.run)


def last(core: Core, request: Callable[[], Any]) -> Flow[Any]:
    """The last call under this lease; if it is refused, it was not the last."""
    if not core.lease.ending():
        raise LeaseLost
    try:
        answer = yield from ask(core.wire, request(), lease=core.lease)
    except Left:
        core.lease.lose()
        raise
    except BaseException:
        core.lease.kept()
        raise
    core.lease.ended()
    return answer
