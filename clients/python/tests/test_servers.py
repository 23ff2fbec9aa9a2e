"""The server is away, busy, or killed under a running agent: nothing is lost, nothing is done twice."""

from __future__ import annotations

import socket
import sys
import threading

import pytest
from colours import Colour
from processes import counted, lines, start
from server import Server, eventually

import step47
from step47._drive import drive
from step47._flow import ask
from step47._wire import get, post


def test_an_agent_goes_on_when_the_server_is_killed_and_comes_back(
    own_server: Server, colour: Colour, run_id: str
) -> None:
    server, count = own_server, 60
    agent = start(server, "payer.py", colour.name, run_id, str(server.folder), str(count))
    for seq in (5, 30):
        server.until_step(run_id, seq, "committed")
        server.kill()
        server.start_again()
    said, _ = agent.communicate()
    assert agent.returncode == 0, said
    effects = lines(server.folder / f"{run_id}.effects")
    assert counted(effects) == {str(n): 1 for n in range(count)}
    assert server.client.state(run_id) == {"paid": list(range(count))}
    assert server.status(run_id) == "done"


@pytest.mark.skipif(sys.platform != "linux", reason="limits another process's files")
def test_an_agent_goes_on_by_itself_when_the_disk_was_full_for_a_while(
    own_server: Server, colour: Colour, run_id: str
) -> None:
    server, count = own_server, 60
    agent = start(server, "payer.py", colour.name, run_id, str(server.folder), str(count))
    effects = server.folder / f"{run_id}.effects"
    for seq in (5, 30):
        server.until_step(run_id, seq, "committed")
        server.takes_no_writes()
        eventually("writes are refused", server.refuses_writes)
        paid = len(lines(effects))
        for _ in range(10):
            assert server.refuses_writes()
        # The step that was under way at most: no other begins before its begin is stored.
        assert len(lines(effects)) <= paid + 1
        assert agent.poll() is None, agent.communicate()
        server.takes_writes_again()
    said, _ = agent.communicate()
    assert agent.returncode == 0, said
    assert counted(lines(effects)) == {str(n): 1 for n in range(count)}
    assert server.client.state(run_id) == {"paid": list(range(count))}
    assert server.status(run_id) == "done"
    committed = [step["key"] for step in server.client.steps(run_id)]
    assert committed == [f"pay:{n}" for n in range(count)]


class Script:
    """A server that answers each connection in turn with what it is told, and keeps what was asked."""

    def __init__(self, *answers: bytes) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.asked: list[bytes] = []
        self._thread = threading.Thread(target=self._serve, args=(answers,))
        self._thread.start()

    def _serve(self, answers: tuple[bytes, ...]) -> None:
        for answer in answers:
            stream, _ = self._listener.accept()
            with stream:
                asked = b""
                while not asked.endswith(b"}") and not (asked.startswith(b"GET") and asked.endswith(b"\r\n\r\n")):
                    asked += stream.recv(65_536)
                self.asked.append(asked)
                stream.sendall(answer)
        self._listener.close()

    def ended(self) -> list[bytes]:
        self._thread.join()
        return self.asked


def problem(status: str, code: str) -> bytes:
    body = f'{{"code":"{code}","title":"t","status":1,"detail":"because"}}'.encode()
    return b"HTTP/1.1 %s\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%s" % (status.encode(), len(body), body)


OK = b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\nconnection: close\r\n\r\n7"


def test_a_request_is_repeated_to_the_last_bit_until_there_is_an_answer() -> None:
    busy = b"HTTP/1.1 503 Busy\r\nretry-after: 0\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    cut = b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\nconnection: close\r\n\r\n{"
    script = Script(busy, b"", cut, OK)
    client = step47.Client(script.url, "t")
    assert drive(ask(client.wire, post("/v1/claims", {"a": 1}, keyed=True))) == 7
    asked = script.ended()
    assert b"Idempotency-Key: " in asked[0]
    assert len(asked) == 4
    assert len(set(asked)) == 1


def test_a_refusal_is_not_repeated_and_says_what_to_do() -> None:
    script = Script(problem("401 Unauthorized", "unauthorized"))
    client = step47.Client(script.url, "t")
    with pytest.raises(step47.Refused, match="step47 token create --role agent"):
        client.run("x")
    assert len(script.ended()) == 1


def test_a_server_that_failed_is_asked_again_and_damage_is_not() -> None:
    failed = problem("500 Internal Server Error", "internal")
    script = Script(failed, OK, problem("500 Internal Server Error", "corrupt"))
    client = step47.Client(script.url, "t")
    assert drive(ask(client.wire, get("/v1/x"))) == 7
    with pytest.raises(step47.Refused, match="corrupt"):
        client.run("x")
    assert len(script.ended()) == 3


def test_patience_is_bounded_when_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    client = step47.Client(f"http://127.0.0.1:{port}", "t", patience=0.3)
    with pytest.raises(step47.Unreachable, match="Set STEP47_URL"):
        client.run("x")


def test_a_client_says_what_it_lacks_and_never_shows_its_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STEP47_TOKEN", raising=False)
    with pytest.raises(step47.SetupError, match="step47 token create"):
        step47.Client()
    with pytest.raises(step47.SetupError, match="it should look like"):
        step47.Client("127.0.0.1:3047", "s47_secret")
    assert "s47_secret" not in repr(step47.Client("http://127.0.0.1:1", "s47_secret"))
