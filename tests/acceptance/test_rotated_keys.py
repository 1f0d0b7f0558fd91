"""The commands of the runbook about keys and passwords, typed while the stack serves: no worker is started again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cutter import openpgp
from cutter.backup.encryption import open_store
from cutter.backup.restore import read_record
from cutter.catalogue import WorkerRole
from cutter.gpg import Gpg
from cutter.stack import supervisor
from tests.support.processes import Stack, stack
from tests.support.runbook import enacted, sections, types

SECTIONS = sections("runbooks/rotate-keys.md")


@pytest.fixture(scope="module")
def served() -> Iterator[Stack]:
    with stack("cr") as made:
        made.up()
        made.approver()
        yield made


def workers(made: Stack) -> list[int]:
    return [supervisor.read(made.state)[f"worker-{role}"].process.pid for role in WorkerRole]


def test_another_backup_key_while_runs_continue(served: Stack) -> None:
    first, before = enacted(served, "ICX-KEY-1"), workers(served)
    import_it, pin_it = SECTIONS["The backup key"]
    types(served, import_it)
    assert recipient(served, enacted(served, "ICX-KEY-2")) == recipient(served, first)
    types(served, pin_it)
    second = enacted(served, "ICX-KEY-3")
    pinned = (served.state / "keys" / "backup.fingerprint").read_text().strip()
    assert recipient(served, second) == pinned != recipient(served, first)
    assert encrypted_for(served, second) in subkeys(served, pinned)
    for document in ("ICX-KEY-1", "ICX-KEY-3"):
        assert served.cutter("backup", "verify", document).returncode == 0
    assert workers(served) == before


def test_another_key_of_the_executor_and_of_the_verifier(served: Stack) -> None:
    before = workers(served)
    signers = {}
    for name in ("executor", "verifier"):
        old = Gpg(served.state / "keys" / name).primary_fingerprints(secret=True)
        for block in SECTIONS[f"The {name}'s key"]:
            types(served, block)
        (signers[name],) = Gpg(served.state / "keys" / name).primary_fingerprints(secret=True)
        assert (signers[name],) != old
    run_id = enacted(served, f"ICX-SIGNS-{len(signers)}")
    made_by = served.rows(
        "select s.signer_fingerprint as key from cutter_governance.dot_pair_signature s"
        " left join cutter_governance.verify_result v on v.verify_result_id = s.cross_reference_verify_result_id"
        " join cutter_governance.cut_change_set c"
        " on c.change_set_id = coalesce(s.cross_reference_change_set_id, v.change_set_id)"
        " where c.run_id = %s", (run_id,)
    )  # fmt: skip
    assert {signature["key"] for signature in made_by} == set(signers.values())
    assert workers(served) == before


@pytest.mark.parametrize("role", ["cutter_exec", "cutter_read", "cutter_backup", "cutter_verify", "cutter_operator"])
def test_another_password_of_a_role(served: Stack, role: str) -> None:
    before, file = workers(served), served.state / "secrets" / f"{role}.password"
    old = file.read_text()
    (block,) = SECTIONS["A password of a database role"]
    types(served, block.replace("cutter_exec", role))
    assert file.read_text() != old
    served.rows(
        "select pg_terminate_backend(pid) from pg_stat_activity where usename = %s and pid <> pg_backend_pid()", (role,)
    )  # fmt: skip
    enacted(served, f"ICX-{role.upper().replace('_', '-')}")
    assert workers(served) == before


def recipient(made: Stack, run_id: str) -> str:
    """The key for which a run's backup was encrypted, as its record says."""
    return read_record(made.settings.artifacts, f"{run_id}/pre_write.gpg").recipient


def encrypted_for(made: Stack, run_id: str) -> str:
    """The id of the key in the first packet of a run's backup."""
    head = next(open_store(made.settings.artifacts).chunks(f"{run_id}/pre_write.gpg"))
    (key_id,) = openpgp.recipients(head[: openpgp.HEAD_BYTES]) or ()
    return key_id


def subkeys(made: Stack, fingerprint: str) -> set[str]:
    """The ids of the encryption keys of a primary key."""
    listed = Gpg(made.state / "keys" / "backup").key_listing().split("\npub:")
    (own,) = [part for part in listed if fingerprint in part]
    return {line.split(":")[4] for line in own.splitlines() if line.startswith("sub:")}


def test_the_page_covers_each_key_and_each_role(served: Stack) -> None:
    assert Path(served.state / "secrets").is_dir()
    assert list(SECTIONS) == [
        "The backup key", "The executor's key", "The verifier's key", "A password of a database role"
    ]  # fmt: skip
