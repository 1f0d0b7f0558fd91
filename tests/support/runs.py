"""IO: brings runs to any gate without Temporal: the activities' own functions, real gpg approvals, a real database.

    with keyring() as keys, deployment(database, keys) as made:
        run = drive(made, law(3), until="IG_leg_b_record")

A gate is called as a worker would call it, in the dependencies of its own worker role (own passwords, own key).
"""

from __future__ import annotations

import shutil
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

from activities.registry import GATE_FUNCTIONS
from activities.run.approval_requests import judge_approval, open_request
from activities.run.course import begin_run
from activities.worker.dependencies import ROLES_OF, Deps
from cutter import sources
from cutter.approvals import approver_store, schema
from cutter.approvals.policy import Signing
from cutter.catalogue import BY_NAME, GATES, Gate, Sovereign, WorkerRole
from cutter.domain.run_record import RunRecord
from cutter.gpg import Gpg
from cutter.messages import BeginInput, GateInput, GateOutcome, JudgeInput, JudgeResult, Mode, RequestInput, RunInput
from cutter.policy.rules_file import shipped
from cutter.settings import Settings, load
from cutter.stack import workers
from cutter.types import Json
from starter.approver import signing_desk
from starter.commands import approvers
from starter.commands.keys import ensure_throwaway_keys
from tests.support.database import Database, TestCluster, short_folder
from tests.support.policies import put_in_force
from tests.support.signatures import sign_answer
from worker import build_deps

OPTIONS = {"duplicates": "refuse", "empty": "heading_only", "max_candidates": 10_000}


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """Keys of the workers, of the approvers, and the policy epoch that names them. Made once a session."""

    folder: Path
    people: Gpg
    approvers: tuple[tuple[str, str], ...]

    def signing(self, number: int = 0) -> signing_desk.Signing:
        """The n-th approver, ready to sign."""
        name, fingerprint = self.approvers[number]
        return signing_desk.Signing(approver=name, fingerprint=fingerprint, home=self.people.home)


