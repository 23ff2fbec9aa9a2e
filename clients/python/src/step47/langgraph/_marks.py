"""What a node says of itself: `metadata={"step47": {"effect": …, "recovery": …, "retry": …}}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import _calls as calls
from .._errors import SetupError

Json = dict[str, Any]

NAME = "step47"
_FIELDS = {"effect", "recovery", "retry", "kind", "tool", "links"}
_RECOVERIES = ("retry", "check", "ask")
# LangGraph's own retry policies say how often a node is tried: the server counts along and does not stop it.
_ATTEMPTS = 1000


def marked(metadata: Mapping[str, Any] | None) -> Json | None:
    """The node's own marks, if it has any."""
    found = (metadata or {}).get(NAME)
    return found if isinstance(found, dict) else None


def tool(inputs: Any) -> str | None:
    """The tool that a node is called for, as LangChain's agents call them."""
    if isinstance(inputs, list) and len(inputs) == 1 and isinstance(inputs[0], dict):
        call = inputs[0] if inputs[0].get("type") == "tool_call" else None
    else:
        call = inputs.get("tool_call") if isinstance(inputs, dict) else None
    name = call.get("name") if isinstance(call, dict) else None
    return name if isinstance(name, str) and name else None


def body(node: str, marks: Json | None, tool: str | None = None) -> Json:
    """The part of a step's body that follows from the marks. A mark that is none is refused."""
    marks = marks or {}
    if unknown := sorted(set(marks) - _FIELDS):
        raise SetupError(
            f"node {node!r}: metadata step47 has no field {unknown[0]!r}; it has {', '.join(sorted(_FIELDS))}"
        )
    recovery = marks.get("recovery")
    if recovery not in (None, *_RECOVERIES):
        raise SetupError(f"node {node!r}: recovery is {recovery!r}; it is one of {', '.join(_RECOVERIES)}")
    tool = marks.get("tool") or tool
    return calls.given(
        name=node,
        kind=marks.get("kind") or ("tool" if tool or node == "tools" else None),
        tool=tool,
        effect=_effect(node, marks.get("effect")),
        recovery=recovery,
        retry=_retry(node, marks.get("retry")),
        links=marks.get("links"),
    )


def _effect(node: str, effect: Any) -> Json | None:
    if effect is None:
        return None
    if isinstance(effect, str):
        return {"target": effect}
    if not isinstance(effect, dict) or not isinstance(effect.get("target"), str):
        raise SetupError(f"node {node!r}: an effect is a target, or {{'target': …, 'description': …, 'dedupe_ms': …}}")
    return dict(effect)


def _retry(node: str, retry: Any) -> Json:
    if retry is None:
        return {"max_attempts": _ATTEMPTS, "backoff_ms": 0}
    if isinstance(retry, int) and not isinstance(retry, bool):
        return {"max_attempts": retry, "backoff_ms": 0}
    if not isinstance(retry, dict):
        raise SetupError(f"node {node!r}: retry is a number of attempts, or {{'max_attempts': …, 'backoff_ms': …}}")
    return dict(retry)
