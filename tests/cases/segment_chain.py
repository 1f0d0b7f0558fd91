"""IO: the part of campaign P18 about segments: a chain of backups, its defects, and who notices each of them.

Each defect damages a copy of the store or the tree. The scrub must find it, the next backup must then be refused, and a
restore must be refused where the defect is in the store. The control arm does what a script would do: it decrypts every
artifact that it finds, and looks at the exit codes.
"""

from __future__ import annotations

import random  # noqa: TID251 - seeded, so every trial can be run again
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import psycopg

from cutter.backup import forms
from cutter.backup.artifacts import open_store
from cutter.backup.record import BackupRecord, BackupRefusal
from cutter.backup.segments import coverage, pages, tree
from cutter.backup.segments.restore import SegmentReport
from cutter.backup.segments.scrub import scrub
from cutter.errors import Unavailable
from tests.integration.backup import rig as parts
from tests.integration.backup.rig import ROLE, Rig

LAWS = (9, 1, 2, 3)
"""The numbers of the laws, in the order of their segments."""

HEAD = "update cutter_governance.backup_head set tree = '{}', documents = {}"


@dataclass(slots=True, kw_only=True)
class Chain:
    """A database whose laws are in one segment each, and the newest backup, which holds none of them itself."""

    rig: Rig
    root: str
    newest: BackupRecord

    @property
    def segments(self) -> list[str]:
        """The artifacts that the tree names."""
        return sorted({entry.artifact for entry in entries(self.rig, self.root)})

    def mend(self) -> None:
        """Undo what a trial did to the database."""
        self.run(HEAD.format(self.root, len(LAWS)))
        self.run("update cutter_governance.backup_coverage set problem = null, verified_at = now()")
        self.run("update public.information_unit set updated_by = 'test' where updated_by <> 'test'")

    def run(self, statement: str) -> None:
        self.rig.server.run(statement, database=self.rig.database)


def entries(rig: Rig, root: str) -> list[tree.Entry]:
    return list(tree.entries_of(root, partial(pages.read, open_store(rig.store.as_uri()))))


@contextmanager
def chain(server: parts.Server, home: parts.Home, *, units: int) -> Iterator[Chain]:
    """Back up one law after the other, each as a segment."""
    with parts.rig(server, home, units=units) as rig:
        rig.form = "segments"
        for number in LAWS[1:]:
            sealed(rig)
            server.fill(rig.database, units=units, number=number)
        sealed(rig)
        root = server.value("select tree from cutter_governance.backup_head", database=rig.database)
        yield Chain(rig=rig, root=root, newest=rig.taken_record())


def sealed(rig: Rig) -> None:
    """Take a backup, prove it, and let it cover its documents."""
    sealed_as(rig, rig.taken_record())


def sealed_as(rig: Rig, record: BackupRecord) -> SegmentReport:
    """Prove an artifact, and let it cover its documents."""
    report = rig.check(record)
    assert isinstance(report, SegmentReport), report
    with closing(psycopg.connect(rig.server.dsn(ROLE, rig.database))) as connection:
        coverage.seal(connection, open_store(rig.store.as_uri()), record, report.header)
    return report


@dataclass(slots=True, kw_only=True)
class Damage:
    """One trial: a chain, a copy of its store, and what the dice have chosen."""

    chain: Chain
    rig: Rig
    dice: random.Random
    spare: parts.Home
    detail: dict[str, Any]

    def segment(self, name: str = "segment") -> Path:
        """A segment of the chain, other than the ones that this trial has already chosen."""
        free = [segment for segment in self.chain.segments if segment not in self.detail.values()]
        self.detail[name] = self.dice.choice(free)
        return self.rig.store / self.detail[name]

    def page(self) -> Path:
        """A page of the tree."""
        return self.rig.store / pages.name_of(self.chain.root)

    def forge(self, changed: Callable[[list[tree.Entry]], list[tree.Entry]]) -> int:
        """Put another tree, whose digests fit, in the place of the newest. Returns the number of its documents."""
        store = open_store(self.rig.store.as_uri())
        forged = tree.updated(tree.EMPTY, changed(entries(self.rig, self.chain.root)), partial(pages.read, store))
        pages.put(store, forged.pages)
        self.chain.run(HEAD.format(forged.root, len(LAWS)))
        return forged.count


def lost_segment(trial: Damage) -> None:
    trial.segment().unlink()


def swapped_segments(trial: Damage) -> None:
    segment, other = trial.segment("one"), trial.segment("other")
    first = segment.read_bytes()
    segment.write_bytes(other.read_bytes())
    other.write_bytes(first)


