"""What nobody can do to a revised law: not by any role, earlier approval, or second revision at the same time."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from cutter.errors import Refused
from cutter.storage import runs as run_rows
from tests.integration.living_law.conftest import At
from tests.support import gate_calls as gates
from tests.support.database import OWNER, ROLES, Connection, TestCluster
from tests.support.revisions import revision_stage
from tests.support.runs import Deployment, Keys, drive

LEG_A, ENACT = "IG_cut_leg_a_execute", "IG_lifecycle_enact_execute"
CHANGES = {
    "the text in force": "update public.unit_version set body = body || '!' where lifecycle_status = 'enacted'",
    "the text of an ended version": "update public.unit_version set body = 'x' where lifecycle_status = 'superseded'",
    "an end": "update public.unit_version set effective_until = effective_until + 1 where ended_by is not null",
    "an end taken back": (
        "update public.unit_version set lifecycle_status = 'enacted', effective_until = null, ended_by = null,"
        " ended_at = null where lifecycle_status = 'retired'"
    ),
    "an end without a successor": (
        "update public.unit_version set lifecycle_status = 'retired', effective_until = effective_from,"
        " ended_by = enacted_by, ended_at = now() where lifecycle_status = 'enacted'"
    ),
    "the day of an enactment": "update public.enactment set effective_from = effective_from - 1",
    "the base of an enactment": "update public.enactment set base_receipt_hash = repeat('0', 64) where n = 2",
    "an enactment that is gone": "delete from public.enactment where n = 2",
    "the plan of a revision": "update cutter_governance.revision_row set operation = operation",
    "a row of the plan that is gone": "delete from cutter_governance.revision_row",
    "a plan that is gone": "truncate cutter_governance.revision_row",
}
LAW = """
select md5(string_agg(line, '|' order by line)) from (
    select 'u' || u::text as line from public.information_unit u
    union all select 'v' || v::text from public.unit_version v
    union all select 'e' || e::text from public.enactment e
    union all select 'r' || r::text from cutter_governance.revision_row r) as lines
"""
ANOTHER = """
insert into public.enactment (
    run_id, source_document_ref, n, operation_kind, source_version_id, change_set_id, base_run_id, base_receipt_hash,
    effective_from)
select %s, source_document_ref, n + 1, operation_kind, source_version_id, gen_random_uuid(), base_run_id,
    base_receipt_hash, effective_from
