"""A lost database comes back from segments and a companion: every row of every table, and cutter works on it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import pytest
from psycopg import sql

from cutter.backup.artifacts import COMPANION_SUFFIX
from cutter.backup.companion import restore as companions
from cutter.backup.companion import take as companion_take
from cutter.backup.companion.header import CompanionRecord, from_json
from cutter.backup.companion.rebuild import Rebuilt, rebuild
from cutter.backup.companion.rows import described, sequences
from cutter.backup.fingerprint import content_fingerprint
from cutter.backup.record import BackupRecord, BackupRefusal, RefusalCode
from cutter.backup.restore import digest
from cutter.settings import dsn
from cutter.storage.bootstrap import CONNECT
from tests.integration.backup import rig as parts
from tests.integration.backup.segment_rig import Laws, content, cutter, laws, with_segments
from tests.support import runs
from tests.support.database import OWNER, SCRATCH, Database, TestCluster
from tests.support.laws import law


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A deployment, its companion, and every row at that moment."""

    world: Laws
    companion: CompanionRecord
    law: dict[str, Any]
    others: dict[str, Any]
    fingerprint: str
    sequences: dict[str, int]


@pytest.fixture(scope="module")
def whole(cluster: TestCluster, keys: runs.Keys) -> Iterator[Whole]:
    with laws(cluster, keys) as world:
        yield taken(world)


def taken(world: Laws) -> Whole:
    """Take a backup and its companion at one moment.

    Their names come before all others, because a backup that a test takes in the same second is the newer one.
    """
    url = world.database.url
    with companion_take.moment(url("cutter_backup"), url(OWNER), 60) as moment:
        backup = world.take("backups/0.gpg", snapshot=moment.snapshot)
        assert isinstance(backup, BackupRecord), backup
        companion = companion_take.take(
            moment, backup, gpg_home=world.made.settings.key_home("backup"), recipient_fingerprint=world.fingerprint,
            artifacts_url=world.made.settings.artifacts, artifact_id="backups/0" + COMPANION_SUFFIX,
        )  # fmt: skip
        assert isinstance(companion, CompanionRecord), companion
        return Whole(
            world=world, companion=companion, law=content(world.database), others=others(world.database),
            fingerprint=fingerprint(world.database), sequences=sequences(moment.connection),
        )  # fmt: skip


def others(database: Database) -> dict[str, Any]:
    """The digest of each table that no segment holds."""
    with closing(database.connect("postgres")) as connection:
        return dict(described(connection))


def fingerprint(database: Database) -> str:
    with closing(database.connect("postgres")) as connection:
        return content_fingerprint(connection)


@contextmanager
def empty(world: Laws, *, owner: str = OWNER) -> Iterator[Database]:
    """A new database with the rights that `cutter up` gives to the database `cutter`, and nothing of it afterwards."""
    server, name = world.database.server, f"rebuilt_{uuid4().hex[:12]}"
    made, named = Database(server=server, name=name), sql.Identifier(name)
    server.maintain(
        sql.SQL("create database {} owner {} template template0").format(named, sql.Identifier(owner)),
        sql.SQL("revoke all on database {} from public").format(named),
        sql.SQL("grant connect on database {} to {}").format(
            named, sql.SQL(", ").join(map(sql.Identifier, CONNECT["cutter"]))
        ),
    )
    try:
        yield made
    finally:
        made.close()
        server.maintain(sql.SQL("drop database {} with (force)").format(named))


def rebuilt(whole: Whole, into: Database, **changed: Any) -> Rebuilt | BackupRefusal:
    settings = whole.world.made.settings
    given: dict[str, Any] = {
        "record": whole.companion, "artifacts_url": settings.artifacts, "dsn": into.url("postgres"),
        "gpg_home": settings.key_home("backup"), "deadline_seconds": 120.0,
    }  # fmt: skip
    return rebuild(**given | changed)


def code(outcome: object) -> RefusalCode:
    assert isinstance(outcome, BackupRefusal), outcome
    return outcome.code


def test_a_rebuilt_database_has_every_row_and_cutter_continues_on_it(whole: Whole) -> None:
    heard: list[str] = []
    with empty(whole.world) as into:
        outcome = rebuilt(whole, into, progress=lambda name, _total: heard.append(name))
        assert isinstance(outcome, Rebuilt), outcome
        assert (content(into), others(into), fingerprint(into)) == (whole.law, whole.others, whole.fingerprint)
        assert outcome.documents == 2
        assert len(heard) == 2
        with closing(into.connect("postgres")) as connection:
            assert sequences(connection) == whole.sequences
        with runs.deployment(into, whole.world.made.keys, state=whole.world.made.settings.state) as made:
            with_segments(made)
            run = runs.drive(made, law(3), quick=False)
        closed = "select count(*) from cutter_governance.gate_receipt where run_id = %s and gate = 'IG_closeout'"
        assert into.value(closed + " and sealed_at is not null", (run.run_id,)) == 1


