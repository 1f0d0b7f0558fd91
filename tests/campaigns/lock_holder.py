"""IO: a process to be killed: it opens gate 6's transaction by the product's own functions and stays in it (for P5).

Reads lines of JSON {"run_id", "offers", "doing", "check"} and forks for each, so that a holder costs no new Python.
The holder says `held <its process number>` when it has the locks. `check` false leaves out the session setting by which
PostgreSQL looks whether its client still lives.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from typing import Any, LiteralString

from cutter.catalogue import BY_NAME
from cutter.settings import load
from cutter.storage import pools
from cutter.storage.gate_transaction import Attempt, GateTerms, Offer, OpenGate, begin_attempt, gate_transaction
from tests.support.gate_calls import allowed

GATE = BY_NAME["IG_cut_leg_a_execute"]
CAP_SECONDS = 600

DOING: dict[str, LiteralString] = {
    "sleeping": "select pg_sleep(5)",
    "computing": "select sum(sqrt(n)) from generate_series(1, 200000000) as n",
    "idle": "",
}
"""What its backend does when the holder dies."""


def hold(order: dict[str, Any]) -> None:
    """Open the gate, say so, and stay."""
    if not order["check"]:
        pools.SESSION = re.sub(r"(client_connection_check_interval=)\S+", r"\g<1>0", pools.SESSION)
    pool = pools.open_pool(load(), GATE.role, size=1)
    attempt = begin_attempt(pool, GATE, order["run_id"], worker="a holder", lease_seconds=CAP_SECONDS)
    if not isinstance(attempt, Attempt):
        raise SystemExit(f"not held: {attempt}")
    offers = [Offer(**offer) for offer in order["offers"]]
    terms = GateTerms(policy=allowed(GATE.name), approvals=offers, cap_seconds=CAP_SECONDS)
    with gate_transaction(pool, attempt, terms) as opened:
        print("held" if isinstance(opened, OpenGate) else f"not held: {opened}", os.getpid(), flush=True)
        if isinstance(opened, OpenGate) and DOING[order["doing"]]:
            opened.connection.execute(DOING[order["doing"]])
        signal.pause()


def main() -> None:
    """One holder a line, until the input ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        if os.fork() == 0:
            hold(json.loads(line))
            os._exit(0)


if __name__ == "__main__":
    main()
