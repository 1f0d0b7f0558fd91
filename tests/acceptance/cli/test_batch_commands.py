"""The batch's commands as the seed writes them, what they refuse, and how each of them ends."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import uuid_utils

from cutter import sources
from cutter.approvals.signed_list import SignatureFile, read_signature
from cutter.batch import documents
from cutter.kb.ids import signature_of
from cutter.kb.store import Store
from tests.acceptance.cli.conftest import NOBODY, ROOT, Cutter, Told
from tests.support import batch as support
from tests.support.batch import CUT, LIFECYCLE, Batch, Json
from tests.support.signatures import sign_answer
from tests.support.stack import Stack
from tests.support.temporal import until

POISON = b"A text that has no heading at all.\n"
ENACTED = "select count(*) from public.information_unit where lifecycle_status = 'enacted'"
EVERY_ROW = (
    "select (select count(*) from cutter_governance.audit_event) + (select count(*) from cutter_governance.outbox) "
    "+ (select count(*) from cutter_governance.run)"
)


def queue_file(stack: Stack, items: Sequence[Json], batch_id: str = "") -> tuple[Path, str]:
    """A queue.yaml of these items; (where it stands, its batch id)."""
    batch_id = batch_id or str(uuid_utils.uuid7())
    path = stack.settings.state / "queue.yaml"
    path.write_bytes(support.queue_yaml(items, batch_id))
    return path, batch_id


def batch_of(stack: Stack, batch_id: str) -> Batch:
    return Batch(stack=stack, batch_id=batch_id, handle=stack.client.get_workflow_handle(f"batch/{batch_id}"))


def set_here(stack: Stack, waiting: Sequence[Json], name: str) -> Path:
    """A folder on this machine with a signed statement for each of these items, as a sovereign hands it over."""
    folder = stack.settings.state / name
    folder.mkdir()
    for item in waiting:
        kb_id = f"knowledge/dev/{name}/{item['document_id']}.md"
        sign_answer(stack.settings, stack.kit.alice, item["run_id"], item["request_kb_id"], kb_id=kb_id)
        for suffix in ("", ".asc"):
            source = Path(str(stack.settings.kb).removeprefix("file://")) / f"{kb_id}{suffix}"
            (folder / f"{item['document_id']}.md{suffix}").write_bytes(source.read_bytes())
    return folder


async def waiting(batch: Batch, gate: str) -> list[Json]:
    state = "batch_awaiting_cut_authz_set" if gate == CUT else "batch_awaiting_lifecycle_authz_set"
    return [item for item in (await batch.until_state(state))["items"] if item["request_kb_id"]]


async def test_the_seeds_own_commands_lead_from_a_queue_to_closeout(stack: Stack, cutter: Cutter) -> None:
    """Seeds 000 §7, 001 §1, 001 §9."""
    path, batch_id = queue_file(stack, support.small_laws(stack, 2))
    batch = batch_of(stack, batch_id)
    async with stack.workers():
        started = await cutter("orchestrate", "batch", "--queue", str(path), "--max-concurrent", "4", "--json")
        assert (started.code, started.json["new"], started.json["items"]) == (0, True, 2)
        first = set_here(stack, (await waiting(batch, CUT))[:1], "SG1-approvals")
        answer = await cutter("orchestrate", "resume", "--batch-id", batch_id, "--approval-set", str(first), "--json")
        assert (answer.code, answer.json["accepted"], answer.json["missing"]) == (0, ["ICX-B-1"], ["ICX-B-2"])
        late = (await batch.until_stage("ICX-B-2", "at_sg1"), await batch.until_stage("ICX-B-1", "at_sg2"))
        approval = set_here(stack, late[:1], "late") / "ICX-B-2.md"
        run = ("orchestrate", "resume", "--run-id", late[0]["run_id"], "--approval-kb-id")
        assert (await cutter(*run, f"knowledge/dev/late/{approval.name}", "--json")).code == 0
        second = set_here(stack, await waiting(batch, LIFECYCLE), "SG2-approvals")
        answer = await cutter("orchestrate", "resume-batch", "--batch-id", batch_id, "--approval-set", str(second),
                              "--wait", "--json")  # fmt: skip
        if len(answer.json["accepted"]) < 2:
            await batch.through_lifecycle()
        view = await batch.until_state("batch_closeout")
    assert batch.outcomes(view) == {"ICX-B-1": "enacted", "ICX-B-2": "enacted"}
    assert stack.database.value(ENACTED) == 6
    await _says_of_everything_that_it_is_finished(stack, cutter, path, batch_id, second, late[0]["run_id"])


async def _says_of_everything_that_it_is_finished(
    stack: Stack, cutter: Cutter, path: Path, batch_id: str, approvals: Path, run_id: str
) -> None:
    """No worker runs any more: a command that wanted one would not come back."""
    before = stack.database.value(EVERY_ROW)
    queue = ("orchestrate", "batch", "--queue", str(path))
    for command in (
        (*queue, "--resume"),
        (*queue, "--skip-completed", "--resume"),
        (*queue, "--skip-completed", "--resume", "--include-failed"),
        ("orchestrate", "resume-batch", "--batch-id", batch_id),
        ("orchestrate", "resume", "--batch-id", batch_id, "--approval-set", str(approvals)),
    ):
        answer = await cutter(*command)
        assert (answer.code, "nothing was written" in answer.out) == (0, True), (command, answer)
    assert (await cutter("orchestrate", "resume", "--run-id", run_id)).code == 0
    again = await cutter(*queue)
    assert (again.code, "--resume" in again.err, batch_id in again.err) == (4, True, True)
    stop = await cutter("stop", batch_id, "--reason", "too late")
    assert (stop.code, "is over as batch_closeout: nothing to stop" in stop.err) == (4, True)
    assert stack.database.value(EVERY_ROW) == before


async def test_strict_stops_the_rest_and_a_signature_takes_the_failed_one_in_again(
    stack: Stack, cutter: Cutter
) -> None:
    """Seed 001 §9."""
    stack.register("ICX-P-1", POISON)
    stack.register("ICX-P-2", support.law(2))
    path, batch_id = queue_file(stack, [{"document_id": "ICX-P-1"}, {"document_id": "ICX-P-2"}])
    batch = batch_of(stack, batch_id)
    queue = ("orchestrate", "batch", "--queue", str(path))
    async with stack.workers():
        ended = await cutter(*queue, "--stop-on-first-failure", "--max-concurrent", "1", "--wait", "--json")
        assert (ended.code, ended.json["state"]) == (1, "batch_failed_partial")
        assert batch.outcomes(await batch.view()) == {"ICX-P-1": "failed", "ICX-P-2": "voided"}

        asked = await cutter(*queue, "--resume", "--include-failed", "--json")
        (needed,) = asked.json["needs_signature"]
        command = f"cutter approve --batch {batch_id} --decision include_failed --only ICX-P-1 --reason TEXT"
        assert (asked.code, needed["sign"], asked.json["note"]) == (
            3, command,
            "nothing was started, and nothing was written: a document needs a person first, by the command below",
        )  # fmt: skip

        approve = ("approve", "--batch", batch_id, "--decision", "include_failed", "--only", "ICX-P-1")
        assert (await cutter.signed(*approve)).code == 2
        wrong = await cutter.signed(*approve, "--only", "ICX-P-2", "--reason", "x")
        assert (wrong.code, "ICX-P-2 of batch" in wrong.err) == (1, True)
        stack.register("ICX-P-1", support.law(1))
        signed = await cutter.signed(*approve, "--reason", "its text was corrected")
        assert (signed.code, signed.json["accepted"], signed.json["signed"]) == (0, ["ICX-P-1"], 1)
        await batch.until_state("batch_awaiting_cut_authz_set")
        assert set(batch.outcomes(await batch.view()).values()) == {"at_sg1"}, "what it had held back begins too"
        assert (await cutter(*queue, "--resume", "--include-failed", "--json")).code == 0
    await _says_that_it_is_a_second_workstream(stack, cutter, batch_id)


async def test_each_next_command_of_a_strict_batch_moves_it_until_all_of_it_is_law(
    stack: Stack, cutter: Cutter, tmp_path: Path
) -> None:
    """Seed 001 §6: what is printed is typed as it stands, its words in capitals replaced, and never leads to itself.

    The first document waits for people when the second one fails, so the batch stops it, and never begins the third.
    """
    for number, text in enumerate((support.law(1), POISON, support.law(3)), start=1):
        stack.register(f"ICX-P-{number}", text)
    path, batch_id = queue_file(stack, [{"document_id": f"ICX-P-{number}"} for number in (1, 2, 3)])
    good = tmp_path / "good.md"
    good.write_bytes(support.law(2))
    words = {"FILE": str(good), "PROFILE": "generic-markdown", "TEXT": "corrected"}
    typed: list[str] = []
    async with stack.workers():
        queue = ("orchestrate", "batch", "--queue", str(path), "--stop-on-first-failure", "--max-concurrent", "1")
        assert (await cutter(*queue, "--wait", "--json")).code == 1
        status = (await cutter("status", batch_id, "--json")).json
        while not status["next"].startswith("cutter report"):
            command = status["next"].partition("    # then")[0]
            rest = [words.get(word, word) for word in command.split()[1:]]
            done = await (cutter.signed(*rest) if rest[0] == "approve" else cutter(*rest))
            assert done.code in (0, 3), (command, done)
            typed.append(" ".join(command.split()[1:3]) + (" resume" if "--decision resume" in command else ""))
            assert len(typed) < 20, typed
            status = await _at_rest(cutter, batch_id, status)
    assert (status["state"], status["totals"]) == ("batch_closeout", {"enacted": 3, "settled": 3}), typed
    assert typed[:2] == ["source add", "approve --batch"]
    assert [line for line in typed if line.endswith(" resume")], "what the batch had stopped goes on by a signature"


def _standing(status: Json) -> tuple[str, ...]:
    """The batch's next command and where each of its documents stands."""
    return (
        status["next"],
        status["state"],
        *(f"{document['run_id']} {document['state']}" for document in status["documents"]),
    )


