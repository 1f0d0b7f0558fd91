"""IO: `python -m tests.campaigns [P2 P8 …]` runs campaigns at full size and writes docs/internals/proof.md.

`python -m tests.campaigns P25 --minutes 10` runs one campaign with its own options instead of its full size, and
`--rotate 60` the campaigns whose records are the oldest, as many as take an hour.
Each is a process of its own. What it printed, its seed, exit code and duration stand in `tests/campaigns/results`,
beside the JSON lines of its trials; the page is made from these files and from nothing else.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.result_file import CODE, code_of
from cutter.stack import temporal
from tests.campaigns.table import CAMPAIGNS, Campaign

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RESULTS = HERE / "results"
TRIALS = ROOT / ".cutter" / "campaigns"
PAGE = ROOT / "docs" / "internals" / "proof.md"

LOGGED = re.compile(r"(\x1b\[\dm)?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")
"""What activities and the SDK log beside what a campaign prints."""

PART = "--only"
"""The option of a campaign that runs a part of it. The record of the whole campaign stays."""

FRESH = timedelta(weeks=4)
"""A row that is older than the newest one by more than this says so."""

LINES_SHOWN = 72
"""Lines of a campaign's summary that the page shows."""


def run(campaign: Campaign, seed: int, options: Sequence[str] = ()) -> dict[str, Any]:
    """One campaign, with these options or at its full size; its record is written whether it was accepted or not, but
    not for a part of it.
    """
    TRIALS.mkdir(parents=True, exist_ok=True)
    out = TRIALS / f"{campaign.id.lower()}.jsonl"
    sized = [campaign.module, *(options or campaign.full)]
    words = ["-m", *sized, "--seed", str(seed), "--out", str(out)]
    began = time.monotonic()
    done = subprocess.run([sys.executable, *words], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    record: dict[str, Any] = {
        "id": campaign.id,
        "command": "python " + " ".join(words[:-2]),
        "seed": seed,
        "exit": done.returncode,
        "seconds": round(time.monotonic() - began),
        "on": f"{datetime.now(UTC):%Y-%m-%d}",
        "code": CODE,
        "temporal": temporal.resolve().version,
        "lines": [line for line in done.stdout.strip().splitlines() if line.strip() and not LOGGED.match(line)],
    }
    if PART not in options:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{campaign.id.lower()}.json").write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    print(
        "\n".join(record["lines"]), f"\n{campaign.id}: exit {done.returncode} after {record['seconds']} s", flush=True
    )
    return record


def recorded(campaign: Campaign) -> dict[str, Any] | None:
    """The record of a campaign, or None if it never ran."""
    file = RESULTS / f"{campaign.id.lower()}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def due(seconds: float) -> Iterator[Campaign]:
    """The campaigns whose records are the oldest, as long as the next one takes no longer than what is left.

    The first one comes in any case. Otherwise a campaign that takes longer than a night's time would never run again.
    """
    began = time.monotonic()
    rotated = [(recorded(campaign) or {"on": "", "seconds": 0}, campaign) for campaign in CAMPAIGNS]
    for place, (record, campaign) in enumerate(sorted(
        ((record, campaign) for record, campaign in rotated if not campaign.named_only), key=lambda row: row[0]["on"]
    )):  # fmt: skip
        if place == 0 or record["seconds"] <= seconds - (time.monotonic() - began):
            yield campaign


def page() -> str:
    """docs/internals/proof.md from the records that stand."""
    rows, shown = [], []
    records = {campaign: recorded(campaign) for campaign in CAMPAIGNS}
    newest = max((record["on"] for record in records.values() if record), default="")
    for campaign, record in records.items():
        verdict = "not run" if record is None else "accepted" if record["exit"] == 0 else "**refused**"
        took = f"{record['seconds']} s, {record['on']}" if record else ""
        if record and date.fromisoformat(newest) - date.fromisoformat(record["on"]) > FRESH:
            took += ", **more than four weeks before the newest row**"
        rows.append(
            f"| {campaign.id} | {campaign.title} | {campaign.accepted_when} | {verdict} | {took} | {of(record)} |"
        )
        if record:
            lines = record["lines"][:LINES_SHOWN]
            more = len(record["lines"]) - len(lines)
            tail = [f"… and {more} lines more"] if more else []
            note = [f"({record['note']})", ""] if "note" in record else []
            shown += [f"## {campaign.id}", "", f"`{record['command']}`", "", *note, "```", *lines, *tail, "```", ""]
    return "\n".join(
        [
            "# Proof",
            "",
            "What `make test` proves on every commit, the campaigns prove at length: seeded trials on the real",
            "Temporal, PostgreSQL and gpg, each with a control arm that must fail, so that a green result means",
            "something. With no failure in n trials the 95 % upper bound of the rate is 3/n.",
            "",
            "This page is made by `make campaign` from `tests/campaigns/results`. A row without a commit is from a",
            "time when records named none. Its campaign ran on Server 1.29.1.",
            "",
            "| id | campaign | accepted when | outcome | took | commit and Temporal |",
            "| --- | --- | --- | --- | --- | --- |",
            *rows,
            "",
            *shown,
        ]
    )


def of(record: dict[str, Any] | None) -> str:
    """What the campaign ran on, such as "`37610c46`, Server 1.32.0". Empty for a record of an earlier form."""
    if record is None or "code" not in record:
        return ""
    return f"{code_of(record)}, {record['temporal'].partition(',')[0]}"


def main() -> int:
    """Run what was named (all without a name), write the page; 1 when one was refused."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", 1)[0])
    parser.add_argument("ids", nargs="*", metavar="ID", help="such as P2; without one, all that need no root")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--page", action="store_true", help="only write the page again")
    parser.add_argument("--rotate", type=float, metavar="MINUTES", help="the oldest ones, in about this time")
    chosen, options = parser.parse_known_args()
    names = {name.lower() for name in chosen.ids}
    wanted = [campaign for campaign in CAMPAIGNS if campaign.id.lower() in names or not (names or campaign.named_only)]
    if options and len(wanted) != 1:
        parser.error(f"only one campaign can have options of its own: {' '.join(options)}")
    those = due(chosen.rotate * 60) if chosen.rotate else wanted
    records = [] if chosen.page else [run(campaign, chosen.seed, options) for campaign in those]
    PAGE.write_text(page(), encoding="utf-8")
    return int(any(record["exit"] for record in records))


if __name__ == "__main__":
    sys.exit(main())