def test_the_check_of_a_companion_leaves_no_trace(whole: Whole) -> None:
    scratch = dsn(whole.world.made.settings, "cutter_backup", database=SCRATCH)
    given = {
        "artifacts_url": whole.world.made.settings.artifacts, "scratch_dsn": scratch,
        "gpg_home": whole.world.made.settings.key_home("backup"),
    }  # fmt: skip
    header = companions.restore_check(record=whole.companion, **given)
    assert not isinstance(header, BackupRefusal), header
    assert dict(header.tables) == whole.others
    wrong = replace(whole.companion, sha256="0" * 64)
    assert code(companions.restore_check(record=wrong, **given)) is RefusalCode.ARTIFACT_DAMAGED


def test_a_rebuild_refuses_a_lost_segment_a_damaged_companion_and_another_database(whole: Whole) -> None:
    with whole.world.copied_store() as store, empty(whole.world) as into:
        (store / whole.world.record(1).artifact_id).unlink()
        assert code(rebuilt(whole, into, artifacts_url=store.as_uri())) is RefusalCode.ARTIFACT_MISSING
        assert code(rebuilt(whole, into)) is RefusalCode.SCRATCH_UNFIT, "a failed rebuild is not continued"
    with whole.world.copied_store() as store, empty(whole.world) as into:
        path = store / whole.companion.artifact_id
        path.write_bytes(path.read_bytes()[:-1])
        assert code(rebuilt(whole, into, artifacts_url=store.as_uri())) is RefusalCode.ARTIFACT_DAMAGED
    with empty(whole.world, owner="cutter_backup") as into:
        assert code(rebuilt(whole, into)) is RefusalCode.SCRATCH_UNFIT
        assert code(rebuilt(whole, into, dsn=into.url(OWNER))) is RefusalCode.SCRATCH_UNFIT


@pytest.mark.parametrize("record_fits", [False, True])
def test_a_companion_whose_rows_were_changed_is_refused(whole: Whole, *, record_fits: bool) -> None:
    """Whoever has the public key can encrypt other rows, also with a record that fits."""
    with whole.world.copied_store() as store, empty(whole.world) as into:
        path = store / whole.companion.artifact_id
        home = whole.world.made.settings.key_home("backup")
        plain = parts.gpg(home, "--decrypt", str(path))
        other = plain.replace(b"\tlive\t", b"\tdryrun\t")
        assert other != plain
        path.write_bytes(parts.gpg(home, "--recipient", whole.world.fingerprint, "--encrypt", given=other))
        sha256, size = digest(store.as_uri(), whole.companion.artifact_id)
        record = replace(whole.companion, sha256=sha256, size_bytes=size) if record_fits else whole.companion
        expected = RefusalCode.RESTORE_DIFFERS if record_fits else RefusalCode.ARTIFACT_DAMAGED
        assert code(rebuilt(whole, into, artifacts_url=store.as_uri(), record=record)) is expected


def test_the_commands_take_a_companion_and_rebuild_the_database_from_the_newest_one(whole: Whole) -> None:
    with empty(whole.world) as into:
        made = cutter(whole.world, "take", "--whole", "--json")
        place = re.sub(r":[^:@/]*@", "@", into.url("postgres"))
        answer = cutter(whole.world, "restore", "--all", "--whole", "--jobs", "2", "--into", place, "--json")
        assert (answer["companion"], answer["artifact"]) == (made["artifact_id"], made["artifact"])
        assert content(into) == content(whole.world.database)


def test_the_newest_companion_is_found_in_the_store_alone(whole: Whole) -> None:
    with whole.world.copied_store() as store:
        for path in store.glob(f"backups/*{COMPANION_SUFFIX}*"):
            if not f"backups/{path.name}".startswith(whole.companion.artifact_id):
                path.unlink()
        assert companions.newest(store.as_uri()) == whole.companion
    text = (whole.world.folder / f"{whole.companion.artifact_id}.json").read_text()
    assert from_json(text) == whole.companion
    assert re.fullmatch(r"[0-9a-f]{64}", json.loads(text)["sha256"])
