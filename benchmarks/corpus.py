"""IO: cuts laws of public collections and compares each with its explicit structure, by jurisdiction.

`python -m benchmarks.corpus GITDIR... [--unseen] [--sample N] [--page FILE]`. Each directory is a git directory that
holds a commit of benchmarks/corpus.yaml; nothing is fetched. A law is cut with the default profile and with the
suggested one, without any option, and compared with what markdown-it-py reads.

The paths of a collection are in two halves by their hash. People who write rules look at the seen half only. The
unseen half tells whether the rules hold for laws that nobody looked at. The choice of laws in each half follows from
the seed, which changes with each version of cutter. The digests in the list prove a full sample.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

import yaml

from benchmarks.canada import render
from benchmarks.comparison import Comparison, compare
from benchmarks.corpus_page import page
from benchmarks.outline import Outline, outline
from cutter.limits import SOURCE_BYTES_MAX
from cutter.marking import Marking, MarkRefusal, Options, examine, load_profile
from cutter.marking.suggestion import suggest

HERE = Path(__file__).resolve().parent
PYPROJECT = HERE.parent / "pyproject.toml"
LIST = HERE / "corpus.yaml"
DEFAULT = "generic-markdown"
SIZE_MAX = 1_000_000
"""Bytes of a law that is compared: markdown-it-py takes a second for it."""

EXAMINED_FOR_EACH = 12
"""Texts that are looked at for each law of the sample, since many have no structure at all."""


Half = Literal["seen", "unseen"]

_FORMS = {"canada-plain": False, "canada-markdown": True}
"""Forms of a text that is made from official XML: whether its headings have `#`."""


@dataclass(frozen=True, kw_only=True)
class Collection:
    """A line of the list: where the laws are, and how many of each half are the sample.

    `digests` has the digest of each half's full sample. `form` says how an official format becomes a text. `pdf` is
    True for a text that was read from PDF files.
    """

    jurisdiction: str
    language: str
    repository: str
    commit: str
    paths: str
    sample: int
    digests: dict[str, str]
    articles: re.Pattern[str] | None
    form: str = ""
    pdf: bool = False


@dataclass(frozen=True, kw_only=True)
class Law:
    """A law of the sample."""

    path: str
    data: bytes
    expected: Outline


@dataclass(frozen=True, kw_only=True)
class Listing:
    """The whole list. Its digests are those of `version`, whose seed chose the laws."""

    seed: str
    version: str
    collections: tuple[Collection, ...]


def collections(file: Path) -> Listing:
    """The seed of this version and the collections of the list."""
    listing = yaml.safe_load(file.read_text(encoding="utf-8"))
    rows = []
    for row in listing["collections"]:
        articles = re.compile(row["articles"]) if row.get("articles") else None
        rows.append(Collection(**{**row, "articles": articles, "digests": row.get("digests", {})}))
    return Listing(seed=f"{listing['seed']}-{version()}", version=str(listing["version"]), collections=tuple(rows))


def version() -> str:
    """The version of cutter that is measured."""
    return str(tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["version"])


def half_of(path: str) -> Half:
    """The half that a law belongs to in every version."""
    return "unseen" if hashlib.sha256(f"half\0{path}".encode()).digest()[0] % 2 else "seen"


def git(directory: Path, *arguments: str) -> bytes:
    """The output of a git command on a bare directory."""
    command = ["git", f"--git-dir={directory}", *arguments]
    return subprocess.run(command, check=True, capture_output=True).stdout


def blob(directory: Path, name: str) -> bytes | None:
    """The bytes of a file; None when the copy of the repository lacks it."""
    command = ["git", f"--git-dir={directory}", "cat-file", "blob", name]
    done = subprocess.run(command, check=False, capture_output=True)
    return done.stdout if done.returncode == 0 else None


def directory_of(collection: Collection, directories: list[Path]) -> Path | None:
    """The first directory that holds the collection's commit."""
    for directory in directories:
        command = ["git", f"--git-dir={directory}", "cat-file", "-e", f"{collection.commit}^{{commit}}"]
        if subprocess.run(command, check=False, capture_output=True).returncode == 0:
            return directory
    return None


def laws(collection: Collection, directory: Path, seed: str, sample: int, half: Half) -> Iterator[Law]:
    """Laws of a half with a structure that can be compared, in the order of the seed."""
    listed = git(directory, "ls-tree", "-r", "-z", collection.commit).split(b"\0")
    blobs = {}
    for row in filter(None, listed):
        head, _, path = row.partition(b"\t")
        name = path.decode("utf-8", "replace")
        if fnmatchcase(name, collection.paths) and half_of(name) == half:
            blobs[name] = head.split(b" ")[2].decode()
    order = sorted(blobs, key=lambda name: hashlib.sha256(f"{seed}\0{name}".encode()).digest())
    count = 0
    for name in order[: sample * EXAMINED_FOR_EACH]:
        if count == sample:
            return
        data = blob(directory, blobs[name])
        law = None if data is None else _law(name, data, collection)
        if law is not None:
            count += 1
            yield law


