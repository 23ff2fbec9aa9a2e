"""The threads in which an event loop lets exchanges with the server wait."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from ._wire import Request

threads = ThreadPoolExecutor(max_workers=256, thread_name_prefix="step47")
# What the server may take its time to answer (an open gate, a claim) must not hold up commits.
polls = ThreadPoolExecutor(max_workers=1024, thread_name_prefix="step47-poll")


def pool_for(request: Request) -> ThreadPoolExecutor:
    """Where this request may wait for its answer."""
    return polls if request.wait else threads
