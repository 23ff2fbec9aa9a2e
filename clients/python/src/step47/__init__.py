"""Durable steps for AI agents: a crash at step 47 doesn't redo steps 1–46.

An agent is a function over a run. Each piece of work is a step, named by a key that stays the same whenever the
agent comes by. The work gives a result, a fold puts the result into the agent's own state, and both are committed
together. When the agent starts again, after a crash or on another machine, it runs the same function from the top:
steps that are committed return what is recorded, and the first one that is not is where the work goes on.
"""

from ._child import AsyncChild, Child
from ._client import Client
from ._context import StepContext, current
from ._errors import (
    Asleep,
    Cancelled,
    Held,
    Interrupted,
    LeaseLost,
    Left,
    Paused,
    Refused,
    SetupError,
    ShapeError,
    Step47Error,
    StepError,
    StepFailed,
    Unreachable,
    Waiting,
)
from ._gates import Answer
from ._models import Record, wrap
from ._run import AsyncRun, AsyncRunOpening, Run, RunOpening, arun, run
from ._step import Bound, Effect, Ref, Retry, Step, aeach, each, step
from ._worker import Worker

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Asleep",
    "AsyncChild",
    "AsyncRun",
    "AsyncRunOpening",
    "Bound",
    "Cancelled",
    "Child",
    "Client",
    "Effect",
    "Held",
    "Interrupted",
    "LeaseLost",
    "Left",
    "Paused",
    "Record",
    "Ref",
    "Refused",
    "Retry",
    "Run",
    "RunOpening",
    "SetupError",
    "ShapeError",
    "Step",
    "Step47Error",
    "StepContext",
    "StepError",
    "StepFailed",
    "Unreachable",
    "Waiting",
    "Worker",
    "aeach",
    "arun",
    "current",
    "each",
    "run",
    "step",
    "wrap",
]
