"""Pure: docs/reference/marking-quality.md from the records of `benchmarks.corpus`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

Record = dict[str, Any]

VERDICTS = (
    "right", "refused for its numbers", "refused though right", "refused", "flagged", "wrong kind", "silent"
)  # fmt: skip
CUTS = ("default", "suggested")
HALVES = ("seen", "unseen")
FORMS = {"explicit": ("laws with explicit structure", 95), "plain": ("articles in plain lines", 85),
         "pdf": ("text of PDFs", 70)}  # fmt: skip
"""The forms of the laws, and the percent of each that is right without manual work as the target."""

REFUSED_THOUGH_RIGHT = 2
"""Percent of the laws that may be refused though their cut is right."""

EXAMPLES_OF_A_SHAPE = 3
CAUSES_OF_A_MISS = 4
"""The most frequent causes that the page names for a missed target."""

_HEAD = """# Quality of the marking

Laws of public collections, each cut twice: with the default profile and with the one that `cutter profile suggest`
writes. No option and no correction is given. Each cut is compared with the structure of the law as another reader sees
it: markdown-it-py reads the headings, and an expression of the collection finds articles in plain lines. A section of
an official format is known from its XML.

| word | meaning |
| --- | --- |
| right | each heading is a unit with its title and its parent, no other unit is there, and no unit holds a document |
| refused for its numbers | the cut does not differ, and the outline lacks or repeats the number too |
| refused though right | another red finding refuses a cut that does not differ: a person must accept it by its name |
| refused | the cut differs and a red finding refuses it, or the text needs an option: a person must decide |
| flagged | the cut differs, and an amber finding names the line of the difference, its unit or the unit's parent |
| wrong kind | no red finding refuses the cut, nothing is silent, and a kind contradicts the word of its heading |
| silent | the cut differs and no finding names the place |

A cut also differs in these cases:

- a plain line that begins like an article and continues the numbering is text, also in a law that uses `#`;
- a kind of heading that counts again under another one (`§` in `Artikel`) is cut next to it, or an article in a `§`;
- a numbered unit has an address with `~2`, and no red finding says that the text repeats the number;
- the last article holds an annex, transitory articles, an elucidation or a second count of articles;
- the articles of a second document are part of an article of the first, are cut in part, or are among the first ones;
- a table of contents that is left out is larger than all units;
- the name of an article is a unit of its own, or an article lost its text while most others have one.

A quoted line is no article of the law. A quoted heading with `#` may be a unit or not, since collections differ.

The comparison uses words and numbers of its own, so it tests the reading of the marking. It does not test whether `#`
is right. A difference is not always an error of the cut: some collections write levels of `#` that contradict the
words of the headings. A text between a number and the next heading is compared as one title.

The laws of each collection are in two halves, by a hash of their path. Rules are written by looking at the seen half
only, and the page names no law of the unseen half. The laws of a half are chosen by a seed that changes with each
version of cutter. This page is made by

    python -m benchmarks.corpus GITDIR... --page docs/reference/marking-quality.md
    python -m benchmarks.corpus GITDIR... --unseen --output unseen.records

where each GITDIR is a git directory with a commit of the list below. `--records unseen.records` adds the laws of
another measurement to the page, and `--sample N` cuts fewer laws.
"""

_READ = """## What people found

These laws were read for an earlier version of this page.

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
    "kinds_flat": "a kind that nests in another one is next to it",
    "article_inside_a_smaller_part": "an article is inside a `§` of the article before it",
    "address_repeated": "a numbered unit has an address with `~2`",
    "second_document_in_an_article": "an article holds the articles of a second document",
    "second_document_among_the_articles": "the articles of a second document are among the first ones",
    "document_in_the_last_article": "the last article holds an annex or transitory articles",
    "new_count_in_the_last_article": "the last article holds a new count of articles",
    "contents_hold_the_law": "the excluded table of contents is larger than all units",
    "sections_not_cut": "sections with bare numbers are text of their chapters",
    "name_is_a_unit": "the name of an article is a unit of its own",
    "article_without_text": "an article is a heading without text, while most others have one",
    "wrong_kind": "the kind of a unit contradicts the word of its heading",
}


def page(records: list[Record], sources: list[Record], version: str) -> str:
    """The whole page. Records of the unseen half are shown apart and without the names of their laws."""
    parts = [_HEAD, f"Measured with version {version}.\n"]
    for half in HALVES:
        mine = [record for record in records if record["half"] == half]
        parts += _half(half, mine) if mine else [f"## The {half} half\n\nIt was not measured with this version.\n"]
    parts += [_READ, _sources(sources)]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def _half(half: str, records: list[Record]) -> list[str]:
    parts = [f"## The {half} half", _targets(records)]
    if half == "seen":
        parts += ["### Missed targets", _missed(records)]
    for cut in reversed(CUTS):
        mine = [record for record in records if record["cut"] == cut]
        parts += [f"### {cut.capitalize()} profile, the {half} half", _by_jurisdiction(mine)]
        parts.append(_shapes(mine, named=half == "seen"))
    return parts


