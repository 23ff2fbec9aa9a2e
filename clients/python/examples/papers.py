"""Model calls as steps: `step47.wrap` records each answer, so that a crash pays for no token twice.

python papers.py reading-2026-11
"""

from __future__ import annotations

import sys
from typing import Any

import bank

import step47

PAPERS = ["2401.00001", "2401.00002", "2401.00003"]

# The same with openai.OpenAI() in place of the fake.
model: Any = step47.wrap(bank.FakeModel(), prices={"fake-1": (1.0, 4.0)})


@step47.step(key="keep:{paper}", fold=lambda notes, kept: notes.update(kept))
def keep(paper: str, summary: str) -> dict[str, str]:
    return {paper: summary}


def main(name: str) -> None:
    with step47.run("papers-example", id=name, model="fake-1") as run:
        for paper in PAPERS:
            question = [{"role": "user", "content": f"Summarise {paper}"}]
            answer = model.chat.completions.create(model="fake-1", messages=question)
            keep(paper, answer.choices[0].message.content)
        run.finish(run.state)
        print(run.state)


if __name__ == "__main__":
    main(sys.argv[1])
