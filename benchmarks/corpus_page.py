"""Pure: docs/reference/marking-quality.md from the records of `benchmarks.corpus`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

Record = dict[str, Any]

VERDICTS = ("right", "refused for its numbers", "refused though right", "refused", "flagged", "silent")
CUTS = ("default", "suggested")
TARGETS = {True: 95, False: 80}
"""Percent of laws that are right without manual work: with explicit structure, and without."""

EXAMPLES_OF_A_SHAPE = 3
CAUSES_OF_A_MISS = 4
"""The most frequent causes that the page names for a missed target."""

_HEAD = """# Quality of the marking

Laws of public collections, each cut twice: with the default profile and with the one that `cutter profile suggest`
writes. No option and no correction is given. Each cut is compared with the law's explicit structure as markdown-it-py
reads it: the headings, their titles and their parents.

| word | meaning |
| --- | --- |
| right | every heading is a unit with its title and its parent, and there is no other unit |
| refused for its numbers | the cut does not differ, and the outline lacks or repeats the number too |
| refused though right | another red finding refuses a cut that does not differ: a person must accept it by its name |
| refused | the cut differs and a red finding refuses it, or the text needs an option: a person must decide |
| flagged | the cut differs, and an amber finding names the line of the difference, its unit or the unit's parent |
| silent | the cut differs and no finding names the place |

The suggested profile is the one that agrees most with the numbers of `#`, as the suggestion reads them. The comparison
uses another reader, so it tests that reading and the cut. It does not test whether `#` is right.

A difference is not always an error of the cut: some collections write levels of `#` that contradict the words of the
headings. A text between a number and the next heading is compared as one title.

This page is made by

    python -m benchmarks.corpus GITDIR... --page docs/reference/marking-quality.md

where each GITDIR is a git directory with a commit of the list below. `--sample N` cuts fewer laws.
"""

_READ = """## What people found

The text of 239 long units and around 26 gaps was read. Most findings name a fault that the outline has too:

- an article is inside a paragraph, so that no reader of `#` sees it (`ch/cc-63-428_430_432.md:68`,
  `gr/FEK-A-101-2001.md:1180`);
- the parts of a schedule or the articles of an annexed treaty are plain lines, so that the schedule is one unit
  (`ie/IE-1959-act-1.md:101`);
- a whole law is one unit, because its articles are inside paragraphs (`gr/FEK-A-36-2001.md:24`);
- the last article holds the annexes (`cz/SB-2002-553.md:96`);
- the collection leaves an article out (`sk/ZZ-1992-506.md:126`), or a correction prints one twice
  (`ad/BOPA-D-2000-1E79E.md:25`);
- one file holds two laws (`pe/LEY-10520-2013.md:2032`).

A swallowed article brings its own list, so the items of a unit begin again at 1. A long article that is one list from
its beginning to its end is amber (`ee/126032026015.md:20236` has 119 items). All gaps that were read are real, except
those that the text explains: `{Статтю 60 виключено на підставі Закону …}`, or `§ 78.` and `§ 84.` with a dash between
them. They refuse nothing.

The false alarms that are left are long units without a list: amendments in one paragraph (`ro/RO-277873.md:26`),
definitions without numbers, budgets.

Laws with articles in plain lines miss their target because many of them amend other laws. A quoted article begins its
line as the law's own articles do (`pe/LEY-32265-2025.md:58`). The numbering tells them apart only as a whole, so the
cut is refused by `numbering_break`, and a person looks.

The default profile is made for `#` in five languages. Most of its refusals are headings without text, which
`--empty heading_only` accepts, and laws in other languages, for which a profile is suggested.

## Can a person find a fault?

