"""The only writers of units: what they answer, what they refuse, what is looked at when a transaction ends."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.integration.storage.conftest import ENACT, At
from tests.support.database import Connection
from tests.support.gate_calls import one

CREATE = "select public.fn_iu_create(%s, %s, %s, %s, %s, %s, %s, %s, %s)"


def create(connection: Connection, address: str, **changed: Any) -> Any:
    """fn_iu_create with good arguments, some of them changed."""
    given: dict[str, Any] = {
        "title": "A title", "body": "A body", "actor": "cutter_exec/DOT-991/test", "unit_kind": "law_unit",
        "section_type": "article", "owner": "legislature", "publication": "law", "parent": None, **changed,
    }  # fmt: skip
    return one(connection, CREATE, (address, *given.values()))


def test_a_unit_is_created_as_a_draft_with_its_first_version_and_both_anchors(at_cut: At) -> None:
    connection = at_cut.connect()
    at_cut.opened(connection)
    answer = create(connection, f"{at_cut.docprefix}/X-1")
    assert (answer["status"], answer["invariants_verified"]) == ("created", True)
    row = connection.execute(
        "select u.lifecycle_status, v.lifecycle_status, v.version_seq, u.content_anchor_ref = v.id::text,"
        " v.unit_id = u.id,"
        " v.content_hash = encode(sha256('A body'), 'hex'), u.conformance_status, u.owner_ref"
        " from public.information_unit u join public.unit_version v on v.id = u.version_anchor_ref where u.id = %s",
        (answer["unit_id"],),
    ).fetchone()
    assert row == ("draft", "draft", 1, True, True, True, "open", "legislature")


@pytest.mark.parametrize("missing", ["title", "body", "actor"])
def test_an_empty_argument_is_refused_without_a_row(at_cut: At, missing: str) -> None:
    connection = at_cut.connect()
    at_cut.opened(connection)
    assert create(connection, f"{at_cut.docprefix}/X-1", **{missing: ""})["status"] == "refused_empty_argument"
    assert one(connection, "select count(*) from public.information_unit") == 0


def test_the_same_unit_again_is_complete_and_another_body_is_an_unknown_state(at_cut: At) -> None:
    connection = at_cut.connect()
    at_cut.opened(connection)
    address = f"{at_cut.docprefix}/X-1"
    create(connection, address)
    assert create(connection, address)["status"] == "exists_complete"
    assert create(connection, address, body="Another")["status"] == "exists_unknown_state"
    assert one(connection, "select count(*) from public.unit_version") == 1


def test_one_address_is_created_by_one_transaction_at_a_time(at_cut: At) -> None:
    """Seed 001 §5."""
    connection, other = at_cut.connect(), at_cut.connect("postgres")
    at_cut.opened(connection)
    address = f"{at_cut.docprefix}/X-1"
    create(connection, address)
    lock = "select pg_try_advisory_xact_lock(hashtext(%s))"
    assert not one(other, lock, (address,))
    assert one(other, lock, (f"{at_cut.docprefix}/X-2",))
    connection.rollback()
    assert one(other, lock, (address,))


@pytest.mark.parametrize(
    ("column", "status"),
    [
        ("version_anchor_ref = null", "exists_missing_version"),
        ("content_anchor_ref = 'elsewhere'", "exists_anchor_invalid"),
    ],
)
def test_a_unit_with_broken_anchors_is_named_for_what_it_is(at_end: At, column: str, status: str) -> None:
    address = at_end.database.value("select canonical_address from public.information_unit limit 1")
    superuser = at_end.connect("postgres")
    superuser.execute("alter table public.information_unit disable trigger all")
    superuser.execute(f"update public.information_unit set {column} where canonical_address = %s", (address,))
    answer = one(superuser, "select public.fn_iu_create_plan(%s, 't', 'b', 'a')", (address,))
    assert answer["status"] == status


def test_the_plan_says_what_would_happen_and_writes_nothing(at_cut: At) -> None:
    connection = at_cut.connect("postgres")
    plan = "select public.fn_iu_create_plan(%s, 't', 'b', 'a')"
    assert one(connection, plan, (f"{at_cut.docprefix}/X-1",))["status"] == "plan_ok"
    connection.commit()
    assert at_cut.units() == 0


@pytest.mark.parametrize(
    "changed",
    [{"unit_kind": "verse"}, {"section_type": "chapter"}, {"publication": "blog"}, {"owner": "nobody"}],
    ids=lambda changed: next(iter(changed)),
)
def test_what_is_not_in_the_vocabulary_is_not_born(at_cut: At, changed: dict[str, str]) -> None:
    connection = at_cut.connect()
    at_cut.opened(connection)
    with pytest.raises(psycopg.Error, match="is not in the vocabulary") as refused:
        create(connection, f"{at_cut.docprefix}/X-1", **changed)
    assert refused.value.sqlstate == "CU003"


@pytest.mark.parametrize("title", ["two\nlines", "a\x1fseparator"])
def test_a_title_that_would_break_a_digest_line_is_refused(at_cut: At, title: str) -> None:
    connection = at_cut.connect()
    at_cut.opened(connection)
    with pytest.raises(psycopg.errors.CheckViolation, match="information_unit_title_form"):
        create(connection, f"{at_cut.docprefix}/X-1", title=title)


@pytest.mark.parametrize("tail", ["/A B", "/Ä", "/A\n", "//A", "", "/A/"])
def test_an_address_has_one_form(at_cut: At, tail: str) -> None:
    connection = at_cut.connect()
    at_cut.opened(connection)
    with pytest.raises(psycopg.Error) as refused:
        create(connection, f"{at_cut.docprefix}{tail}")
    assert refused.value.sqlstate in ("23514", "CU007")


def test_anchors_that_disagree_are_seen_when_the_transaction_ends(at_cut: At) -> None:
    """The first of a pair of writes alone: its version never comes."""
    superuser = at_cut.connect("postgres")
    superuser.execute("alter table public.information_unit disable trigger trg_aa_iu_gateway_write_guard")
    superuser.execute("alter table public.information_unit disable trigger trg_zz_iu_insert_gate")
    superuser.execute(
        "insert into public.information_unit (id, canonical_address, unit_kind, owner_ref, identity_profile,"
        " created_by, updated_by) values (gen_random_uuid(), 'X-Y/Z', 'law_unit', 'legislature',"
        """ '{"title": "t", "primary_section_type_ref": "article"}', 'x', 'x')"""
    )
    with pytest.raises(psycopg.Error, match="anchors do not agree at commit") as refused:
        superuser.commit()
    assert refused.value.sqlstate == "CU004"


@pytest.mark.parametrize("change", ["content_anchor_ref = 'x'", "lifecycle_status = 'enacted'"])
def test_a_unit_that_says_other_than_its_version_is_seen_when_the_transaction_ends(at_enact: At, change: str) -> None:
    superuser = at_enact.connect("postgres")
    for trigger in ("trg_aa_iu_gateway_write_guard", "trg_zz_iu_update_gate"):
        superuser.execute(f"alter table public.information_unit disable trigger {trigger}")
    superuser.execute(f"update public.information_unit set {change}")
    with pytest.raises(psycopg.Error, match="anchors do not agree at commit") as refused:
        superuser.commit()
    assert refused.value.sqlstate == "CU004"


def test_units_are_born_as_drafts(at_cut: At) -> None:
    superuser = at_cut.connect("postgres")
    superuser.execute("alter table public.information_unit disable trigger trg_aa_iu_gateway_write_guard")
    with pytest.raises(psycopg.Error, match="units are born as drafts") as refused:
        superuser.execute(
            "insert into public.information_unit (id, canonical_address, unit_kind, owner_ref, identity_profile,"
            " lifecycle_status, created_by, updated_by) values (gen_random_uuid(), 'X-Y/Z', 'law_unit', 'legislature',"
            """ '{"title": "t", "primary_section_type_ref": "article"}', 'enacted', 'x', 'x')"""
        )
    assert refused.value.sqlstate == "CU003"


@pytest.mark.parametrize("role", ["postgres", "cutter_owner"])
@pytest.mark.parametrize("table", ["information_unit", "unit_version"])
@pytest.mark.parametrize("marker", ["", "fn_iu_enact"])
def test_the_gateway_refuses_whoever_writes_beside_it(at_end: At, role: str, table: str, marker: str) -> None:
    """The owner and the superuser too, whatever they say they are, until they switch the trigger off."""
    connection = at_end.connect(role)
    connection.execute("select set_config('app.canonical_writer', %s, false)", (marker,))
    with pytest.raises(psycopg.Error, match="IU Gateway blocked") as refused:
        connection.execute(f"update public.{table} set created_by = 'x'")
    assert refused.value.sqlstate == "CU001"


def test_the_edit_function_adds_a_version_to_a_draft_and_refuses_enacted_law(at_cut: At, at_end: At) -> None:
    connection = at_cut.connect()
    at_cut.opened(connection)
    unit = create(connection, f"{at_cut.docprefix}/X-1")["unit_id"]
    draft = "00000000-0000-4000-8000-000000000001"
    assert (
        one(connection, "select public.fn_iu_apply_edit_draft(%s, 'x')", (draft,))["status"] == "refused_unknown_draft"
    )
    enacted = at_end.database.value("select id from public.information_unit limit 1")
    at_end.database.run("insert into public.iu_edit_draft values (%s, %s, 'new', 'x')", (draft, enacted))
    answer = one(at_end.connect(), "select public.fn_iu_apply_edit_draft(%s, 'x')", (draft,))
    assert answer["status"] == "refused_base_enacted"
    assert unit is not None


def test_an_edit_of_a_draft_cannot_be_committed_outside_what_was_approved(at_enact: At) -> None:
    draft = "00000000-0000-4000-8000-000000000002"
    unit = at_enact.database.value("select id from public.information_unit limit 1")
    at_enact.database.run("insert into public.iu_edit_draft values (%s, %s, 'new', 'x')", (draft, unit))
    connection = at_enact.connect()
    with pytest.raises(psycopg.Error, match="no gate of its run is open"):
        one(connection, "select public.fn_iu_apply_edit_draft(%s, 'x')", (draft,))


def test_every_unit_of_a_change_set_is_enacted_with_a_log_row(at_enact: At) -> None:
    connection = at_enact.connect()
    number = at_enact.opened(connection, ENACT)
    assert set(at_enact.enact(connection)) == {"enacted"}
    assert set(at_enact.enact(connection)) == {"already_enacted"}
    closed = at_enact.close(connection, number, {"units_enacted": at_enact.stage.units}, ENACT)
    assert closed["status"] == "sealed", closed
    connection.commit()
    logged = at_enact.database.value("select count(*) from public.iu_lifecycle_log where to_status = 'enacted'")
    assert logged == at_enact.stage.units


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ({"p_target_lifecycle": "superseded"}, "refused_target"),
        ({"p_target_lifecycle": "retired"}, "refused_not_in_change_set"),
        ({"p_review_decision_id": "00000000-0000-4000-8000-000000000009"}, "refused_review_decision"),
        ({"p_change_set_id": "00000000-0000-4000-8000-000000000009"}, "refused_review_decision"),
        ({"p_canonical_address": "X-Y/Z"}, "refused_unknown_unit"),
        ({"p_dry_run": True}, "dry_run_ok"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_enactment_names_its_reason_to_refuse(at_enact: At, arguments: dict[str, Any], status: str) -> None:
    connection = at_enact.connect()
    at_enact.opened(connection, ENACT)
    assert enact(connection, at_enact, **arguments)["status"] == status


def test_only_a_lifecycle_decision_enacts(at_enact: At) -> None:
    """Seed 000 §3."""
    connection = at_enact.connect()
    at_enact.opened(connection, ENACT)
    cut = one(connection, "select review_decision_id from cutter_governance.review_decision where type = 'cut'")
    assert enact(connection, at_enact, p_review_decision_id=cut)["status"] == "refused_review_decision"


def test_nothing_is_enacted_before_the_decision(at_enact: At) -> None:
    """Its decision is pending until a transaction consumes the approval."""
    assert enact(at_enact.connect(), at_enact)["status"] == "refused_review_decision"


def test_nothing_is_enacted_outside_a_transaction_that_consumed_its_approval(at_end: At) -> None:
    """The decision says PASS since an earlier transaction."""
    assert enact(at_end.connect(), at_end)["status"] == "refused_not_approved_here"


def test_a_unit_outside_the_change_set_is_not_enacted(at_enact: At) -> None:
    superuser = at_enact.connect("postgres")
    superuser.execute("alter table cutter_governance.cut_change_set_affected_row disable trigger user")
    superuser.execute("delete from cutter_governance.cut_change_set_affected_row")
    superuser.commit()
    connection = at_enact.connect()
    number = one(connection, "select cutter_governance.fn_gate_attempt(%s, %s, 't', 60)", (at_enact.run_id, ENACT))
    connection.commit()
    superuser.execute("alter table cutter_governance.cut_change_set_affected_row enable trigger user")
    superuser.execute(
        "alter table cutter_governance.cut_change_set_affected_row"
        " enable always trigger trg_cut_change_set_affected_row_append_only"
    )
    superuser.commit()
    assert at_enact.open(connection, ENACT, number=number["attempt"])["status"] == "opened"
    assert enact(connection, at_enact)["status"] == "refused_not_in_change_set"


def enact(connection: Connection, at: At, **changed: Any) -> Any:
    """fn_iu_enact of the run's first unit, with some arguments changed."""
    row = connection.execute(
        "select u.canonical_address, q.review_decision_id, c.change_set_id from public.information_unit u,"
        " cutter_governance.approval_request q join cutter_governance.cut_change_set c on c.run_id = q.run_id"
        " where q.run_id = %s and q.gate = 'SG_lifecycle_authz' order by 1 limit 1",
        (at.run_id,),
    ).fetchone()
    assert row is not None
    given = {
        "p_canonical_address": row[0], "p_review_decision_id": row[1], "p_change_set_id": row[2],
        "p_target_lifecycle": "enacted", "p_dry_run": False, **changed,
    }  # fmt: skip
    return one(
        connection,
        "select public.fn_iu_enact(%(p_canonical_address)s, 'x', %(p_review_decision_id)s, %(p_target_lifecycle)s,"
        " %(p_change_set_id)s, 'r', 't', %(p_dry_run)s)",
        given,
    )
