"""Values of a graph as JSON: they come back as they were, and an edited state makes nothing that was not allowed."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import ipaddress
import json
import math
import pathlib
import random
import re
import uuid
import zoneinfo
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
from langgraph.types import Interrupt, Send
from pydantic import BaseModel

from step47 import ShapeError
from step47.langgraph._values import Values


class Colour(enum.Enum):
    RED = "red"


class Order(BaseModel):
    id: str
    lines: list[int]


@dataclasses.dataclass
class Line:
    sku: str
    price: decimal.Decimal


ALLOWED = [Colour, Order, Line]
UTC = datetime.timezone.utc
VALUES: list[Any] = [
    None, True, 1, -(2**63), 2**64 - 1, 0.1, -0.0, math.inf, -math.inf, "", "ü\u2028", "a\0b", b"\x00\xff",
    bytearray(b"x"),
    [], [1, [2]], {}, {"a": {"b": None}}, {1: "one", None: 2, 2.5: 3, False: 4}, {"$type": "os:system"}, {"$ext": 5},
    {"$opaque": ["pickle", ""]}, {"$bytes": "x"}, {"a\0": 1}, {uuid.UUID(int=1): 1}, {(1, 2): 3},
    decimal.Decimal("1.50"), uuid.UUID(int=7), pathlib.Path("/a/b"), re.compile("a+", re.IGNORECASE),
    datetime.datetime(2026, 11, 18, 3, 4, 5, 6, UTC), datetime.date(2026, 1, 2), datetime.time(3, 4, 5),
    datetime.timedelta(1, 2, 3), zoneinfo.ZoneInfo("Europe/Berlin"), ipaddress.ip_address("10.0.0.1"),
    ipaddress.ip_network("10.0.0.0/8"), {1, 2}, frozenset({"a"}), collections.deque([1, 2]),
    HumanMessage("hi", id="1"), SystemMessage("s"), RemoveMessage(id="1"), ToolMessage("r", tool_call_id="c1"),
    AIMessage("x", tool_calls=[{"name": "t", "args": {"$k": [1]}, "id": "c1"}], response_metadata={"a": math.inf}),
    AIMessageChunk(content="part"), Document(page_content="page"), Send("node", {"m": HumanMessage("x")}),
    Interrupt("why?", "0" * 32, response_schema={"type": "string"}), Colour.RED, Order(id="a", lines=[1]),
    Line("a", decimal.Decimal(1)), [Order(id="b", lines=[]), {"deep": [Line("b", decimal.Decimal(2))]}],
]  # fmt: skip


def over_the_wire(value: Any) -> Any:
    return json.loads(json.dumps(value, allow_nan=False))


@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:40])
def test_a_value_comes_back_as_langgraph_itself_would_give_it(value: Any) -> None:
    values = Values(ALLOWED)
    back = values.decode(over_the_wire(values.encode(value)))
    expected = values.serde.loads_typed(values.serde.dumps_typed(value))
    assert back == expected
    assert type(back) is type(expected)


def made_up(chance: random.Random, depth: int = 0) -> Any:
    """Some value, as deep as it happens to be."""
    kind = chance.randrange(9)
    if depth > 5 or kind < 4:
        return chance.choice([value for value in VALUES if not isinstance(value, bytearray)])
    if kind < 6:
        return [made_up(chance, depth + 1) for _ in range(chance.randrange(4))]
    keys = ["a", "$type", "$ext", "value", "\0", 7, "$map", "$fields", "fields", ""]
    return {chance.choice(keys): made_up(chance, depth + 1) for _ in range(chance.randrange(4))}


def test_two_thousand_made_up_values_come_back() -> None:
    values, chance = Values(ALLOWED), random.Random(47)
    for _ in range(2000):
        value = made_up(chance)
        back = values.decode(over_the_wire(values.encode(value)))
        assert back == values.serde.loads_typed(values.serde.dumps_typed(value))


def test_what_is_deeper_than_the_server_takes_is_kept_as_bytes() -> None:
    values = Values([])
    value: list[Any] = []
    for _ in range(120):
        value = [value]
    assert values.encode(value).keys() == {"$opaque"}
    assert values.decode(values.encode(value)) == value


def test_a_message_can_be_read_and_edited() -> None:
    values = Values([])
    plain = over_the_wire(values.encode([HumanMessage("hi"), AIMessage("yes")]))
    assert [(each["$type"].split(":")[1], each["content"]) for each in plain] == [
        ("HumanMessage", "hi"),
        ("AIMessage", "yes"),
    ]
    plain[1]["content"] = "no"
    assert values.decode(plain)[1] == AIMessage("no")


@pytest.mark.parametrize(
    "edited",
    [
        {"$type": "os:system", "$ext": 0, "value": "touch {file}"},
        {"$type": "os:system", "$ext": 1, "args": ["touch {file}"]},
        {"$type": "subprocess:run", "$ext": 2, "args": ["touch", "{file}"]},
        {"$type": "os:system", "$ext": 5, "command": "touch {file}"},
        {"$type": "os:system", "$ext": 4, "command": "touch {file}"},
        {"$type": "builtins:eval", "$ext": 3, "method": "__call__", "value": "open('{file}', 'w')"},
        {"$type": "datetime:datetime", "$ext": 3, "method": "strptime", "value": "x"},
        {"$type": "builtins:exec", "$ext": 0, "value": "open('{file}', 'w')"},
        {"deep": [{"$type": "os:system", "$ext": 0, "value": "touch {file}"}]},
        {"$ext": 7, "value": {"$type": "os:system", "$ext": 0, "value": "touch {file}"}},
        {"$map": [["a", {"$type": "os:system", "$ext": 0, "value": "touch {file}"}]]},
        {"$opaque": ["pickle", "Y29zCnN5c3RlbQooUyd0b3VjaCB7ZmlsZX0nCnRSLg=="]},
        {"$opaque": "x"},
        {"$type": "os", "$ext": 0, "value": 1},
        {"$type": "os:system"},
        {"$ext": 99, "value": 1},
        {"$ext": 6},
        {"$float": "1"},
        {"$bytes": "%"},
        {"$map": [1]},
    ],
    ids=lambda edited: json.dumps(edited)[:50],
)
def test_an_edited_type_makes_and_runs_nothing(edited: Any, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "ran"
    edited = json.loads(json.dumps(edited).replace("{file}", str(file)))
    with pytest.raises(ShapeError):
        Values(ALLOWED).decode(edited)
    assert not file.exists()


def test_bytes_that_hold_a_type_make_it_only_if_it_is_allowed() -> None:
    nested: Any = Order(id="a", lines=[])
    for _ in range(120):
        nested = [nested]
    opaque = Values(ALLOWED).encode(nested)
    assert opaque.keys() == {"$opaque"}
    made: Any = Values([]).decode(opaque)
    for _ in range(120):
        [made] = made
    assert made == {"id": "a", "lines": []}


def test_a_type_of_ones_own_must_be_named_for_the_next_process(caplog: pytest.LogCaptureFixture) -> None:
    here = Values([])
    plain = here.encode(Order(id="a", lines=[1]))
    assert "allow=[Order]" in caplog.text
    assert here.decode(plain) == Order(id="a", lines=[1]), "what this process has written it may read"
    with pytest.raises(ShapeError, match=r"allow=\[Order\]"):
        Values([]).decode(plain)
    assert Values([Order]).decode(plain) == Order(id="a", lines=[1])
