"""Writes docs/python.md, the reference page, from the docstrings. `--check` only says whether it is up to date."""

from __future__ import annotations

import inspect
import re
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import step47

PAGE = Path(__file__).parents[2] / "docs" / "python.md"

SECTIONS = {
    "Runs": ["run", "arun", "Run", "AsyncRun", "Child", "Answer"],
    "Steps": ["step", "each", "aeach", "Step", "Bound", "Effect", "Retry", "Ref", "current", "StepContext"],
    "Workers": ["Worker"],
    "Model calls": ["wrap", "Record"],
    "The server": ["Client"],
    "Errors": ["Step47Error", "Refused", "Unreachable", "ShapeError", "SetupError", "StepFailed", "StepError"],
    "Where an agent stops": [
        "Left", "LeaseLost", "Paused", "Cancelled", "Interrupted", "Waiting", "Asleep", "Held",
    ],
}  # fmt: skip
# What is got by `with`, or only another way to await what is told already.
UNTOLD = {"RunOpening", "AsyncRunOpening", "AsyncChild"}


def page() -> str:
    """The whole page."""
    told = {name for names in SECTIONS.values() for name in names}
    assert told | UNTOLD == set(step47.__all__), told ^ set(step47.__all__)
    parts = ["# The Python SDK", "Made from its docstrings by `clients/python/reference.py`.", _doc(step47)]
    for title, names in SECTIONS.items():
        parts.append(f"## {title}")
        for name in names:
            parts.extend(_described(name, getattr(step47, name)))
    return "\n\n".join(parts) + "\n"


def _described(name: str, thing: Any) -> Iterator[str]:
    yield f"### `{name}`"
    if not inspect.isclass(thing):
        yield f"```python\n{name}{_signature(thing)}\n```"
        yield _doc(thing)
        return
    if issubclass(thing, BaseException):
        yield f"A `{thing.__mro__[1].__name__}`. {_doc(thing)}"
    else:
        yield _doc(thing)
    members = [f"- `{member}`: {text}" for member, text in _members(thing)]
    if members:
        yield "\n".join(members)


def _members(thing: type) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for base in thing.__mro__:
        if not base.__module__.startswith("step47"):
            continue
        for field, text in _field_docs(base):
            if field not in seen:
                seen.add(field)
                yield field, text
        for member, value in vars(base).items():
            if member.startswith("_") or member in seen or not _told(value):
                continue
            seen.add(member)
            shown = member if isinstance(value, property) else f"{member}{_signature(value, method=True)}"
            yield shown, " ".join(_doc(value.fget if isinstance(value, property) else value).split())


def _told(value: Any) -> bool:
    return isinstance(value, property | types.FunctionType) and bool(inspect.getdoc(value))


def _field_docs(base: type) -> Iterator[tuple[str, str]]:
    """The strings that stand below the annotated fields of a class."""
    source = inspect.getsource(base)
    for match in re.finditer(r'^    (\w+): [^\n]+\n    """(.+?)"""$', source, re.M | re.S):
        yield match[1], " ".join(match[2].split())


def _signature(thing: Any, *, method: bool = False) -> str:
    signature = inspect.signature(thing)
    kept = [each for name, each in signature.parameters.items() if not (method and name == "self")]
    text = str(signature.replace(parameters=kept))
    return text.replace("'", "").replace("dict[str, Any]", "dict") if not method else _short(kept)


def _short(parameters: list[inspect.Parameter]) -> str:
    names = []
    for each in parameters:
        star = "*" if each.kind is each.VAR_POSITIONAL else "**" if each.kind is each.VAR_KEYWORD else ""
        default = "" if each.default is each.empty else f"={each.default!r}"
        names.append(f"{star}{each.name}{default}")
    return f"({', '.join(names)})"


def _doc(thing: Any) -> str:
    return inspect.getdoc(thing) or ""


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(0 if PAGE.exists() and PAGE.read_text() == page() else "docs/python.md is old: python reference.py")
    PAGE.write_text(page())