@contextmanager
def keyring(*names: str) -> Iterator[Keys]:
    """Real keys under a short path; the agents are ended afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="ck", dir="/tmp"))
    homes = [Gpg(folder / "people")]
    try:
        settings = load(state_dir=folder, keys_dir=folder / "keys")
        ensure_throwaway_keys(settings)
        homes += [Gpg(folder / "keys" / name) for name in ("executor", "verifier", "backup")]
        people = tuple((name, homes[0].generate_key(name)) for name in names or ("alice", "bob"))
        approver_store.init(
            folder / "approvers",
            approvers=[
                approver_store.NewApprover(name=name, public_key=homes[0].export_key(key)) for name, key in people
            ],
        )
        yield Keys(folder=folder, people=homes[0], approvers=people)
    finally:
        for home in homes:
            home.stop_agent()
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(slots=True, kw_only=True)
class Deployment:
    """One database with its policy installed, and the dependencies of each worker role."""

    database: Database
    settings: Settings
    keys: Keys
    deps: dict[WorkerRole, Deps]
    made: int = 0

    def of(self, gate: Gate) -> Deps:
        """Dependencies of the worker that serves a gate."""
        return self.deps[gate.worker]

    def register(
        self, text: str, *, document_id: str | None = None, profile: str = "generic-markdown",
        effective: date | None = None,
    ) -> str:  # fmt: skip
        """Register a law; answers its document id, which is its docprefix too."""
        self.made += 1
        name = document_id or f"ICX-T{self.made}-{uuid.uuid4().hex[:6].upper()}"
        sources.register(
            self.settings, text.encode(), document_id=name, docprefix=name, profile=profile, options=dict(OPTIONS),
            effective=effective,
        )  # fmt: skip
        return name

    def begin(self, document_id: str, *, mode: Mode = "live") -> str:
        """Register a run."""
        start = BeginInput(
            run=RunInput(document_id=document_id, mode=mode, starter="olga"), first_execution_id=str(uuid.uuid4())
        )
        return begin_run(self.deps[WorkerRole.CUTTER], start).run_id

    def gate(self, name: str, run_id: str, approvals: Sequence[str] = ()) -> GateOutcome:
        """One attempt of a gate by its own activity."""
        deps = self.of(BY_NAME[name])
        asked = GateInput(run_id=run_id, approval_kb_ids=tuple(approvals))
        outcome: GateOutcome = GATE_FUNCTIONS[name](deps, asked)
        return outcome

    def request(self, run_id: str, sovereign: Sovereign | str) -> str:
        """Open (or find) a request; its KB id."""
        asked = RequestInput(run_id=run_id, gate=str(sovereign))
        view = open_request(self.deps[WorkerRole.CUTTER], asked)
        assert view.status == "requested", view
        return view.kb_id

    def approve(
        self, run_id: str, sovereign: Sovereign | str, *, by: int = 0, decision: str = schema.APPROVE
    ) -> tuple[str, JudgeResult]:
        """Open the request, sign it with an approver's own key, upload it, have it judged: (KB id, verdict)."""
        request = self.request(run_id, sovereign)
        kb_id = sign_answer(self.settings, self.keys.signing(by), run_id, request, decision=decision)
        return kb_id, self.judge(run_id, str(sovereign), kb_id)

    def order(self, run_id: str, decision: str, *, by: int = 0, **fields: str) -> JudgeResult:
        """Sign and upload an order about a run (resume, void, acknowledge_drift, revoke); its verdict."""
        kb_id, gate = self.sign_order(run_id, decision, by=by, **fields)
        return self.judge(run_id, gate, kb_id)

    def sign_order(self, run_id: str, decision: str, *, by: int = 0, **fields: str) -> tuple[str, str]:
        """Sign and upload an order without handing it over: (KB id, gate)."""
        deployment_id, gate = signing_desk.gate_ahead(self.settings, run_id)
        run = RunRecord.of(self.run_row(run_id))
        who = self.keys.signing(by)
        # Two orders of one second would else be one document.
        mark = uuid.uuid4().hex[:8]
        statement = signing_desk.order(run, deployment_id, gate, who, decision, f"as agreed ({mark})", **fields)
        return signing_desk.sign_and_upload(
            self.settings, statement, who, f"orders/{run_id}/{decision}-{mark}.md"
        ), gate

    def judge(self, run_id: str, gate: str, kb_id: str) -> JudgeResult:
        """The verdict of the cutter worker, recorded."""
        return judge_approval(self.deps[WorkerRole.CUTTER], JudgeInput(run_id=run_id, gate=gate, kb_id=kb_id))

    def run_row(self, run_id: str) -> Json:
        """The run's row."""
        row: Json = self.database.value("select to_jsonb(r) from cutter_governance.run r where run_id = %s", (run_id,))
        return row

    def close(self) -> None:
        for dep in self.deps.values():
            dep.watches.close()
            for pool in dep.pools.values():
                pool.close()


@contextmanager
def deployment(database: Database, keys: Keys, *, state: Path | None = None) -> Iterator[Deployment]:
    """A deployment on that database; state folder, stores and pools are its own."""
    with short_folder() as folder:
        base = database.settings(
            state or folder, keys_dir=keys.folder / "keys", approvers_dir=keys.folder / "approvers"
        )
        made = Deployment(
            database=database,
            settings=base,
            keys=keys,
            deps={role: build_deps(_of_role(base, folder, role), role) for role in WorkerRole},
        )
        try:
            approvers.install(base, approver_store.read_epoch(keys.folder / "approvers", 1))
            yield made
        finally:
            made.close()


def _of_role(settings: Settings, folder: Path, role: WorkerRole) -> Settings:
    """The settings of one worker process: only its own passwords and key."""
    secrets = folder / f"secrets-{role.value}"
    secrets.mkdir(mode=0o700)
    for database_role in ROLES_OF[role]:
        shutil.copy2(settings.secrets / f"{database_role.value}.password", secrets)
    keys = folder / f"keys-{role.value}"
    workers.hand_over(settings.keys, keys, role)
    return settings.model_copy(update={"secrets_dir": secrets, "keys_dir": keys})


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A database with one run at one point, to be cloned: who tests SQL there need not drive there."""

    server: TestCluster
    template: str
    run_id: str
    document_id: str
    units: int
    offers: tuple[Json, ...] = ()

    @contextmanager
    def clone(self) -> Iterator[Database]:
        """A copy of one's own."""
        with self.server.database(template=self.template) as made:
            yield made


