"""The requests of the protocol `/v1`, one function per call."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

from ._lease import Lease
from ._wire import Request, get, post

Json = dict[str, Any]


def given(**fields: Any) -> Json:
    """The fields that are not `None`."""
    return {name: value for name, value in fields.items() if value is not None}


def error(kind: str, message: str, stack: str | None = None) -> Json:
    """An error as the store takes it, whatever its text holds: the head of a message, the end of a stack."""
    kept = None if stack is None else _legible(stack)[-100_000:]
    return given(kind=_legible(kind)[:200] or "error", message=_legible(message)[:100_000], stack=kept)


def _legible(text: str) -> str:
    """Half characters (of a file name, of a broken answer) and NUL are shown, as `\\udc80`: the store refuses them."""
    return text.encode(errors="backslashreplace").decode().replace("\0", "\\x00")


def at(run: str, *rest: object) -> str:
    """The path of a run, or of something in it."""
    return "/".join(["/v1/runs", quote(run, safe=""), *map(str, rest)])


def create(body: Json) -> Request:
    return post("/v1/runs", body, keyed="id" not in body)


def lease(run: str, body: Json) -> Request:
    return post(at(run, "lease"), body, keyed=True)


def claim(body: Json) -> Request:
    return post("/v1/claims", body, keyed=True, wait=body.get("wait_ms", 0) / 1000)


def heartbeat(lease: Lease) -> Request:
    return post(at(lease.run, "heartbeat"), {"epoch": lease.epoch, "ttl_ms": round(lease.ttl * 1000)})


def begin(lease: Lease, step: Json) -> Request:
    return post(at(lease.run, "steps"), {"epoch": lease.epoch, **step})


def commit(lease: Lease, seq: int, body: Json) -> Request:
    return post(at(lease.run, "steps", seq, "commit"), {"epoch": lease.epoch, **body})


def fail(lease: Lease, seq: int, body: Json) -> Request:
    return post(at(lease.run, "steps", seq, "fail"), {"epoch": lease.epoch, **body})


def progress(lease: Lease, seq: int, attempt: int, *, partial: Any = None, line: Json | None = None) -> Request:
    body: Json = {"epoch": lease.epoch, "attempt": attempt}
    if line is None:
        body["partial"] = partial
    else:
        body["log"] = [line]
    return post(at(lease.run, "steps", seq, "progress"), body, keyed=True)


def suspend(lease: Lease, seq: int, body: Json) -> Request:
    return post(at(lease.run, "steps", seq, "suspend"), {"epoch": lease.epoch, **body})


def save(lease: Lease, body: Json) -> Request:
    return post(at(lease.run, "snapshots"), {"epoch": lease.epoch, **body}, keyed=True)


def finish(lease: Lease, body: Json) -> Request:
    return post(at(lease.run, "finish"), {"epoch": lease.epoch, **body})


def release(lease: Lease, after_ms: int | None) -> Request:
    return post(at(lease.run, "release"), given(epoch=lease.epoch, after_ms=after_ms))


def pause(lease: Lease) -> Request:
    return post(at(lease.run, "release"), {"epoch": lease.epoch, "pause": True})


def decide(run: str, body: Json) -> Request:
    return post(at(run, "decisions"), body, keyed=True)


def run(run: str) -> Request:
    return get(at(run))


def runs(query: Json) -> Request:
    return get(f"/v1/runs?{urlencode(query)}")


def steps(run: str, after: int, limit: int) -> Request:
    return get(at(run, f"steps?after={after}&limit={limit}"))


def step(run: str, seq: int, wait_ms: int = 0) -> Request:
    return get(at(run, "steps", f"{seq}?wait_ms={wait_ms}"), wait=wait_ms / 1000)


def snapshot(run: str, number: int) -> Request:
    return get(at(run, "snapshots", number))


def tags(query: Json) -> Request:
    return get(f"/v1/tags?{urlencode(query)}")


def plan(run: str) -> Request:
    return get(at(run, "plan"))
