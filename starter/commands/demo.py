"""Orchestration: `cutter demo`: runs the README's demo on the real parts, with keys that it throws away."""

from __future__ import annotations

import asyncio
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer
from rich.console import Console
from temporalio.client import WorkflowHandle

from cutter import sources
from cutter.approvals import approver_store, schema
from cutter.catalogue import Sovereign
from cutter.domain.run_record import RunSidecar
from cutter.domain.run_state import RunState
from cutter.errors import CutterError, NotFound, Unavailable
from cutter.evidence.offline import FAILED, NOT_CHECKED, OK
from cutter.gpg import Gpg
from cutter.messages import RunInput, RunResult
from cutter.projections import request_page
from cutter.projections.run_view import short_time
from cutter.settings import Settings, load
from cutter.stack import temporal
from cutter.stack.addresses import DEMO, temporal_address, ui_url
from cutter.storage import private
from cutter.storage import runs as run_rows
from cutter.types import Json
from starter.approver import signing_desk
from starter.approver.request_summary import change, unit_at_its_place
from starter.approver.request_summary import summary as request_summary
from starter.commands import approvers, demo_batch, evidence, up
from starter.commands.demo_batch import Amendment, DemoBatch
from starter.commands.pages import Form, saved
from starter.console.terminal import AsJson, ExitCode, Listing, end, err, progress, say, show, table
from starter.operator.run_watch import Tell, by_state, wait_for_people
from temporal import runs
from temporal.client import connect

APPROVER = "demo-sovereign"
LAWS = Path(__file__).parents[1] / "laws"
FIRST = ("reading-rooms-act", "us-constitution")
"""The name of the law that runs alone. If the folder lacks it, the first law runs alone."""


def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Leave the stack up.")] = False,
    laws: Annotated[str | None, typer.Option(help="A folder of laws to cut instead of the model laws.")] = None,
    as_json: AsJson = False,
) -> None:
    """Cut laws on the real servers: one law with approvals by the temporal CLI, then a batch in two signing sessions.

    It has a stack of its own, in the folder `demo` of the state folder.

    Example: cutter demo --keep
    """
    settings = load()
    if settings.database_url is None:
        # The demo's own state folder, also for the processes that it starts. An existing database is used as it is.
        os.environ["CUTTER_STATE_DIR"] = str(settings.state / DEMO)
        settings = load()
    with progress("starting") as status:
        up.start(settings, status)
    try:
        home = ensure_approver(settings)
        first, others = _laws(laws)
        document_id = f"ICX-DEMO-{datetime.now(UTC):%Y%m%d-%H%M%S}"
        sources.register(
            settings, first.read_bytes(), document_id=document_id, docprefix=document_id,
            profile=demo_batch.profile_of(first.name), options=demo_batch.OPTIONS,
        )  # fmt: skip
        say(f"registered {document_id}: {first.name}")
        sidecar = run_rows.sidecar(settings, asyncio.run(_story(settings, home, document_id)))
        batch = demo_batch.play(settings, signing_desk.who(settings, APPROVER, None, home), others) if others else None
        amended, day = None, demo_batch.registered(settings, document_id, first)
        if day is not None:
            second = asyncio.run(_story(settings, home, document_id))
            amended = demo_batch.looked_at(settings, document_id, second, day)
        story = summary(settings, sidecar)
        answer = story | {"batch": batch and batch.as_json(), "amended": amended and amended.as_json()}
        show(answer, as_json=as_json, render=lambda console: _closeout(story, batch, amended, console))
    finally:
        if keep:
            say(f"left up: Web UI {ui_url(settings)}; `cutter down` stops it")
            say(f"to look around: export CUTTER_STATE_DIR={settings.state}")
        else:
            with progress("stopping") as status:
                up.stop(settings, status)
    end(ExitCode.DONE if sidecar.run.state == "closeout_reported" else ExitCode.FAILED)


