"""RFC 6902 as far as the differ writes it: what its operations must do."""

from __future__ import annotations

import json
from typing import Any


def applied(value: Any, ops: list[dict[str, Any]]) -> Any:
    """A new value: `value` with the operations `add`, `remove` and `replace` applied in order."""
    value = json.loads(json.dumps(value))
    for op in ops:
        if op["path"] == "":
            value = op["value"]
            continue
        *parents, last = (part.replace("~1", "/").replace("~0", "~") for part in op["path"][1:].split("/"))
        at = value
        for part in parents:
            at = at[int(part)] if isinstance(at, list) else at[part]
        if isinstance(at, list):
            index = len(at) if last == "-" else int(last)
            if op["op"] == "add":
                at.insert(index, op["value"])
            elif op["op"] == "remove":
                del at[index]
            else:
                at[index] = op["value"]
        elif op["op"] == "remove":
            del at[last]
        else:
            at[last] = op["value"]
    return value
