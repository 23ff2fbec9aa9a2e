"""LangGraph's own suite for checkpointers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from langgraph.checkpoint.conformance import checkpointer_test, validate
from server import Server

from step47.langgraph import Step47Saver


def test_langgraphs_conformance_suite_passes(server: Server) -> None:
    """All of it but deleting and pruning: a server keeps every checkpoint."""

    @checkpointer_test(name="step47")
    async def saver() -> AsyncIterator[Step47Saver]:
        yield Step47Saver(agent="conformance", client=server.client)

    tested = {"put", "put_writes", "get_tuple", "list"} | ({"copy_thread"} if server.can("agents fork") else set())
    results = asyncio.run(validate(saver, capabilities=tested)).results
    assert [failure for result in results.values() for failure in result.failures or ()] == []
    passed = {name: results[name].tests_passed for name in tested}
    everything = {"put": 17, "put_writes": 10, "get_tuple": 10, "list": 16, "copy_thread": 8}
    assert passed == {name: everything[name] for name in tested}
