"""If more changed than one artifact may hold, a backup consists of several, and each one is verified at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cutter.backup import forms
from cutter.backup.artifacts import BY_HAND
from cutter.backup.record import BackupRecord, BackupRefusal, RefusalCode, RestoreReport, to_json
from cutter.backup.restore import newest_by_hand, read_record
from cutter.backup.segments.restore import SegmentReport
from cutter.backup.segments.scrub import Scrubbed, scrub
from cutter.backup.segments.tree import EMPTY
from cutter.backup.tables import SEGMENT_TABLES
from tests.cases.segment_chain import LAWS, sealed_as
from tests.integration.backup.rig import ROLE, Rig

NAMES = sorted(f"ICX-LAW-{number}" for number in LAWS)


@pytest.fixture
def four(own: Rig) -> Rig:
    """Four laws, of which no segment has one."""
    for number in LAWS[1:]:
        own.server.fill(own.database, units=5, number=number)
    return replace(own, form="segments")


def record_of(outcome: object) -> BackupRecord:
    assert isinstance(outcome, BackupRecord), outcome
    return outcome


def several(rig: Rig, **cap: int) -> Iterator[SegmentReport]:
    """The artifacts of one backup, each after it was sealed."""
    whole = False
    while not whole:
        record = record_of(rig.take(**cap))
        whole = record.whole
        yield sealed_as(rig, record)


def scrubbed(rig: Rig, **given: Any) -> Scrubbed:
    return scrub(**{
        "dsn": rig.server.dsn(ROLE, rig.database), "scratch_dsn": rig.server.dsn(ROLE, rig.scratch),
        "gpg_home": rig.home.path, "gpg_binary": str(rig.programs.get("gpg", "gpg")),
        "artifacts_url": rig.store.as_uri(), "deadline_seconds": 60.0,
    } | given)  # fmt: skip


def restored(rig: Rig, record: BackupRecord) -> tuple[object, dict[str, Any]]:
    """The outcome of a restore of everything, and the rows that it gave."""
    into = rig.server.new_scratch()
    try:
        outcome = forms.restore_into(
            record=record, artifacts_url=rig.store.as_uri(), dsn=rig.server.dsn(ROLE, into), pg_bin=rig.pg_bin,
            gpg_home=rig.home.path, deadline_seconds=60.0,
        )  # fmt: skip
        return outcome, content(rig, into) if isinstance(outcome, RestoreReport) else {}
    finally:
        rig.server.drop(into)


def content(rig: Rig, database: str) -> dict[str, Any]:
    query = "select coalesce(jsonb_agg(to_jsonb(t) order by to_jsonb(t)::text), '[]') from {} t"
    return {table: rig.server.value(query.format(table), database=database) for table in SEGMENT_TABLES}


def test_a_backup_of_much_consists_of_several_artifacts_that_restore_everything(four: Rig) -> None:
    reports = list(several(four, documents_max=1))
    assert [list(report.header.documents) for report in reports] == [[name] for name in NAMES]
    assert [report.header.whole for report in reports] == [False, False, False, True]
    outcome, rows = restored(four, read_record(four.store.as_uri(), reports[-1].artifact_id))
    assert isinstance(outcome, RestoreReport), outcome
    assert rows == content(four, four.database)
    assert len(rows["public.information_unit"]) == 20 + 3 * 5


def test_an_artifact_holds_no_more_bytes_than_its_limit_unless_one_document_does(four: Rig) -> None:
    """One version of a unit counts with its body and 1,024 bytes, and law 9 has 20 of them."""
    reports = list(several(four, bytes_max=2 * 5 * (1024 + 200)))
    assert [sorted(report.header.documents) for report in reports] == [NAMES[:2], [NAMES[2]], [NAMES[3]]]


def test_a_document_that_changes_meanwhile_is_in_the_backup_as_it_is_then(four: Rig) -> None:
    artifacts = several(four, documents_max=3)
    first = next(artifacts)
    assert sorted(first.header.documents) == NAMES[:3]
    four.server.run(
        "update public.information_unit set updated_by = 'later' where starts_with(canonical_address, 'ICX-LAW-1/');"
        "update cutter_governance.backup_coverage set changes = changes + 1 where document_id = 'ICX-LAW-1'",
        database=four.database,
    )
    last = next(artifacts)
    assert last.header.whole
    assert sorted(last.header.documents) == [NAMES[0], NAMES[3]]
    outcome, rows = restored(four, read_record(four.store.as_uri(), last.artifact_id))
    assert isinstance(outcome, RestoreReport), outcome
    assert rows == content(four, four.database)


@pytest.mark.parametrize("forged", [False, True])
def test_a_part_is_restored_as_no_backup(four: Rig, forged: bool) -> None:
    part = record_of(four.take(documents_max=2))
    assert not part.whole
    if forged:
        part = replace(part, version="segment/1")
        (four.store / f"{part.artifact_id}.json").write_text(to_json(part))
        checked = four.check(part)
        assert isinstance(checked, BackupRefusal), checked
        assert checked.code is RefusalCode.SEGMENT_PART
    outcome, _ = restored(four, part)
    assert isinstance(outcome, BackupRefusal), outcome
    assert outcome.code is RefusalCode.SEGMENT_PART


def test_the_newest_backup_of_a_person_is_no_part(four: Rig) -> None:
    whole = record_of(four.take(artifact_id=f"{BY_HAND}1.gpg"))
    record_of(four.take(artifact_id=f"{BY_HAND}2.gpg", documents_max=1))
    assert newest_by_hand(four.store.as_uri()) == whole


def counting(rig: Rig) -> Path:
    """A gpg that writes a line for each artifact that it decrypts."""
    counted = rig.folder / "decrypted"
    rig.replace("gpg", f'case " $* " in *" --decrypt "*) echo 1 >> {counted};; esac; exec "$REAL" "$@"')
    return counted


def test_a_scrub_decrypts_an_artifact_once_for_every_document_that_it_holds(four: Rig) -> None:
    (report,) = several(four)
    assert sorted(report.header.documents) == NAMES
    counted = counting(four)
    scrub_report = scrubbed(four, documents=1)
    assert (sorted(scrub_report.verified), dict(scrub_report.problems)) == (NAMES, {})
    assert counted.read_text().splitlines() == ["1"]


def test_a_scrub_whose_time_is_over_begins_no_other_artifact_and_goes_on_with_it_later(four: Rig) -> None:
    assert len(list(several(four, documents_max=2))) == 2
    first = scrubbed(four, seconds=0.0)
    assert sorted(first.verified) == NAMES[:2]
    assert sorted(scrubbed(four, seconds=0.0).verified) == NAMES[2:]


def test_a_scrub_that_gives_up_at_one_artifact_keeps_what_it_verified(four: Rig) -> None:
    assert len(list(several(four, documents_max=2))) == 2
    fresh = "select count(*) from cutter_governance.backup_coverage where verified_at > now() - interval '1 hour'"
    four.server.run(
        "update cutter_governance.backup_coverage set verified_at = verified_at - interval '1 day'",
        database=four.database,
    )
    counted = counting(four)
    script = four.folder / "gpg-replaced"
    script.write_text(
        script.read_text().replace('exec "$REAL"', f'[ "$(wc -l < {counted})" != 2 ] || kill -9 $$; exec "$REAL"')
    )
    with pytest.raises(Exception, match="gpg was killed"):
        scrubbed(four)
    assert four.server.value(fresh, database=four.database) == 2


def test_the_first_artifact_of_a_new_tree_is_based_on_nothing(four: Rig) -> None:
    first, *rest = several(four, documents_max=2)
    assert first.header.base == EMPTY
    assert all(report.header.base != EMPTY for report in rest)