def ensure_approver(settings: Settings) -> Path:
    """A throw-away approver for this stack, in its own GnuPG home, and the policy that names it."""
    home = settings.state / "demo" / "gpg"
    gpg = Gpg(home)
    fingerprints = gpg.primary_fingerprints(secret=True) or (gpg.generate_key(f"{APPROVER} (throw-away)"),)
    try:
        policy = approver_store.read_epoch(settings.approvers, 1)
    except NotFound:
        new = approver_store.NewApprover(name=APPROVER, public_key=gpg.export_key(fingerprints[0]))
        policy = approver_store.init(settings.approvers, approvers=[new])
    if policy.approver_of(fingerprints[0]) is None:
        raise Unavailable(
            f"this stack has a policy without {APPROVER}: use another CUTTER_STATE_DIR for the demo", what="approvers"
        )
    try:
        approvers.in_force(settings)
    except NotFound:
        approvers.install(settings, policy)
    return home


def _laws(folder: str | None) -> tuple[Path, list[Path]]:
    """(The law that runs alone, the laws of the batch)."""
    where = Path(folder) if folder else LAWS
    files = sorted(path for path in where.glob("*.*") if path.suffix in (".md", ".txt") and path.name != "README.md")
    if not files:
        raise NotFound(f"no .md or .txt file in {where}")
    first = next((path for path in files if path.name.startswith(FIRST)), files[0])
    return first, [path for path in files if path != first]


async def _story(settings: Settings, home: Path, document_id: str) -> str:
    """Run the document's newest version through both sovereign gates, and return the run."""
    client = await connect(settings)
    run_id = run_rows.register_run(settings, document_id, "live")
    first = RunInput(document_id=document_id, run_id=run_id, starter="demo")
    handle = await runs.start(client, first, runs.turn_of(settings, document_id))
    signer = signing_desk.who(settings, APPROVER, None, home)
    with progress(f"{document_id}: running") as status:
        tell = by_state(status)
        for gate in ("SG_cut_authz", "SG_lifecycle_authz"):
            outcome = await _await_gate(settings, handle, run_id, gate, tell)
            if outcome.get("request") is None:
                raise CutterError(f"the demo's run went to {outcome['state']}: see", then=f"cutter status {run_id}")
            kb_id = _sign(settings, signer, run_id, outcome["request"])
            say(f"{gate}: signed, {_signal(settings, document_id, kb_id)}")
            await _await_consumed(settings, run_id, gate)
        await runs.result_of(handle, RunResult)
    return run_id


async def _await_gate(
    settings: Settings, handle: WorkflowHandle[Any, Any], run_id: str, gate: str, tell: Tell
) -> dict[str, Any]:
    while True:
        outcome = await wait_for_people(settings, handle, run_id, tell)
        if outcome.get("request") is None or run_rows.sidecar(settings, run_id).requests[-1].gate == gate:
            return outcome
        await asyncio.sleep(0.1)


async def _await_consumed(settings: Settings, run_id: str, gate: str) -> None:
    while True:
        sidecar = await asyncio.to_thread(run_rows.sidecar, settings, run_id)
        if any(used.gate == gate for used in sidecar.consumptions) or RunState(sidecar.run.state).stopped:
            return
        await asyncio.sleep(0.1)


def _sign(settings: Settings, signer: signing_desk.Signing, run_id: str, request: str) -> str:
    document, data = signing_desk.read_request(settings, run_id, request)
    view = signing_desk.recompute(settings, document)
    # What an approver sees before signing: the change, or the tree and one unit at its place in the source; the page.
    if view.revision:
        err().print(*change(document, view), sep="\n", soft_wrap=True)
    elif document.request.gate == Sovereign.CUT:
        longest = max(view.units, key=lambda unit: unit.words)
        err().print(request_summary(document, view), *unit_at_its_place(view, longest), sep="\n", soft_wrap=True)
    page = saved(settings, document, request_page.render(document, view), Form.HTML, None)
    say(f"{document.request.gate}: the request as a page: {page}")
    statement = signing_desk.answer(document, data, signer, schema.APPROVE)
    return signing_desk.sign_and_upload(settings, statement, signer, document.approval_kb_id)


def _signal(settings: Settings, document_id: str, kb_id: str) -> str:
    """Send the signal with the real temporal CLI, as a person would."""
    program = temporal.resolve(address=None).path
    command = [
        str(program or "temporal"), "workflow", "signal", "--address", temporal_address(settings), "--workflow-id",
        f"document/{document_id}", "--name", "submit_approval", "--input", f'"{kb_id}"',
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False, env=dict(os.environ))
    if done.returncode != 0:
        raise Unavailable(f"the temporal CLI refused: {done.stderr.strip().splitlines()[-1][:200]}", what="temporal")
    return f"`temporal workflow signal --workflow-id document/{document_id} --name submit_approval`"


