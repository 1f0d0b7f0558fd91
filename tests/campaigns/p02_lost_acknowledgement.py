"""P2: the acknowledgement of COMMIT is lost at the four gates that write: nothing is doubled, nothing is lost.

    python -m tests.campaigns.p02_lost_acknowledgement --cuts 10000 --seed 1 --out p02.jsonl

Runs of laws of three units are brought to each writing gate by the activities' own functions; there a proxy cuts the
connection at COMMIT. Nine times of ten the server has committed and its answer is thrown away, else the connection
ends in the same moment as COMMIT is sent. The gate is then tried again, as the workflow does, and what stands in the
database is counted. Beside these, some COMMITs never reach the server: nothing stands, then once.

The control arm is a writer without a receipt that does its insert again when the connection was lost: through the same
proxy, with the three cuts in turn, it must double more than 300 rows of 1,000.
"""

from __future__ import annotations

import logging
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import LiteralString

import psycopg
import structlog
from psycopg.rows import dict_row

from cutter.catalogue import BY_NAME, GATES
from cutter.errors import Unavailable
from cutter.messages import GateOutcome
from cutter.stack.processes import until
from cutter.types import Json
from tests.cases.trials import Dice, Summary, command_line, write_lines
from tests.support import runs
from tests.support.database import Behind, Database, TestCluster, own_cluster, short_folder
from tests.support.laws import law
from tests.support.proxy import CommitProxy, Cut

UNITS = 3
WORKERS = 2
AT_ONCE = 100
"""Runs that stand before a gate in one database; it is cloned for each round."""
RETRY_SECONDS = 30
CONTROL_WANTED = 0.3

WRITTEN: dict[str, dict[str, int]] = {
    "IG_cut_leg_a_execute": {"units": UNITS, "versions": UNITS, "consumed": 1},
    "IG_leg_b_record": {"units": UNITS, "leg_b": 2 * UNITS + 6},
    "IG_write_verify": {"results": 1, "verifier_signatures": 1},
    "IG_lifecycle_enact_execute": {"units": UNITS, "enacted": UNITS, "logged": UNITS, "consumed": 2},
}
"""Rows that stand when a gate is sealed, exactly so many, by the names of `COUNTS`."""

COUNTS: LiteralString = """
with unit as (select * from public.information_unit where canonical_address like %(document)s || '/%%'),
    change as (select * from cutter_governance.cut_change_set where run_id = %(run)s),
    result as (select r.* from cutter_governance.verify_result r join change using (change_set_id))
select (select count(*) from unit) as units,
    (select count(*) from public.unit_version v join unit on unit.id = v.unit_id) as versions,
    (select count(*) from unit where lifecycle_status = 'enacted') as enacted,
    (select count(*) from public.iu_lifecycle_log l join unit on unit.id = l.unit_id
     where to_status = 'enacted') as logged,
    (select count(*) from cutter_governance.approval_consumption where run_id = %(run)s) as consumed,
    (select count(*) from cutter_governance.decision_backlog_entry where run_id = %(run)s)
        + (select count(*) from cutter_governance.decision_backlog_history
           join cutter_governance.decision_backlog_entry using (entry_id) where run_id = %(run)s)
        + (select count(*) from cutter_governance.manifest_envelope where run_id = %(run)s)
        + (select count(*) from cutter_governance.manifest_unit_block
           join cutter_governance.manifest_envelope using (envelope_id) where run_id = %(run)s)
        + (select count(*) from cutter_governance.review_decision where run_id = %(run)s and type = 'cut')
        + (select count(*) from change)
        + (select count(*) from cutter_governance.cut_change_set_affected_row join change using (change_set_id))
        + (select count(*) from cutter_governance.dot_pair_signature s join change
           on s.cross_reference_change_set_id = change.change_set_id) as leg_b,
    (select count(*) from result) as results,
    (select count(*) from cutter_governance.dot_pair_signature s join result
     on s.cross_reference_verify_result_id = result.verify_result_id) as verifier_signatures,
    (select count(*) from cutter_governance.gate_receipt
     where run_id = %(run)s and gate = %(gate)s and sealed_at is not null) as receipts
"""


