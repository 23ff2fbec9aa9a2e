"""Values of a graph as tagged JSON that people can read, compare and edit, and back without loss.

LangGraph's own serializer says how a value is taken apart (its msgpack extensions); here its parts become JSON:
`{"$type": "langchain_core.messages.ai:AIMessage", "$ext": 5, "content": "…", …}`. State that may be edited is code that
workers run, so a type is made again only if it is on the allow-list.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterable
from typing import Any

import ormsgpack
from langgraph.checkpoint.serde._msgpack import SAFE_MSGPACK_METHODS, SAFE_MSGPACK_TYPES
from langgraph.checkpoint.serde.base import SerializerProtocol

from .._errors import ShapeError

Json = Any
TypeName = tuple[str, str]

# LangGraph's extension codes, by how a value is made again.
_ONE_ARGUMENT, _ARGUMENTS, _FIELDS, _METHOD, _PYDANTIC_1, _PYDANTIC_2, _ARRAY, _DELTA = range(8)
_METHOD_OF_PYDANTIC_2 = "model_validate_json"
# Deeper values are kept as bytes: the server refuses JSON that is deeper than 128.
_DEEPEST = 96
# What a value of LangGraph and of Python's own library may be made of.
SAFE: frozenset[TypeName] = frozenset((name[0], name[1]) for name in SAFE_MSGPACK_TYPES)
# Kinds of bytes that are never read back: loading them runs what they say.
_CODE = ("pickle",)


class _NoJson(Exception):
    """The value has a part that JSON has no place for, such as an object as the key of another."""


class _Extension:
    """An extension value on its way from msgpack to JSON."""

    __slots__ = ("code", "data")

    def __init__(self, code: int, data: bytes) -> None:
        self.code, self.data = code, data


def to_json(serde: SerializerProtocol, value: Any, used: Callable[[TypeName], None] | None = None) -> Json:
    """The value as tagged JSON; `used` is told of every type in it that needs the allow-list."""
    if value is None or isinstance(value, bool):
        return value
    kind, data = serde.dumps_typed(value)
    if kind == "null":
        return None
    if kind == "bytes":
        return {"$bytes": _text(data)}
    if kind == "bytearray":
        return {"$bytearray": _text(data)}
    if kind == "msgpack":
        try:
            return _tagged(_unpacked(data), used or (lambda _: None), 0)
        except _NoJson:
            pass
    return {"$opaque": [kind, _text(data)]}


def from_json(serde: SerializerProtocol, value: Json, allowed: Callable[[TypeName], bool]) -> Any:
    """The value again. A `ShapeError` names a type that is not allowed, and what does not fit."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, dict):
        if value.keys() == {"$bytes"}:
            return _bytes(value["$bytes"])
        if value.keys() == {"$bytearray"}:
            return bytearray(_bytes(value["$bytearray"]))
        if value.keys() == {"$opaque"}:
            return _opaque(serde, value["$opaque"])
    return serde.loads_typed(("msgpack", _packed(_plain(value, allowed))))


def _opaque(serde: SerializerProtocol, parts: Json) -> Any:
    if not isinstance(parts, list) or len(parts) != 2 or not isinstance(parts[0], str):
        raise ShapeError("$opaque needs a list of two: what kind of bytes it is, and the bytes in base64")
    kind = parts[0]
    if kind.split("+")[0] in _CODE:
        raise ShapeError(f"$opaque of the kind {kind!r} is code, which is never loaded from a state")
    return serde.loads_typed((kind, _bytes(parts[1])))


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes(text: Json) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (ValueError, TypeError) as why:
        raise ShapeError(f"these bytes are not base64: {why}") from why


def _unpacked(data: bytes) -> Any:
    return ormsgpack.unpackb(data, ext_hook=_Extension, option=ormsgpack.OPT_NON_STR_KEYS)


def _packed(value: Any) -> bytes:
    try:
        return ormsgpack.packb(value, option=ormsgpack.OPT_NON_STR_KEYS)
    except (TypeError, ValueError) as why:
        raise ShapeError(f"the state holds what is no value of a graph: {why}") from why


def _tagged(value: Any, used: Callable[[TypeName], None], depth: int) -> Json:
    if depth > _DEEPEST:
        raise _NoJson
    if isinstance(value, str):
        return {"$text": _text(value.encode())} if "\0" in value else value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(value)}
    if isinstance(value, bytes):
        return {"$bytes": _text(value)}
    if isinstance(value, list | tuple):
        return [_tagged(item, used, depth + 1) for item in value]
    if isinstance(value, dict):
        return _map(value, used, depth)
    if isinstance(value, _Extension):
        return _extension(value, used, depth)
    return value


def _plain_key(key: Any) -> bool:
    """Whether it can be a key in JSON that means nothing else."""
    return isinstance(key, str) and not key.startswith("$") and "\0" not in key


def _map(value: dict[Any, Any], used: Callable[[TypeName], None], depth: int) -> Json:
    if all(map(_plain_key, value)):
        return {key: _tagged(item, used, depth + 1) for key, item in value.items()}
    if any(isinstance(key, _Extension | tuple | bytes) for key in value):
        raise _NoJson
    return {"$map": [[_tagged(key, used, depth + 2), _tagged(item, used, depth + 2)] for key, item in value.items()]}


