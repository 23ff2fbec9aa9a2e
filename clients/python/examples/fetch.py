"""An asynchronous agent: many steps at the same time, each with a timeout and a few attempts.

python fetch.py crawl-7
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass, field

import bank

import step47

PAGES = [f"https://example.org/{n}" for n in range(8)]


@dataclass
class Crawl:
    sizes: dict[str, int] = field(default_factory=dict)


def note(crawl: Crawl, page: tuple[str, int]) -> None:
    url, size = page
    crawl.sizes[url] = size


@step47.step(key="fetch:{url}", timeout=30, retry=step47.Retry(4, backoff=0.1, on=(OSError,)), fold=note)
async def fetch(url: str) -> tuple[str, int]:
    await asyncio.sleep(0.01)  # The network, if there were one.
    if url.endswith("3") and step47.current().attempt == 1:
        raise ConnectionError("the network is bad today")
    bank.write(f"fetched {url}")
    return url, len(url)


async def main(name: str) -> None:
    async with step47.arun("fetch-example", id=name, state=Crawl) as run:
        await asyncio.gather(*(fetch(url) for url in PAGES))
        print(sum(run.state.sizes.values()))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
