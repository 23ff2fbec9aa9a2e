"""What the generated requests meet: runs in every state, made for the request that asks about them.

A random id leads to 404, a random epoch to `lease_lost`. So a request that is right as it stands gets a run, an epoch
and a version that exist, and its answer is the one that a schema must describe. Every fourth keeps what it came with.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable
from typing import Any

import requests
import schemathesis
from schemathesis.core.parameters import ParameterLocation
from schemathesis.openapi.checks import RejectedPositiveData

Json = dict[str, Any]

URL = os.environ["STEP47_URL"]
AGENT = os.environ["STEP47_AGENT"]
OPERATOR = os.environ["STEP47_OPERATOR"]
MADE = "wire-"
TERM = {"worker": "wire", "ttl_ms": 3_600_000}

session = requests.Session()
numbers = itertools.count(1)
turns = itertools.count()
used: set[str | None] = {None}


def send(path: str, body: Json | None = None, token: str = AGENT) -> Json:
    headers = {"Authorization": f"Bearer {token}"}
    answer = session.request("GET" if body is None else "POST", f"{URL}/v1/{path}", json=body, headers=headers)
    answer.raise_for_status()
    return answer.json() if answer.content else {}


def pending() -> str:
    run = f"{MADE}{next(numbers)}"
    labels = {"team": "wire"}
    links = [{"label": "ticket", "url": "https://example.org/1"}]
    plan = [{"name": "later", "key": "later"}]
    body = {"id": run, "agent": "wire", "input": {"n": 1}, "state": {"list": [1, 2]}}
    send("runs", {**body, "labels": labels, "links": links, "plan": plan})
    return run


def leased() -> str:
    run = pending()
    send(f"runs/{run}/lease", TERM)
    return run


def begun(**step: Any) -> str:
    """Step 1 is in flight, by attempt 1, under epoch 1."""
    run = leased()
    send(f"runs/{run}/steps", {"epoch": 1, "key": "one", "name": "one", **step})
    return run


def committed() -> str:
    run = begun(refs=[{"uri": "file:a", "hash": "1"}])
    usage = {"input_tokens": 3, "output_tokens": 5, "cost_usd": 0.25}
    send(f"runs/{run}/steps/1/commit", {"epoch": 1, "attempt": 1, "result": 1, "state": {"list": [2]}, "usage": usage})
    return run


def waiting() -> str:
    return begun(kind="gate", gate={"title": "Go on?", "context": {"eur": 5}})


def crashed() -> str:
    """An effect of which nobody knows whether it happened."""
    run = begun(effect={"target": "bank", "description": "pay"})
    send(f"runs/{run}/steps/1/progress", {"epoch": 1, "attempt": 1, "log": [{"level": "info", "message": "paying"}]})
    send(f"runs/{run}/release", {"epoch": 1})
    return run


def failed() -> str:
    run = begun()
    error = {"kind": "Broken", "message": "it broke", "stack": "here"}
    send(f"runs/{run}/steps/1/fail", {"epoch": 1, "attempt": 1, "error": error, "retryable": False})
    send(f"runs/{run}/finish", {"epoch": 1, "outcome": "failed", "error": error})
    return run


def done() -> str:
    run = committed()
    send(f"runs/{run}/finish", {"epoch": 1, "outcome": "done", "result": {"ok": True}})
    return run


# Every wait that is accepted and would be waited.
LONG = {str(ms) for ms in range(2, 60_001)}
# Whom a read asks about: it changes nothing, so each stands for all.
READABLE = [make() for make in (pending, begun, committed, waiting, crashed, failed, done)]
# What a write is about, by the end of its path; a step in flight if it is not named.
WRITABLE: dict[str, Callable[[], str]] = {"lease": pending, "finish": committed, "release": committed}
# What a decision is about; a run that crashed if it is not named.
DECIDED: dict[str, Callable[[], str]] = {
    "approve": waiting,
    "reject": waiting,
    "answer": waiting,
    "rewind": failed,
    "fork": failed,
    "acknowledge": failed,
    "pause": leased,
    "cancel": leased,
}


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Json) -> None:
    shorten(case)
    freshen(case)
    path = case.path_parameters or {}
    # A request that is sent again without its token is about the same run.
    known = str(path.get("id", "")).startswith(MADE)
    if "id" not in path or known or negative(case, ParameterLocation.PATH) or next(turns) % 4 == 3:
        return
    body = case.body if isinstance(case.body, dict) else None
    if case.method != "POST" or body is None or negative(case, ParameterLocation.BODY):
        path["id"] = READABLE[next(numbers) % len(READABLE)]
    elif case.path.endswith("/decisions"):
        path["id"] = DECIDED.get(body["kind"], crashed)()
        decide(path["id"], body)
    else:
        path["id"] = WRITABLE.get(case.path.rsplit("/", 1)[-1], begun)()
        body.update({name: 1 for name in ("epoch", "attempt") if name in body})
    path.update({name: 1 for name in ("seq", "n") if name in path})


def decide(run: str, body: Json) -> None:
    """About the run as it is."""
    if "if_version" in body:
        body["if_version"] = send(f"runs/{run}")["run"]["version"]
    if body.get("step") is not None:
        body["step"] = 1
    for choice in body.get("choices", []):
        choice["step"] = 1


def negative(case: Any, location: ParameterLocation) -> bool:
    return case.meta is not None and case.meta.is_negative_at(location)


def shorten(case: Any) -> None:
    """Whether a wait is accepted is asked, and not how patient the server is."""
    for place in (case.query, case.body):
        if isinstance(place, dict) and str(place.get("wait_ms")).removesuffix(".0") in LONG:
            place["wait_ms"] = 1


def freshen(case: Any) -> None:
    """A key that comes again with another body is a conflict, and only that would be seen."""
    key = (case.headers or {}).get("Idempotency-Key")
    if key in used and not negative(case, ParameterLocation.HEADER):
        case.headers["Idempotency-Key"] = f"{MADE}{next(numbers)}"
    used.add(key)


# Refusals of what is right by its schema: code, a part of what is said, and why no schema can say it.
BEYOND_A_SCHEMA = (
    ("patch_failed", "operation ", "a patch fits the state that is stored, or not"),
    ("invalid", "cursor: is not a cursor", "a cursor belongs to the query that it came from"),
    ("invalid", "has two choices", "no two choices may be about one step"),
    ("malformed", "is an integer beyond 64 bits", "to a schema, it is the same as the float of that value"),
)
# A JSON Schema within any JSON is judged by rules of its own.
SCHEMA = re.compile(r"(^|/)(state_)?schema(/|$)")


@schemathesis.hook
def filter_failure(context: Any, failure: Any, case: Any, response: Any) -> bool:
    """Such a refusal is no difference."""
    if not isinstance(failure, RejectedPositiveData):
        return True
    problem = response.json()
    of_schema = problem["code"] == "invalid" and SCHEMA.search(problem.get("path", ""))
    beyond = any(problem["code"] == code and said in problem["detail"] for code, said, _ in BEYOND_A_SCHEMA)
    return not (of_schema or beyond)
