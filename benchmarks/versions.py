"""IO: enacts real laws version by version, and compares the text of each version's day with its source byte for byte.

`python -m benchmarks.versions GITDIR... [--only DOCUMENT...]`. Each directory is a git directory of a repository of
benchmarks/versions.yaml; nothing is fetched. Every version passes all gates with real signatures and a stand-in
backup, in a database of its law's own. Then each day is read as `--at` reads it, and each moment after an enactment as
`--recorded` does.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

import yaml

from benchmarks.corpus import blob, git
from benchmarks.result_file import machine
from cutter import sources
from cutter.catalogue import Role
from cutter.domain.digests import sha256_hex
from cutter.law import export_forms
from cutter.law.comparison import compare
from cutter.law.law_text import LawVersion
from cutter.marking import Marking, Options, examine, load_profile
from cutter.storage import enacted_law
from cutter.storage.law_export import export_of_version
from cutter.storage.pools import Connection, session
from tests.support.database import own_cluster
from tests.support.runs import OPTIONS, Deployment, deployment, drive, keyring

HERE = Path(__file__).resolve().parent
LIST = HERE / "versions.yaml"
RESULTS = HERE / "results" / "versions.jsonl"
REASON = "The collection writes the law like this; read and compared with the published text"


@dataclass(frozen=True, kw_only=True)
class Law:
    """A law of the list with its commits, the oldest first."""

    document: str
    title: str
    repository: str
    path: str
    profile: str
    commits: list[str]
    options: dict[str, Any] = field(default_factory=dict)
    accept: bool = False


@dataclass(kw_only=True)
class Version:
    """A version as it was found and enacted. `same` says whether the export of its day has exactly its bytes."""

    document: str
    commit: str
    day: date
    size: int
    sha256: str
    operation: str = ""
    units: int = 0
    changes: dict[str, int] = field(default_factory=dict)
    accepted: list[str] = field(default_factory=list)
    same: bool = False
    same_then: bool = False


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("directories", nargs="+", type=Path, metavar="GITDIR")
    parser.add_argument("--only", nargs="*", default=[], metavar="DOCUMENT")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    laws = [Law(**row) for row in yaml.safe_load(LIST.read_text(encoding="utf-8"))["laws"]]
    wanted = [law for law in laws if not given.only or law.document in given.only]
    with own_cluster() as cluster, keyring() as keys:
        for law in wanted:
            with cluster.database(prefix="ver") as database, deployment(database, keys) as made:
                record(given.out, list(shown(law, enacted(made, law, given.directories))))
    rows = [row for row in recorded(given.out) if row["document"] in {law.document for law in wanted}]
    return 0 if all(row["same"] and row["same_then"] for row in rows) else 1


def recorded(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def record(file: Path, versions: list[Version]) -> None:
    """Replace the rows of one law, and keep those of the others."""
    others = [row for row in recorded(file) if row["document"] != versions[0].document]
    rows = [*others, *(plain(version) for version in versions)]
    file.write_text("".join(json.dumps(row, sort_keys=True) + "\n" for row in rows), encoding="utf-8")


def enacted(made: Deployment, law: Law, directories: list[Path]) -> list[Version]:
    """Every version of a law, enacted one after the other and read again afterwards."""
    directory = next(directory for directory in directories if holds(directory, law))
    versions: list[Version] = []
    moments: list[datetime] = []
    texts: list[bytes] = []
    for commit in law.commits:
        text = blob(directory, f"{commit}:{law.path}")
        if text is None:
            raise SystemExit(f"{directory} lacks {law.path} at {commit}")
        day = date.fromisoformat(git(directory, "show", "-s", "--format=%as", commit).decode().strip())
        version = Version(document=law.document, commit=commit, day=day, size=len(text), sha256=sha256_hex(text))
        enact(made, law, version, text, correction=bool(versions) and versions[-1].day == day)
        versions.append(version)
        texts.append(text)
        moments.append(made.database.value("select clock_timestamp()"))
    with session(made.settings, Role.OPERATOR) as connection:
        for number, (version, text, moment) in enumerate(zip(versions, texts, moments, strict=True), start=1):
            looked(connection, number, version, text, moment)
            others = [later for later in versions[number:] if later.day == version.day]
            version.same = at_day(connection, version, number if others else None) == text
    return versions


def holds(directory: Path, law: Law) -> bool:
    return blob(directory, f"{law.commits[0]}:{law.path}") is not None


def enact(made: Deployment, law: Law, version: Version, text: bytes, *, correction: bool) -> None:
    """Register a version and bring its run through every gate."""
    options: dict[str, Any] = {**OPTIONS, **law.options}
    marking = examine(text, profile=load_profile(law.profile), docprefix=law.document, options=Options(**options))
    if isinstance(marking, Marking) and law.accept:
        version.accepted = sorted({finding.name for finding in marking.unaccepted})
        options["accept"] = dict.fromkeys(version.accepted, REASON) if version.accepted else {}
    sources.register(
        made.settings, text, document_id=law.document, docprefix=law.document, profile=law.profile,
        options={name: value for name, value in options.items() if value != {}},
        effective=None if correction else version.day,
        correction="The collection has two texts of this day" if correction else None,
    )  # fmt: skip
    drive(made, document_id=law.document)


def looked(connection: Connection, number: int, edition: Version, text: bytes, moment: datetime) -> None:
    """What the enactment made, and whether the moment after it is still answered with the same bytes."""
    known = enacted_law.versions(connection, edition.document)
    version = known[number - 1]
    edition.operation, edition.units = version.operation, version.units
    if number > 1:
        before, after = (enacted_law.text_of(connection, each) for each in known[number - 2 : number])
        edition.changes = {name: count for name, count in compare(before.units, after.units).counts.items() if count}
    then = enacted_law.versions(connection, edition.document, recorded=moment)
    assert len(then) == number, f"{edition.document}: {len(then)} versions were recorded at {moment}"
    edition.same_then = exported(connection, then, enacted_law.version_meant(then, at=edition.day), moment) == text


def at_day(connection: Connection, version: Version, number: int | None) -> bytes:
    """The Markdown export of the version's day; of a text that was corrected on its day, by its number."""
    known = enacted_law.versions(connection, version.document)
    meant = enacted_law.version_meant(known, at=None if number else version.day, version=number)
    return exported(connection, known, meant, enacted_law.NEWEST)


def exported(connection: Connection, known: list[LawVersion], meant: LawVersion, recorded: datetime) -> bytes:
    made = export_of_version(connection, known, meant, recorded=recorded)
    return export_forms.markdown(made).rpartition(export_forms.TRAILER)[0]


def plain(version: Version) -> dict[str, Any]:
    head = machine()
    return {**asdict(version), "day": version.day.isoformat(), "measured_at": head["at"], "code": head["code"]}


def shown(law: Law, versions: list[Version]) -> Iterator[Version]:
    print(f"{law.document}: {law.title}, {law.repository}, {law.profile}", flush=True)
    for version in versions:
        changes = ", ".join(f"{count} {name}" for name, count in version.changes.items())
        findings = f"; accepted: {', '.join(version.accepted)}" if version.accepted else ""
        verdict = "same bytes" if version.same and version.same_then else "DIFFERS"
        print(f"  {version.day} {version.commit[:8]} {version.operation} {version.size:,} bytes, {version.units} units"
              f"{': ' if changes else ''}{changes}: {verdict}{findings}", flush=True)  # fmt: skip
        yield version


if __name__ == "__main__":
    sys.exit(main())