async def _at_rest(cutter: Cutter, batch_id: str, before: Json) -> Json:
    """Wait until a command has changed what is shown, and nothing moves without a person; what is shown then."""
    status = before

    async def rests() -> bool:
        nonlocal status
        status = (await cutter("status", batch_id, "--json")).json
        ended = status["state"] in ("batch_closeout", "batch_failed_partial")
        moving = {"planning", "writing", "enacting", *([] if ended else ["pending"])}
        return _standing(status) != _standing(before) and moving.isdisjoint(
            document["shown"] for document in status["documents"]
        )

    await until(rests, seconds=60, what=f"{before['next']} changes something")
    return status


async def _says_that_it_is_a_second_workstream(stack: Stack, cutter: Cutter, batch_id: str) -> None:
    view = (await cutter("status", batch_id, "--as", "workstream", "--json")).json
    assert (view["entity_id"], view["status"], view["terminal"]) == (f"{batch_id}#2", "executing", False)
    tasks = [(task["document_id"], task["workstream_id"][-2:], task["state"]) for task in view["tasks"]]
    assert sorted(tasks) == [
        ("ICX-P-1", "#1", "failed"), ("ICX-P-1", "#2", "running"), ("ICX-P-2", "#2", "running")
    ]  # fmt: skip
    assert "executing" in (await cutter("status", batch_id, "--as", "workstream")).out
    await cutter("rebuild", batch_id)
    answer = await cutter("verify", str(stack.settings.batches / batch_id / "transitions.jsonl"))
    assert (answer.code, "0 findings" in answer.out) == (0, True), answer