@dataclass(slots=True, kw_only=True)
class Waiting:
    """Runs that stand before one gate: the database and state folder to clone, and each run with its approvals."""

    gate: str
    database: Database
    state: Path
    runs: list[tuple[str, str, tuple[str, ...]]]


@contextmanager
def stages(cluster: TestCluster, keys: runs.Keys, count: int) -> Iterator[list[Waiting]]:
    """`count` runs before each of the writing gates."""
    with short_folder() as folder, ExitStack() as kept:
        live = kept.enter_context(cluster.database(prefix="live"))
        waiting: list[Waiting] = []
        under_way: list[tuple[str, str]] = []
        for name in WRITTEN:
            with runs.deployment(live, keys, state=folder / "live") as made:
                under_way = under_way or _begun(made, count)
                ready = [_before(made, name, *each) for each in under_way]
            live.close()
            state = folder / name
            shutil.copytree(folder / "live", state)
            copy = kept.enter_context(cluster.database(template=live.name, prefix="before"))
            waiting.append(Waiting(gate=name, database=copy, state=state, runs=ready))
        yield waiting


def _begun(made: runs.Deployment, count: int) -> list[tuple[str, str]]:
    documents = [made.register(law(UNITS)) for _ in range(count)]
    return [(made.begin(document), document) for document in documents]


def _before(made: runs.Deployment, name: str, run_id: str, document: str) -> tuple[str, str, tuple[str, ...]]:
    """Bring a run before a gate; with its approval signed and judged where it needs one."""
    gate = BY_NAME[name]
    runs.drive(made, document_id=document, run_id=run_id, until=GATES[gate.number - 2].name)
    if gate.sovereign is None:
        return run_id, document, ()
    kb_id, verdict = made.approve(run_id, gate.sovereign)
    assert verdict.accepted, verdict
    return run_id, document, (kb_id,)


def trials(
    cluster: TestCluster, keys: runs.Keys, waiting: Waiting, proxy: CommitProxy, cuts: Sequence[Cut]
) -> list[Json]:
    """One round at one gate: a clone of the database and its stores, one cut a run."""
    rows = []
    with cluster.database(template=waiting.database.name) as clone, short_folder() as folder:
        shutil.copytree(waiting.state, folder / "state")
        behind = Behind(server=cluster, name=clone.name, port=proxy.port)
        with (
            runs.deployment(behind, keys, state=folder / "state") as made,
            psycopg.connect(clone.url("postgres"), autocommit=True, row_factory=dict_row) as eye,
        ):
            for cut, each in zip(cuts, waiting.runs, strict=False):
                rows.append(trial(made, eye, proxy, waiting.gate, cut, each))
    return rows


def trial(
    made: runs.Deployment,
    eye: psycopg.Connection[Json],
    proxy: CommitProxy,
    gate: str,
    cut: Cut,
    run: tuple[str, str, tuple[str, ...]],
) -> Json:
    """Cut, look, try again, count. `lost` and `doubled` count rows that are missing and rows too many."""
    run_id, document, approvals = run
    given = {"run": run_id, "document": document, "gate": gate}
    armed = proxy.arm(cut, word="fn_gate_close")
    first = _tried(made, gate, run_id, approvals)
    happened = armed.done.is_set()
    proxy.disarm()
    between = eye.execute(COUNTS, given).fetchone()
    outcomes: list[GateOutcome] = []

    def passed() -> bool:
        outcome = _tried(made, gate, run_id, approvals)
        outcomes.extend([outcome] if outcome else [])
        return outcome is not None and outcome.status == "passed"

    again = until(passed, seconds=RETRY_SECONDS)
    after = eye.execute(COUNTS, given).fetchone()
    assert between is not None
    assert after is not None
    wanted = WRITTEN[gate] | {"receipts": 1}
    forgotten = cut is Cut.ANSWER and any(between[name] < number for name, number in wanted.items())
    return {
        "gate": gate, "cut": cut.value, "cut_happened": happened and first is None, "passed": again,
        "committed_before_retry": between["receipts"] == 1,
        "attempt": outcomes[-1].attempt if outcomes else 0,
        "statuses": [outcome.status for outcome in outcomes],
        "lost": sum(max(0, number - after[name]) for name, number in wanted.items()) + forgotten,
        "doubled": sum(max(0, after[name] - number) for name, number in wanted.items()),
    }  # fmt: skip


