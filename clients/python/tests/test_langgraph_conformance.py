"""LangGraph's own suite for checkpointers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from langgraph.checkpoint.conformance import checkpointer_test, validate
from server import Server

from step47.langgraph import Step47Saver

# What a server that keeps everything cannot do.
FORGETS = {"delete_thread", "delete_for_runs", "prune"}


def test_langgraphs_conformance_suite_passes(server: Server) -> None:
    @checkpointer_test(name="step47")
    async def saver() -> AsyncIterator[Step47Saver]:
        yield Step47Saver(agent="conformance", client=server.client)

    report = asyncio.run(validate(saver))
    results = {name: result for name, result in report.results.items() if name not in FORGETS}
    assert [failure for result in results.values() for failure in result.failures or ()] == []
    passed = {name: result.tests_passed for name, result in results.items()}
    assert passed == {"put": 17, "put_writes": 10, "get_tuple": 10, "list": 16, "copy_thread": 8}
