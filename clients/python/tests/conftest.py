"""One server for all tests of a process; those that harm it have their own."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from colours import COLOURS, Colour
from server import Server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def sound() -> Iterator[None]:
    """A server that panicked or answered 500 fails the test in which it did, whatever the SDK made of the answer."""
    yield
    found = [line for server in Server.running for line in server.found()]
    assert not found, found


@pytest.fixture(autouse=True)
def able(request: pytest.FixtureRequest) -> None:
    """A test that needs what this server does not have yet is skipped."""
    needs = request.node.get_closest_marker("needs")
    missing = [] if needs is None else [each for each in needs.args if not request.getfixturevalue("server").can(each)]
    if missing:
        pytest.skip(f"the server has no {', '.join(missing)}")
    lacks = request.node.get_closest_marker("lacks")
    if lacks is not None and all(request.getfixturevalue("server").can(each) for each in lacks.args):
        pytest.skip(f"the server has {', '.join(lacks.args)}")


@pytest.fixture
def own_server() -> Iterator[Server]:
    server = Server()
    yield server
    server.stop()


@pytest.fixture(params=COLOURS, ids=lambda colour: colour.name)
def colour(request: pytest.FixtureRequest) -> Colour:
    """Every promise is kept by plain functions and by asynchronous ones."""
    chosen: Colour = request.param
    return chosen


@pytest.fixture
def run_id() -> str:
    return f"r-{uuid.uuid4().hex[:12]}"