async def test_a_signature_takes_in_again_what_failed_in_a_batch_that_is_over(stack: Stack, cutter: Cutter) -> None:
    """Seed 001 §3."""
    names = ["ICX-P-1", "ICX-P-2"]
    for name in names:
        stack.register(name, POISON)
    path, batch_id = queue_file(stack, [{"document_id": name} for name in names])
    batch = batch_of(stack, batch_id)
    async with stack.workers():
        ended = await cutter("orchestrate", "batch", "--queue", str(path), "--quarantine", "--wait", "--json")
        assert (ended.code, ended.json["state"], ended.json["partial"]) == (1, "batch_failed_partial", False)
        await batch.result()
        for name in names:
            stack.register(name, support.law(1))
        signed = await cutter.signed(
            "approve", "--batch", batch_id, "--decision", "include_failed", "--reason", "their texts were corrected"
        )  # fmt: skip
        assert (signed.code, signed.json["accepted"]) == (0, names)
        statements = [f"{signed.json['folder']}/{name}.md" for name in names]
        assert len(signatures(stack, statements)) == 1, "one for both documents"
        await batch.until_state("batch_awaiting_cut_authz_set")


async def test_a_queue_goes_on_after_a_void(stack: Stack, cutter: Cutter) -> None:
    """Seed 001 §9."""
    path, batch_id = queue_file(stack, support.small_laws(stack, 2))
    batch = batch_of(stack, batch_id)
    queue = ("orchestrate", "batch", "--queue", str(path))
    async with stack.workers():
        assert (await cutter(*queue, "--wait")).code == 3
        await _signs_no_document_in_anothers_place(cutter, batch_id, await waiting(batch, CUT))
        answer = await cutter("cancel", batch_id, "--reason", "the texts are wrong", "--json")
        assert (answer.code, answer.json["next"]) == (0, f"cutter status {batch_id}")
        await batch.until_state("batch_voided")
        assert (await cutter(*queue, "--skip-completed", "--resume", "--wait", "--json")).code == 3
        view = await batch.until_state("batch_awaiting_cut_authz_set")
    assert set(batch.outcomes(view).values()) == {"at_sg1"}
    assert stack.database.value("select count(*) from cutter_governance.run") == 4


