"""The runbook about recovery, typed: the database goes back, and its commands lead to a clean state."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes import ROOT, Stack, stack
from tests.support.runbook import awaits_enactment, enacted, ends, sections, types

SECTIONS = sections("runbooks/point-in-time.md")
BEFORE, KNOWN, LOST, WAITS = "ICX-PIT-1", "ICX-PIT-2", "ICX-PIT-3", "ICX-PIT-4"


@pytest.fixture
def archived() -> Iterator[Stack]:
    with stack("cp") as made:
        made.up()
        made.approver()
        for block in (*SECTIONS["Archive the log"], *SECTIONS["Take a base backup"]):
            types(made, block)
        yield made


@pytest.fixture
def marking() -> Iterator[Stack]:
    """The same, and each gate marks a restore point."""
    with stack("cp") as made:
        made.up()
        made.approver()
        # Workers that are asked for restore points serve only beside a server that archives.
        made.environment["CUTTER_BACKUP_RESTORE_POINT"] = "true"
        for block in (*SECTIONS["Archive the log"], *SECTIONS["Take a base backup"]):
            types(made, block)
        yield made


def laws(made: Stack) -> set[str]:
    return {row["document"] for row in made.json("law", "show")["laws"]}


def files(made: Stack) -> set[Path]:
    """Every document, backup and bundle. The other files of a run's folder are written again."""
    stored = [
        *(made.state / "kb").rglob("*"),
        *(made.state / "runs").rglob("*.gpg"),
        *(made.state / "runs").rglob("*.tar"),
    ]
    return {path for path in stored if path.is_file()}


@pytest.mark.timeout(600)  # It took 234 seconds on two loaded cores.
def test_the_database_goes_back_and_the_runbook_leads_to_a_clean_state(archived: Stack) -> None:
    made = archived
    enacted(made, BEFORE)
    known = awaits_enactment(made, KNOWN)
    moment = made.value("select clock_timestamp()::text")
    ends(made, KNOWN, known)
    lost = enacted(made, LOST)
    waits = awaits_enactment(made, WAITS)
    assert laws(made) == {BEFORE, KNOWN, LOST}
    stored = {path.read_bytes() for path in files(made)}

    recover, tidy = SECTIONS["Recover to the moment"]
    types(made, recover, TARGET=f"recovery_target_time = '{moment}'")
    types(made, tidy)
    assert laws(made) == {BEFORE}
    # The reconciler's schedule of every ten minutes may have looked already.
    assert made.state_of(known) in {"awaiting_lifecycle_authorization", "stopped_terminated"}

    look, move = SECTIONS["Find what is ahead of the database"]
    typed = types(made, look, CUTTER=str(ROOT))
    assert made.state_of(known) == "stopped_terminated"
    runs = {line.split("|")[1]: line.split("|")[2] for line in typed.splitlines() if line.count("|") == 2}
    assert runs == {known: "stopped_terminated", lost: "no such run", waits: "no such run"}
    assert f"document/{WAITS}" in typed
    end = f"temporal workflow terminate --workflow-id document/{WAITS} --reason 'its run is lost'"
    types(made, f"{end} --address $(cat .cutter/temporal.address)")
    types(made, move)
    types(made, look, CUTTER=str(ROOT))
    assert (made.state / "typed" / "ahead.txt").read_text() == ""
    types(made, f"cutter rebuild {known}")
    (archive,) = (made.state / "typed").glob("ahead-*.tar")
    with tarfile.open(archive) as moved:
        aside = {moved.extractfile(name).read() for name in moved.getnames()}  # type: ignore[union-attr]
    assert stored <= {path.read_bytes() for path in files(made)} | aside

    types(made, made.json("status", known)["next"])
    ends(made, KNOWN, known)
    enacted(made, LOST)
    enacted(made, WAITS)
    assert laws(made) == {BEFORE, KNOWN, LOST, WAITS}
    types(made, look, CUTTER=str(ROOT))
    assert (made.state / "typed" / "ahead.txt").read_text() == ""


@pytest.mark.timeout(600)
def test_the_database_goes_back_to_the_restore_point_of_a_gate(marking: Stack) -> None:
    made = marking
    enacted(made, BEFORE)
    known = awaits_enactment(made, KNOWN)
    listed = made.json("backup", "list")["backups"]
    (name,) = (backup["restore_point"] for backup in listed if backup["document_id"] == KNOWN)
    assert name.startswith(f"cutter:{known[-36:]}:")
    enacted(made, LOST)

    recover, tidy = SECTIONS["Recover to the moment"]
    types(made, recover, TARGET=f"recovery_target_name = '{name}'")
    types(made, tidy)
    assert laws(made) == {BEFORE}
    assert (
        made.value("select 1 from cutter_governance.gate_receipt where run_id = %s and gate = 'IG_backup'", (known,))
        is None
    )
    assert (
        made.value("select 1 from cutter_governance.gate_receipt where run_id = %s and gate = 'IG_cutplan'", (known,))
        == 1
    )
    assert made.value("select count(*) from cutter_governance.run where document_id = %s", (LOST,)) == 0
