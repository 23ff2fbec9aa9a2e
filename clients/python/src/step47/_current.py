"""Which run and which step the code that asks is inside of."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._context import StepContext
    from ._core import Core

run_here: ContextVar[Core | None] = ContextVar("step47_run", default=None)
step_here: ContextVar[StepContext | None] = ContextVar("step47_step", default=None)


class Here:
    """Sets which run and step the code is inside of. No generator: the collector would close one in another context."""

    def __init__(self, core: Core | None, step: StepContext | None) -> None:
        self._core, self._step = core, step

    def __enter__(self) -> None:
        # The run is set in a step too: the caller may be a thread that never heard of it.
        self._tokens = run_here.set(self._core), step_here.set(self._step)

    def __exit__(self, *_: object) -> None:
        run_token, step_token = self._tokens
        step_here.reset(step_token)
        run_here.reset(run_token)


def inside(step: StepContext) -> Here:
    """Inside one step's work."""
    return Here(step.core, step)


def within(core: Core) -> Here:
    """Inside a run, between two steps."""
    return Here(core, None)