async def _signs_no_document_in_anothers_place(cutter: Cutter, batch_id: str, items: Sequence[Json]) -> None:
    """Somebody has put the second one's request, which is genuine, at the place of the first one's."""
    kb = Path(str(cutter.stack.settings.kb).removeprefix("file://"))
    first, second = (kb / item["request_kb_id"] for item in items)
    shown = first.read_bytes()
    first.write_bytes(second.read_bytes())
    name, refusal = items[0]["document_id"], f"none that {items[0]['run_id']} made: do not sign"
    for command in (("approve", "--batch", batch_id, "--only", name), ("approve", name), ("reject", name)):
        reason = ("--reason", "x") if command[0] == "reject" else ()
        answer = await cutter.signed(*command, *reason)
        assert (answer.code, refusal in answer.err) == (4, True), answer
    assert not list(kb.rglob("*.asc")), "nothing was signed"
    first.write_bytes(shown)


async def test_skip_completed_leaves_out_what_is_law_and_what_failed_before(stack: Stack, cutter: Cutter) -> None:
    """Seed 001 §9."""
    stack.register("ICX-P-1", POISON)
    async with stack.workers():
        law = await stack.start()
        failed = await stack.start("ICX-P-1")
        await law.through()
        await failed.result()
        items = [{"document_id": "ICX-TEST-1"}, {"document_id": "ICX-P-1"}]
        alone, _ = queue_file(stack, items[:1])
        checked = await cutter("orchestrate", "batch", "--queue", str(alone), "--check", "--json")
        path, batch_id = queue_file(stack, items)
        why = next(entry["why"] for entry in checked.json["order"] if entry["document_id"] == "ICX-TEST-1")
        assert why == f"this version is already enacted, by run {law.run_id}: its run will end as skipped"
        queue = ("orchestrate", "batch", "--queue", str(path), "--skip-completed", "--resume")
        answer = await cutter(*queue, "--include-failed", "--wait", "--json")
        (needed,) = answer.json["needs_signature"]
        assert (answer.code, needed["sign"]) == (3, f"cutter run ICX-P-1 --amends {failed.run_id}")
        batch = batch_of(stack, batch_id)
        assert batch.outcomes(await batch.view()) == {"ICX-TEST-1": "skipped", "ICX-P-1": "blocked"}
        assert "nothing was written" in (await cutter(*queue)).out, "a resume alone does not take it in"