def _tried(made: runs.Deployment, gate: str, run_id: str, approvals: Sequence[str]) -> GateOutcome | None:
    """One attempt; None when the connection was lost under it."""
    try:
        return made.gate(gate, run_id, approvals)
    except Unavailable:
        return None


def naive(cluster: TestCluster, proxy: CommitProxy, count: int) -> int:
    """The control arm: how many of `count` rows a writer doubles that just writes again after a lost connection."""
    cluster_dsn = cluster.cluster.superuser_dsn()
    with psycopg.connect(cluster_dsn, autocommit=True) as connection:
        connection.execute("create table if not exists control (number integer)")
    through = cluster_dsn.replace(f":{cluster.cluster.port}/", f":{proxy.port}/")
    for number in range(count):
        armed = proxy.arm((Cut.ANSWER, Cut.RACE, Cut.REQUEST)[number % 3], word="insert into control")
        for _ in range(3):
            with suppress(psycopg.OperationalError), psycopg.connect(through) as connection:
                connection.execute("insert into control values (%s)", (number,))
                connection.commit()
                break
        assert armed.done.is_set()
    with psycopg.connect(cluster_dsn, autocommit=True) as connection:
        row = connection.execute(
            "select count(*) from (select number from control group by number having count(*) > 1) as doubled"
        ).fetchone()
    assert row is not None
    return int(row[0])


def _share(seed: int, worker: int, cuts: int, control: int) -> tuple[list[Json], int]:
    """One process's part of the campaign, on a cluster of its own."""
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
    dice = Dice(seed, "p02", worker)
    a_gate = -(-cuts // len(WRITTEN))
    rows: list[Json] = []
    with (
        own_cluster() as cluster,
        runs.keyring() as keys,
        CommitProxy(cluster.cluster.port) as proxy,
        stages(cluster, keys, min(AT_ONCE, a_gate)) as before,
    ):
        for waiting in before:
            left = [_cut(dice, number) for number in range(a_gate + a_gate // 10)]
            while left:
                now, left = left[: len(waiting.runs)], left[len(waiting.runs) :]
                rows += trials(cluster, keys, waiting, proxy, now)
        return rows, naive(cluster, proxy, control)


def _cut(dice: Dice, number: int) -> Cut:
    """One of eleven never reaches the server; of the others, one of ten is a race."""
    if number % 11 == 10:
        return Cut.REQUEST
    return Cut.RACE if dice.below(10) == 0 else Cut.ANSWER


def run(*, cuts: int = 10_000, seed: int = 1, control: int = 1_000, out: Path | None = None) -> Summary:
    """The whole campaign, on two processes."""
    shares = [(seed, worker, -(-cuts // WORKERS), -(-control // WORKERS)) for worker in range(WORKERS)]
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as pool:
        outcomes = list(pool.map(_share, *zip(*shares, strict=True)))
    rows = [row for some, _ in outcomes for row in some]
    write_lines(out, ({"trial": number, "seed": seed, **row} for number, row in enumerate(rows)))
    return summary(rows, control=sum(doubled for _, doubled in outcomes), control_n=sum(share[3] for share in shares))


def summary(rows: list[Json], *, control: int, control_n: int) -> Summary:
    """A row lost or doubled, a cut that did not happen and a gate that did not pass are failures."""
    acknowledgements = [row for row in rows if row["cut"] != Cut.REQUEST.value]
    bad = [row for row in rows if row["lost"] or row["doubled"] or not row["passed"] or not row["cut_happened"]]
    result = Summary(
        name="P2 lost acknowledgement of COMMIT", n=len(acknowledgements), failures=len(bad),
        control=control if control > CONTROL_WANTED * control_n else 0, control_n=control_n,
    )  # fmt: skip
    result.counts = Counter(row["gate"] for row in rows) + Counter(f"cut at the {row['cut']}" for row in rows)
    result.counts["rows lost"] = sum(row["lost"] for row in rows)
    result.counts["rows doubled"] = sum(row["doubled"] for row in rows)
    result.counts["answered by the receipt"] = sum(
        row["committed_before_retry"] and row["attempt"] == 1 for row in rows
    )
    return result


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P2: lost acknowledgement of COMMIT", cuts=10_000, control=1_000))