def _extension(value: _Extension, used: Callable[[TypeName], None], depth: int) -> Json:
    code = value.code
    parts = _unpacked(value.data)
    if code == _DELTA:
        return {"$ext": code, "value": _tagged(parts, used, depth + 1)}
    if code == _ARRAY:
        dtype, shape, order, data = parts
        return {"$ext": code, "dtype": dtype, "shape": list(shape), "order": order, "data": _text(data)}
    if not _ONE_ARGUMENT <= code <= _PYDANTIC_2 or not isinstance(parts, list | tuple) or len(parts) < 3:
        raise _NoJson
    module, name, inner = parts[:3]
    used((module, name))
    tag: dict[str, Json] = {"$type": f"{module}:{name}", "$ext": code}
    if code == _METHOD:
        return {**tag, "method": parts[3], "value": _tagged(inner, used, depth + 1)}
    if code == _ONE_ARGUMENT:
        return {**tag, "value": _tagged(inner, used, depth + 1)}
    if code == _ARGUMENTS:
        return {**tag, "args": _tagged(inner, used, depth + 1)}
    fields = _tagged(inner, used, depth + 1)
    if not isinstance(inner, dict) or "$map" in fields:
        return {**tag, "fields": fields, "$fields": True}
    return {**tag, **fields}


def _plain(value: Json, allowed: Callable[[TypeName], bool]) -> Any:
    """What msgpack can pack: the reverse of `_tagged`."""
    if isinstance(value, list):
        return [_plain(item, allowed) for item in value]
    if not isinstance(value, dict):
        return value
    if "$ext" in value:
        return _made(value, allowed)
    if value.keys() == {"$text"}:
        return _bytes(value["$text"]).decode()
    if value.keys() == {"$bytes"}:
        return _bytes(value["$bytes"])
    if value.keys() == {"$float"}:
        return _float(value["$float"])
    if value.keys() == {"$map"}:
        return _unmapped(value["$map"], allowed)
    if "$type" in value:
        raise ShapeError(f"{value['$type']!r} has no $ext, which says how it is made")
    return {key: _plain(item, allowed) for key, item in value.items()}


def _float(text: Json) -> float:
    if text not in ("nan", "inf", "-inf"):
        raise ShapeError(f"$float is {text!r}: it is for nan, inf and -inf")
    return float(text)


def _unmapped(pairs: Json, allowed: Callable[[TypeName], bool]) -> dict[Any, Any]:
    try:
        return {_plain(key, allowed): _plain(item, allowed) for key, item in pairs}
    except (TypeError, ValueError) as why:
        raise ShapeError(f"$map needs pairs of a plain key and a value: {why}") from why


def _made(value: dict[str, Json], allowed: Callable[[TypeName], bool]) -> Any:
    code = value["$ext"]
    if code == _DELTA and "value" in value:
        return ormsgpack.Ext(code, _packed(_plain(value["value"], allowed)))
    if code == _ARRAY:
        try:
            parts: tuple[Any, ...] = (value["dtype"], value["shape"], value["order"], _bytes(value["data"]))
        except KeyError as why:
            raise ShapeError(f"an array needs {why}") from why
        return ormsgpack.Ext(code, _packed(parts))
    if type(code) is not int or not _ONE_ARGUMENT <= code <= _PYDANTIC_2:
        raise ShapeError(f"$ext is {code!r}, which is no way to make a value")
    module, name = _type_of(value, allowed)
    inner = _inner(code, value, allowed)
    if code == _METHOD:
        method = value.get("method")
        if (module, name, method) not in SAFE_MSGPACK_METHODS:
            raise ShapeError(f"{module}:{name} is not made by its method {method!r}")
        return ormsgpack.Ext(code, _packed((module, name, inner, method)))
    if code == _PYDANTIC_2:
        return ormsgpack.Ext(code, _packed((module, name, inner, _METHOD_OF_PYDANTIC_2)))
    return ormsgpack.Ext(code, _packed((module, name, inner)))


def _type_of(value: dict[str, Json], allowed: Callable[[TypeName], bool]) -> TypeName:
    module, _, name = str(value.get("$type", "")).partition(":")
    if not module or not name:
        raise ShapeError(f"$type is {value.get('$type')!r}: it should look like module:Name")
    if not allowed((module, name)):
        raise ShapeError(
            f"the state holds a {module}:{name}, which is not allowed to be made from it: if it is a type of this "
            f"graph, name it in Step47Saver(…, allow=[{name}])"
        )
    return module, name


def _inner(code: int, value: dict[str, Json], allowed: Callable[[TypeName], bool]) -> Any:
    if code in (_ONE_ARGUMENT, _METHOD):
        return _plain(value.get("value"), allowed)
    if code == _ARGUMENTS:
        return _plain(value.get("args", []), allowed)
    if value.get("$fields") is True:
        return _plain(value.get("fields"), allowed)
    return {key: _plain(item, allowed) for key, item in value.items() if not key.startswith("$")}


def names(types: Iterable[type | TypeName]) -> set[TypeName]:
    """Types as the allow-list knows them."""
    return {(each.__module__, each.__name__) if isinstance(each, type) else (each[0], each[1]) for each in types}