On 2026-11-23 two faults were planted in a set of ten German laws: an article without its `###`, and a chapter under an
article. An approver who had only the guide, and did not know where the faults were, found both in 9 minutes. After 9.5
minutes the other eight laws were signed.
"""

_SHAPES = {
    "article_not_cut": "an article in a plain line is text of another unit",
    "heading_not_cut": "a heading with `#` is text of another unit",
    "title_differs": "a unit has another title",
    "unit_without_heading": "a unit begins where the outline has no heading",
    "becomes_a_root": "a heading inside another one becomes a root",
    "root_inside_another": "a root is put inside another heading",
    "inside_a_deeper_or_equal_heading": "a heading is put inside one that is as deep or deeper",
    "under_another_ancestor": "a heading is put under another ancestor than the last shallower one",
}


def page(records: list[Record], sources: list[Record]) -> str:
    """The whole page."""
    parts = [_HEAD, _targets(records), _missed(records)]
    for cut in CUTS:
        mine = [record for record in records if record["cut"] == cut]
        title = "Default profile" if cut == "default" else "Suggested profile"
        parts += [f"## {title}\n\n{_by_jurisdiction(mine)}", _shapes(mine)]
    parts += [_READ, _sources(sources)]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def _targets(records: list[Record]) -> str:
    rows = []
    for cut in CUTS:
        mine = [record for record in records if record["cut"] == cut]
        for explicit, target in TARGETS.items():
            laws = [record for record in mine if record["explicit"] is explicit]
            right = sum(record["verdict"] == "right" for record in laws)
            kind = "explicit structure" if explicit else "articles in plain lines"
            rows.append((cut, f"right, {kind}", f"at least {target} %", f"{_share(right, len(laws))} of {len(laws):,}",
                         "yes" if laws and 100 * right >= target * len(laws) else "no"))  # fmt: skip
        for verdict in VERDICTS[1:3]:
            stopped = sum(record["verdict"] == verdict for record in mine)
            rows.append((cut, verdict, "none", f"{_share(stopped, len(mine))} of {len(mine):,}", ""))
        silent = sum(record["verdict"] == "silent" for record in mine)
        rows.append((cut, "silently different", "0", f"{silent:,} of {len(mine):,}", "no" if silent else "yes"))
        unnamed = sum(record["unnamed"] for record in mine)
        rows.append((cut, "refused, but not at the first difference", "none", f"{unnamed:,} of {len(mine):,}", ""))
        unseen = sum(record["verdict"] == "silent" and record["confidence"] == "high" for record in mine)
        if cut == "suggested":
            rows.append((cut, "silently different, suggested with high confidence", "0", f"{unseen:,} of {len(mine):,}",
                         "no" if unseen else "yes"))  # fmt: skip
    return "## Targets\n\n" + _table(("cut", "what", "target", "measured", "met"), rows)


def _missed(records: list[Record]) -> str:
    """For each missed target what kept the laws from it, the most frequent cause first, each with a real law."""
    rows = []
    for cut in CUTS:
        mine = [record for record in records if record["cut"] == cut]
        for explicit, target in TARGETS.items():
            laws = [record for record in mine if record["explicit"] is explicit]
            wrong = [record for record in laws if record["verdict"] != "right"]
            if 100 * len(wrong) > (100 - target) * len(laws):
                kind = "explicit structure" if explicit else "articles in plain lines"
                rows += [(cut, f"right, {kind}", *cause) for cause in _causes(wrong)[:CAUSES_OF_A_MISS]]
        silent = [record for record in mine if record["verdict"] == "silent"]
        rows += [(cut, "silently different", *cause) for cause in _causes(silent)]
    if not rows:
        return "Every target is met.\n"
    return "## Missed targets\n\n" + _table(("cut", "target", "verdict", "laws", "an example", "its finding"), rows)


def _causes(records: list[Record]) -> list[tuple[str, str, str, str]]:
    """Verdict, count, the smallest law and its finding (or the difference that has none), the most frequent first."""
    groups: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in records:
        groups[record["verdict"], record["shape"]].append(record)
    order = sorted(groups, key=lambda key: (-len(groups[key]), key))
    examples = {key: min(groups[key], key=lambda group: (group["bytes"], group["path"])) for key in order}
    return [(verdict, f"{len(groups[verdict, shape]):,}", _place(example),
             f"`{example['finding']}`" if example["finding"] else f"none: {_SHAPES[shape]}")
            for (verdict, shape), example in examples.items()]  # fmt: skip


def _by_jurisdiction(records: list[Record]) -> str:
    groups: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in records:
        groups[record["jurisdiction"], record["language"]].append(record)
    rows = [_row(f"{place} ({language})", group) for (place, language), group in sorted(groups.items())]
    return _table(("jurisdiction", "laws", "units", *VERDICTS, "right %"), [*rows, _row("all", records)])


def _row(name: str, records: list[Record]) -> tuple[str, ...]:
    counts = Counter(record["verdict"] for record in records)
    units = sum(record["units"] for record in records)
    return (name, f"{len(records):,}", f"{units:,}", *(f"{counts[verdict]:,}" for verdict in VERDICTS),
            _share(counts["right"], len(records)))  # fmt: skip


def _shapes(records: list[Record]) -> str:
    """What is not right, by its shape, with examples that can be looked up in the collection."""
    groups: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in records:
        if record["verdict"] != "right":
            groups[record["verdict"], record["shape"]].append(record)
    order = sorted(groups, key=lambda key: (-VERDICTS.index(key[0]), -len(groups[key]), key))
    rows = [
        (verdict, _SHAPES.get(shape, f"`{shape}`"), f"{len(groups[verdict, shape]):,}",
         "; ".join(_examples(groups[verdict, shape])))
        for verdict, shape in order
    ]  # fmt: skip
    return _table(("verdict", "first difference, or refusal", "laws", "examples"), rows) if rows else "Nothing else.\n"


def _examples(records: list[Record]) -> list[str]:
    """The smallest law of each jurisdiction first."""
    jurisdictions: set[str] = set()
    shown: list[str] = []
    for record in sorted(records, key=lambda record: (record["bytes"], record["path"])):
        if record["jurisdiction"] not in jurisdictions and len(shown) < EXAMPLES_OF_A_SHAPE:
            jurisdictions.add(record["jurisdiction"])
            shown.append(_place(record))
    return shown


def _place(record: Record) -> str:
    """The law and the line, as they can be looked up in the collection."""
    line = f":{record['line']}" if record["line"] else ""
    return f"`{record['path']}{line}`"


def _sources(sources: list[Record]) -> str:
    rows = [(source["jurisdiction"], f"`{source['repository']}`", f"`{source['commit'][:12]}`", source["sample"],
             f"`{source['digest'][:16]}`") for source in sources]  # fmt: skip
    head = "The whole commits and digests are in benchmarks/corpus.yaml. No text is part of this project."
    return f"## Sources\n\n{head}\n\n" + _table(
        ("jurisdiction", "repository", "commit", "laws at most", "digest of the sample"), rows
    )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "none"


def _table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in lines) + "\n"