@contextmanager
def stage(
    server: TestCluster, keys: Keys, *, until: str, sovereign: Sovereign | None = None, units: int = 3
) -> Iterator[Stage]:
    """A run with `until` sealed and, with `sovereign`, that request open and approved by the first approver."""
    with server.database(prefix="stage") as database:
        with deployment(database, keys) as made:
            driven = drive(made, law(units), until=until)
            offers: tuple[Json, ...] = ()
            if sovereign is not None:
                _, verdict = made.approve(driven.run_id, sovereign)
                assert verdict.accepted, verdict
                offers = (offer(made, verdict),)
        database.close()
        yield Stage(
            server=server, template=database.name, run_id=driven.run_id, document_id=driven.document_id, units=units,
            offers=offers,
        )  # fmt: skip


@dataclass(slots=True, kw_only=True)
class Driven:
    """A run that was brought somewhere: its ids, what each gate answered, the KB ids of the approvals."""

    run_id: str
    document_id: str
    outcomes: dict[str, GateOutcome] = field(default_factory=dict)
    approvals: dict[str, str] = field(default_factory=dict)

    @property
    def state(self) -> str:
        return list(self.outcomes.values())[-1].state


def in_force(settings: Settings, *rules: str) -> None:
    """These rules above the shipped ones, each the inside of a mapping; the first stands in line 3 as `r0`."""
    text = shipped().decode()
    listed = "".join(f"  - {{name: r{number}, {rule}}}\n" for number, rule in enumerate(rules))
    body = f"schema: cutter-policy/1\nrules:\n{listed}{text[text.index('  - name: writes') :]}"
    put_in_force(settings, body.encode())


def next_epoch(
    made: Deployment, folder: Path, signing: Signing = Signing.REQUIRED, *, after: int = 1, people: int | None = None
) -> None:
    """The next epoch: the same gates and the first `people` (default all), and whether signing is optional.

    `folder` is not there yet.
    """
    previous = approver_store.read_epoch(made.settings.approvers, after)
    shutil.copytree(made.settings.approvers, folder)
    following = approver_store.propose(folder, previous, approvers=previous.approvers[:people], signing=signing)
    approvers.install(made.settings, following)
    made.settings = made.settings.model_copy(update={"approvers_dir": folder})
    for role, deps in made.deps.items():
        made.deps[role] = replace(deps, settings=deps.settings.model_copy(update={"approvers_dir": folder}))


def law(units: int, *, word: str = "text") -> str:
    """A law of that many units (at least one)."""
    articles = (f"## Article {n}. Rule {n}\n\nThe {word} of article {n}.\n" for n in range(1, units))
    return "# An Act to test\n\nPreamble.\n\n" + "\n".join(articles)


def drive(
    made: Deployment,
    text: str | None = None,
    *,
    document_id: str | None = None,
    run_id: str | None = None,
    until: str | None = None,
    mode: Mode = "live",
) -> Driven:
    """Bring a run through its gates, approvals included, `until` that gate is sealed (default: the last one).

    A new law (`text`), a registered one (`document_id`), or a run that goes on (`run_id` with its document).
    """
    document = document_id or made.register(text if text is not None else law(3))
    driven = Driven(run_id=run_id or made.begin(document, mode=mode), document_id=document)
    sealed = set(made.database.value(
        "select coalesce(array_agg(gate), '{}') from cutter_governance.gate_receipt where run_id = %s", (driven.run_id,)
    ))  # fmt: skip
    last = BY_NAME[until] if until else GATES[-1]
    for gate in GATES[: last.number]:
        if gate.name not in sealed:
            _pass(made, driven, gate)
    return driven


def _pass(made: Deployment, driven: Driven, gate: Gate) -> None:
    approvals: tuple[str, ...] = ()
    if gate.sovereign is not None:
        kb_id, verdict = made.approve(driven.run_id, gate.sovereign)
        assert verdict.accepted, verdict
        driven.approvals[gate.sovereign.value] = kb_id
        approvals = (kb_id,)
    outcome = made.gate(gate.name, driven.run_id, approvals)
    assert outcome.status == "passed", outcome
    driven.outcomes[gate.name] = outcome


def open_gates(made: Deployment) -> int:
    """Transactions that stand open in the deployment's database while their process does something else."""
    return int(made.database.value(
        "select count(*) from pg_stat_activity where datname = current_database() and state = 'idle in transaction'"
    ))  # fmt: skip


def offer(made: Deployment, verdict: JudgeResult) -> Json:
    """An accepted approval as gates 6 and 10 hand it to fn_gate_open."""
    challenge = made.database.value(
        "select challenge from cutter_governance.approval_verdict where accepted and approval_sha256 = %s",
        (verdict.approval_sha256,),
    )
    return {"approval_sha256": verdict.approval_sha256, "challenge": challenge}
