"""Records the unit lists of golden/<law>/units.json from the splitter: `python -m tests.golden.record`.

The lists fix every address, title and body; what the number of units and their headings must be is said by
expectations.py, independently, and the test holds both together. Read the difference before committing a new record.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cutter.domain.digests import sha256_hex
from cutter.marking import Marking, MarkRefusal, Options, load_profile, mark
from tests.golden.expectations import CHECKOUT, GOLDEN, LAWS, MODELS, Law, law_bytes, laws_folder


def cut(data: bytes, law: Law) -> Marking | MarkRefusal:
    """The law cut with its golden profile and options under the prefix LAW."""
    accept = dict.fromkeys(law.accepted, "so in the text")
    options = Options(**law.options, accept=accept)  # type: ignore[arg-type]
    return mark(data, profile=load_profile(law.profile), docprefix="LAW", options=options)


def record(data: bytes, law: Law) -> dict[str, Any]:
    """What golden/<law>/units.json holds: digests and titles, no text."""
    marking = cut(data, law)
    assert isinstance(marking, Marking), marking
    return {
        "sha256": sha256_hex(data),
        "profile": law.profile,
        "options": law.options,
        "region_sha": marking.region_sha,
        "mark_digest": marking.mark_digest,
        "count": len(marking.candidates),
        "exclusions": [[piece.line, piece.reason, piece.status_basis] for piece in marking.exclusions],
        "units": [
            [unit.line, unit.address, unit.section_type, unit.title, sha256_hex(data[unit.start : unit.end])]
            for unit in marking.candidates
        ],
    }


def as_text(recorded: dict[str, Any]) -> str:
    """JSON with one unit a line, so that a difference names its unit."""
    head = {key: value for key, value in recorded.items() if key != "units"}
    lines = [f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}," for key, value in head.items()]
    units = ",\n".join(f"    {json.dumps(unit, ensure_ascii=False)}" for unit in recorded["units"])
    return "{\n" + "\n".join(lines) + '\n  "units": [\n' + units + "\n  ]\n}\n"


def write(law: Law, folder: Path) -> None:
    """Write one law's record."""
    target = GOLDEN / law.name
    target.mkdir(exist_ok=True)
    (target / "units.json").write_text(as_text(record(law_bytes(law, folder), law)), encoding="utf-8")


def main() -> None:
    """Record the model laws, and the real ones where they are."""
    for law in MODELS:
        write(law, CHECKOUT / "examples" / "laws")
    folder = laws_folder()
    for law in LAWS if folder is not None else ():
        assert folder is not None
        write(law, folder)


if __name__ == "__main__":
    main()
