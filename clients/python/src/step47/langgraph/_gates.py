"""An interrupt as a gate in the console, and a person's answer as what the graph is resumed with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langgraph.types import Interrupt

Json = dict[str, Any]

_TITLE_MAX = 300
# Where an interrupt's value keeps its question, by custom.
_QUESTIONS = ("question", "title", "message", "prompt", "text", "action", "description")


def gate(node: str, interrupts: Sequence[Interrupt[Any]], values: Sequence[Any]) -> Json:
    """The gate for what a task asks; `values`: what its interrupts show, as JSON."""
    body: Json = {"title": _title(node, [each.value for each in interrupts])}
    context = values[0] if len(values) == 1 else list(values)
    if context is not None and context != body["title"]:
        body["context"] = context
    if schema := _schema(interrupts):
        body["schema"] = schema
    return body


def resumed(interrupt: Interrupt[Any], decision: str, result: Any) -> Any:
    """What the node's `interrupt()` returns."""
    if result is not None:
        return result
    requests = _requests(interrupt.value)
    if decision in ("approve", "reject"):
        if requests is not None:
            return {"decisions": [{"type": decision} for _ in requests]}
        if _decides(interrupt):
            return {"type": decision}
        return decision == "approve"
    return None


def _title(node: str, values: Sequence[Any]) -> str:
    if len(values) > 1:
        return f"{node} asks {len(values)} questions"
    return (_asked(values[0]) or f"{node} asks")[:_TITLE_MAX] if values else f"{node} asks"


def _asked(value: Any) -> str | None:
    if isinstance(value, str) and value.strip():
        return value.strip().splitlines()[0]
    requests = _requests(value)
    if requests:
        return f"Go on with {', '.join(str(request.get('name')) for request in requests)}?"
    if isinstance(value, dict):
        found = (value.get(name) for name in _QUESTIONS)
        return next((each.strip().splitlines()[0] for each in found if isinstance(each, str) and each.strip()), None)
    return None


def _requests(value: Any) -> list[Json] | None:
    """The actions that LangChain's human-in-the-loop middleware asks about."""
    if not isinstance(value, dict):
        return None
    requests = value.get("action_requests")
    return requests if isinstance(requests, list) and all(isinstance(each, dict) for each in requests) else None


def _decides(interrupt: Interrupt[Any]) -> bool:
    """Whether the answer is one decision of that middleware."""
    schema = interrupt.response_schema
    return isinstance(schema, dict) and "approve" in str(schema) and "edited_action" in str(schema)


def _schema(interrupts: Sequence[Interrupt[Any]]) -> Json | None:
    """What an answer must look like; of several questions, an object by their ids."""
    each = [_one_schema(interrupt) for interrupt in interrupts]
    if len(each) == 1:
        return each[0]
    if not any(each):
        return None
    properties = {
        interrupt.id: {"title": (_asked(interrupt.value) or interrupt.id)[:_TITLE_MAX], **(schema or {})}
        for interrupt, schema in zip(interrupts, each, strict=True)
    }
    return {"type": "object", "required": list(properties), "properties": properties}


def _one_schema(interrupt: Interrupt[Any]) -> Json | None:
    if isinstance(interrupt.response_schema, dict):
        return interrupt.response_schema
    requests = _requests(interrupt.value)
    if not requests:
        return None
    reviews = {each.get("action_name"): each.get("allowed_decisions") for each in interrupt.value["review_configs"]}
    decisions = [_decision(request, reviews.get(request.get("name")) or ["approve", "reject"]) for request in requests]
    items: Json = decisions[0] if all(each == decisions[0] for each in decisions) else {"anyOf": decisions}
    listed = {"type": "array", "minItems": len(requests), "maxItems": len(requests), "items": items}
    return {"type": "object", "required": ["decisions"], "properties": {"decisions": listed}}


def _decision(request: Json, allowed: Sequence[str]) -> Json:
    properties: Json = {"type": {"title": f"Decision on {request.get('name')}", "enum": list(allowed)}}
    if "reject" in allowed or "respond" in allowed:
        properties["message"] = {"type": "string", "title": "What to tell the model, if rejected"}
    if "edit" in allowed:
        properties["edited_action"] = {
            "type": "object",
            "title": "The action instead, if edited",
            "required": ["name", "args"],
            "properties": {"name": {"type": "string"}, "args": {"type": "object"}},
        }
    return {"type": "object", "required": ["type"], "properties": properties}
