"""IO: P34: each file of a run in the knowledge base is changed, removed or replaced by another, at each gate.

    python -m tests.campaigns.p34_changed_files --trials 600 --seed 1 --out p34.jsonl

Afterwards people bring the run to its end. If a gate refuses a file, a person puts back what was there. Every run must
end, and its evidence must hold. The control arm builds the evidence from the knowledge base, as an earlier version did.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from unittest import mock

from activities.gates import closeout
from cutter.catalogue import BY_NAME, GATES, State
from cutter.evidence import bundle
from cutter.types import Json
from tests.campaigns.p33_facts_of_one_role import evidence_problems
from tests.cases.trials import Dice, Summary, command_line, write_lines
from tests.support.database import TestCluster, own_cluster
from tests.support.people_and_workers import to_its_end
from tests.support.runs import Deployment, Keys, deployment, drive, keyring, law

HOW = ("changed", "removed", "another's")
CONTROL_SHARE = 4


def spoil(path: Path, others: Sequence[Path], how: str, dice: Dice) -> Callable[[], object]:
    """Change, remove or replace one file. Returns what puts it back."""
    kept, alike = path.read_bytes(), [other.read_bytes() for other in others if other.suffix == path.suffix]
    path.unlink()
    if how == "another's" and alike:
        path.write_bytes(dice.choose(alike))
    elif how != "removed":
        path.write_bytes(kept[: dice.below(len(kept) + 1)] + b"garbage")

    def mend() -> None:
        path.unlink(missing_ok=True)
        path.write_bytes(kept)

    return mend


def trial(made: Deployment, gate: str, dice: Dice) -> Json:
    """One run at one gate, one of its files, and the run's way to its end."""
    driven = drive(made, law(2), until=gate)
    following = GATES[BY_NAME[gate].number]
    if following.sovereign is not None:
        made.approve(driven.run_id, following.sovereign)
    folder = made.settings.state / "kb" / "knowledge" / "dev" / "laws" / driven.document_id.lower()
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    path, how = dice.choose(files), dice.choose(HOW)
    mend = spoil(path, [file for file in files if file != path], how, dice)
    steps = to_its_end(made, driven.run_id, mend)
    row = made.run_row(driven.run_id)
    if row["state"] == State.CLOSEOUT_REPORTED.value:
        problems = evidence_problems(made, driven.run_id)
    else:
        problems = [f"the run is {row['state']}, and not law"]
    return {"gate": gate, "file": path.name, "how": how, "steps": steps, "state": row["state"], "problems": problems}


def play(made: Deployment, trials: int, seed: int) -> Iterator[Json]:
    """The trials, at each gate in turn."""
    for number in range(trials):
        gate = GATES[number % (len(GATES) - 1)].name
        yield trial(made, gate, Dice(seed, "file", number))


def run(*, trials: int, seed: int, out: Path | None = None, server: TestCluster | None = None) -> Summary:
    """The trials, and a fourth as many whose evidence comes from the knowledge base."""
    with ExitStack() as stack:
        keys = stack.enter_context(keyring())
        return _run(server or stack.enter_context(own_cluster()), keys, trials, seed, out)


def _run(server: TestCluster, keys: Keys, trials: int, seed: int, out: Path | None) -> Summary:
    with server.database() as database, deployment(database, keys) as made:
        rows = list(play(made, trials, seed))
    with (
        server.database() as database,
        deployment(database, keys) as made,
        mock.patch.object(bundle, "document_of", return_value=None),
        mock.patch.object(closeout, "_accepted_defects", return_value=()),
    ):
        control = list(play(made, max(1, trials // CONTROL_SHARE), seed + 1))
    write_lines(out, [*rows, *control])
    return Summary(
        name="P34 changed files", n=len(rows), failures=sum(bool(row["problems"]) for row in rows),
        control=sum(bool(row["problems"]) for row in control), control_n=len(control),
        counts=Counter(f"{row['how']}, {row['state']}" for row in rows),
    )  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(command_line(run, __doc__ or "", trials=600))
