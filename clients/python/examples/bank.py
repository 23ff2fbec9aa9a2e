"""A bank, a shop and a model for the examples: they work offline, and what really happened can be counted in a file."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

LEDGER = Path(os.environ.get("EXAMPLE_LEDGER", Path(tempfile.gettempdir()) / "step47-example-ledger.txt"))


def write(line: str) -> None:
    """The effect: one line more in the world outside."""
    with LEDGER.open("a") as ledger:
        ledger.write(line + "\n")


def answers() -> None:
    """The bank takes its time: as long as the environment says."""
    time.sleep(float(os.environ.get("EXAMPLE_BANK_SECONDS", "0")))


def find(key: str) -> str | None:
    """What the bank knows about a payment."""
    lines = LEDGER.read_text().splitlines() if LEDGER.exists() else []
    return next((line for line in lines if line.startswith(f"{key} ")), None)


class FakeModel:
    """Shaped like OpenAI's client. It answers by a rule, and writes down that it was asked."""

    def __init__(self) -> None:
        self.chat = SimpleNamespace(completions=SimpleNamespace(create=self._create))

    def _create(self, *, model: str, messages: list[dict[str, str]]) -> Any:
        question = messages[-1]["content"]
        write(f"model {model}: {question}")
        message = SimpleNamespace(role="assistant", content=f"{question.split()[-1]} is worth reading.")
        usage = SimpleNamespace(prompt_tokens=len(question), completion_tokens=20)
        return SimpleNamespace(model=model, choices=[SimpleNamespace(message=message)], usage=usage)
