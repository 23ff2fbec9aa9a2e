"""Between the agent's own types and JSON: dataclasses, pydantic's models (if they are used), enums, dates,
containers."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import functools
import pathlib
import types
import typing
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Literal, Union

from ._errors import ShapeError

# Types that JSON has no word for, and how their text reads back.
_TEXTS: dict[Any, Callable[[str], Any]] = {
    datetime.datetime: lambda text: datetime.datetime.fromisoformat(text.replace("Z", "+00:00")),
    datetime.date: datetime.date.fromisoformat,
    datetime.time: datetime.time.fromisoformat,
    decimal.Decimal: decimal.Decimal,
    uuid.UUID: uuid.UUID,
    pathlib.Path: pathlib.Path,
}


_PLAIN = frozenset({type(None), bool, str, int, float})


def encode(value: Any) -> Any:
    """The value as JSON. A `ShapeError` names what has no place in it."""
    try:
        return _encode(value, None)
    except ShapeError:
        return _encode(value, "value")  # Once more, to say where it is.


def _encode(value: Any, path: str | None) -> Any:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, enum.Enum):
        return _encode(value.value, path)
    for exact in (str, int, float):
        if isinstance(value, exact):
            # The value without its class, as JSON has it: not what a class of its own may make of `str(value)`.
            return getattr(exact, f"__{exact.__name__}__")(value)
    if isinstance(value, dict):
        return {_name(key, path): _encode(item, path and f"{path}/{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encode(item, path and f"{path}/{index}") for index, item in enumerate(value)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = fields(type(value))
        return {name: _encode(getattr(value, name), path and f"{path}/{name}") for name in names}
    if hasattr(value, "model_dump") and not isinstance(value, type):
        return value.model_dump(mode="json")
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, decimal.Decimal | uuid.UUID | pathlib.PurePath):
        return str(value)
    if isinstance(value, set | frozenset):
        return sorted((_encode(item, path) for item in value), key=repr)
    if isinstance(value, Mapping):
        return _encode(dict(value), path)
    what = f"{path} is a {type(value).__qualname__}, which is no JSON"
    raise ShapeError(f"{what}: use plain data, a dataclass or a pydantic model")


def decode(kind: Any, value: Any, path: str = "") -> Any:
    """The JSON as a value of this type; `Any` takes it as it is. A `ShapeError` names what does not fit."""
    try:
        return _decode(kind, value, path)
    except ShapeError:
        raise
    except Exception as why:  # pydantic's own error, or one of a class's __post_init__.
        raise _unfit(kind, value, path, why) from why


def _decode(kind: Any, value: Any, path: str) -> Any:
    if kind is Any or kind is object or isinstance(kind, typing.TypeVar):
        return _copy(value)
    if kind is None or kind is type(None):
        return _expect(value is None, kind, value, path)
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is not None:
        return _decode_generic(kind, origin, args, value, path)
    if kind in (str, bool):
        return _expect(type(value) is kind, kind, value, path)
    if kind is int:
        return _expect(type(value) is int, kind, value, path)
    if kind is float:
        return float(_expect(type(value) in (int, float), kind, value, path))
    if kind in _TEXTS:
        return _TEXTS[kind](_expect(isinstance(value, str), kind, value, path))
    if kind in (dict, list, tuple, set, frozenset):
        return _decode_generic(kind, kind, (), value, path)
    if hasattr(kind, "model_validate"):
        return kind.model_validate(value)
    if dataclasses.is_dataclass(kind):
        return _decode_dataclass(kind, value, path)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind(value)
    if typing.is_typeddict(kind):
        return _decode_typed_dict(kind, value, path)
    what = f"{path or 'this'} is to be a {_told(kind)}, which cannot be read from JSON"
    raise ShapeError(f"{what}: use plain data, a dataclass or a pydantic model")


def _decode_generic(kind: Any, origin: Any, args: tuple[Any, ...], value: Any, path: str) -> Any:
    if origin in (Union, types.UnionType):
        return _decode_union(kind, args, value, path)
    if origin is Literal:
        return _expect(any(value == arg and type(value) is type(arg) for arg in args), kind, value, path)
    if origin is typing.Annotated:
        return decode(args[0], value, path)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        _expect(isinstance(value, dict), kind, value, path)
        return {key: decode(args[1] if args else Any, item, f"{path}/{key}") for key, item in value.items()}
    if origin is tuple and args and args[-1] is not Ellipsis:
        _expect(isinstance(value, list) and len(value) == len(args), kind, value, path)
        each = zip(args, value, strict=True)
        return tuple(decode(arg, item, f"{path}/{i}") for i, (arg, item) in enumerate(each))
    _expect(isinstance(value, list), kind, value, path)
    items = (decode(args[0] if args else Any, item, f"{path}/{i}") for i, item in enumerate(value))
    return origin(items) if origin in (tuple, set, frozenset) else list(items)


def _decode_union(kind: Any, args: tuple[Any, ...], value: Any, path: str) -> Any:
    """The first that fits; `None` only as itself."""
    if value is None and type(None) in args:
        return None
    for arg in args:
        try:
            return decode(arg, value, path)
        except ShapeError:
            continue
    raise _unfit(kind, value, path)


def _decode_dataclass(kind: Any, value: Any, path: str) -> Any:
    _expect(isinstance(value, dict), kind, value, path)
    known = {name: each for name, each in fields(kind).items() if name in value}
    return kind(**{name: decode(each, value[name], f"{path}/{name}") for name, each in known.items()})


def _decode_typed_dict(kind: Any, value: Any, path: str) -> Any:
    _expect(isinstance(value, dict), kind, value, path)
    hints = typing.get_type_hints(kind)
    missing = kind.__required_keys__ - value.keys()
    if missing:
        raise _unfit(kind, value, path, f"{sorted(missing)} is missing")
    return {key: decode(hints.get(key, Any), item, f"{path}/{key}") for key, item in value.items()}


@functools.lru_cache(maxsize=1024)
def fields(kind: Any) -> dict[str, Any]:
    """The fields of a dataclass that `__init__` takes, with their types."""
    try:
        hints = typing.get_type_hints(kind)
    except NameError as why:
        raise ShapeError(f"the types of {_told(kind)} cannot be read ({why}): define them at module level") from why
    return {field.name: hints[field.name] for field in dataclasses.fields(kind) if field.init}


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


def _name(key: Any, path: str | None) -> str:
    if isinstance(key, str):
        return str(_encode(key, path))
    raise ShapeError(f"{path} has the key {key!r}, but JSON has text keys only")


def _expect(fits: bool, kind: Any, value: Any, path: str) -> Any:
    if not fits:
        raise _unfit(kind, value, path)
    return value


def _unfit(kind: Any, value: Any, path: str, why: object = None) -> ShapeError:
    text = repr(value)
    shown = text if len(text) <= 80 else text[:77] + "…"
    return ShapeError(f"{path or 'it'} is {shown}, not a {_told(kind)}" + (f": {why}" if why else ""))


def _told(kind: Any) -> str:
    return str(getattr(kind, "__qualname__", None) or kind)
