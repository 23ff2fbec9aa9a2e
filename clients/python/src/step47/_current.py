"""Which run and which step the code that asks is inside of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._context import StepContext
    from ._core import Core

run_here: ContextVar[Core | None] = ContextVar("step47_run", default=None)
step_here: ContextVar[StepContext | None] = ContextVar("step47_step", default=None)


@contextmanager
def inside(step: StepContext) -> Iterator[None]:
    """Inside one step's work. The run is set too: the caller may be a thread that never heard of it."""
    run_token, step_token = run_here.set(step.core), step_here.set(step)
    try:
        yield
    finally:
        step_here.reset(step_token)
        run_here.reset(run_token)


@contextmanager
def within(core: Core) -> Iterator[None]:
    """Inside a run, between two steps."""
    run_token, step_token = run_here.set(core), step_here.set(None)
    try:
        yield
    finally:
        step_here.reset(step_token)
        run_here.reset(run_token)
