"""Inbox, status, reconcile, rebuild, audit and report by command, on real runs."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from pathlib import Path

import pytest

from cutter.catalogue import GATES, PLANNED
from cutter.storage import runs as run_rows
from tests.acceptance.cli.conftest import NOBODY, Cutter
from tests.support.processes import temporal_program
from tests.support.stack import DOCUMENT, THREE_UNITS, Run, Stack

CUT, LIFECYCLE = "SG_cut_authz", "SG_lifecycle_authz"
OTHER = "ICX-TEST-2"


@pytest.mark.promise
async def test_the_inbox_lists_what_waits_the_oldest_first(stack: Stack, cutter: Cutter) -> None:
    stack.register(OTHER, THREE_UNITS)
    async with stack.workers():
        assert (await cutter("inbox", "--json")).json == {"waiting": [], "blocked": []}
        first = await stack.start()
        await first.until_requested(CUT)
        second = await stack.start(OTHER)
        await second.until_requested(CUT)
        rows = (await cutter("inbox", "--json", CUTTER_TEMPORAL_ADDRESS=NOBODY)).json["waiting"]
        assert [row["run_id"] for row in rows] == [first.run_id, second.run_id]
        assert rows[0]["command"] == f"cutter approve {DOCUMENT}"
        assert (rows[0]["gate"], rows[0]["approvers_needed"], rows[0]["approvers_accepted"]) == (CUT, 1, [])
        assert rows[0]["expires_utc"] > rows[0]["since_utc"]
        await first.through()
        assert [row["run_id"] for row in (await cutter("inbox", "--json")).json["waiting"]] == [second.run_id]


@pytest.mark.promise
async def test_status_works_while_temporal_is_down(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
    view = (await cutter("status", run.run_id, "--json", CUTTER_TEMPORAL_ADDRESS=NOBODY)).json
    assert [gate["outcome"] for gate in view["gates"]] == ["passed"] * len(PLANNED) + [""] * (len(GATES) - len(PLANNED))
    assert (view["needs"], view["next"]) == ("signed approval", f"cutter approve {DOCUMENT}")
    answer = await cutter("status", DOCUMENT, CUTTER_TEMPORAL_ADDRESS=NOBODY)
    assert re.search(r"✓ +awaiting_cut_authorization", answer.out)
    assert re.search(r"· +cut_leg_a_committed", answer.out)
    listed = (await cutter("status", "--json", CUTTER_TEMPORAL_ADDRESS=NOBODY)).json["runs"]
    assert [(row["document_id"], row["gates_passed"]) for row in listed] == [(DOCUMENT, len(PLANNED))]
    views = {}
    for kind in ("request", "run", "task"):
        views[kind] = (await cutter("status", DOCUMENT, "--as", kind, "--json", CUTTER_TEMPORAL_ADDRESS=NOBODY)).json
    assert {kind: view["status"] for kind, view in views.items()} == {
        "request": "awaiting_user_confirmation", "run": "waiting_approval", "task": "running"
    }  # fmt: skip
    assert views["request"]["entity_id"] == f"{run.run_id}#1"
    assert [transition["to"] for transition in views["request"]["transitions"]] == [
        "queued", "executing", "awaiting_user_confirmation"
    ]  # fmt: skip
    assert [step["status"] for step in views["run"]["steps"]] == ["succeeded"] * len(PLANNED) + ["waiting_approval"]
    assert [approval["status"] for approval in views["run"]["approvals"]] == ["requested"]
    assert "IG_cut_leg_a_execute" in (await cutter("status", run.run_id, "--as", "run")).out
    for wrong in (("--as", "project"), ("--as", "workstream"), ()):
        refused = await cutter("status", *([DOCUMENT] if wrong else []), *(wrong or ("--as", "run")))
        assert refused.code == 2


async def test_a_skipped_run_says_which_run_made_the_law(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers():
        first = await stack.start()
        await first.through()
        again = await cutter("run", DOCUMENT, "--wait", "--json")
    law = f"this version is already enacted, by run {first.run_id}"
    assert (again.code, again.json["reason"], again.json["next"]) == (0, law, f"cutter report {first.run_id}")
    skipped = again.json["run_id"]
    shown = (await cutter("status", skipped, "--json")).json
    assert (shown["run_id"], shown["reason"]) == (skipped, law)
    assert law in (await cutter("status", skipped)).out
    assert (await cutter("status", DOCUMENT, "--json")).json["run_id"] == first.run_id, "the skipped one shows nothing"
    assert f"cutter report {first.run_id}" in (await cutter("status")).out


async def test_a_document_means_its_open_run_although_a_later_one_has_ended(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
    later = await asyncio.to_thread(run_rows.register_run, stack.settings, DOCUMENT, "dryrun")
    await cutter("cancel", later, "--reason", "by mistake")
    await cutter("reconcile", "--grace-seconds", "0")
    ended = (await cutter("status", later, "--json")).json
    assert ended["state"] == "voided_cancelled"
    assert (await cutter("status", DOCUMENT, "--json")).json["run_id"] == run.run_id
    assert [run["run_id"] for run in (await cutter("status", "--json")).json["runs"]] == [run.run_id]
    assert (await cutter("stop", DOCUMENT, "--reason", "x", "--json")).json["run_id"] == run.run_id


async def test_watching_a_run_through_a_pipe_is_one_line_a_state_and_ends_with_the_run(
    stack: Stack, cutter: Cutter
) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        watching = asyncio.create_task(cutter("status", run.run_id, "--watch"))
        await run.through()
        answer = await watching
    states = [line.split()[3] for line in answer.out.splitlines()]
    assert answer.code == 0
    assert len(states) == len(set(states)) == 14
    assert (states[0], states[-1]) == ("pending", "closeout_reported")


async def test_a_run_that_is_watched_through_a_pipe_is_one_line_a_state_until_it_waits_for_a_person(
    cutter: Cutter, stack: Stack
) -> None:
    async with stack.workers():
        answer = await cutter("run", DOCUMENT, "--watch")
        machine = (await cutter("status", DOCUMENT, "--json")).json
    states = [line.split()[3] for line in answer.out.splitlines() if f"Z {DOCUMENT} " in line]
    assert (answer.code, states[0], states[-1]) == (3, "pending", "awaiting_cut_authorization")
    assert states == [state["state"] for state in machine["states"] if state["at"]]
    assert f"cutter approve {DOCUMENT}" in answer.out


async def test_reconcile_marks_a_run_whose_workflow_is_gone_and_leaves_waiting_ones_alone(
    stack: Stack, cutter: Cutter
) -> None:
    stack.register(OTHER, THREE_UNITS)
    async with stack.workers():
        lost = await stack.start()
        await lost.until_requested(CUT)
        waiting = await stack.start(OTHER)
        await waiting.until_requested(CUT)
    await lost.handle.terminate("somebody did")
    report = (await cutter("reconcile", "--json")).json
    assert [(entry["run_id"], entry["state"]) for entry in report["marked"]] == [(lost.run_id, "stopped_terminated")]
    assert report["marked"][0]["next"] == f"cutter orchestrate resume --document-id {DOCUMENT}"
    assert [entry["run_id"] for entry in report["left_alone"]] == [waiting.run_id]
    assert await waiting.state() == "awaiting_cut_authorization"
    again = (await cutter("reconcile", "--json")).json
    assert (again["marked"], [entry["run_id"] for entry in again["without_workflow"]]) == ([], [lost.run_id])
    async with stack.workers():
        answer = await cutter("orchestrate", "resume", "--run-id", lost.run_id, "--json")
        assert answer.json["answer"]["status"] == "accepted"
        if await lost.state() == "stopped_terminated":
            await cutter("orchestrate", "resume", "--run-id", lost.run_id, "--json")
        assert (await cutter.signed("approve", lost.run_id)).json["status"] == "accepted"
        await lost.until_state("awaiting_lifecycle_authorization")


async def test_reconcile_does_not_soften_a_stop_that_needs_a_signature(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        await run.handle.signal("stop", {"reason": "no"})
        await run.until_shown("stopped_stop")
    await run.handle.terminate("to get rid of the stop")
    report = (await cutter("reconcile", "--json")).json
    assert report["marked"] == []
    assert await run.state() == "stopped_stop"
    assert "--decision resume" in report["without_workflow"][0]["next"]
    async with stack.workers():
        signed = await cutter.signed("approve", run.run_id, "--decision", "resume", "--reason", "yes after all")
        assert signed.json["status"] == "accepted"
        await run.until_state("awaiting_cut_authorization")


async def test_reconcile_ends_a_cancelled_run_whose_workflow_is_gone(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
    await run.handle.terminate("gone")
    assert (await cutter("cancel", DOCUMENT, "--reason", "by mistake", "--json")).json["next"] == "cutter reconcile"
    report = (await cutter("reconcile", "--json")).json
    assert [entry["state"] for entry in report["marked"]] == ["voided_cancelled"]


async def test_reconcile_leaves_a_run_alone_that_was_registered_a_moment_ago(stack: Stack, cutter: Cutter) -> None:
    run_id = await asyncio.to_thread(run_rows.register_run, stack.settings, DOCUMENT, "live")
    assert [entry["run_id"] for entry in (await cutter("reconcile", "--json")).json["left_alone"]] == [run_id]
    marked = (await cutter("reconcile", "--grace-seconds", "0", "--json")).json["marked"]
    assert [entry["run_id"] for entry in marked] == [run_id]


async def test_reconcile_puts_documents_that_wait_also_without_temporal(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
    kb_id = next(
        document["kb_id"] for document in (await run.sidecar())["documents"] if document["subject"] == "IG_mark"
    )
    path = stack.settings.state / "kb" / kb_id
    before = path.read_bytes()
    path.unlink()
    stack.database.run("update cutter_governance.outbox set done_at = null where kb_id = %s", (kb_id,))
    answer = await cutter("reconcile", "--json", CUTTER_TEMPORAL_ADDRESS=NOBODY)
    assert answer.code == 5
    assert [document["kb_id"] for document in answer.json["documents_put"]] == [kb_id]
    assert path.read_bytes() == before
    path.unlink()
    path.write_bytes(b"other bytes")
    undone = "update cutter_governance.outbox set done_at = null, sha256 = null where kb_id = %s"
    stack.database.run(undone, (kb_id,))
    renamed = await cutter("reconcile", "--json")
    other = kb_id.replace(".md", "-other2.md")
    assert (renamed.code, [document["kb_id"] for document in renamed.json["documents_put"]]) == (0, [other])
    assert (stack.settings.state / "kb" / other).read_bytes() == before
    assert path.read_bytes() == b"other bytes"
    path.parent.rename(path.parent.with_name("away"))
    path.parent.write_bytes(b"a file where the folder was")
    stack.database.run(undone, (other,))
    refused = await cutter("reconcile", "--json")
    assert (refused.code, refused.json["documents_waiting"][0]["run_id"]) == (5, run.run_id)


def files(folder: Path, *, without: tuple[str, ...] = ()) -> dict[str, bytes]:
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    wanted = (path for path in paths if not any(word in path.name for word in without))
    return {str(path.relative_to(folder)): path.read_bytes() for path in wanted}


async def test_both_folders_are_rebuilt_byte_for_byte_from_the_database(stack: Stack, cutter: Cutter) -> None:
    """Seed 000 §5."""
    stack.register(OTHER, THREE_UNITS)
    async with stack.workers():
        run = await stack.start()
        assert (await run.through()).state == "closeout_reported"
        stopped = await stack.start(OTHER)
        await stopped.until_requested(CUT)
        await stopped.handle.signal("stop", {"reason": "to have a report of a stop"})
        await stopped.until_shown("stopped_stop")
    runs, kb = stack.settings.runs, stack.settings.state / "kb"
    # Artifacts stand in the run's folder too and are no projections: what people signed is in both of them.
    artifacts = ("pre_write", "evidence-")
    runs_before, kb_before = files(runs, without=artifacts), files(kb, without=("approval",))
    assert {f"{run.run_id}/state.json", f"{run.run_id}/transitions.jsonl"} < set(runs_before)
    for each_run in (run, stopped):
        answer = await cutter("verify", str(runs / each_run.run_id / "transitions.jsonl"), "--json")
        assert (answer.code, answer.json["findings"], answer.json["listed"]) == (0, 0, [])
        assert answer.json["events"] > 20
    assert len(kb_before) > 13
    shutil.rmtree(runs)
    shutil.rmtree(kb)
    answer = await cutter("rebuild", "--all", "--json", CUTTER_TEMPORAL_ADDRESS=NOBODY)
    assert answer.code == 0
    assert files(runs, without=artifacts) == runs_before
    assert files(kb) == kb_before
    missing = next(entry["missing"] for entry in answer.json["runs"] if entry["run_id"] == run.run_id)
    assert len(missing) == 4
    damaged = kb / next(name for name in kb_before if "03-cutplan" in name)
    damaged.write_bytes(b"other bytes")
    refused = await cutter("rebuild", "--all", "--json")
    assert refused.code == 4
    assert damaged.read_bytes() == b"other bytes"


async def test_the_audit_export_verifies_offline_and_a_deleted_event_is_seen(
    stack: Stack, cutter: Cutter, tmp_path: Path
) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
    file = tmp_path / "audit.jsonl"
    exported = await cutter("audit", "export", "--run", DOCUMENT, "--out", str(file), "--json")
    head = exported.json["head"]
    assert head == (await run.sidecar())["audit_head"]
    nowhere = {"CUTTER_DATABASE_URL": "postgresql://127.0.0.1:1/x", "CUTTER_TEMPORAL_ADDRESS": NOBODY}
    whole = await cutter("verify", str(file), "--head", head, "--json", **nowhere)
    assert (whole.code, whole.json["intact"], whole.json["anchored"]) == (0, True, "all events")
    blind = await cutter("verify", str(file), **nowhere)
    assert "NOT CHECKED" in blind.out
    every = await cutter("audit", "export", "--out", str(file), "--json")
    assert every.json["chains"] == 3, "the run's, the workers', the global one"
    assert (await cutter("verify", str(file), "--head", every.json["head"], **nowhere)).code == 0
    stack.database.run(
        """
        set session_replication_role = replica;
        alter table cutter_governance.audit_event disable trigger trg_audit_event_append_only;
        delete from cutter_governance.audit_event where seq = 3 and run_id = chain
        """
    )
    await cutter("audit", "export", "--out", str(file), "--json")
    answer = await cutter("verify", str(file), "--head", head, "--json", **nowhere)
    assert (answer.code, answer.json["intact"]) == (1, False)
    assert any("deleted" in problem for problem in answer.json["problems"])


@pytest.mark.promise
async def test_the_evidence_of_a_run_verifies_offline_with_temporals_own_history(
    stack: Stack, cutter: Cutter, tmp_path: Path
) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.through()
        history = tmp_path / "history.json"
        shown = [temporal_program(), "workflow", "show", "--workflow-id", f"document/{DOCUMENT}", "--output", "json"]
        asked = await asyncio.create_subprocess_exec(
            *shown, "--address", stack.settings.temporal_address or "", stdout=asyncio.subprocess.PIPE
        )
        history.write_bytes((await asked.communicate())[0])
    file = tmp_path / "evidence.tar"
    made = (await cutter("evidence", "export", DOCUMENT, "-o", str(file), "--json")).json
    assert (made["sealed"], made["signature"]) == ("by the closeout", f"{file}.asc")
    nowhere = {"CUTTER_DATABASE_URL": "postgresql://127.0.0.1:1/x", "CUTTER_TEMPORAL_ADDRESS": NOBODY}
    kept = ("--head", made["head"], "--sha256", made["sha256"], "--history", str(history))
    whole = await cutter("verify", str(file), *kept, "--json", **nowhere)
    verdicts = {(line["check"], line["verdict"]) for line in whole.json["checks"]}
    assert whole.code == 0
    assert verdicts == {
        *((what, "OK") for what in ("archive", "sha256", "audit chain", "head", "receipts", "approvals", "authorship",
                                    "history", "predecessor")),
        ("policy", "NOT CHECKED"), ("workers", "NOT CHECKED"), ("the law", "NOT CHECKED"),
    }  # fmt: skip
    blind = await cutter("verify", str(file), **nowhere)
    assert blind.code == 0
    assert re.search(r"NOT CHECKED +head +whether the whole file was rewritten", blind.out)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    refused = await cutter("verify", str(file), *kept, **nowhere)
    assert refused.code == 1
    assert re.search(r"FAILED +archive ", refused.out)
    another = await cutter("verify", str(history), **nowhere)
    assert another.code == 2
    assert "it is not an evidence bundle, an audit export" in another.err


async def test_the_report_is_one_file_with_the_run_in_it(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.through()
    answer = await cutter("report", DOCUMENT, CUTTER_TEMPORAL_ADDRESS=NOBODY)
    page = Path(answer.out.strip()).read_text(encoding="utf-8")
    sidecar = await run.sidecar()
    for text in (run.run_id, stack.kit.alice.fingerprint, sidecar["audit_head"], "IG_lifecycle_enact_execute"):
        assert text in page
    assert "<script" not in page
    file = Path(answer.out.strip())
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    alone = stack.settings.state / "alone.html"
    assert (await cutter("report", DOCUMENT, "--out", str(alone))).out.strip() == str(alone)
    assert alone.read_bytes() == file.read_bytes()
    nowhere = await cutter("report", DOCUMENT, "--out", "/no/such/folder/r.html")
    assert (nowhere.code, nowhere.out) == (2, "")
    assert json.loads((await cutter("report", DOCUMENT, "--json")).out)["state"] == "closeout_reported"


async def test_a_document_s_name_stands_for_its_law_whatever_was_skipped_or_rehearsed_since(
    stack: Stack, cutter: Cutter
) -> None:
    """Seeds 003 §8, 001 §9."""
    async with stack.workers():
        law = await stack.start()
        await law.through()
        skipped = await stack.start()
        await skipped.result()
        rehearsal = await stack.start(mode="dryrun")
        await rehearsal.result()
        assert run_rows.run_id_of(stack.settings, DOCUMENT) == law.run_id
        (listed,) = (await cutter("status", "--json", CUTTER_TEMPORAL_ADDRESS=NOBODY)).json["runs"]
        assert listed["run_id"] == law.run_id
        shown = await cutter("status", DOCUMENT, "--json", CUTTER_TEMPORAL_ADDRESS=NOBODY)
        assert (shown.json["run_id"], shown.json["state"]) == (law.run_id, "closeout_reported")
        stack.register(data=b"A text that has no heading at all.\n")
        failed = await stack.start()
        await failed.result()
        assert run_rows.run_id_of(stack.settings, DOCUMENT) == failed.run_id, "somebody has to look at it"
        stack.register(data=THREE_UNITS + b"\nMore.\n")
        open_ = await stack.start(amends=failed.run_id)
        assert run_rows.run_id_of(stack.settings, DOCUMENT) == open_.run_id


async def test_a_run_has_the_priority_that_was_asked_for_also_when_its_workflow_was_lost(
    stack: Stack, cutter: Cutter
) -> None:
    """Seed 002 "Queue and Cancellation Controls": as in a queue, lower first."""
    for wrong in ("-1", "10000", "first"):
        assert (await cutter("run", DOCUMENT, "--priority", wrong)).code == 2
    async with stack.workers():
        status = (await cutter("run", DOCUMENT, "--priority", "900", "--wait", "--json")).json
        run = stack.run_of(status["run_id"], DOCUMENT)
        assert await priority_of(run) == 3
        await run.handle.terminate("by a test")
        await cutter("orchestrate", "resume", "--run-id", run.run_id)
        assert await priority_of(run) == 3
    stored = "select priority from cutter_governance.run where run_id = %s"
    assert stack.database.value(stored, (run.run_id,)) == 900


async def priority_of(run: Run) -> int:
    """The key of the document's newest workflow."""
    description = await run.stack.client.get_workflow_handle(run.handle.id).describe()
    return description.raw_description.workflow_execution_info.priority.priority_key
