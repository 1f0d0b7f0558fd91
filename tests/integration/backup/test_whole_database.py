"""The whole database of a local stack is dumped through gpg, and comes back into a fresh one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from cutter.backup import whole
from cutter.domain.digests import sha256_hex
from cutter.errors import Conflict, Refused
from cutter.openpgp import recipients
from cutter.stack.addresses import LOOPBACK
from cutter.stack.postgres import bootstrap
from cutter.storage.migrate import migrate_url
from tests.integration.backup import rig as parts
from tests.integration.backup.rig import holds_plaintext

UNITS = 30
KEYS = """
SET session_replication_role = replica;
DELETE FROM cutter_governance.cut_change_set_affected_row;
DELETE FROM cutter_governance.dot_pair_signature;
DELETE FROM cutter_governance.cut_change_set;
DELETE FROM cutter_governance.manifest_unit_block;
INSERT INTO public.source_snapshot VALUES (encode(sha256('x'), 'hex'), 'x');
INSERT INTO public.source_version (document_version_id, id, source_document_ref, version_seq, content_checksum,
    size_bytes, profile_id, profile_sha256, profile_body, registered_by)
SELECT 'v', v.source_version_id, d.source_document_ref, 1, encode(sha256('x'), 'hex'), 1, 'p',
    encode(sha256('p'), 'hex'), 'p', 'test'
FROM (SELECT DISTINCT source_version_id FROM public.unit_version) v, public.source_document d;
"""
"""Makes each foreign key of the rig's rows hold, as `pg_restore` asks."""
COUNT = "SELECT count(*) FROM public.information_unit"


@pytest.fixture(scope="module")
def lost() -> Iterator[parts.Server]:
    """A server whose database `cutter` has a law."""
    with parts.server() as made:
        made.fill("cutter", units=UNITS)
        made.run(KEYS, database="cutter")
        yield made


@pytest.fixture
def file(lost: parts.Server, home: parts.Home, tmp_path: Path) -> Path:
    path = tmp_path / "cutter.gpg"
    whole.dump(embedded(lost), path, gpg_home=home.path, recipient=home.fingerprint)
    return path


def embedded(made: parts.Server) -> whole.Server:
    cluster = made.cluster
    return whole.Server(
        host=LOOPBACK, port=cluster.port, user=cluster.superuser, password=cluster.password, program=parts.pg_bin
    )


def sha256(file: Path) -> str:
    return sha256_hex(file.read_bytes())


@pytest.mark.promise
def test_a_fresh_stack_gets_the_database_back(file: Path, home: parts.Home, tmp_path: Path) -> None:
    assert len(recipients(file.read_bytes()) or ()) == 1
    assert file.stat().st_mode & 0o077 == 0
    assert holds_plaintext([tmp_path]) == []
    with parts.server() as fresh:
        whole.bring_back(embedded(fresh), file, sha256=sha256(file), gpg_home=home.path)
        bootstrap(fresh.cluster, fresh.secrets)
        assert whole.runs(embedded(fresh)) == 1
        assert fresh.value(COUNT, database="cutter") == UNITS
        assert migrate_url(fresh.dsn("cutter_owner", "cutter")).applied == ()
        with psycopg.connect(fresh.dsn("cutter_read", "cutter")) as connection:
            assert connection.execute(COUNT).fetchone() == (UNITS,)


def test_a_dump_is_never_replaced(lost: parts.Server, file: Path, home: parts.Home) -> None:
    before = file.read_bytes()
    with pytest.raises(Conflict):
        whole.dump(embedded(lost), file, gpg_home=home.path, recipient=home.fingerprint)
    assert file.read_bytes() == before


def test_a_dump_of_other_bytes_is_refused(lost: parts.Server, file: Path, home: parts.Home) -> None:
    digest = sha256(file)
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(Refused) as caught:
        whole.bring_back(embedded(lost), file, sha256=digest, gpg_home=home.path)
    assert caught.value.code == "artifact_damaged"


def test_a_database_with_runs_is_not_replaced(lost: parts.Server, file: Path, home: parts.Home) -> None:
    with pytest.raises(Refused) as caught:
        whole.bring_back(embedded(lost), file, sha256=sha256(file), gpg_home=home.path)
    assert caught.value.code == "database_in_use"
    assert lost.value(COUNT, database="cutter") == UNITS


def test_without_the_private_key_the_database_stays_as_it_is(file: Path, other_home: parts.Home) -> None:
    with parts.server() as fresh:
        with pytest.raises(Refused) as caught:
            whole.bring_back(embedded(fresh), file, sha256=sha256(file), gpg_home=other_home.path)
        assert caught.value.code == "wrong_key"
        assert fresh.value(COUNT, database="cutter") == 0
