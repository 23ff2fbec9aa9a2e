"""Heartbeats: three a term, so that one that goes missing costs nothing. From a thread, so that work need not care."""

from __future__ import annotations

import logging
import threading

from . import _calls as calls
from ._errors import Refused
from ._lease import Lease, clock
from ._wire import Answer, Wire, verdict

log = logging.getLogger("step47")


def start(wire: Wire, lease: Lease) -> None:
    """Beats until the lease is over."""
    threading.Thread(target=_beat, args=(wire, lease), name=f"step47-heart-{lease.run}", daemon=True).start()


def _beat(wire: Wire, lease: Lease) -> None:
    """After a beat that went missing, the next comes sooner."""
    third = lease.ttl / 3
    pause = third
    while not lease.wait_over(pause):
        if not lease.held():
            continue
        sent = clock()
        answer = verdict(wire.exchange(calls.heartbeat(lease), third))
        if isinstance(answer, Answer):
            lease.renew(sent, (answer.value or {}).get("signal"))
            pause = third
        elif isinstance(answer, Refused) and answer.code == "lease_lost":
            lease.lose()
        else:
            why = getattr(answer, "why", answer)
            log.warning("run %s: heartbeat missed in epoch %s: %s", lease.run, lease.epoch, why)
            pause = min(lease.ttl / 20, 1.0)
