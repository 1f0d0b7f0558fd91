"""A revision on the real path: activities, database and gpg. The text of an enacted version never changes."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from activities.run.course import void_run
from cutter import sources
from cutter.approvals import schema
from cutter.catalogue import WorkerRole
from cutter.errors import Refused
from cutter.evidence import offline
from cutter.messages import VoidInput
from starter.approver import signing_desk
from starter.commands.evidence import exported
from tests.integration.living_law.texts import FIRST, SECOND
from tests.support.runs import OPTIONS, Deployment, Driven, drive


def law_of(made: Deployment, document_id: str) -> dict[str, tuple[str, str]]:
    """The law as its units show it: status and text by the last part of the address."""
    rows: dict[str, list[str]] = made.database.value(
        "select jsonb_object_agg(substr(u.canonical_address, length(%s) + 2),"
        " jsonb_build_array(u.lifecycle_status, v.body))"
        " from public.information_unit u join public.unit_version v on v.id = u.version_anchor_ref"
        " where u.deleted_at is null and starts_with(u.canonical_address, %s || '/')",
        (document_id, document_id),
    )
    return {address: (status, body) for address, (status, body) in rows.items()}


def versions_of(made: Deployment, address: str) -> list[dict[str, Any]]:
    """Every version of a unit, oldest first."""
    rows: list[dict[str, Any]] = made.database.value(
        "select jsonb_agg(to_jsonb(v) order by v.version_seq) from public.unit_version v"
        " join public.information_unit u on u.id = v.unit_id where u.canonical_address = %s",
        (address,),
    )
    return rows


def enacted(made: Deployment, text: str = FIRST) -> Driven:
    """An enacted first cut."""
    return drive(made, text)


def revised(made: Deployment, first: Driven, text: str = SECOND, *, until: str | None = None) -> Driven:
    """A run of the next text of an enacted law."""
    made.register(text, document_id=first.document_id)
    return drive(made, document_id=first.document_id, until=until)


def registered(made: Deployment, document_id: str, text: str, **terms: Any) -> None:
    """The next version of a law, with its effective day or the reason of a correction."""
    sources.register(
        made.settings, text.encode(), document_id=document_id, docprefix=document_id, profile="generic-markdown",
        options=dict(OPTIONS), **terms,
    )  # fmt: skip


def statuses(made: Deployment, document_id: str) -> dict[str, str]:
    """The status of each unit by the last part of its address."""
    return {address: status for address, (status, _) in law_of(made, document_id).items()}


def operations(made: Deployment, run_id: str) -> dict[str, int]:
    counts: dict[str, int] = made.database.value(
        "select cutter_governance.fn_run_pins(%s) -> 'revision_rows'", (run_id,)
    )
    return counts


def test_a_revision_begins_and_ends_versions_in_one_enactment(deployment: Deployment) -> None:
    first = enacted(deployment)
    before = law_of(deployment, first.document_id)
    second = revised(deployment, first)
    assert second.state == "closeout_reported"
    after = law_of(deployment, first.document_id)
    assert {address for address, (status, _) in after.items() if status == "enacted"} == {
        "PART-ONE", "PART-ONE/KEPT", "PART-ONE/NEW", "PART-ONE/REVISED", "PART-TWO", "PART-TWO/MOVED",
    }  # fmt: skip
    assert {address for address, (status, _) in after.items() if status == "retired"} == {
        "PART-ONE/DROPPED", "PART-ONE/MOVED",
    }  # fmt: skip
    assert after["PART-ONE/KEPT"] == before["PART-ONE/KEPT"]
    assert after["PART-ONE/REVISED"][1] == "## Revised\n\nThe second rule has changed."
    assert operations(deployment, second.run_id) == {"keep": 3, "revise": 1, "create": 2, "repeal": 2}


def test_the_ended_version_says_what_ended_it_and_keeps_its_text(deployment: Deployment) -> None:
    first = enacted(deployment)
    second = revised(deployment, first)
    old, new = versions_of(deployment, f"{first.document_id}/PART-ONE/REVISED")
    change_set = deployment.database.value(
        "select change_set_id::text from cutter_governance.cut_change_set where run_id = %s", (second.run_id,)
    )
    assert (old["lifecycle_status"], old["ended_by"], old["body"]) == (
        "superseded", change_set, "## Revised\n\nThe second rule changes.",
    )  # fmt: skip
    assert (new["lifecycle_status"], new["enacted_by"], new["version_seq"]) == ("enacted", change_set, 2)
    assert old["effective_until"] == new["effective_from"]
    (moved,) = versions_of(deployment, f"{first.document_id}/PART-ONE/MOVED")
    assert (moved["lifecycle_status"], moved["ended_by"]) == ("retired", change_set)
    (continued,) = versions_of(deployment, f"{first.document_id}/PART-TWO/MOVED")
    assert continued["continues_unit_id"] == moved["unit_id"]
    (kept,) = versions_of(deployment, f"{first.document_id}/PART-ONE/KEPT")
    assert (kept["lifecycle_status"], kept["effective_until"]) == ("enacted", None)


def test_leg_a_leaves_the_law_in_force_as_it_is(deployment: Deployment) -> None:
    first = enacted(deployment)
    everything = (
        "select jsonb_build_array((select jsonb_agg(to_jsonb(u) order by u.id) from public.information_unit u"
        " where u.lifecycle_status = 'enacted'), (select jsonb_agg(to_jsonb(v) order by v.id)"
        " from public.unit_version v where v.lifecycle_status <> 'draft'))"
    )
    before = deployment.database.value(everything)
    second = revised(deployment, first, until="IG_write_verify")
    assert deployment.database.value(everything) == before
    drafts = "select count(*) from public.unit_version where lifecycle_status = 'draft'"
    assert deployment.database.value(drafts) == 3
    assert second.state == "write_verified"


@pytest.mark.promise
def test_both_requests_show_the_difference_and_the_move(deployment: Deployment) -> None:
    first = enacted(deployment)
    document = first.document_id
    second = revised(deployment, first, until="IG_grant_probe")
    request, _ = signing_desk.read_request(
        deployment.settings, second.run_id, deployment.request(second.run_id, "SG_cut_authz")
    )
    assert "3 kept, 1 revised, 2 created, 2 repealed" in request.shown
    assert f"`{document}/PART-TWO/MOVED`, before `{document}/PART-ONE/MOVED`" in request.shown
    assert f"### Repealed: Dropped\n\n`{document}/PART-ONE/DROPPED`\n" in request.shown
    changes = request.changes
    assert (changes.added_count, changes.changed_count, changes.removed_count) == (2, 1, 2)
    view = signing_desk.recompute(deployment.settings, request)
    assert view.revision is not None
    assert view.digests.writer_digest == request.request.writer_digest


def test_a_void_withdraws_the_drafts_and_leaves_the_law_in_force(deployment: Deployment) -> None:
    first = enacted(deployment)
    before = law_of(deployment, first.document_id)
    second = revised(deployment, first, until="IG_write_verify")
    kb_id, gate = deployment.sign_order(second.run_id, schema.VOID)
    verdict = deployment.judge(second.run_id, gate, kb_id)
    assert verdict.accepted, verdict
    order = VoidInput(run_id=second.run_id, kb_id=kb_id)
    assert void_run(deployment.deps[WorkerRole.EXEC], order).code == "voided"
    assert deployment.run_row(second.run_id)["state"].startswith("voided_")
    assert law_of(deployment, first.document_id) == before
    left = "select count(*) from public.unit_version where lifecycle_status = 'draft' and withdrawn_at is null"
    assert deployment.database.value(left) == 0
    again = revised(deployment, first, SECOND + "\nMore.\n")
    assert again.state == "closeout_reported"


def test_a_law_that_takes_effect_later_is_enacted_today_and_ends_the_old_text_then(deployment: Deployment) -> None:
    first = enacted(deployment)
    later = date.today() + timedelta(days=40)
    registered(deployment, first.document_id, SECOND, effective=later)
    drive(deployment, document_id=first.document_id)
    old, new = versions_of(deployment, f"{first.document_id}/PART-ONE/REVISED")
    assert (old["effective_until"], new["effective_from"]) == (later.isoformat(), later.isoformat())
    assert new["lifecycle_status"] == "enacted"


def test_a_revision_before_the_law_in_force_is_refused(deployment: Deployment) -> None:
    first = enacted(deployment)
    registered(deployment, first.document_id, SECOND, effective=date(2020, 1, 1))
    outcome = deployment.gate("IG_source_pin", deployment.begin(first.document_id))
    assert (outcome.status, outcome.code) == ("failed", "takes_effect_in_order"), outcome


@pytest.mark.promise
def test_a_correction_holds_from_the_same_day_and_shows_its_reason(deployment: Deployment) -> None:
    document = deployment.register(FIRST)
    registered(deployment, document, FIRST, effective=date(2026, 1, 1))
    first = drive(deployment, document_id=document)
    registered(deployment, document, FIRST.replace("second rule", "2nd rule"), correction="a wrong word in a rule")
    run = drive(deployment, document_id=document, until="IG_grant_probe")
    request, _ = signing_desk.read_request(
        deployment.settings, run.run_id, deployment.request(run.run_id, "SG_cut_authz")
    )
    assert "- Reason: a wrong word in a rule" in request.shown
    drive(deployment, document_id=document, run_id=run.run_id)
    old, new = versions_of(deployment, f"{document}/PART-ONE/REVISED")
    assert [old[name] for name in ("effective_from", "effective_until")] == ["2026-01-01", "2026-01-01"]
    assert (new["effective_from"], new["effective_until"]) == ("2026-01-01", None)
    kinds = "select jsonb_agg(operation_kind order by n) from public.enactment where source_document_ref = %s"
    assert deployment.database.value(kinds, (document,)) == ["first_cut", "correction"]
    assert first.document_id == document


@pytest.mark.promise
def test_a_repeal_ends_every_unit_and_the_law_can_come_back(deployment: Deployment) -> None:
    first = enacted(deployment)
    sources.repeal(deployment.settings, first.document_id, effective=None, reason="replaced by another law")
    repeal = drive(deployment, document_id=first.document_id)
    assert repeal.state == "closeout_reported"
    assert set(statuses(deployment, first.document_id).values()) == {"retired"}
    assert operations(deployment, repeal.run_id) == {"keep": 0, "revise": 0, "create": 0, "repeal": 6}
    back = revised(deployment, first, FIRST)
    assert back.state == "closeout_reported"
    assert set(statuses(deployment, first.document_id).values()) == {"enacted"}
    versions = versions_of(deployment, f"{first.document_id}/PART-ONE/KEPT")
    assert [version["lifecycle_status"] for version in versions] == ["retired", "enacted"]


def test_nothing_is_repealed_that_is_not_enacted(deployment: Deployment) -> None:
    document = deployment.register(FIRST)
    with pytest.raises(Refused, match="is not enacted"):
        sources.repeal(deployment.settings, document, effective=None, reason="no use")


def test_the_evidence_of_a_revision_verifies_offline_and_names_its_base(deployment: Deployment) -> None:
    first = enacted(deployment)
    second = revised(deployment, first)
    bundle, sealed, _ = exported(deployment.settings, second.run_id)
    assert sealed
    assert [line for line in offline.check(bundle.data) if line[1] == offline.FAILED] == []
    receipt = deployment.database.value(
        "select receipt_hash from cutter_governance.gate_receipt where run_id = %s and gate = %s",
        (first.run_id, "IG_lifecycle_enact_execute"),
    )
    assert receipt.encode() in b"".join(offline.Bundle(bundle.data).members.values())


def test_the_backup_of_a_law_that_was_revised_and_repealed_restores(deployment: Deployment) -> None:
    """The real backup, which restores what it took, holds the rows of every operation."""
    first = enacted(deployment)
    revised(deployment, first)
    sources.repeal(deployment.settings, first.document_id, effective=None, reason="no use")
    drive(deployment, document_id=first.document_id)
    deployment.register(FIRST, document_id=first.document_id)
    back = drive(deployment, document_id=first.document_id, until="IG_backup")
    assert back.state == "pre_write_backup_taken"