def truncated_segment(trial: Damage) -> None:
    path, share = trial.segment(), trial.dice.randint(0, 999)
    trial.detail["kept_permille"] = share
    path.write_bytes(path.read_bytes()[: path.stat().st_size * share // 1000])


def segment_for_another_key(trial: Damage) -> None:
    """The same rows, encrypted again for a key that this home has too."""
    path, home = trial.segment(), trial.rig.home.path
    plain = parts.gpg(home, "--decrypt", str(path))
    path.write_bytes(parts.gpg(home, "--recipient", trial.spare.fingerprint, "--encrypt", given=plain))


def segment_of_another_document(trial: Damage) -> None:
    """The tree names, for a document, a whole segment that holds another document."""

    def crossed(listed: list[tree.Entry]) -> list[tree.Entry]:
        chosen, other = trial.dice.sample(listed, 2)
        trial.detail["document"] = chosen.document
        forged = replace(chosen, artifact=other.artifact, sha256=other.sha256)
        return [forged if entry == chosen else entry for entry in listed]

    trial.forge(crossed)


def other_rows_of_a_document(trial: Damage) -> None:
    """The tree names a digest that the rows of the document do not have."""

    def changed(listed: list[tree.Entry]) -> list[tree.Entry]:
        chosen = trial.dice.choice(listed)
        trial.detail["document"] = chosen.document
        return [replace(entry, fingerprint="0" * 64) if entry == chosen else entry for entry in listed]

    trial.forge(changed)


def omitted_document(trial: Damage) -> None:
    """The tree omits a document. Its number of documents may have been made to fit."""
    fits = trial.dice.choice((True, False))
    trial.detail["number_fits"] = fits
    count = trial.forge(lambda listed: trial.dice.sample(listed, len(listed) - 1))
    if fits:
        trial.chain.run(f"update cutter_governance.backup_head set documents = {count}")


def lost_page(trial: Damage) -> None:
    trial.page().unlink()


def changed_page(trial: Damage) -> None:
    path = trial.page()
    data = bytearray(path.read_bytes())
    place, bit = trial.dice.randrange(len(data)), trial.dice.randint(0, 6)
    trial.detail |= {"place": place, "bit": bit}
    data[place] ^= 1 << bit
    path.write_bytes(data)


def unseen_change(trial: Damage) -> None:
    """A row changes while the trigger that counts changes is disabled."""
    law = trial.dice.choice(LAWS)
    trial.detail["law"] = law
    trial.chain.run(
        "update public.information_unit set updated_by = 'forged' where id = (select id from public.information_unit"
        f" where starts_with(canonical_address, 'ICX-LAW-{law}/') order by id limit 1)"
    )


DAMAGES: dict[str, Callable[[Damage], None]] = {
    made.__name__: made
    for made in (
        *(lost_segment, swapped_segments, truncated_segment, segment_for_another_key, segment_of_another_document),
        *(other_rows_of_a_document, omitted_document, lost_page, changed_page, unseen_change),
    )
}

RESTORE_REFUSES = frozenset(DAMAGES) - {"omitted_document", "unseen_change"}
"""A restore refuses all others. It restores what a backup names, so it sees neither an omitted document whose number
was made to fit, nor a live row. The scrub sees both."""


def run(made: Chain, spare: parts.Home, kind: str | None, seed: str) -> Iterator[dict[str, Any]]:
    """One trial in both arms. `kind` None is a whole chain, which both must accept."""
    with tempfile.TemporaryDirectory(prefix="cc-", dir="/tmp") as folder:
        rig = replace(made.rig, folder=Path(folder))
        shutil.copytree(made.rig.store, rig.store)
        trial = Damage(chain=made, rig=rig, dice=random.Random(seed), spare=spare, detail={})
        try:
            if kind is not None:
                DAMAGES[kind](trial)
            for arm, look in (("chain_naive", naive), ("chain", product)):
                caught, how = look(trial, kind)
                yield {
                    "campaign": "P18", "arm": arm, "kind": kind or "clean", "seed": seed, "detail": trial.detail,
                    "caught": caught, "how": how,
                }  # fmt: skip
        finally:
            made.mend()


def naive(trial: Damage, _kind: str | None) -> tuple[bool, str]:
    """(caught, how): every artifact that is there can be decrypted."""
    try:
        for path in sorted(trial.rig.store.rglob("*.gpg")):
            parts.gpg(trial.rig.home.path, "--decrypt", str(path))
    except subprocess.CalledProcessError:
        return True, "gpg failed"
    return False, "accepted"


def product(trial: Damage, kind: str | None) -> tuple[bool, str]:
    """(caught, how): a restore refuses, the scrub finds the defect, and then no backup is taken."""
    answers = {"restore": restored(trial), "scrub": scrubbed(trial), "next": taken(trial)}
    if kind is None:
        wrong = [name for name, answer in answers.items() if answer != "accepted"]
        return bool(wrong), str(answers) if wrong else "accepted"
    must = {"scrub", "next"} | ({"restore"} if kind in RESTORE_REFUSES else set())
    return all(answers[name] != "accepted" for name in must), str(answers)


def restored(trial: Damage) -> str:
    """The answer to a restore of a new backup if one can be taken, and otherwise of the newest one."""
    made = trial.rig.take(artifact_id="run/after.gpg")
    if isinstance(made, BackupRefusal):
        return made.code
    server, into = trial.rig.server, trial.rig.server.new_scratch()
    try:
        outcome = forms.restore_into(
            record=made, artifacts_url=trial.rig.store.as_uri(), dsn=server.dsn(ROLE, into), pg_bin=trial.rig.pg_bin,
            gpg_home=trial.rig.home.path, deadline_seconds=60.0,
        )  # fmt: skip
    finally:
        server.drop(into)
    return outcome.code if isinstance(outcome, BackupRefusal) else "accepted"


def scrubbed(trial: Damage) -> str:
    """The problems that the scrub finds."""
    server = trial.rig.server
    try:
        report = scrub(
            dsn=server.dsn(ROLE, trial.rig.database), scratch_dsn=server.dsn(ROLE, trial.rig.scratch),
            gpg_home=trial.rig.home.path, artifacts_url=trial.rig.store.as_uri(), deadline_seconds=60.0,
        )  # fmt: skip
    except Unavailable as problem:
        return f"unavailable: {problem}"
    return "; ".join(sorted({text[:60] for text in report.problems.values()})) or "accepted"


def taken(trial: Damage) -> str:
    """The answer to the next backup."""
    outcome = trial.rig.take(artifact_id="run/next.gpg")
    return outcome.code if isinstance(outcome, BackupRefusal) else "accepted"
