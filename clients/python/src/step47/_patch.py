"""RFC 6902: the exact difference of two JSON values.

Exact means that types count: `1`, `1.0` and `true` are three values, though Python calls them equal.
"""

from __future__ import annotations

import difflib
import json
import marshal
from typing import Any

Op = dict[str, Any]

# Where two lists differ in more places than this, their items are compared one by one, without looking for moves.
ALIGNED_MAX = 250_000


def diff(old: Any, new: Any) -> list[Op]:
    """The operations that turn `old` into `new`."""
    ops: list[Op] = []
    _diff(old, new, "", ops)
    return ops


def same(a: Any, b: Any) -> bool:
    """Whether two JSON values are equal, types included."""
    if a is b:
        return True
    if type(a) is not type(b) or a != b:
        return False
    if isinstance(a, float):
        return repr(a) == repr(b)  # 0.0 and -0.0
    if isinstance(a, dict | list):
        # Python's == is fast but calls 1 and True equal: the same bytes are proof, and the rest is looked at.
        if marshal.dumps(a, 2) == marshal.dumps(b, 2):
            return True
        if isinstance(a, dict):
            return all(same(value, b[key]) for key, value in a.items())
        return all(map(same, a, b))
    return True


def _diff(old: Any, new: Any, path: str, ops: list[Op]) -> None:
    if same(old, new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        _diff_objects(old, new, path, ops)
    elif isinstance(old, list) and isinstance(new, list):
        _diff_lists(old, new, path, ops)
    else:
        ops.append({"op": "replace", "path": path, "value": new})


def _diff_objects(old: dict[str, Any], new: dict[str, Any], path: str, ops: list[Op]) -> None:
    for key in old:
        if key not in new:
            ops.append({"op": "remove", "path": f"{path}/{_escaped(key)}"})
    for key, value in new.items():
        at = f"{path}/{_escaped(key)}"
        if key in old:
            _diff(old[key], value, at, ops)
        else:
            ops.append({"op": "add", "path": at, "value": value})


def _diff_lists(old: list[Any], new: list[Any], path: str, ops: list[Op]) -> None:
    # From the end to the start, so that no operation moves the place of a later one.
    for i1, i2, j1, j2 in reversed(changed(old, new)):
        paired = min(i2 - i1, j2 - j1)
        for index in range(i2 - 1, i1 + paired - 1, -1):
            ops.append({"op": "remove", "path": f"{path}/{index}"})
        for offset, value in enumerate(new[j1 + paired : j2]):
            ops.append({"op": "add", "path": f"{path}/{i1 + paired + offset}", "value": value})
        for offset in range(paired):
            _diff(old[i1 + offset], new[j1 + offset], f"{path}/{i1 + offset}", ops)


def changed(old: list[Any], new: list[Any]) -> list[tuple[int, int, int, int]]:
    """The stretches of two lists that differ: from, to in `old`; from, to in `new`. What is between them is equal."""
    start, shorter = 0, min(len(old), len(new))
    while start < shorter and same(old[start], new[start]):
        start += 1
    tail = 0
    while tail < shorter - start and same(old[-1 - tail], new[-1 - tail]):
        tail += 1
    stretches = _aligned(old[start : len(old) - tail], new[start : len(new) - tail])
    return [(start + i1, start + i2, start + j1, start + j2) for i1, i2, j1, j2 in stretches]


def _aligned(before: list[Any], after: list[Any]) -> list[tuple[int, int, int, int]]:
    if not before or not after or len(before) * len(after) > ALIGNED_MAX:
        return [(0, len(before), 0, len(after))]
    one, other = ([json.dumps(item, sort_keys=True) for item in items] for items in (before, after))
    codes = difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    return [(i1, i2, j1, j2) for tag, i1, i2, j1, j2 in codes if tag != "equal"]


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