from public.enactment where run_id = %s
"""


@pytest.fixture(scope="module")
def enacted_revision(cluster: TestCluster, keys: Keys) -> Iterator[At]:
    """A law that was revised. Nothing that a test tries here may change it."""
    with revision_stage(cluster, keys, until="IG_closeout") as made, made.clone() as database:
        yield At(database=database, stage=made)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("role", [*ROLES, OWNER])
def test_no_role_changes_what_was_enacted(enacted_revision: At, role: str, change: str) -> None:
    before = enacted_revision.database.value(LAW)
    connection = enacted_revision.connect(role)
    with pytest.raises(psycopg.Error) as refused:
        connection.execute(CHANGES[change].encode())
    assert refused.value.sqlstate in ("42501", "CU001", "CU002", "CU005"), refused.value
    connection.close()
    assert enacted_revision.database.value(LAW) == before


@pytest.mark.parametrize("change", CHANGES)
def test_a_grant_too_many_changes_nothing_of_what_was_enacted(at_succession: At, change: str) -> None:
    """In the open enactment of a successor, and with the right to write every table."""
    with at_succession.with_every_grant(ENACT) as connection:
        connection.execute("reset session authorization")
        connection.execute("grant all on all tables in schema cutter_governance to cutter_exec")
        connection.execute("set session authorization cutter_exec")
        at_succession.enact(connection)
        connection.execute("select set_config('app.canonical_writer', 'fn_iu_enact', true)")
        with pytest.raises(psycopg.Error) as refused:
            connection.execute(CHANGES[change].encode())
        assert refused.value.sqlstate in ("CU002", "CU005"), refused.value


def test_no_version_ends_outside_the_enactment_that_is_open(enacted_revision: At) -> None:
    """Its change set still names every end."""
    ended = """
        select bool_or(public.fn_may_end('unit_version', to_jsonb(v) || '{"lifecycle_status": "enacted",
            "effective_until": null, "ended_by": null, "ended_at": null}', to_jsonb(v))), count(*)
        from public.unit_version v where v.ended_by is not null
    """
    row = enacted_revision.connect("postgres").execute(ended).fetchone()
    assert row == (False, 3)


def test_a_version_that_ends_without_its_successor_is_not_sealed(at_succession: At) -> None:
    """The trigger permits the end alone, because the change set names it. The second survey does not."""
    connection = at_succession.connect("postgres")
    as_exec(connection)
    connection.commit()
    number = at_succession.opened(connection, ENACT)
    at_succession.enact(connection, without="PART-ONE/REVISED")
    connection.execute("reset session authorization")
    connection.execute("grant update on public.unit_version to cutter_exec")
    as_exec(connection)
    connection.execute("select set_config('app.canonical_writer', 'fn_iu_enact', true)")
    ended = connection.execute(
        "update public.unit_version v set lifecycle_status = 'superseded', effective_until = v.effective_from,"
        " ended_at = now(), ended_by = (select change_set_id from cutter_governance.cut_change_set where run_id = %s)"
        " from public.information_unit u where u.id = v.unit_id and u.canonical_address = %s"
        " and v.lifecycle_status = 'enacted'",
        (at_succession.run_id, at_succession.address("PART-ONE/REVISED")),
    )
    assert ended.rowcount == 1
    connection.execute("reset session authorization")
    connection.execute("revoke update on public.unit_version from cutter_exec")
    as_exec(connection)
    answer = at_succession.close(connection, ENACT, number, {"units_enacted": 3})
    assert (answer["status"], answer["drift"]["dimension"]) == ("drift", "row_content")
    with pytest.raises(psycopg.Error):
        connection.commit()


def as_exec(connection: Connection) -> None:
    """The session of the worker itself, which the guards ask for."""
    connection.execute("set session authorization cutter_exec")


def test_a_base_has_one_successor_in_the_table_too(enacted_revision: At) -> None:
    connection = enacted_revision.connect("postgres")
    connection.execute("set session_replication_role = replica")
    connection.execute("alter table public.enactment disable trigger user")
    with pytest.raises(psycopg.errors.UniqueViolation, match="enactment_once_for_each_base"):
        connection.execute(ANOTHER, ("ictr-another", enacted_revision.run_id))
    connection.rollback()


def test_a_base_that_is_not_as_it_was_sealed_opens_no_gate(at_revision: At) -> None:
    connection = at_revision.connect("postgres")
    connection.execute("alter table public.enactment disable trigger trg_enactment_append_only")
    connection.execute(
        "update public.enactment set source_version_id = (select source_version_id from cutter_governance.run"
        " where run_id = %s)",
        (at_revision.run_id,),
    )
    connection.execute("set constraints all immediate")
    connection.execute("alter table public.enactment enable always trigger trg_enactment_append_only")
    connection.commit()
    answer = gates.open_gate(at_revision.connect(), LEG_A, at_revision.run_id, approvals=at_revision.stage.offers)
    assert (answer["status"], answer["drift"]["dimension"]) == ("drift", "base"), answer
    assert answer["drift"]["diff"] == ["the base is not as it was sealed"]


def test_the_approvals_of_an_earlier_revision_open_neither_gate_of_a_later_one(deployment: Deployment) -> None:
    """The law returns to its first text and changes again, so that both revisions have the same two texts."""
    first_text, second_text = "# Part One\n\nA preamble.\n", "# Part One\n\nAnother preamble.\n"
    first = drive(deployment, first_text)
    runs = []
    for text, until in ((second_text, None), (first_text, None), (second_text, "IG_grant_probe")):
        deployment.register(text, document_id=first.document_id)
        runs.append(drive(deployment, document_id=first.document_id, until=until))
    earlier, later = runs[0], runs[2]
    for gate, sovereign, until in ((LEG_A, "SG_cut_authz", "IG_write_verify"), (ENACT, "SG_lifecycle_authz", None)):
        deployment.request(later.run_id, sovereign)
        replayed = earlier.approvals[sovereign]
        assert not deployment.judge(later.run_id, sovereign, replayed).accepted
        assert offered(deployment, gate, later.run_id, sovereign, replayed) == "no_accepted_verdict"
        assert deployment.gate(gate, later.run_id, (replayed,)).status != "passed"
        drive(deployment, document_id=first.document_id, run_id=later.run_id, until=until)
    assert deployment.run_row(later.run_id)["state"] == "closeout_reported"


def offered(made: Deployment, gate: str, run_id: str, sovereign: str, kb_id: str) -> str:
    """Offers a gate an approval of another run. Returns the code with which fn_gate_open refuses it."""
    connection = made.database.connect("cutter_exec")
    verdict = made.database.value(
        "select jsonb_build_object('approval_sha256', approval_sha256, 'challenge', challenge)"
        " from cutter_governance.approval_verdict where accepted and gate = %s and run_id <> %s order by id limit 1",
        (sovereign, run_id),
    )
    assert verdict, kb_id
    answer = gates.open_gate(connection, gate, run_id, approvals=(verdict,))
    connection.rollback()
    return str(answer.get("code"))


def test_two_revisions_of_a_law_are_never_open_at_once(deployment: Deployment) -> None:
    first = drive(deployment, "# Part One\n\nA preamble.\n")
    deployment.register("# Part One\n\nAnother preamble.\n", document_id=first.document_id)
    open_ = drive(deployment, document_id=first.document_id, until="IG_source_pin")
    deployment.register("# Part One\n\nA third preamble.\n", document_id=first.document_id)
    with pytest.raises(Refused, match="has the open run"):
        run_rows.register_run(deployment.settings, first.document_id, "live")
    with pytest.raises(psycopg.errors.UniqueViolation, match="run_active_document"):
        deployment.database.run(
            "insert into cutter_governance.run (run_id, document_id, mode, starter)"
            " values ('ictr-20261121T090000Z-0199f1de-7c3d-7e4f-8a9b-00000000000d', %s, 'live', 'x')",
            (first.document_id,),
        )
    assert deployment.run_row(open_.run_id)["ended_at"] is None
