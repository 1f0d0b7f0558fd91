"""IO: `make test-hosts`: a batch on a cluster of hosts, of which everything is killed, upgraded, rotated and restored.

It builds the Temporal server, starts two nodes on PostgreSQL with client certificates, the law database with TLS and a
synchronous standby, six workers of six users, and an S3 server. Everything is removed at the end. A person does nothing
but sign. The checks are those of `findings`, and the control arm shows that they find what is lost or doubled.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import monotonic

from cutter.catalogue import GATES, PLANNED
from cutter.domain.run_state import BatchState
from cutter.errors import CutterError
from cutter.stack.processes import until
from cutter.types import Json
from tests.cases.trials import Summary, write_lines
from tests.hosts import controls, evidence
from tests.hosts.batches import UNITS, Desk
from tests.hosts.cluster import ROOT, Cluster, cluster
from tests.hosts.faults import Fault, Faults, Played
from tests.hosts.findings import FACTS, doubled, lost, shortcomings
from tests.hosts.maintenance import Maintenance

LOGS = ROOT / ".cutter" / "hosts" / "logs"
BEGAN = monotonic()
OLD, NEW = "a", "b"
PROGRESS_SECONDS = 180
"""The longest time from a fault to the next sealed gate."""

ENDS_SECONDS = 60
WRITTEN = next(gate.number for gate in GATES if gate.name == "IG_write_verify")


def say(what: str) -> None:
    """A line of progress with its time."""
    print(f"{monotonic() - BEGAN:7.1f} s  {what}", file=sys.stderr, flush=True)


@dataclass(slots=True)
class Story:
    """One deployment from its first batch to the document after its restore. `builds`: who must work on a document."""

    cluster: Cluster
    documents: Sequence[str]
    batch_id: str = ""
    played: list[Played] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    builds: dict[str, str] = field(default_factory=dict)
    controls: int = 0
    rows: list[Json] = field(default_factory=list)
    desk: Desk = field(init=False)
    work: Maintenance = field(init=False)

    def __post_init__(self) -> None:
        self.desk, self.work = Desk(self.cluster), Maintenance(self.cluster)

    def tell(self) -> None:
        self.cluster.begin()
        self.cluster.install(OLD)
        self.work.make_current(OLD)
        say("six workers serve")
        self.cluster.laws.take_base()
        self._batch()
        self._restore()
        self._after()
        self._judge()

    # --- the batch ------------------------------------------------------------------------------------------------

    def _batch(self) -> None:
        """All faults; the other keys and the upgrade come while documents are written."""
        faults = Faults(self.cluster)
        self.builds = dict.fromkeys(self.documents, OLD)
        self.desk.register(self.documents)
        say(f"{len(self.documents)} documents are registered")
        self.batch_id = self.desk.start_batch(self.documents)
        self._control("open workflows are seen", bool(self.cluster.open_workflows()))
        self._spread(faults.while_planning(), 0, len(PLANNED))
        self.work.rotate_password()
        self.work.make_keys()
        say("another password of cutter_exec")
        self.desk.until_batch(self.batch_id, BatchState.AWAITING_CUT)
        changes = [
            Fault("other keys of backup, executor and verifier", self.work.rotate_keys),
            Fault("six workers of a build with another workflow next to the old ones", self._upgrade),
        ]
        self._in_portions([*faults.while_writing(), *changes])
        upgraded = self._begin("HOSTS-UPGRADED", NEW)
        self.desk.sign_batch(self.batch_id, BatchState.AWAITING_LIFECYCLE)
        say("signed: the documents may be enacted")
        self._spread(faults.while_enacting(), WRITTEN, len(GATES))
        self.desk.until_batch(self.batch_id, BatchState.CLOSEOUT)
        say("the batch is closed")
        self._enact(upgraded)
        self.work.retire(OLD)
        say("the old build is drained, its workers have ended")

    def _upgrade(self) -> None:
        self.work.install_changed(NEW)
        self.work.make_current(NEW)

    def _spread(self, faults: Sequence[Fault], first: int, last: int) -> None:
        """The faults of a phase, spread over its gates."""
        count = len(self.documents)
        for number, fault in enumerate(faults, start=1):
            self._until_sealed(count * first + count * (last - first) * number // (len(faults) + 1))
            self._happen(fault, count * last)

    def _in_portions(self, faults: Sequence[Fault]) -> None:
        """Each fault while some documents are written, which the approver signs only then: writing takes no time."""
        last = len(self.documents) * len(PLANNED)
        for number, fault in enumerate(faults):
            portion = self.documents[number :: len(faults)]
            last += len(portion) * (WRITTEN - len(PLANNED))
            with ThreadPoolExecutor(1) as approver:
                before = self.desk.sealed(self.batch_id)
                signing = approver.submit(self.desk.sign_some, self.batch_id, portion)
                self._until_sealed(min(before + 1, last))
                self._happen(fault, last)
                signing.result()
            self._until_sealed(last)

    def _happen(self, fault: Fault, last: int) -> None:
        """A fault; then either the next gate, or the last gate that is signed for."""
        before, began = self.desk.sealed(self.batch_id), monotonic()
        fault.play()
        self._until_sealed(min(before + 1, last))
        row = Played(name=fault.name, sealed=before, seconds=round(monotonic() - began, 1), at_work=before < last)
        self.played.append(row)
        say(f"{row.sealed:3} gates sealed; {row.name}; the next gate after {row.seconds} s")

    def _until_sealed(self, wanted: int) -> None:
        sealed = until(lambda: self.desk.sealed(self.batch_id) >= wanted, seconds=PROGRESS_SECONDS)
        assert sealed, f"{self.desk.sealed(self.batch_id)} of {wanted} gates within {PROGRESS_SECONDS} s"

    # --- single documents -----------------------------------------------------------------------------------------

    def _begin(self, document: str, build: str) -> str:
        self.builds[document] = build
        self.desk.register([document])
        return self.desk.start_run(document)

    def _enact(self, run_id: str) -> None:
        self.desk.sign_run(run_id, "awaiting_cut_authorization")
        self.desk.sign_run(run_id, "awaiting_lifecycle_authorization")
        self.desk.until_enacted(run_id)
        say(f"{run_id} is enacted")

    # --- the restore ----------------------------------------------------------------------------------------------

    def _restore(self) -> None:
        """The database is lost while the workers serve."""
        before = self.work.audit_events()
        self.work.lose_and_restore()
        if missing := len(before - self.work.audit_events()):
            self.problems.append(f"{missing} audit events are missing after the restore")
        say("the law database was lost and is back from the archived log")

    def _after(self) -> None:
        """One more document on the restored database."""
        self._enact(self._begin("HOSTS-RESTORED", NEW))

    # --- the judgement --------------------------------------------------------------------------------------------

    def _judge(self) -> None:
        if not until(lambda: not self.cluster.open_workflows(), seconds=ENDS_SECONDS):
            self.problems.append(f"open workflows: {self.cluster.open_workflows()[:5]}")
        self.rows = self._facts("cutter", list(self.builds))
        self.problems += shortcomings(self.rows, UNITS, self.builds)
        queued = self.cluster.rows("select document_id from cutter_governance.batch_queue where left_at is null")
        self.problems += [f"{row['document_id']}: is in a queue" for row in queued]
        say("the database is checked")
        self._control_database()
        self._evidence()

    def _facts(self, database: str, documents: Sequence[str]) -> list[Json]:
        return self.cluster.rows(FACTS, (list(documents),), database=database)

    def _control_database(self) -> None:
        """The same check on copies of the restored database, each with one document lost or doubled."""
        known = {name: build for name, build in self.builds.items() if name != "HOSTS-RESTORED"}
        missed = controls.unseen(
            self.cluster.laws.primary, self.documents[0], lambda database: self._facts(database, list(known)),
            lambda rows: shortcomings(rows, UNITS, known),
        )  # fmt: skip
        self.problems += [f"the check does not see: {name}" for name in missed]
        self.controls += len(controls.PLANTS) - len(missed)
        say(f"{len(controls.PLANTS) - len(missed)} of {len(controls.PLANTS)} planted defects were found")

    def _evidence(self) -> None:
        folder = self.cluster.ground.folder("audit")
        self.problems += evidence.unverified(self.cluster, list(self.builds), folder)
        self._control("a forged bundle is seen", evidence.is_forgery_seen(folder / f"{self.documents[0]}.tar"))
        say(f"{len(self.builds)} bundles are verified without a network")

    def _control(self, what: str, holds: bool) -> None:
        self.controls += holds
        self.problems += [] if holds else [f"not so: {what}"]


def run(documents: int) -> Story:
    """The whole story on a cluster of its own."""
    with cluster(say, LOGS) as made:
        story = Story(made, [f"HOSTS-{number:03d}" for number in range(1, documents + 1)])
        story.tell()
    return story


def summary(story: Story) -> Summary:
    """What the report shows."""
    report = Summary(name="hosts", n=len(story.builds), failures=len(story.problems), control=story.controls,
                    control_n=len(controls.PLANTS) + 2)  # fmt: skip
    report.counts["documents lost"] = lost(story.rows, UNITS)
    report.counts["documents doubled"] = doubled(story.rows, UNITS)
    report.counts["faults and changes"] = len(story.played)
    report.counts["faults and changes while gates were open"] = sum(played.at_work for played in story.played)
    report.counts["runs that stopped, so that a person had to act"] = sum(row["stops"] for row in story.rows)
    report.counts["signing sessions"] = story.desk.signed
    report.counts["signing sessions that had to be begun again"] = story.desk.tried.total()
    report.counts["processes that their process manager started again"] = sum(story.cluster.keeper.restarted.values())
    report.counts.update(f"problem: {problem}"[:300] for problem in story.problems)
    return report


def told(played: Played) -> str:
    """A line of the report."""
    return f"  next gate after {played.seconds:4.1f} s: {played.name}{'' if played.at_work else ' (no gate was open)'}"


def main() -> int:
    """Command line; exit 0 if nothing was lost, nothing doubled, and the control arm was seen."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", 1)[0])
    parser.add_argument("--documents", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1, help="without effect: the faults come in their order")
    parser.add_argument("--out", type=Path)
    words = parser.parse_args()
    # The cluster is removed at the end, also if somebody ends this program.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        story = run(words.documents)
    except CutterError as problem:
        say(str(problem))
        return 5
    report = summary(story)
    write_lines(words.out, map(asdict, story.played))
    print("\n".join([*report.lines(), *map(told, story.played)]))
    return 0 if report.accepted else 1


if __name__ == "__main__":
    sys.exit(main())
