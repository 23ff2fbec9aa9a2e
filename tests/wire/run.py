"""Asks a server by its own description, as an agent and as an operator, and fails where the two differ.

`STEP47_BIN` names the binary. What is given is passed to `schemathesis run`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
DEADLINE = 60.0
# Random requests for each call; those that the document's limits ask for come on top.
EXAMPLES = 20
# What a server's log says of a panic, and of an answer of 500 that no damage explains.
SIGNS = ("panicked at", "answered 500")
# An agent takes no decisions, and an operator nothing else that changes a run.
ROLES = {
    "agent": ["--exclude-path", "/v1/runs/{id}/decisions"],
    "operator": ["--include-path", "/v1/runs/{id}/decisions"],
}


class Asked:
    """A server with a store of its own, and who asks it: claims of one role would take what the other one made."""

    def __init__(self, role: str, folder: Path) -> None:
        self.folder = folder
        self.store = f"sqlite:{folder}/step47.db"
        env = {
            **clean(),
            "PYTHONPATH": str(HERE),
            "PYTHONDONTWRITEBYTECODE": "1",
            "STEP47_TOKEN": self.token(role),
            "STEP47_AGENT": self.token("agent"),
            "STEP47_OPERATOR": self.token("operator"),
        }
        listen = ["serve", "--store", self.store, "--listen", "127.0.0.1:0"]
        self.server = self.start("server", [binary(), *listen], {**clean(), "STEP47_LOG": "error"})
        url = self.listens()
        command = [str(Path(sys.executable).parent / "schemathesis"), "--config-file", str(HERE / "schemathesis.toml")]
        command += ["run", f"{url}/v1/openapi.json", "--max-examples", str(EXAMPLES), *ROLES[role], *sys.argv[1:]]
        self.requests = self.start("requests", command, {**env, "STEP47_URL": url})

    def start(self, name: str, command: list[str], env: dict[str, str]) -> subprocess.Popen[bytes]:
        with (self.folder / name).open("wb") as said:
            return subprocess.Popen(command, cwd=self.folder, env=env, stdout=said, stderr=subprocess.STDOUT)

    def said(self, name: str) -> str:
        return (self.folder / name).read_text()

    def token(self, role: str) -> str:
        create = [binary(), "token", "create", "--role", role, "--name", "wire", "--store", self.store]
        return subprocess.run(create, env=clean(), check=True, capture_output=True, text=True).stdout.strip()

    def listens(self) -> str:
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end and self.server.poll() is None:
            for line in self.said("server").splitlines(keepends=True):
                if line.startswith("listening on ") and line.endswith("\n"):
                    return line.removeprefix("listening on ").strip()
            time.sleep(0.01)
        raise SystemExit(f"the server never said where it listens:\n{self.said('server')}")

    def result(self) -> int:
        code = self.requests.wait()
        print(self.said("requests"), flush=True)
        return code

    def stop(self) -> list[str]:
        """Ends both, and gives what fails the run, whatever was made of the answers: panics and answers of 500."""
        for process in (self.requests, self.server):
            process.kill()
            process.wait()
        return [line for line in self.said("server").splitlines() if any(sign in line for sign in SIGNS)]


def main() -> int:
    all_asked: list[Asked] = []
    with tempfile.TemporaryDirectory(prefix="step47-wire-") as folder:
        try:
            for role in ROLES:
                own = Path(folder) / role
                own.mkdir()
                all_asked.append(Asked(role, own))
            code = max(asked.result() for asked in all_asked)
        finally:
            found = [line for asked in all_asked for line in asked.stop()]
            keep(found)
    return code or int(bool(found))


def keep(found: list[str]) -> None:
    """Told here and at the end of `cargo xtask test`."""
    lines = "".join(f"tests/wire\t{line}\n" for line in found)
    print(lines, end="", flush=True)
    file = os.environ.get("STEP47_FOUND")
    if found and file:
        with open(file, "a") as kept:
            kept.write(lines)


def binary() -> str:
    return os.environ.get("STEP47_BIN", "step47")


def clean() -> dict[str, str]:
    """The environment without the settings of whoever runs this."""
    return {name: value for name, value in os.environ.items() if not name.startswith("STEP47_")}


if __name__ == "__main__":
    sys.exit(main())