def _targets(records: list[Record]) -> str:
    """Each target with what both cuts reach; it is met by the suggested profile."""
    rows = []
    suggested, default = ([record for record in records if record["cut"] == cut] for cut in reversed(CUTS))
    for form, (name, target) in FORMS.items():
        shares = [_right(mine, form) for mine in (suggested, default)]
        met = "" if shares[0] is None else "yes" if shares[0][0] * 100 >= target * shares[0][1] else "no"
        measured = [f"{_share(*share)} of {share[1]:,}" if share else "none" for share in shares]
        rows.append((f"right, {name}", f"at least {target} %", measured[0], met, measured[1]))
    for name, target, chosen in (
        ("silently wrong", 0, lambda record: record["verdict"] == "silent"),
        ("silently wrong, suggested with high confidence", 0,
         lambda record: record["verdict"] == "silent" and record["confidence"] == "high"),
        ("wrong kinds, of all accepted", 0, lambda record: bool(record["wrong_kinds"]) and _accepted(record)),
        ("refused though right", REFUSED_THOUGH_RIGHT, lambda record: record["verdict"] == "refused though right"),
    ):  # fmt: skip
        of_accepted = name.startswith("wrong kinds")
        groups = [[record for record in mine if not of_accepted or _accepted(record)] for mine in (suggested, default)]
        counts = [(sum(map(chosen, mine)), len(mine)) for mine in groups]
        met = "yes" if counts[0][0] * 100 <= target * counts[0][1] else "no"
        measured = [f"{count:,} of {total:,}, {_share(count, total)}" for count, total in counts]
        wanted = f"at most {target} %" if target else "0"
        rows.append((name, wanted, measured[0], met, measured[1] if "confidence" not in name else ""))
    for name, verdict in (
        ("refused for its numbers", "refused for its numbers"),
        ("refused, the cut differs", "refused"),
    ):
        counts = [(sum(record["verdict"] == verdict for record in mine), len(mine)) for mine in (suggested, default)]
        rows.append((name, "none", *_without_target(counts)))
    unnamed = [(sum(record["unnamed"] for record in mine), len(mine)) for mine in (suggested, default)]
    rows.append(("refused, but not at the first difference", "none", *_without_target(unnamed)))
    return _table(("what", "target", "suggested profile", "met", "default profile"), rows)


def _without_target(counts: list[tuple[int, int]]) -> tuple[str, str, str]:
    suggested, default = (f"{count:,} of {total:,}, {_share(count, total)}" for count, total in counts)
    return suggested, "", default


def _right(records: list[Record], form: str) -> tuple[int, int] | None:
    laws = [record for record in records if record["form"] == form]
    return (sum(record["verdict"] == "right" for record in laws), len(laws)) if laws else None


def _accepted(record: Record) -> bool:
    return not record["verdict"].startswith("refused")


def _missed(records: list[Record]) -> str:
    """For each missed target what kept the laws from it, the most frequent cause first, each with a real law."""
    rows = []
    mine = [record for record in records if record["cut"] == "suggested"]
    for form, (name, target) in FORMS.items():
        laws = [record for record in mine if record["form"] == form]
        wrong = [record for record in laws if record["verdict"] != "right"]
        if 100 * len(wrong) > (100 - target) * len(laws):
            rows += [(f"right, {name}", *cause) for cause in _causes(wrong)[:CAUSES_OF_A_MISS]]
    for verdict in ("silent", "wrong kind"):
        rows += [(verdict, *cause) for cause in _causes([record for record in mine if record["verdict"] == verdict])]
    if not rows:
        return "Every target is met."
    return _table(("target", "verdict", "laws", "an example", "its finding"), rows)


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


def _shapes(records: list[Record], *, named: bool) -> str:
    """What is not right, by its shape, with examples that can be looked up in the collection."""
    groups: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in records:
        if record["verdict"] != "right":
            groups[record["verdict"], record["shape"]].append(record)
    order = sorted(groups, key=lambda key: (-VERDICTS.index(key[0]), -len(groups[key]), key))
    rows = [
        (verdict, _SHAPES.get(shape, f"`{shape}`"), f"{len(groups[verdict, shape]):,}",
         *(["; ".join(_examples(groups[verdict, shape]))] if named else []))
        for verdict, shape in order
    ]  # fmt: skip
    columns = ("verdict", "first difference, or refusal", "laws", *(["examples"] if named else []))
    return _table(columns, rows) if rows else "Nothing else.\n"


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
             *(f"`{source['digests'].get(half, '')[:16]}`".replace("``", "") for half in HALVES))
            for source in sources]  # fmt: skip
    head = "The whole commits and digests are in benchmarks/corpus.yaml. No text is part of this project."
    columns = ("jurisdiction", "repository", "commit", "laws of each half at most", "digest, seen", "digest, unseen")
    return f"## Sources\n\n{head}\n\n" + _table(columns, rows)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "none"


def _table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in lines) + "\n"