def signatures(stack: Stack, kb_ids: Sequence[str]) -> set[bytes]:
    """The OpenPGP signatures in the signature files of these statements."""
    files = [read_signature(Store(stack.settings.kb).get(signature_of(name))) for name in kb_ids]
    return {file.openpgp for file in files if isinstance(file, SignatureFile)}


async def test_the_night_is_rehearsed_and_signed_before(stack: Stack, cutter: Cutter) -> None:
    path, batch_id = queue_file(stack, support.small_laws(stack, 2))
    queue = ("orchestrate", "batch", "--queue", str(path))
    async with stack.workers():
        rehearsed = await cutter(*queue, "--mode", "dryrun", "--wait", "--json")
        assert (rehearsed.code, rehearsed.json["totals"]) == (0, {"rehearsed": 2, "settled": 2})
        signed = await cutter.signed("approve", "--batch", batch_id)
        assert (signed.code, len(signed.json["pre_batched"])) == (0, 4)
        assert len(signatures(stack, signed.json["pre_batched"])) == 1, "one for both documents"
        night = await cutter(*queue, "--max-concurrent", "2", "--quarantine", "--overnight", "--wait", "--json")
        assert (night.code, night.json["state"]) == (0, "batch_closeout")
    assert stack.database.value(ENACTED) == 6
    next_night = (await cutter(*queue, "--overnight", "--nightly", "--check", "--json")).json
    assert next_night["batch_id"] != batch_id
    for row in next_night["order"]:
        assert re.fullmatch(r"this version is already enacted, by run \S+", row["why"]), "it gets no run"


async def test_the_seed_s_own_cron_command_is_a_night(stack: Stack, cutter: Cutter) -> None:
    """Seed 001 §7: a queue named overnight.yaml; whatever starts it says what it is."""
    path, batch_id = queue_file(stack, support.small_laws(stack, 1))
    named = path.rename(path.with_name("overnight.yaml"))
    queue = ("orchestrate", "batch", "--queue", str(named), "--max-concurrent", "2", "--quarantine")
    asked = "select unattended, hard_cap_seconds, policy, lanes from cutter_governance.batch where batch_id = %s"
    by_day = (await cutter(*queue, "--no-overnight", "--check", "--json", CUTTER_TEMPORAL_ADDRESS=NOBODY)).json
    assert (by_day["unattended"], by_day["runs"].startswith("attended: 2 lanes")) == (False, True)
    strict = await cutter("orchestrate", "batch", "--queue", str(named), "--stop-on-first-failure")
    assert (strict.code, "--no-overnight" in strict.err) == (2, True)
    async with stack.workers():
        night = await cutter(*queue, "--json")
        assert (night.code, night.json["unattended"]) == (0, True)
        assert "by the queue's name; --no-overnight runs it by day" in night.json["runs"]
        await batch_of(stack, batch_id).result()
        with stack.database.connect("cutter_operator") as connection:
            assert connection.execute(asked, (batch_id,)).fetchone() == (True, 21_600, "quarantine", 2)
        (item,) = (await batch_of(stack, batch_id).view())["items"]
        assert item["queue"] == "human_review_queue"
        again = await cutter(*queue)
        assert (again.code, "--nightly" in again.err) == (4, True)


