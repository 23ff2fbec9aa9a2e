"""What the store has and the agent's type does not know survives the agent's changes, in its place."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from applied import applied

from step47._patch import same
from step47._shape import encode
from step47._state import Live


@dataclass
class Item:
    id: int
    done: bool = False


@dataclass
class Todo:
    items: list[Item] = field(default_factory=list)


ONE = {"id": 1, "done": False, "note": "by hand"}
TWO = {"id": 2, "done": False, "prio": 9}
THREE = {"id": 3, "done": False, "due": "today"}
NEW = {"id": 4, "done": False}


def finish(todo: Todo, index: int) -> None:
    todo.items[index].done = True


def finish_and_append(todo: Todo) -> None:
    finish(todo, -1)
    todo.items.append(Item(4))


def pop_and_finish(todo: Todo) -> None:
    todo.items.pop(0)
    finish(todo, 0)


@pytest.mark.parametrize(
    ("change", "items"),
    [
        (lambda todo: todo.items.pop(0), [TWO, THREE]),
        (lambda todo: todo.items.pop(1), [ONE, THREE]),
        (lambda todo: todo.items.insert(0, Item(4)), [NEW, ONE, TWO, THREE]),
        (lambda todo: todo.items.append(Item(4)), [ONE, TWO, THREE, NEW]),
        (lambda todo: todo.items.reverse(), [THREE, TWO, ONE]),
        (lambda todo: finish(todo, 1), [ONE, {**TWO, "done": True}, THREE]),
        (finish_and_append, [ONE, TWO, {**THREE, "done": True}, NEW]),
        (pop_and_finish, [{**TWO, "done": True}, THREE]),
        (lambda todo: todo.items.clear(), []),
    ],
)
def test_what_the_type_does_not_know_stays_with_its_item(
    change: Callable[[Todo], Any], items: list[dict[str, Any]]
) -> None:
    stored = {"items": [ONE, TWO, THREE]}
    draft = Live(Todo, stored, 0).fold(lambda todo, _: change(todo) and None, None)
    assert draft.stored == {"items": items}
    assert same(applied(stored, draft.patch), {"items": items})


class Name(str):
    def __str__(self) -> str:
        return "not what it holds"


class Colour(str, enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Many(int): ...


class Part(float): ...


def test_values_of_classes_of_their_own_are_the_plain_ones_in_json() -> None:
    value = encode({Name("k"): [Name("a"), Many(7), Part(0.5), Colour.RED, Level.HIGH, True, None]})
    assert value == {"k": ["a", 7, 0.5, "red", 3, True, None]}
    assert [type(each) for each in value["k"]] == [str, int, float, str, int, bool, type(None)]
    assert [type(key) for key in value] == [str]


def test_a_text_of_a_class_of_its_own_is_folded_into_the_state() -> None:
    live = Live(dict, {"names": ["a"]}, 0)
    draft = live.fold(lambda state, name: state["names"].append(name), Name("b"))
    assert draft.patch == [{"op": "add", "path": "/names/1", "value": "b"}]
    live.settle(draft, 1)
    assert live.fold(lambda state, _: None, None).patch == []
