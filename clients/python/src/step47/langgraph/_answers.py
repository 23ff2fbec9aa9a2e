"""What a person answered in the console, put where the graph looks for it."""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.serde.types import INTERRUPT, RESUME

from . import _document as document
from ._gates import resumed
from ._thread import Json
from ._values import Values


def answered(doc: Json, values: Values, answers: list[Json]) -> tuple[Json, set[str]]:
    """The state with the answers as resume values, and the tasks that go on with them.

    A question from a subgraph is asked by the task in it and by every task around that; the answer at any of them
    goes to the innermost, and all of them go on.
    """
    going: set[str] = set()
    for answer in answers:
        task = answer["key"].rsplit("#", 1)[0].rsplit(":", 1)[-1]
        for ident, value in _said(doc, values, task, answer):
            doc, asking = _resume(doc, values, ident, value)
            going |= asking
    return doc, going


def interrupts(values: Values, entry: Json) -> list[Any]:
    """What a task asks."""
    found = values.decode(document.said(entry, INTERRUPT))
    return list(found) if isinstance(found, list | tuple) else [found]


def _said(doc: Json, values: Values, task: str, answer: Json) -> list[tuple[str, Any]]:
    """The answer to each question of a task, by the question's id."""
    entry = next((entry for _, _, asking, entry in document.asking(doc) if asking == task), None)
    if entry is None:
        return []
    questions = interrupts(values, entry)
    decision, result = answer["decision"], values.decode(answer.get("result"))
    if len(questions) > 1 and isinstance(result, dict) and result.keys() & {each.id for each in questions}:
        return [(each.id, result[each.id]) for each in questions if each.id in result]
    if len(questions) > 1 and decision == "answer":
        questions = questions[:1]
    return [(each.id, resumed(each, decision, result)) for each in questions]


def _resume(doc: Json, values: Values, ident: str, value: Any) -> tuple[Json, set[str]]:
    found = [
        (ns, checkpoint, task, entry)
        for ns, checkpoint, task, entry in document.asking(doc)
        if any(each.id == ident for each in interrupts(values, entry))
    ]
    if not found:
        return doc, set()
    ns, checkpoint, task, entry = max(found, key=lambda each: (each[0].count("|"), len(each[0])))
    # The answers to earlier questions of the same task stay before it.
    before = (document.said(entry, RESUME) or [])[: entry.get("answers", 0)]
    resume = [*before, values.encode(value)]
    doc = document.write(doc, ns, checkpoint, task, entry["path"], [(RESUME, resume)])
    return doc, {each[2] for each in found}