async def test_a_queue_runs_every_night_as_a_batch_of_its_own(stack: Stack, cutter: Cutter) -> None:
    """Seed 001 §7. Nobody signs: the document waits in human review, and the next night finds it busy."""
    path, own = queue_file(stack, support.small_laws(stack, 1))
    pattern = path.read_bytes()
    nightly = ("orchestrate", "batch", "--queue", str(path), "--overnight", "--nightly", "--wait", "--json")
    async with stack.workers():
        first = await cutter(*nightly)
        assert (first.json["unattended"], first.json["totals"]["human_review_queue"]) == (True, 1), first.err
        path.write_bytes(pattern + b"# another night\n")
        second = await cutter(*nightly)
        assert second.json["totals"]["busy"] == 1, second.err
    ids = [first.json["batch_id"], second.json["batch_id"]]
    assert len({own, *ids}) == 3
    kept = stack.settings.batches / ids[0] / "queue.yaml"
    assert kept.read_bytes() == pattern.replace(own.encode(), ids[0].encode())


async def test_a_queue_s_scope_and_actor_take_effect(stack: Stack, cutter: Cutter) -> None:
    """Seed 001 §2."""
    text = (ROOT / "examples/laws/hien-phap-mau.vi.md").read_bytes()
    for scope in ("all", "enacted_only"):
        sources.register(stack.settings, text, document_id=f"ICX-{scope[:3].upper()}", docprefix=None,
                        profile="incomex-constitution", options={"scope": scope})  # fmt: skip
    path, _ = queue_file(stack, [{"document_id": "ICX-ALL"}])
    refused = await cutter("orchestrate", "batch", "--queue", str(path), "--check")
    assert refused.code == 2
    command = "cutter source add FILE --document-id ICX-ALL --profile incomex-constitution --scope enacted_only"
    assert command in refused.err
    path, _ = queue_file(stack, [{"document_id": "ICX-ALL", "scope": "all"}, {"document_id": "ICX-ENA"}])
    assert (await cutter("orchestrate", "batch", "--queue", str(path), "--check")).code == 0
    data = path.read_bytes()
    path.write_bytes(data.replace(b"items:", b"default_actor: nobody\nitems:"))
    stranger = await cutter("orchestrate", "batch", "--queue", str(path), "--check")
    assert (stranger.code, "nobody is no approver; the policy names" in stranger.err) == (2, True)


async def test_the_actor_of_a_queue_is_who_is_asked_and_who_signs_unless_another_is_named(
    stack: Stack, cutter: Cutter
) -> None:
    """Seed 001 §2."""
    path, batch_id = queue_file(stack, support.small_laws(stack, 1))
    path.write_bytes(path.read_bytes().replace(b"items:", b"default_actor: alice\nitems:"))
    async with stack.workers():
        assert (await cutter("orchestrate", "batch", "--queue", str(path), "--wait")).code == 3
        (document,) = (await cutter("status", batch_id, "--json")).json["documents"]
        assert document["actor"] == "alice"
        overview = support.kb_text(stack, documents.overview_id(batch_id, CUT, 1))
        assert "\nAsked: alice (1).\n" in overview
        home = str(stack.kit.alice.home)
        answer = await cutter("approve", "--batch", batch_id, "--gpg-home", home, "--json", "--yes")
        assert (answer.code, answer.json["accepted"]) == (0, ["ICX-B-1"]), answer


async def test_check_shows_order_and_reasons_and_starts_nothing(stack: Stack, cutter: Cutter) -> None:
    first, second, third = support.small_laws(stack, 3)
    path, _ = queue_file(stack, [{**first, "depends_on": ["ICX-B-3"]}, {**second, "priority": "900"}, third])
    answer = await cutter("orchestrate", "batch", "--queue", str(path), "--check", "--json",
                          CUTTER_TEMPORAL_ADDRESS=NOBODY)  # fmt: skip
    assert answer.code == 0
    assert [entry["document_id"] for entry in answer.json["order"]] == ["ICX-B-3", "ICX-B-2", "ICX-B-1"]
    assert "ICX-B-3" in next(entry["why"] for entry in answer.json["order"] if entry["document_id"] == "ICX-B-1")
    shown = await cutter("orchestrate", "batch", "--queue", str(path), "--check")
    assert "nothing was started" in shown.out
    assert stack.database.value("select count(*) from cutter_governance.batch") == 0