def _law(name: str, data: bytes, collection: Collection) -> Law | None:
    if len(data) > min(SIZE_MAX, SOURCE_BYTES_MAX):
        return None
    if collection.form:
        return _rendered(name, data, collection)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    expected = outline(text, collection.articles)
    return Law(path=name, data=data, expected=expected) if expected.has_structure else None


def _rendered(name: str, data: bytes, collection: Collection) -> Law | None:
    """A law whose text is made from XML, which also names its sections."""
    made = render(data, markdown=_FORMS[collection.form])
    if made is None:
        return None
    expected = outline(made.text, sections=made.sections)
    return Law(path=name, data=made.text.encode(), expected=expected) if expected.has_structure else None


def cut_by_default(data: bytes) -> tuple[Marking | MarkRefusal, str]:
    """The cut without any option, shown even where a red finding refuses it, and no confidence."""
    return examine(data, profile=load_profile(DEFAULT), docprefix="LAW", options=Options()), ""


def cut_as_suggested(data: bytes) -> tuple[Marking | MarkRefusal, str]:
    """The marking by what `cutter profile suggest` writes and names in its next command, and its confidence."""
    suggestion = suggest(data, docprefix="LAW", compared=())
    return (suggestion, "") if isinstance(suggestion, MarkRefusal) else (suggestion.result, suggestion.confidence)


CUTS = {"default": cut_by_default, "suggested": cut_as_suggested}


def measure(
    collection: Collection, directory: Path, seed: str, sample: int, half: Half
) -> tuple[list[dict[str, Any]], str]:
    """A record for each law of a half and each cut, and the digest of the sample."""
    records = []
    digest = hashlib.sha256()
    for law in laws(collection, directory, seed, sample, half):
        digest.update(f"{law.path}\0{hashlib.sha256(law.data).hexdigest()}\n".encode())
        for name, cut in CUTS.items():
            result, confidence = cut(law.data)
            made = compare(result, law.expected)
            records.append(_record(collection, law, name, made) | {"confidence": confidence, "half": half})
    return records, digest.hexdigest()


def _record(collection: Collection, law: Law, cut: str, made: Comparison) -> dict[str, Any]:
    place = {"jurisdiction": collection.jurisdiction, "language": collection.language, "path": law.path}
    form = "pdf" if collection.pdf else "explicit" if law.expected.explicit else "plain"
    return {**place, "bytes": len(law.data), "form": form, "cut": cut, **asdict(made)}


def check_digest(collection: Collection, digest: str, sample: int, half: Half) -> None:
    """Refuse a full sample that is not the one of the list."""
    listed = collection.digests.get(half)
    if sample == collection.sample and listed and digest != listed:
        raise SystemExit(
            f"{collection.repository}: the digest of the {half} sample is {digest}, the list has {listed}: give a git "
            f"directory with the commit {collection.commit}"
        )


def main() -> None:
    """Measure every collection that is there, print the table, write the records and the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("directories", nargs="*", type=Path, help="git directories with the commits of the list")
    parser.add_argument("--unseen", action="store_true", help="measure the unseen half, which no rule was written for")
    parser.add_argument("--sample", type=int, help="laws of each half of a collection; default: as the list says")
    parser.add_argument("--list", type=Path, default=LIST)
    parser.add_argument("--records", type=Path, nargs="*", default=[], help="files of --output to show on the page too")
    parser.add_argument("--output", type=Path, help="also write a record of each law and cut, as JSON lines")
    parser.add_argument("--page", type=Path, help="also write the page, such as docs/reference/marking-quality.md")
    chosen = parser.parse_args()
    listing = collections(chosen.list)
    half: Half = "unseen" if chosen.unseen else "seen"
    records = [json.loads(line) for file in chosen.records for line in file.read_text(encoding="utf-8").splitlines()]
    for collection in listing.collections:
        directory = directory_of(collection, chosen.directories)
        if directory is None:
            if chosen.directories:
                print(f"{collection.repository}: no directory has its commit, left out", file=sys.stderr)
            continue
        sample = min(collection.sample, chosen.sample or collection.sample)
        begun = time.process_time()
        rows, digest = measure(collection, directory, listing.seed, sample, half)
        if listing.version == version():
            check_digest(collection, digest, sample, half)
        records.extend(rows)
        _say(collection, rows, time.process_time() - begun, digest)
    if chosen.output is not None:
        lines = [json.dumps(record, ensure_ascii=False) for record in records]
        chosen.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    measured = {record["jurisdiction"] for record in records}
    text = page(records, [asdict(entry) for entry in listing.collections if entry.jurisdiction in measured], version())
    print(text)
    if chosen.page is not None:
        chosen.page.write_text(text, encoding="utf-8")


def _say(collection: Collection, records: list[dict[str, Any]], seconds: float, digest: str) -> None:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for record in records:
        counts[record["cut"]][record["verdict"]] += 1
    summary = "; ".join(f"{cut} {dict(count)}" for cut, count in counts.items())
    print(f"{collection.repository}: {len(records) // len(CUTS)} laws, {seconds:.0f} s, {summary}, digest {digest}",
          file=sys.stderr, flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