def summary(settings: Settings, sidecar: RunSidecar) -> dict[str, Any]:
    """Print the summary: the closeout, the units, both approvals, the addresses, and how long each gate took."""
    pins = sidecar.pins
    bundle = _evidence(settings, sidecar, pins) if "evidence_sha256" in pins else None
    query = quote(f'WorkflowId="document/{sidecar.run.document_id}"', safe="")
    gates = []
    for receipt in sidecar.receipts:
        attempts = [attempt for attempt in sidecar.attempts if attempt.gate == receipt.gate]
        last = attempts[-1]
        took = datetime.fromisoformat(last.finished_at or "") - datetime.fromisoformat(last.started_at)
        gates.append({"gate": receipt.gate, "milliseconds": round(took.total_seconds() * 1000),
                      "attempts": len(attempts), "receipt": receipt.receipt_hash})  # fmt: skip
    return {
        "run_id": sidecar.run.run_id,
        "state": sidecar.run.state,
        "units_enacted": pins.get("units_enacted"),
        "units_planned": pins.get("candidate_count"),
        "audit_head": pins.get("audit_head", sidecar.audit_head),
        "closeout": next((document.kb_id for document in sidecar.documents if document.subject == "IG_closeout"), None),
        "run_folder": str(settings.runs / sidecar.run.run_id),
        "evidence": bundle,
        "ui": f"{ui_url(settings)}/namespaces/{settings.temporal_namespace}/workflows?query={query}",
        "gates": gates,
        "approvals": [
            {
                name: getattr(consumption, name)
                for name in ("gate", "approver", "fingerprint", "writer_digest", "consumed_at")
            }
            for consumption in sidecar.consumptions
        ],
    }


def _evidence(settings: Settings, sidecar: RunSidecar, pins: dict[str, Any]) -> dict[str, Any]:
    """Write the run's bundle to a file and check it. The check needs neither the stack nor this program."""
    made, _, _ = evidence.exported(settings, sidecar.run.run_id)
    file = settings.state / "reports" / f"{made.run_id}.evidence.tar"
    private.own_folder(file.parent)
    private.write(file, made.data)
    checked = evidence.checks(file.read_bytes(), head=pins["audit_head"], sha256=pins["evidence_sha256"])
    return {"file": str(file), "sha256": made.sha256, "checks": checked}


def _closeout(answer: Json, batch: DemoBatch | None, amended: Amendment | None, console: Console) -> None:
    gates = [
        (gate["gate"], f"{gate['milliseconds']} ms", gate["attempts"], gate["receipt"][:16]) for gate in answer["gates"]
    ]
    console.print(table(("gate", "took", "attempts", "receipt"), gates, title=f"\n{answer['run_id']}"))
    used = [
        (approval["gate"], approval["approver"], approval["fingerprint"], approval["writer_digest"][:16],
         short_time(approval["consumed_at"]))
        for approval in answer["approvals"]
    ]  # fmt: skip
    columns = ("approval of", "signed by", "fingerprint", "digest", "consumed once at")
    console.print(Listing(columns=columns, rows=used, title="\napprovals"))
    console.print(f"\n{answer['units_enacted']} enacted of {answer['units_planned']}")
    console.print(f"state: {answer['state']} · audit head {str(answer['audit_head'])[:16]}")
    for name in ("closeout", "run_folder", "ui"):
        label = {"closeout": "closeout", "run_folder": "run folder", "ui": "Web UI"}[name]
        console.print(f"{label}: {answer[name]}", soft_wrap=True)
    if answer["evidence"] is not None:
        bundle = answer["evidence"]
        console.print(f"evidence: {bundle['file']}", soft_wrap=True)
        console.print(f"  sha256 {bundle['sha256']}, as the closeout's report says; checked offline:")
        for word in (OK, FAILED, NOT_CHECKED):
            names = [what for what, verdict, _ in bundle["checks"] if verdict == word]
            if names:
                console.print(f"  {word}: {', '.join(names)}")
    if batch is not None:
        demo_batch.show(batch, console)
    if amended is not None:
        demo_batch.show_amendment(amended, console)
