"""What to do about a refusal, in one sentence for each code."""

from __future__ import annotations

from typing import Any

_ADVICE = {
    "unauthorized": "Set STEP47_TOKEN to a token of this server: step47 token create --role agent --name NAME",
    "forbidden": "This needs a token of another role: agents use one of the role agent, decisions one of operator",
    "run_conflict": "The id is taken by a run with another agent, input or state: send the same, or use a new id",
    "lease_held": "Another worker holds the run: wait for it, or pass takeover=True and its name if it is dead",
    "key_conflict": "Two different steps share this key: make it name what the step is about, e.g. 'charge:{id}'",
    "step_in_flight": "A step was begun and has not ended: let it end, or release the run",
    "too_large": "Keep what is large elsewhere and record a reference to it (refs=…)",
}

_NOT_RUNNABLE = {
    "crashed": "An operator has to decide first: step47 plan {run}",
    "failed": "An operator may resume it: step47 plan {run}",
    "paused": "It goes on when an operator resumes it: step47 plan {run}",
    "waiting": "It goes on when a person has answered its gate",
    "ready": "It sleeps, and goes on by itself when its time has come",
    "done": "It has ended: use a new id for new work",
    "cancelled": "It was cancelled: use a new id for new work",
}


def advice(code: str, fields: dict[str, Any]) -> str | None:
    """What the reader of this refusal can do."""
    if code == "run_not_runnable":
        status = str(fields.get("run_status", fields.get("status", "")))
        return _NOT_RUNNABLE.get(status, "").format(run=fields.get("run", "RUN")) or None
    return _ADVICE.get(code)
