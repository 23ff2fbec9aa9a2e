"""LangGraph on Step47: `graph = builder.compile(checkpointer=Step47Saver(url, agent="billing"))`.

A thread is a run, and each task of the graph is a step that is recorded before its work and after it. Where the server
can do that, an interrupt is a gate that people answer in the console; else the program answers it.
"""

from ._watch import checking, current, watch
from .saver import CannotForget, Step47Saver
from .worker import GraphWorker, aserve, serve

__all__ = ["CannotForget", "GraphWorker", "Step47Saver", "aserve", "checking", "current", "serve", "watch"]
