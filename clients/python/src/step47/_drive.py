"""Carries flows out: in the caller's thread, or in its event loop."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from ._current import inside
from ._errors import LeaseLost
from ._flow import Command, Do, Flow, Rest, Send, Until
from ._lease import Lease, clock
from ._threads import pool_for
from ._wire import Abort, Away, Reply

T = TypeVar("T")

# How long cancelled work may take to clean up before it is left behind.
CLEANUP_SECONDS = 5.0


def drive(flow: Flow[T]) -> T:
    """Carries a flow out in this thread."""
    try:
        command = next(flow)
        while True:
            try:
                outcome = _perform(command)
            except BaseException as error:
                command = flow.throw(error)
            else:
                command = flow.send(outcome)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def adrive(flow: Flow[T]) -> T:
    """Carries a flow out in this event loop, which goes on with other work meanwhile."""
    try:
        command = next(flow)
        while True:
            try:
                outcome = await _aperform(command)
            except BaseException as error:
                command = flow.throw(error)
            else:
                command = flow.send(outcome)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


def _perform(command: Command) -> Any:
    if isinstance(command, Send):
        return _send(command)
    if isinstance(command, Do):
        return _do(command) if command.timeout is None else _do_in_time(command, command.timeout)
    if isinstance(command, Rest):
        if command.lease:
            command.lease.wait(command.seconds, stoppable=command.stoppable)
        else:
            time.sleep(command.seconds)
        return None
    if isinstance(command, Until):
        return command.future.result()
    return drive(command.flow)


def _send(command: Send) -> Reply | Away:
    if not command.stoppable or command.lease is None:
        return command.wire.exchange(command.request, command.timeout)
    return _cuttable(command, command.lease, Abort())


def _cuttable(command: Send, lease: Lease, abort: Abort) -> Reply | Away:
    """Ends as soon as the lease is gone or somebody wants the run to stop."""

    def look() -> None:
        if lease.stop or lease.over:
            abort.fire()

    unwatch = lease.watch(look)
    try:
        look()
        return command.wire.exchange(command.request, command.timeout, abort)
    finally:
        unwatch()


def _do(command: Do) -> Any:
    with inside(command.step):
        return command.call()


def _do_in_time(command: Do, timeout: float) -> Any:
    """In a thread of its own, which is left behind when it takes too long: a thread cannot be killed."""
    ended: list[Callable[[], Any]] = []
    done = threading.Event()
    lease = command.lease

    def raises(error: BaseException) -> Callable[[], Any]:
        def again() -> Any:
            raise error

        return again

    def work() -> None:
        try:
            result = _do(command)
            ended.append(lambda: result)
        except BaseException as error:
            ended.append(raises(error))
        done.set()

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(work,), name="step47-step", daemon=True).start()
    deadline = clock() + timeout
    while not done.wait(max(0.0, min(deadline - clock(), lease.left(), 1.0))):
        if not lease.held():
            command.step.close()
            raise LeaseLost
        if clock() >= deadline:
            command.step.close()
            raise TimeoutError(f"it took longer than {timeout:g} s")
    return ended[0]()


async def _aperform(command: Command) -> Any:
    if isinstance(command, Send):
        return await _asend(command)
    if isinstance(command, Do):
        return await _ado(command)
    if isinstance(command, Rest):
        return await _arest(command)
    if isinstance(command, Until):
        return await _auntil(command.future)
    return await _awhole(command.flow)


async def _asend(command: Send) -> Reply | Away:
    abort, pool = Abort(), pool_for(command.request)
    if command.stoppable and command.lease is not None:
        sent = pool.submit(_cuttable, command, command.lease, abort)
    else:
        sent = pool.submit(command.wire.exchange, command.request, command.timeout, abort)
    try:
        return await asyncio.wrap_future(sent)
    except asyncio.CancelledError:
        abort.fire()
        raise


async def _arest(command: Rest) -> None:
    lease = command.lease
    if lease is None:
        await asyncio.sleep(command.seconds)
        return
    until = clock() + command.seconds
    with _Wake(lease) as wake:
        while lease.held() and not (command.stoppable and lease.stop) and clock() < until:
            await wake.wait(min(until - clock(), lease.left()))


async def _ado(command: Do) -> Any:
    """Cancels the work when the lease is gone or its time is over."""
    lease, deadline = command.lease, None if command.timeout is None else clock() + command.timeout

    async def work() -> Any:
        with inside(command.step):
            outcome = command.call()
            return await outcome if asyncio.iscoroutine(outcome) or asyncio.isfuture(outcome) else outcome

    task = asyncio.ensure_future(work())
    try:
        with _Wake(lease) as wake:
            task.add_done_callback(lambda _: wake.up())
            while not task.done():
                if not lease.held():
                    raise LeaseLost
                if deadline is not None and clock() >= deadline:
                    raise TimeoutError(f"it took longer than {command.timeout:g} s")
                left = lease.left()
                await wake.wait(left if deadline is None else min(left, deadline - clock()))
    except BaseException:
        task.cancel()
        command.step.close()
        await asyncio.wait({task}, timeout=CLEANUP_SECONDS)
        with suppress(BaseException):  # What the abandoned work ended with is no news.
            task.exception()
        raise
    return task.result()


async def _auntil(future: Future[None]) -> None:
    if not future.done():
        # Shielded: who else waits for it must not be cancelled with this one.
        await asyncio.shield(asyncio.wrap_future(future))


async def _awhole(flow: Flow[T]) -> T:
    task = asyncio.ensure_future(adrive(flow))
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):  # Once more: it changes nothing.
                await asyncio.wait({task})
        with suppress(BaseException):  # The caller is gone, and what it shares with others has noted how this ended.
            task.exception()
        raise
    return task.result()


class _Wake:
    """Wakes a coroutine when something about the lease changes, in whatever thread that happens."""

    def __init__(self, lease: Lease) -> None:
        self._lease, self._event, self._loop = lease, asyncio.Event(), asyncio.get_running_loop()

    def __enter__(self) -> _Wake:
        self._unwatch = self._lease.watch(self._from_any_thread)
        return self

    def __exit__(self, *_: object) -> None:
        self._unwatch()

    def _from_any_thread(self) -> None:
        with suppress(RuntimeError):  # The loop is closed: nobody waits there any more.
            self._loop.call_soon_threadsafe(self._event.set)

    def up(self) -> None:
        """Wakes, from the loop's own thread."""
        self._event.set()

    async def wait(self, seconds: float) -> None:
        """Until something changed, but no longer than this."""
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._event.wait(), max(0.0, seconds))
        self._event.clear()
