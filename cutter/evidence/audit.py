"""IO: exports the audit chains. `offline` checks an export and needs only the exported file.

Each line of an export is one event in canonical JSON. The chains are in order, and the events of a chain are ordered by
number. A closing line has the heads. The hash of an event is sha256(previous hash ‖ body), and the first event follows
sha256(the chain's name). The global chain holds the heads of all other chains, so a complete export cannot lack one. A
person who rewrites the whole file can also compute its hashes again; only a head that was kept elsewhere shows this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cutter.evidence.offline import EVENT, EXPORT, canonical, head_of, verify_export

verify = verify_export


def export(events: Iterable[Mapping[str, Any]]) -> bytes:
    """The export of the events, with the closing line. The events must come chain by chain, ordered by number."""
    lines, heads = [], {}
    for event in events:
        lines.append(canonical({name: event[name] for name in EVENT}))
        heads[str(event["chain"])] = [event["seq"], event["hash"]]
    closing = {"format": EXPORT, "heads": heads, "head": head_of(heads), "events": len(lines)}
    return "".join(line + "\n" for line in [*lines, canonical(closing)]).encode()
