"""A segment holds what changed, its tree has the rest, and a restore of both is the whole database at one moment."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest
from psycopg import sql

from activities import backup_effects, effects
from activities.gates.backup import recipient, take_and_check
from activities.reconciler.activity import reconcile
from cutter.backup import forms
from cutter.backup.artifacts import open_store
from cutter.backup.health import health, sentences
from cutter.backup.record import BackupRecord, BackupRefusal, RefusalCode, RestoreReport
from cutter.backup.restore import read_record
from cutter.backup.segments import pages, tree
from cutter.backup.segments.collect import delete, look
from cutter.backup.segments.restore import SegmentReport
from cutter.backup.segments.scrub import again, each_pass
from cutter.backup.tables import SEGMENT_TABLES
from cutter.catalogue import WorkerRole
from cutter.domain.run_record import RunRecord
from cutter.errors import Unavailable
from cutter.messages import Reconciled, ReconcileInput
from cutter.notifications.facts import new_cards
from cutter.openpgp import recipients
from cutter.policy.rules import InvalidPolicy
from cutter.preflight.checks import SEGMENTS
from cutter.storage.backups import LISTED
from starter.commands.status import newest
from starter.local import doctor_checks
from starter.local.doctor_checks import Verdict
from tests.integration.backup import rig as parts
from tests.integration.backup.segment_rig import Laws, content, cutter, laws, sealing
from tests.support import runs
from tests.support.database import TestCluster
from worker import build_deps

CHANGES: LiteralString = "select changes from cutter_governance.backup_coverage where document_id = %s"


@pytest.fixture(scope="module")
def world(cluster: TestCluster, keys: runs.Keys) -> Iterator[Laws]:
    with laws(cluster, keys) as made:
        yield made


@pytest.fixture(autouse=True)
def _mended(world: Laws) -> Iterator[None]:
    """A test that finds a problem leaves none to the next test."""
    yield
    world.database.run(
        "update cutter_governance.backup_coverage set verified_at = now(), problem = null"
        " where sealed_changes is not null"
    )


def sealed(world: Laws, record: BackupRecord) -> SegmentReport:
    report = world.check(record)
    assert isinstance(report, SegmentReport), report
    return report


def code(outcome: object) -> RefusalCode:
    assert isinstance(outcome, BackupRefusal), outcome
    return outcome.code


def test_each_backup_holds_only_the_documents_that_changed_since_the_one_before(world: Laws) -> None:
    names = [run.document_id for run in world.driven]
    reports = [sealed(world, world.record(number)) for number in range(3)]
    assert [sorted(report.header.documents) for report in reports] == [[], [names[0]], [names[1]]]
    assert [report.header.base == tree.EMPTY for report in reports] == [True, True, False]
    assert reports[1].row_counts["public.information_unit"] == 4
    assert reports[2].row_counts["public.information_unit"] == 6
    assert reports[2].row_counts["public.enactment"] == 1
    assert world.uncovered() == []


def test_the_gate_seals_the_digest_that_names_the_whole_backup(world: Laws) -> None:
    record = world.record(2)
    pins = world.database.value(
        "select result -> 'pins' from cutter_governance.gate_receipt where run_id = %s and gate = 'IG_backup'",
        (world.driven[2].run_id,),
    )
    assert pins["backup_sha256"] == record.sha256
    assert pins["backup_fingerprint"] == record.content_fingerprint


def test_a_restore_of_one_backup_gives_every_row_of_every_document(world: Laws) -> None:
    with world.restored(world.record(2)) as (outcome, into):
        assert isinstance(outcome, RestoreReport), outcome
        assert content(into) == world.at_the_end
        assert into.value("select count(*) from information_schema.columns where column_name = 'backup_document'") == 0


def test_a_restore_of_an_earlier_backup_gives_its_moment(world: Laws) -> None:
    with world.restored(world.record(1)) as (outcome, into):
        assert isinstance(outcome, RestoreReport), outcome
        assert into.value("select count(*) from public.information_unit") == 4


def test_a_segment_names_one_recipient_and_holds_no_plaintext(world: Laws) -> None:
    for number in range(3):
        data = (world.folder / world.record(number).artifact_id).read_bytes()
        assert len(recipients(data) or ()) == 1
        assert b"Article" not in data
        assert b"segment-header" not in data


def damaged(world: Laws, store: Path, number: int = 2) -> object:
    with world.restored(world.record(number), artifacts_url=store.as_uri()) as (outcome, into):
        tables = "select count(*) from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'"
        assert into.value(tables) == 0, "after a refusal, the database must be empty"
        return outcome


def test_a_lost_segment_is_refused(world: Laws) -> None:
    with world.copied_store() as store:
        (store / world.record(1).artifact_id).unlink()
        assert code(damaged(world, store)) is RefusalCode.ARTIFACT_MISSING


def test_a_segment_in_the_place_of_another_is_refused(world: Laws) -> None:
    with world.copied_store() as store:
        segment, other = (store / world.record(number).artifact_id for number in (1, 2))
        segment.write_bytes(other.read_bytes())
        assert code(damaged(world, store)) is RefusalCode.ARTIFACT_DAMAGED


def test_a_truncated_segment_is_refused(world: Laws) -> None:
    with world.copied_store() as store:
        segment = store / world.record(1).artifact_id
        segment.write_bytes(segment.read_bytes()[:-40])
        assert code(damaged(world, store)) is RefusalCode.ARTIFACT_DAMAGED


def test_a_truncated_backup_is_refused_by_its_check(world: Laws) -> None:
    with world.copied_store() as store:
        backup = store / world.record(2).artifact_id
        backup.write_bytes(backup.read_bytes()[:-40])
        assert code(world.check(world.record(2), artifacts_url=store.as_uri())) is RefusalCode.ARTIFACT_DAMAGED


def test_a_segment_for_another_key_is_refused(world: Laws) -> None:
    with parts.new_home() as other:
        assert code(world.check(world.record(2), gpg_home=other.path)) is RefusalCode.WRONG_KEY
        record = world.take("another-key.gpg", gpg_home=other.path, recipient_fingerprint=other.fingerprint)
        assert isinstance(record, BackupRecord)
        pinned = replace(record, recipient=world.fingerprint)
        assert code(world.check(pinned, gpg_home=other.path)) is RefusalCode.WRONG_RECIPIENT


def test_a_segment_of_another_document_is_refused(world: Laws) -> None:
    """A tree that names, for a document, a whole segment that does not hold it."""
    with world.copied_store() as store:
        record = forged_base(world, store, lambda entries: [
            replace(entry, artifact=world.record(2).artifact_id, sha256=world.record(2).sha256) for entry in entries
        ])  # fmt: skip
        assert code(damaged_record(world, store, record)) is RefusalCode.SEGMENT_FOREIGN


def test_a_tree_with_another_digest_for_a_document_is_refused(world: Laws) -> None:
    with world.copied_store() as store:
        record = forged_base(world, store, lambda entries: [replace(entry, fingerprint="0" * 64) for entry in entries])
        assert code(damaged_record(world, store, record)) is RefusalCode.SEGMENT_FOREIGN


Forge = Callable[[list[tree.Entry]], list[tree.Entry]]


def forged_base(world: Laws, store: Path, forge: Forge) -> BackupRecord:
    """A backup on a tree whose entries somebody has changed, with all digests made to fit."""
    objects = open_store(store.as_uri())
    before = world.database.value("select tree from cutter_governance.backup_head")
    read = partial(pages.read, objects)
    forged = tree.updated(tree.EMPTY, forge(list(tree.entries_of(before, read))), read)
    pages.put(objects, forged.pages)
    world.database.run("update cutter_governance.backup_head set tree = %s", (forged.root,))
    try:
        record = world.take("forged.gpg", artifacts_url=store.as_uri())
    finally:
        world.database.run("update cutter_governance.backup_head set tree = %s", (before,))
    assert isinstance(record, BackupRecord), record
    return record


def damaged_record(world: Laws, store: Path, record: BackupRecord) -> object:
    with world.restored(record, artifacts_url=store.as_uri()) as (outcome, _):
        return outcome


def test_a_missing_page_and_a_changed_page_of_the_tree_are_refused(world: Laws) -> None:
    base = sealed(world, world.record(2)).header.base
    with world.copied_store() as store:
        page = store / "backup-tree" / base[:2] / f"{base}.json"
        whole = page.read_bytes()
        page.write_bytes(whole.replace(world.driven[0].document_id.encode(), b"ICX-ANOTHER"))
        assert code(damaged(world, store)) is RefusalCode.TREE_DAMAGED
        page.unlink()
        assert code(damaged(world, store)) is RefusalCode.TREE_DAMAGED
        assert code(world.check(world.record(2), artifacts_url=store.as_uri())) is RefusalCode.TREE_DAMAGED
        newest = world.database.value("select tree from cutter_governance.backup_head")
        (store / "backup-tree" / newest[:2] / f"{newest}.json").unlink()
        assert code(world.take("later.gpg", artifacts_url=store.as_uri())) is RefusalCode.TREE_DAMAGED
    assert isinstance(world.check(world.record(2)), RestoreReport)


def test_a_tree_that_omits_a_document_is_refused(world: Laws) -> None:
    world.database.run("update cutter_governance.backup_head set documents = documents + 1")
    try:
        assert code(world.take("omits.gpg")) is RefusalCode.TREE_INCOMPLETE
    finally:
        world.database.run("update cutter_governance.backup_head set documents = documents - 1")
    assert not (world.folder / "omits.gpg").exists()


@pytest.mark.parametrize("table", SEGMENT_TABLES)
def test_a_change_of_any_table_uncovers_its_document(world: Laws, table: str) -> None:
    bare = table.split(".")[1]
    names = {"table": sql.Identifier(*table.split(".")), "column": sql.Identifier(_COLUMNS.get(bare, "created_by"))}
    with closing(world.database.connect("postgres")) as connection:
        if bare == "revision_row":
            _insert_revision_row(connection)
        connection.execute(sql.SQL("alter table {table} disable trigger user").format(**names))
        enable = sql.SQL("alter table {table} enable always trigger {trigger}")
        connection.execute(enable.format(**names, trigger=sql.Identifier(f"trg_zz_{bare}_backup")))
        connection.execute(sql.SQL("update {table} set {column} = {column}").format(**names))
        connection.execute("set constraints all immediate")
        row = connection.execute(
            "select array_agg(document_id order by document_id) from cutter_governance.backup_coverage"
            " where sealed_changes is distinct from changes"
        ).fetchone()
        connection.rollback()
    both = sorted(run.document_id for run in world.driven[:2])
    assert row is not None
    assert row[0] == both or (bare == "revision_row" and row[0] in ([both[0]], [both[1]]))
    assert world.uncovered() == []


_COLUMNS = {
    "cut_change_set": "emitted_by", "cut_change_set_affected_row": "operation", "dot_pair_signature": "signature",
    "iu_lifecycle_log": "actor", "enactment": "n", "manifest_unit_block": "render_order", "revision_row": "operation",
}  # fmt: skip


def _insert_revision_row(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    connection.execute("alter table cutter_governance.revision_row disable trigger user")
    connection.execute(
        "insert into cutter_governance.revision_row (run_id, address, document_order, operation, unit_id, version_id,"
        " base_version_id) select e.run_id, u.canonical_address, 1, 'keep', u.id, v.id, v.id from public.enactment e"
        " join cutter_governance.run r using (run_id) join public.information_unit u"
        " on starts_with(u.canonical_address, r.docprefix || '/')"
        " join public.unit_version v on v.unit_id = u.id order by u.canonical_address limit 1"
    )


def test_a_row_of_no_document_is_refused(world: Laws) -> None:
    with closing(world.database.connect("postgres")) as connection:
        connection.execute("set session_replication_role = replica")
        connection.execute("alter table public.iu_lifecycle_log disable trigger trg_zz_log_gate")
        connection.execute(
            "insert into public.iu_lifecycle_log (unit_id, from_status, to_status, actor)"
            " values (gen_random_uuid(), 'draft', 'enacted', 'nobody')"
        )
        with pytest.raises(psycopg.Error, match="belongs to no document"):
            connection.execute("set constraints all immediate")
        connection.rollback()


def test_a_block_that_is_written_uncovers_its_document_and_one_of_no_document_is_refused(world: Laws) -> None:
    block = (
        "insert into cutter_governance.manifest_unit_block (envelope_id, unit_local_id, block_role, source_span,"
        " span_sha256, render_order, target_unit_id, proposed_canonical_address, decision_backlog_ref)"
        " select {envelope}, 'x', 'result', source_span, span_sha256, 99, target_unit_id, 'x/X', decision_backlog_ref"
        " from cutter_governance.manifest_unit_block order by envelope_id limit 1"
    )
    with closing(world.database.connect("postgres")) as connection:
        connection.execute("set session_replication_role = replica")
        connection.execute(sql.SQL(block).format(envelope=sql.SQL("envelope_id")))
        row = connection.execute(
            "select count(*) from cutter_governance.backup_coverage where sealed_changes is distinct from changes"
        ).fetchone()
        assert row == (1,)
        with pytest.raises(psycopg.Error, match="belongs to no document"):
            connection.execute(sql.SQL(block).format(envelope=sql.SQL("gen_random_uuid()")))
        connection.rollback()
    assert world.uncovered() == []


def test_a_change_that_commits_during_a_backup_is_in_the_next_one(world: Laws) -> None:
    name = world.driven[0].document_id
    with closing(world.database.connect("postgres")) as writer:
        writer.execute("alter table public.information_unit disable trigger user")
        writer.execute("alter table public.information_unit enable always trigger trg_zz_information_unit_backup")
        writer.commit()
        writer.execute(
            "update public.information_unit set updated_by = 'somebody' where starts_with(canonical_address, %s)",
            (f"{name}/",),
        )
        before = world.take("before-commit.gpg")
        assert isinstance(before, BackupRecord)
        report = sealed(world, before)
        assert report.header.documents == {}
        changes = world.database.value(CHANGES, (name,))
        writer.commit()
    assert world.database.value(CHANGES, (name,)) == changes + 1
    assert world.uncovered() == [name]
    after = world.take("after-commit.gpg")
    assert isinstance(after, BackupRecord)
    report = sealing(world, after)
    assert list(report.header.documents) == [name]
    assert world.uncovered() == []
    with world.restored(after) as (outcome, into):
        assert isinstance(outcome, RestoreReport), outcome
        assert content(into) == content(world.database)


def test_other_columns_begin_a_new_tree(world: Laws) -> None:
    world.database.run("alter table public.enactment add column note text")
    try:
        record = world.take("other-columns.gpg")
        assert isinstance(record, BackupRecord)
        assert record.row_counts["public.information_unit"] == 10
    finally:
        world.database.run("alter table public.enactment drop column note")


def test_only_the_backup_role_seals(world: Laws) -> None:
    for role in ("cutter_read", "cutter_exec", "cutter_verify", "cutter_operator"):
        with closing(world.database.connect(role)) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("select cutter_governance.fn_backup_seal(null, 'a', 'b', 'c', 'd', '{}')")


def enacted(world: Laws) -> list[str]:
    return sorted(run.document_id for run in world.driven[:2])


def test_a_scrub_verifies_every_sealed_document(world: Laws) -> None:
    world.database.run("update cutter_governance.backup_coverage set verified_at = verified_at - interval '1 day'")
    report = world.scrub()
    assert (sorted(report.verified), dict(report.problems)) == (enacted(world), {})
    fresh = "select bool_and(verified_at > now() - interval '1 hour') from cutter_governance.backup_coverage"
    assert world.database.value(fresh) is True


def test_a_scrub_begins_with_the_oldest_verification(world: Laws) -> None:
    oldest = world.driven[1].document_id
    world.database.run(
        "update cutter_governance.backup_coverage set verified_at = verified_at - interval '1 day'"
        " where document_id = %s",
        (oldest,),
    )
    assert world.scrub(documents=1).verified == (oldest,)


def test_a_damaged_segment_stops_new_backups_until_it_is_dealt_with(world: Laws) -> None:
    artifact = world.database.value(
        "select artifact from cutter_governance.backup_coverage where document_id = %s", (world.driven[0].document_id,)
    )
    with world.copied_store() as store:
        (store / artifact).write_bytes((store / artifact).read_bytes()[:-1])
        report = world.scrub(artifacts_url=store.as_uri())
    assert "artifact_damaged" in report.problems[world.driven[0].document_id]
    assert code(world.take("damaged.gpg")) is RefusalCode.SEGMENT_DAMAGED
    assert not world.scrub().problems
    assert isinstance(world.take("dealt-with.gpg"), BackupRecord)


def test_a_damaged_segment_is_told_once_and_shown(world: Laws) -> None:
    """One message for one scrub that finds new problems, however many documents have one."""
    count = "select count(*) from cutter_governance.notification where kind = 'backup'"
    before = world.database.value(count)
    world.database.run(
        "insert into cutter_governance.notification_channel (name, since) values ('email', '2001-01-01')"
    )
    with world.copied_store() as store:
        named = "select array_agg(distinct artifact) from cutter_governance.backup_coverage where artifact is not null"
        for artifact in world.database.value(named):
            (store / artifact).unlink()
        for _ in range(2):
            report = world.scrub(artifacts_url=store.as_uri())
            assert len(report.problems) == 2
    assert world.database.value(count) == before + 1
    with closing(world.database.connect("cutter_operator")) as connection:
        cards = [
            card for _, card in new_cards(connection, "email", ("backup",), InvalidPolicy(problems=()), "2001-01-01")
        ]
        lines = list(sentences(health(connection), 30))
    assert [(card.severity, card.commands) for card in cards if card][-1] == ("error", ("cutter backup scrub",))
    document = min(enacted(world))
    problem = f"{document}: {report.problems[document]}"
    assert problem.startswith(f"{document}: artifact_missing: ")
    facts = {fact.name: fact.value for card in cards if card for fact in card.facts}
    assert facts["Problem"] == report.problems[document]
    assert lines == [f"the segments of 2 documents failed their verification, such as {problem}; no run may change law"]
    settings = world.made.settings
    assert newest(settings).backups == lines
    assert cutter(world, "list", "--json")["problems"] == lines
    check = doctor_checks.look(settings, SEGMENTS)
    assert (check.verdict, check.found) == (Verdict.BAD, lines[0])
    world.scrub()
    assert doctor_checks.look(settings, SEGMENTS).verdict is Verdict.OK
    assert newest(settings).backups == []


def test_a_scrub_sees_a_row_that_changed_without_its_trigger(world: Laws) -> None:
    name = world.driven[1].document_id
    with closing(world.database.connect("postgres")) as connection:
        connection.execute("alter table public.information_unit disable trigger user")
        clause = "from public.information_unit where starts_with(canonical_address, %s)"
        edit = "update public.information_unit set owner_ref = owner_ref || %s where id = (select min(id::text) "
        connection.execute(edit + clause + ")::uuid", (" forged", f"{name}/"))
        connection.commit()
    assert world.uncovered() == []
    report = world.scrub()
    problem = "its live rows differ from its segment in public.information_unit, although no change was counted"
    assert report.problems[name] == problem
    with closing(world.database.connect("postgres")) as connection:
        connection.execute("update public.information_unit set owner_ref = replace(owner_ref, ' forged', '')")
        connection.commit()
    assert not world.scrub().problems


def test_a_scrub_sees_a_segment_with_other_rows_than_were_sealed(world: Laws) -> None:
    name = world.driven[0].document_id
    change = "update cutter_governance.backup_coverage set fingerprint = %s where document_id = %s"
    sealed_as = world.database.value(
        "select fingerprint from cutter_governance.backup_coverage where document_id = %s", (name,)
    )
    world.database.run(change, ("0" * 64, name))
    assert world.scrub().problems == {name: "its rows in the segment are not those that were sealed"}
    world.database.run(change, (sealed_as, name))
    assert not world.scrub().problems


def test_a_scrub_sees_a_tree_that_names_another_segment(world: Laws) -> None:
    before = world.database.value("select tree from cutter_governance.backup_head")
    world.database.run("update cutter_governance.backup_head set tree = %s", (tree.EMPTY,))
    try:
        report = world.scrub()
    finally:
        world.database.run("update cutter_governance.backup_head set tree = %s", (before,))
    assert set(report.problems.values()) == {"the tree does not name its segment"}
    assert not world.scrub().problems


def test_segments_that_nobody_verified_for_long_stop_new_backups(world: Laws) -> None:
    world.database.run("update cutter_governance.backup_coverage set verified_at = verified_at - interval '31 days'")
    assert code(world.take("stale.gpg")) is RefusalCode.VERIFICATION_STALE
    world.scrub()
    assert isinstance(world.take("fresh.gpg"), BackupRecord)


def test_a_scrub_without_the_private_key_says_nothing_about_segments(world: Laws) -> None:
    with parts.new_home() as other, pytest.raises(Unavailable, match="private key"):
        world.scrub(gpg_home=other.path)
    assert isinstance(world.take("not-verified.gpg"), BackupRecord)


def test_a_pass_of_the_reconciler_verifies_segments_if_the_worker_takes_them(world: Laws) -> None:
    settings = world.made.deps[WorkerRole.CUTTER].settings
    fresh = "select bool_and(verified_at > now() - interval '1 hour') from cutter_governance.backup_coverage"
    for form, verified in (("full", False), ("segments", True)):
        world.database.run("update cutter_governance.backup_coverage set verified_at = verified_at - interval '1 day'")
        deps = build_deps(settings.model_copy(update={"backup_form": form}), WorkerRole.CUTTER)
        try:
            assert (deps.take_backup is forms.TAKE["segments"]) is verified
            outcome = reconcile(replace(deps, reconcile_once=Reconciled), ReconcileInput())
            assert outcome == Reconciled()
            assert world.database.value(fresh) is verified
        finally:
            for pool in deps.pools.values():
                pool.close()


def test_a_document_is_dumped_again_on_demand(world: Laws) -> None:
    with closing(world.database.connect("cutter_backup")) as connection:
        assert again(connection, world.driven[0].document_id)
        assert not again(connection, "ICX-UNKNOWN")
    assert world.uncovered() == [world.driven[0].document_id]
    record = world.take(f"again-{world.driven[0].document_id}.gpg")
    assert isinstance(record, BackupRecord)
    sealing(world, record)
    assert world.uncovered() == []


def test_the_commands_take_scrub_and_restore_everything(world: Laws) -> None:
    taken = cutter(world, "take", "--json")
    assert taken["content_fingerprint"]
    assert sorted(cutter(world, "scrub", "--json")["verified"]) == enacted(world)
    assert cutter(world, "again", world.driven[0].document_id, "--json")["again"] is True
    newest = cutter(world, "take", "--json")
    assert newest["row_counts"]["public.information_unit"] == 4
    assert cutter(world, "verify", world.driven[2].run_id, "--json")["sha256"] == world.record(2).sha256
    server = world.database.server
    server.maintain(sql.SQL("CREATE DATABASE restored_by_command TEMPLATE template0"))
    try:
        into = server.url("postgres", "restored_by_command")
        answer = cutter(world, "restore", "--all", "--into", re.sub(r":[^:@/]*@", "@", into), "--json")
        assert answer["row_counts"]["public.information_unit"] == 10
        assert answer["artifact_id"] == newest["artifact_id"], (
            "the backup that a person took is newer than those of runs"
        )
        server.maintain(sql.SQL("DROP DATABASE restored_by_command WITH (FORCE)"))
        server.maintain(sql.SQL("CREATE DATABASE restored_by_command TEMPLATE template0"))
        options = ("--document", world.driven[1].document_id, "--jobs", "2")
        answer = cutter(world, "restore", "--all", *options, "--into", re.sub(r":[^:@/]*@", "@", into), "--json")
        assert answer["row_counts"]["public.information_unit"] == 6
    finally:
        server.maintain(sql.SQL("DROP DATABASE restored_by_command WITH (FORCE)"))


def test_the_list_begins_with_the_backup_that_was_recorded_last_in_its_second(world: Laws) -> None:
    with closing(world.database.connect("postgres")) as connection:
        connection.execute("alter table cutter_governance.action_receipt disable trigger all")
        connection.execute(
            "update cutter_governance.action_receipt set response_metadata = response_metadata"
            """ || '{"taken_utc": "2099-01-01T00:00:00Z"}' where connector = 'backup' and operation = 'take'"""
        )
        rows = connection.execute(
            "select target from cutter_governance.action_receipt where connector = 'backup' and operation = 'take'"
            " order by at desc"
        ).fetchall()
        listed = LISTED.all(connection, {"limit": 100})
        connection.rollback()
    assert [backup.artifact for backup in listed] == [name for (name,) in rows]
    assert len(rows) == 3


def test_a_collection_removes_what_nobody_needs_and_a_restore_still_works(world: Laws) -> None:
    """An hour of the retention is not over, so the artifacts look old by their records alone."""
    newest = world.take("backups/0.gpg")
    assert isinstance(newest, BackupRecord)
    with world.copied_store() as store:
        for path in store.rglob("*.gpg.json"):
            text = path.read_text()
            path.write_text(re.sub(r'"taken_utc":"20\d\d', '"taken_utc":"2001', text))
        head = world.database.value("select tree from cutter_governance.backup_head")
        garbage = look(store.as_uri(), now=datetime.now(UTC), days=30, wanted=(), newest_tree=head)
        assert garbage.artifacts, "the first backup of the first run holds no document"
        delete(store.as_uri(), garbage)
        left = {str(path.relative_to(store)) for path in store.rglob("*.gpg")}
        assert left.isdisjoint(garbage.artifacts)
        with world.restored(newest, artifacts_url=store.as_uri()) as (outcome, into):
            assert isinstance(outcome, RestoreReport), outcome
            assert content(into) == content(world.database)
        left_garbage = look(store.as_uri(), now=datetime.now(UTC), days=30, wanted=(), newest_tree=head)
        assert (left_garbage.artifacts, left_garbage.pages) == ([], [])


def test_the_command_of_a_collection_keeps_what_is_young(world: Laws) -> None:
    answer = cutter(world, "collect", "--delete", "--json")
    assert (answer["artifacts"], answer["pages"], answer["retention_days"]) == ([], 0, 400)


def test_a_record_says_its_tree_and_the_age_of_its_oldest_verification(world: Laws) -> None:
    world.database.run("update cutter_governance.backup_coverage set verified_at = verified_at - interval '2 days'")
    record = world.take("aged.gpg")
    assert isinstance(record, BackupRecord)
    assert record.base == world.database.value("select tree from cutter_governance.backup_head")
    assert 172_800 <= (record.oldest_verification_seconds or 0) < 172_800 + 3_600
    assert read_record(world.made.settings.artifacts, "aged.gpg") == record
    assert world.record(0).oldest_verification_seconds is None
    wrong = replace(record, base="0" * 64)
    assert code(world.check(wrong)) is RefusalCode.RESTORE_DIFFERS


def test_a_deployment_may_ask_for_fresher_verifications(world: Laws) -> None:
    world.database.run("update cutter_governance.backup_coverage set verified_at = verified_at - interval '2 days'")
    assert code(world.take("stricter.gpg", verified_max_seconds=86_400.0)) is RefusalCode.VERIFICATION_STALE
    settings = world.made.deps[WorkerRole.CUTTER].settings.model_copy(update={"backup_verified_max_days": 1})
    deps = replace(world.made.deps[WorkerRole.CUTTER], settings=settings)
    context = effects.of_run(
        RunRecord.of(world.made.run_row(world.driven[2].run_id)), {}, datetime.now(UTC), "IG_backup"
    )
    answer, _ = backup_effects.take_backup(deps, context, "stricter/pre_write.gpg", world.fingerprint, 60.0)
    assert code(answer) is RefusalCode.VERIFICATION_STALE


def everything_again(world: Laws) -> list[str]:
    """Let the next backup dump every document."""
    with closing(world.database.connect("cutter_backup")) as connection:
        assert again(connection, None)
    return world.uncovered()


def test_a_gate_seals_the_parts_of_a_large_backup_before_it_takes_its_own(world: Laws) -> None:
    names = everything_again(world)
    assert len(names) > 1
    own = world.made.deps[WorkerRole.CUTTER]
    deps = replace(own, take_backup=partial(forms.TAKE["segments"], documents_max=1))
    context = effects.of_run(
        RunRecord.of(world.made.run_row(world.driven[2].run_id)), {}, datetime.now(UTC), "IG_backup"
    )
    answer = take_and_check(deps, context, "parts/pre_write.gpg", recipient(deps))
    assert not isinstance(answer, BackupRefusal), answer
    record, report = answer.record, answer.report
    assert (record.artifact_id, record.whole) == ("parts/pre_write.gpg", True)
    assert isinstance(report, SegmentReport)
    assert list(report.header.documents) == names[-1:]
    assert world.uncovered() == []
    with world.restored(record) as (outcome, into):
        assert isinstance(outcome, RestoreReport), outcome
        assert content(into) == content(world.database)


def test_the_commands_take_a_backup_and_its_companion_in_several_artifacts(world: Laws) -> None:
    for options in ((), ("--whole",)):
        names = everything_again(world)
        before = set(world.folder.rglob("*.gpg"))
        answer = cutter(world, "take", *options, "--json", documents_max=1)
        made = sorted(path.name for path in set(world.folder.rglob("*.gpg")) - before)
        assert sum("-part-" in name for name in made) == len(names) - 1
        assert len(made) == len(names) + len(options)
        assert world.uncovered() == []
        last = read_record(world.made.settings.artifacts, answer.get("artifact", answer["artifact_id"]))
        with world.restored(last) as (outcome, into):
            assert isinstance(outcome, RestoreReport), outcome
            assert content(into) == content(world.database)


def test_a_pass_verifies_each_document_twice_within_its_days() -> None:
    assert each_pass(100, 30, 144, least=20) == 20
    assert each_pass(1_000_000, 30, 144, least=20) == 463
    assert each_pass(1_000_000, 30, 1, least=200) == 66_667
    assert each_pass(86_400, 1, 144, least=20) == 1_200


def test_the_reconciler_verifies_more_of_more_documents(world: Laws, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(backup_effects, "scrub", lambda **given: asked.append(given["documents"]))
    world.database.run("update cutter_governance.backup_head set documents = documents + 1000000")
    try:
        backup_effects.scrub_backups(world.made.deps[WorkerRole.CUTTER])
    finally:
        world.database.run("update cutter_governance.backup_head set documents = documents - 1000000")
    assert asked == [463]


@pytest.mark.parametrize(
    ("age", "sentence"),
    [
        (15, None),
        (24, "the scrub is too slow: a segment was last verified 24 days ago, the limit is 30, and in 6 days"),
        (31, "a segment was last verified 31 days ago, the limit is 30: no backup is taken"),
    ],
    ids=("young", "late", "too late"),
)
def test_people_are_warned_before_verifications_are_too_old(world: Laws, age: int, sentence: str | None) -> None:
    world.database.run(f"update cutter_governance.backup_coverage set verified_at = now() - interval '{age} days'"
        " where verified_at is not null")  # fmt: skip
    settings = world.made.settings
    check, listed = doctor_checks.look(settings, SEGMENTS), newest(settings).backups
    if sentence is None:
        assert (check.verdict, listed) == (Verdict.OK, [])
        return
    assert (check.verdict, check.remedy) == (Verdict.BAD, "cutter backup scrub")
    assert check.found.startswith(sentence)
    assert listed == [check.found]
