"""The differ is exact: what it writes turns one value into the other, types included, and it writes little."""

from __future__ import annotations

import random
from typing import Any

import pytest
from applied import applied

from step47._patch import diff, same


def value(chance: random.Random, depth: int) -> Any:
    kinds = ["null", "bool", "int", "float", "text"] + ["list", "object"] * (depth > 0)
    match chance.choice(kinds):
        case "null":
            return None
        case "bool":
            return chance.random() < 0.5
        case "int":
            return chance.randint(0, 2)
        case "float":
            return chance.choice([0.0, -0.0, 1.0, 1.5])
        case "text":
            return chance.choice(["", "a", "é", "~1/", "1"])
        case "list":
            return [value(chance, depth - 1) for _ in range(chance.randint(0, 5))]
        case _:
            return {chance.choice(["a", "b", "a/b", "m~n", ""]): value(chance, depth - 1) for _ in range(4)}


def changed(chance: random.Random, old: Any) -> Any:
    """The value with a few changes here and there."""
    if isinstance(old, list) and chance.random() < 0.9:
        new = [changed(chance, item) if chance.random() < 0.2 else item for item in old]
        for _ in range(chance.randint(0, 2)):
            new.insert(chance.randint(0, len(new)), value(chance, 1))
        return [item for item in new if chance.random() < 0.9]
    if isinstance(old, dict) and chance.random() < 0.9:
        return {key: changed(chance, item) if chance.random() < 0.4 else item for key, item in old.items()}
    return value(chance, 2)


@pytest.mark.parametrize("seed", range(20))
def test_a_patch_turns_one_value_into_the_other(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(200):
        old = value(chance, 4)
        new = changed(chance, old) if chance.random() < 0.8 else value(chance, 4)
        ops = diff(old, new)
        assert same(applied(old, ops), new), (old, new, ops)
        assert bool(ops) != same(old, new)


@pytest.mark.parametrize(
    ("a", "b"), [(1, True), (1, 1.0), (0.0, -0.0), ([1], [True]), ({"a": 0}, {"a": False}), (None, 0)]
)
def test_types_count(a: Any, b: Any) -> None:
    assert not same(a, b)
    assert same(applied(a, diff(a, b)), b)


def test_the_order_of_keys_is_no_difference() -> None:
    assert diff({"a": [1], "b": 2}, {"b": 2, "a": [1]}) == []


@pytest.mark.parametrize(
    ("old", "new", "ops"),
    [
        ([1, 2], [1, 2, 3], [{"op": "add", "path": "/2", "value": 3}]),
        ([1, 2, 3], [0, 1, 2, 3], [{"op": "add", "path": "/0", "value": 0}]),
        ([1, 2, 3], [1, 3], [{"op": "remove", "path": "/1"}]),
        ({"a": {"b/c": 1}}, {"a": {"b/c": 2}}, [{"op": "replace", "path": "/a/b~1c", "value": 2}]),
        ([1, {"a": 1, "b": 2}, 3], [1, {"a": 1, "b": 5}, 3], [{"op": "replace", "path": "/1/b", "value": 5}]),
        ({}, [], [{"op": "replace", "path": "", "value": []}]),
    ],
)
def test_a_small_change_is_a_small_patch(old: Any, new: Any, ops: list[dict[str, Any]]) -> None:
    assert diff(old, new) == ops


def test_changes_far_apart_in_a_long_list_are_that_many_operations() -> None:
    old = [{"n": n} for n in range(300)]
    new = [{"n": -1}, *old[:100], *old[101:200], {"n": 200, "more": 1}, *old[201:]]
    assert len(diff(old, new)) == 3
    assert applied(old, diff(old, new)) == new
