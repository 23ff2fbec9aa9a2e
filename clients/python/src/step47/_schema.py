"""The JSON Schema of a type, for the form in which a person answers a gate."""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from typing import Any, Literal, Union

from ._errors import ShapeError
from ._shape import fields as fields_of

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean"}


def schema_of(kind: Any) -> dict[str, Any] | None:
    """The schema, or `None` where any answer will do."""
    if kind is Any:
        return None
    if hasattr(kind, "model_json_schema"):
        return dict(kind.model_json_schema())
    return _schema(kind)


def _schema(kind: Any) -> dict[str, Any]:
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    if kind is Any:
        return {}
    if origin is Literal:
        return {"enum": list(args)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [{"type": "null"} if arg is type(None) else _schema(arg) for arg in args]}
    if origin is list or kind is list:
        return {"type": "array", **({"items": _schema(args[0])} if args else {})}
    if origin is dict or kind is dict:
        return {"type": "object", **({"additionalProperties": _schema(args[1])} if args else {})}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return {"enum": [member.value for member in kind]}
    if dataclasses.is_dataclass(kind):
        return {
            "type": "object",
            "properties": {name: _schema(each) for name, each in fields_of(typing.cast("Any", kind)).items()},
            "required": [field.name for field in dataclasses.fields(kind) if _required(field)],
        }
    raise ShapeError(f"there is no schema for {kind}: pass schema=… to the gate")


def _required(field: dataclasses.Field[Any]) -> bool:
    missing = dataclasses.MISSING
    return field.init and field.default is missing and field.default_factory is missing
