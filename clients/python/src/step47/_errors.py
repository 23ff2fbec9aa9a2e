"""What can keep an agent from going on, and what its work can report."""

from __future__ import annotations

from typing import Any, Literal

from ._advice import advice

EffectKnown = Literal["none", "unknown"]


class Step47Error(Exception):
    """Any error of this package that an agent may handle."""


class SetupError(Step47Error):
    """The client cannot start as it was told to."""


class ShapeError(Step47Error):
    """What is recorded, or what is to be recorded, does not fit the agent's types or JSON."""


class Unreachable(Step47Error):
    """The server gave no answer for as long as the client was told to wait."""


class Refused(Step47Error):
    """The server understood the request and said no."""

    code: str
    """Why, in one stable word, such as `lease_held`."""
    detail: str
    """The server's own sentence."""
    status: int
    """The HTTP status."""
    fields: dict[str, Any]
    """What the protocol adds for this code, such as `worker` and `expires_at`."""

    def __init__(self, code: str, detail: str, status: int, fields: dict[str, Any] | None = None) -> None:
        self.code, self.detail, self.status, self.fields = code, detail, status, fields or {}
        hint = advice(code, self.fields)
        super().__init__(f"{detail} ({code})" + (f". {hint}" if hint else ""))


class StepFailed(Step47Error):
    """A step failed for good. A replay raises it again, so that the agent takes the same branch."""

    kind: str
    """What kind of error it was: the name of the exception's class, unless a `StepError` named another."""
    message: str
    """What it said."""
    stack: str | None
    """Where it came from, if that was recorded."""

    def __init__(self, kind: str, message: str, stack: str | None = None) -> None:
        self.kind, self.message, self.stack = kind, message, stack
        super().__init__(f"{kind}: {message}")


class StepError(Exception):
    """Raise it inside a step to say more about a failure than any other exception does.

    `retryable=False`: trying again would fail again. `effect="none"`: the outside world is certainly as it was;
    `effect="unknown"`: it may have changed. Left out, a step with an effect counts as unknown.
    """

    kind: str
    message: str
    retryable: bool
    effect: EffectKnown | None

    def __init__(
        self,
        message: str,
        *,
        kind: str = "StepError",
        retryable: bool = True,
        effect: EffectKnown | None = None,
    ) -> None:
        self.kind, self.message, self.retryable, self.effect = kind, message, retryable, effect
        super().__init__(message)


class Left(BaseException):
    """The agent's function ends here without harm: the run goes on later, or elsewhere.

    Not an `Exception`: tool wrappers catch those and would tell the model about them. Let it pass.
    """


class LeaseLost(Left):
    """Another worker may hold the run by now: nothing more is recorded from here."""

    def __init__(self) -> None:
        super().__init__("the lease on the run is lost; the work was stopped and is not recorded")


class Paused(Left):
    """An operator asked to pause; the run was released between two steps."""

    def __init__(self) -> None:
        super().__init__("an operator asked to pause the run; it was released between two steps")


class Cancelled(Left):
    """An operator asked to cancel; the run was released between two steps."""

    def __init__(self) -> None:
        super().__init__("an operator asked to cancel the run; it was released between two steps")


class Interrupted(Left):
    """This process was asked to end; the run was released between two steps."""

    def __init__(self) -> None:
        super().__init__("this worker was asked to end; the run was released between two steps")


class Waiting(Left):
    """Released at a gate: the run goes on when a person has answered."""

    def __init__(self) -> None:
        super().__init__("the run waits for a person and was released meanwhile")


class Asleep(Left):
    """Released until a moment in the future."""

    until: str
    """When the run goes on, RFC 3339."""

    def __init__(self, until: str) -> None:
        self.until = until
        super().__init__(f"the run sleeps until {until}")


class Held(Left):
    """Nobody knows whether an effect happened, and its rule is to ask an operator."""

    kind: str
    message: str

    def __init__(self, kind: str, message: str) -> None:
        self.kind, self.message = kind, message
        super().__init__(f"an operator has to decide about this step: {message}")
