"""LangGraph's SqliteSaver on the states that the benchmark wrote down: one put per step, as a graph does it."""

import json
import os
import sys
import time

from langgraph.checkpoint.base import create_checkpoint, empty_checkpoint
from langgraph.checkpoint.sqlite import SqliteSaver

shape, lines, database, steps = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
texts = [json.loads(line) for line in open(lines)]
messages, documents = [], {f"d{i}": texts[i] for i in range(100)}

with SqliteSaver.from_conn_string(database) as saver:
    config = {"configurable": {"thread_id": "bench", "checkpoint_ns": ""}}
    checkpoint = empty_checkpoint()
    began = time.perf_counter()
    for step in range(steps):
        if shape == "chat":
            messages.append({"role": "assistant", "content": texts[step]})
            values = {"messages": messages}
        else:
            documents[f"d{step % 100}"] = texts[100 + step]
            values = {"documents": documents}
        checkpoint = create_checkpoint(checkpoint, None, step)
        checkpoint["channel_values"] = values
        versions = {name: step + 1 for name in values}
        checkpoint["channel_versions"] = versions
        metadata = {"source": "loop", "step": step, "parents": {}}
        config = saver.put(config, checkpoint, metadata, versions)
    seconds = time.perf_counter() - began
    saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")

print(json.dumps({"bytes": os.path.getsize(database), "seconds": seconds}))
