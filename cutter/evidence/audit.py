"""IO: the export of the audit chains; its check is `offline`, which needs nothing else.

One event a line in canonical JSON, chains in order, events by number, and a closing line with the heads. An event's
hash is sha256(previous hash ‖ body), the first one's predecessor is sha256(the chain's name), so a changed, removed,
added or moved event breaks the chain. The global chain holds the heads of all others, so an export of everything
cannot lack one. Who can rewrite the whole file can also recompute it: only a head that was kept elsewhere (`--head`)
shows that, and a check without one says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from cutter.evidence.offline import CLOSING, EVENT, EXPORT, canonical, head_of, verify_export

verify = verify_export


def export(events: Iterable[Mapping[str, Any]]) -> bytes:
    """The export of events that come chain by chain, each chain by number; ends with the closing line."""
    lines, heads = [], {}
    for event in events:
        lines.append(canonical({name: event[name] for name in EVENT}))
        heads[str(event["chain"])] = [event["seq"], event["hash"]]
    closing = {"format": EXPORT, "heads": heads, "head": head_of(heads), "events": len(lines)}
    return "".join(line + "\n" for line in [*lines, canonical(closing)]).encode()


def stranger(data: bytes) -> str | None:
    """Why this was never an export, by its first line; None when a single line is an event or a closing line.

    A file of which nothing is left that we wrote is another file; one that was tampered with is for the check.
    """
    if any(set(_object(line) or ()) in ({*EVENT}, CLOSING) for line in data.split(b"\n")):
        return None
    found = "line 1 is no audit event" if data.strip() else "the file is empty"
    return f"{found}; each line of an export is a JSON object with {', '.join(EVENT)}"


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
