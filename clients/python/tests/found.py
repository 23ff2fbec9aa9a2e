"""What no test passes over: a server that panicked, or that answered 500 where no damage explains it.

It is in the server's log, whatever the SDK did with the answer: it asks again after a failure.
"""

from __future__ import annotations

import os

SIGNS = ("panicked at", "answered 500")


def in_log(text: str) -> list[str]:
    """The lines of a server's log that fail a test; they are kept for the end of `cargo xtask test`, too."""
    found = [line for line in text.splitlines() if any(sign in line for sign in SIGNS)]
    keep = os.environ.get("STEP47_FOUND")
    if found and keep:
        test = os.environ.get("PYTEST_CURRENT_TEST", "a test").split(" ")[0]
        with open(keep, "a") as file:
            file.write("".join(f"{test}\t{line}\n" for line in found))
    return found