REFUSED = {
    "no yaml": (b"items: [\n", ["line"]),
    "unknown document": (support.queue_yaml([{"document_id": "ICX-NO-1"}]), ["line 7", "ICX-NO-1 is not registered"]),
    "cycle": (
        support.queue_yaml([
            {"document_id": "ICX-B-1", "depends_on": ["ICX-B-2"]},
            {"document_id": "ICX-B-2", "depends_on": ["ICX-B-1"]},
        ]),
        ["a cycle", "ICX-B-1 → ICX-B-2 → ICX-B-1"],
    ),
    "secret": (
        support.queue_yaml([{"document_id": "ICX-B-1", "source_uri": "postgresql://u:geheim@host/db"}]), ["line 8"],
    ),
    "twice, and more": (
        support.queue_yaml([
            {"document_id": "ICX-B-1"}, {"document_id": "ICX-B-1"}, {"document_id": "ICX-B-2", "colour": "red"},
        ]),
        ["line 8: ", "is in line 7 too", "line 10: ", "colour", "is not a field"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
async def test_a_wrong_queue_is_refused_with_all_its_lines_and_starts_nothing(
    stack: Stack, cutter: Cutter, name: str
) -> None:
    support.small_laws(stack, 2)
    data, texts = REFUSED[name]
    path = stack.settings.state / "wrong.yaml"
    path.write_bytes(data)
    for extra in ((), ("--check",)):
        answer = await cutter("orchestrate", "batch", "--queue", str(path), *extra)
        assert (answer.code, answer.out) == (2, "")
        for text in texts:
            assert text in answer.err, answer.err
        assert "geheim" not in answer.err
    assert stack.database.value("select count(*) from cutter_governance.batch") == 0


async def test_wrong_command_lines_are_usage_errors(stack: Stack, cutter: Cutter) -> None:
    path, batch_id = queue_file(stack, support.small_laws(stack, 1))
    queue = ("orchestrate", "batch", "--queue", str(path))
    for command in (
        (*queue, "--max-concurrent", "0"),
        (*queue, "--mode", "wet"),
        (*queue, "--stop-on-first-failure", "--quarantine"),
        ("orchestrate", "resume", "--batch-id", batch_id, "--run-id", "ictr-x"),
        ("orchestrate", "resume", "--batch-id", batch_id, "--approval-kb-id", "knowledge/x.md"),
        ("orchestrate", "resume", "--run-id", "ictr-x", "--approval-set", "x"),
        ("orchestrate", "resume"),
        ("approve", "--batch", batch_id, "--decision", "void"),
    ):
        assert (await cutter(*command)).code == 2, command
    assert (await cutter("orchestrate", "batch", "--queue", "no.yaml")).code == 2
    assert (await cutter("orchestrate", "resume-batch", "--batch-id", batch_id)).code == 1
    away = await cutter(*queue, CUTTER_TEMPORAL_ADDRESS=NOBODY)
    assert away.code == 5


async def test_python_m_starter_batch_is_the_same_command(stack: Stack, cutter: Cutter) -> None:
    path, _ = queue_file(stack, support.small_laws(stack, 1))
    answer = await _starter(cutter, "batch", "--queue", str(path), "--check")
    assert (answer.code, "nothing was started" in answer.out) == (0, True)
    assert (await _starter(cutter, "resume-batch", "--help")).code == 0


async def _starter(cutter: Cutter, *arguments: str) -> Told:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "starter", *arguments, cwd=ROOT, env=cutter.environment({}),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await asyncio.wait_for(process.communicate(), 60)
    return Told(code=process.returncode or 0, out=out.decode(), err=err.decode())
