"""The threads in which an event loop lets exchanges with the server wait."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

threads = ThreadPoolExecutor(max_workers=256, thread_name_prefix="step47")
