"""What the real laws must be cut into, counted by an independent Markdown parser and by hand.

Nothing here imports the product. `python tests/golden/expectations.py` prints, for each law of the folder CUTTER_LAWS
(or ../shared/laws beside the checkout), what markdown-it-py counts; the figures in LAWS are compared with it by
tests/unit/marking/test_golden.py. Figures marked "hand" were counted by reading the text with grep.
"""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

GOLDEN = Path(__file__).resolve().parent
CHECKOUT = GOLDEN.parents[1]


@dataclass(frozen=True, kw_only=True)
class Law:
    """One law: which profile and options cut it, how many units, and what the profile's defaults answer.

    `headings` is markdown-it's count of ATX headings by depth. `merged` headings are titles that belong to the number
    above them (hand), `not_units` headings that the profile does not cut (hand). `plain` are units that no Markdown
    parser sees (hand), as label → count. `accepted` names the red findings whose places were read in the text, where
    the text itself is so (hand). `default` is the code and line of the refusal under default options (hand), None when
    the defaults cut it.
    """

    file: str
    profile: str
    headings: dict[int, int]
    merged: int = 0
    not_units: int = 0
    plain: dict[str, int] = field(default_factory=dict)
    options: dict[str, str | int] = field(default_factory=dict)
    accepted: tuple[str, ...] = ()
    normalise: bool = False
    default: tuple[str, int] | None = None
    excluded: tuple[str, ...] = ()

    @property
    def units(self) -> int:
        """Number of units: headings without merged titles, and the plain ones."""
        return sum(self.headings.values()) - self.merged - self.not_units + sum(self.plain.values())

    @property
    def name(self) -> str:
        """The law's folder in golden/."""
        return self.file.rsplit(".", 1)[0]


GENERIC, VIETNAMESE, US, EU = "generic-markdown", "vietnamese-law", "us-code-style", "eu-regulation"
FRONT = ("front_matter",)
EMPTY_ALLOWED: dict[str, str | int] = {"empty": "heading_only"}
REPEATS_ALLOWED: dict[str, str | int] = {"duplicates": "ordinal", "empty": "heading_only"}

BACKWARDS = "number_backwards:LAW/PART-LEGISLATIVE/BOOK-IER/TITLE"
FRENCH_VERSIONS = (
    "II/CHAPTER-IV/SECTION-3/SUBSECTION-2",
    "II/CHAPTER-IV/SECTION-3~2/SUBSECTION-2",
    "III/CHAPTER-IV/SECTION-3/SUBSECTION-2",
    "III/CHAPTER-IV/SECTION-3~2/SUBSECTION-2",
    "IV/CHAPTER-IV/SECTION-2",
)

LAWS = (
    Law(
        file="de-anzv-2006.md",
        profile=GENERIC,
        headings={1: 1, 2: 66},
        options=REPEATS_ALLOWED,
        accepted=("number_repeated:LAW/ANNEX-1~2",),  # a second Anlage 1 after Anlage 12
        default=("childless_heading", 153),
        excluded=FRONT,
    ),
    Law(
        file="de-beurkg.md",
        profile=GENERIC,
        headings={1: 1, 2: 7, 3: 38, 4: 52, 5: 12},
        options=EMPTY_ALLOWED,
        default=("childless_heading", 639),
        excluded=FRONT,
    ),
    Law(file="de-emfv.md", profile=GENERIC, headings={1: 1, 2: 5, 3: 16, 4: 14}, excluded=FRONT),
    Law(
        file="de-gg.md",
        profile=GENERIC,
        headings={1: 1, 2: 16, 3: 202},
        options=EMPTY_ALLOWED,
        default=("childless_heading", 1094),
        excluded=FRONT,
    ),
    Law(file="de-ifg.md", profile=GENERIC, headings={1: 1, 2: 15}, excluded=FRONT),
    Law(
        file="eu-2016-679-gdpr.txt",
        profile=EU,
        headings={},
        plain={"RECITAL": 173, "CHAPTER": 11, "SECTION": 15, "ARTICLE": 99},
        excluded=("before_first_unit", "closing_block"),
    ),
    Law(
        file="fr-code-minier-nouveau.md",
        profile=GENERIC,
        headings={1: 1, 2: 1, 3: 6, 4: 392, 5: 632},
        options={**REPEATS_ALLOWED, "max_candidates": 2_000},
        # versions of one article or sub-section side by side; repealed articles that left no trace
        accepted=(
            "number_repeated:LAW",
            "number_missing:LAW/PART-LEGISLATIVE/BOOK-IER/TITLE-III/CHAPTER-VI",
            "number_missing:LAW/PART-LEGISLATIVE/BOOK-V/TITLE-UNIQUE/CHAPTER-III/SECTION-3",
            *(f"{BACKWARDS}-{place}" for place in FRENCH_VERSIONS),
        ),
        default=("too_many_candidates", 4715),
        excluded=FRONT,
    ),
    Law(
        file="fr-constitution-1958.md",
        profile=GENERIC,
        headings={1: 1, 2: 29, 5: 115},
        options=REPEATS_ALLOWED,
        # two versions of the titles, and repealed articles that left no trace
        accepted=(
            "number_repeated:LAW/TITLE-IX~2",
            "number_repeated:LAW/TITLE-XV/ARTICLE-88-1~2",
        ),
        default=("duplicate_address", 688),
        excluded=FRONT,
    ),
    Law(file="ie-1962-18-courts-amendment.md", profile=GENERIC, headings={1: 1, 5: 2}, excluded=FRONT),
    Law(file="ie-1983-11-statute-law-revision.md", profile=GENERIC, headings={1: 1, 2: 5, 5: 3}, excluded=FRONT),
    Law(file="ie-2017-2-sexual-offences.md", profile=GENERIC, headings={2: 8, 5: 58}, excluded=FRONT),
    Law(file="us-code-title-09.md", profile=US, headings={1: 1, 3: 4, 4: 33, 6: 4}),
    Law(
        file="us-code-title-13.md",
        profile=US,
        headings={1: 1, 3: 6, 4: 65, 6: 22},
        plain={"SUBCHAPTER": 15},
        options=EMPTY_ALLOWED,
        # the text has no headings for these subsections' siblings
        accepted=(
            "number_missing:LAW/TITLE-13/CHAPTER-1/SUBCHAPTER-I/SEC-16/C",
            "number_missing:LAW/TITLE-13/CHAPTER-5/SUBCHAPTER-II/SEC-141/F",
            "number_missing:LAW/TITLE-13/CHAPTER-9/SEC-301/C",
        ),
        default=("childless_heading", 387),
    ),
    Law(file="us-constitution.md", profile=GENERIC, headings={1: 1, 2: 9, 3: 48}, excluded=("before_first_unit",)),
    # SECCION has more # than the CAPITULO inside it: the words are right
    Law(
        file="uy-constitucion-1967.md",
        profile=GENERIC,
        headings={1: 1, 3: 74, 4: 19, 5: 332},
        options={"nesting": "words"},
        accepted=("nesting_differs:LAW/SECTION-I/CHAPTER-I", "nesting_differs:LAW/SECTION-II"),
        default=("nesting_differs", 22),
        excluded=FRONT,
    ),
    Law(
        file="uy-ley-13835.md",
        profile=GENERIC,
        headings={1: 1, 3: 27, 4: 19, 5: 356},
        options=REPEATS_ALLOWED,
        # the text has a chapter VIX for XIV, and XXIV three times
        accepted=("number_missing:LAW/CHAPTER-XV", "number_repeated:LAW/CHAPTER-XXIV~2"),
        default=("duplicate_address", 3576),
        excluded=FRONT,
    ),
    # each of the 7 chapters and 5 sections has its title in a heading of its own (hand)
    Law(
        file="vn-30-2020-nd-cp.md",
        profile=VIETNAMESE,
        headings={2: 20, 3: 39, 4: 5},
        merged=12,
        normalise=True,
        default=("not_nfc", 251),
    ),
    # 11 chapters and 4 sections
    Law(file="vn-46-2026-nd-cp.md", profile=VIETNAMESE, headings={1: 2, 2: 26, 3: 59}, merged=15, excluded=FRONT),
    Law(file="vn-71-2026-tt-bca.md", profile=VIETNAMESE, headings={1: 1, 2: 10}, excluded=FRONT),
    Law(
        file="vn-phap-dien-con-dau.md",
        profile=VIETNAMESE,
        headings={1: 1},
        plain={"CHUONG": 4, "MUC": 3, "DIEU": 37},
    ),
)

# The model laws of examples/laws; every figure is a hand count.
MODELS = (
    Law(
        file="reading-rooms-act.en.md",
        profile=GENERIC,
        headings={1: 1, 2: 6, 3: 18, 4: 4},
        merged=2,
        excluded=FRONT,
    ),
    Law(file="leihraeder-ordnung.de.md", profile=GENERIC, headings={1: 1, 2: 5, 3: 11, 4: 9}),
    Law(
        file="thu-vien-cong-dong.vi.md",
        profile=VIETNAMESE,
        headings={1: 1},
        plain={"CHUONG": 3, "MUC": 3, "DIEU": 12},
        excluded=("table_of_contents",),
    ),
    # not units: the title outside the sentinels, six group headers, a heading inside Điều 3, four rows not in force
    Law(
        file="hien-phap-mau.vi.md",
        profile="incomex-constitution",
        headings={1: 1, 2: 6, 3: 23, 4: 1},
        not_units=12,
        excluded=(
            "outside_units",
            "draft_excluded_by_enacted_only",
            "controlled_draft_deferred",
            "obsolete_excluded",
            "controlled_draft_deferred",
        ),
    ),
)


KNOWN: dict[str, dict[int, str]] = {
    "de-anzv-2006.md": {247: "PAR-5A", 1129: "ANNEX-1", 1882: "ANNEX-2A"},
    "de-beurkg.md": {
        156: "SECTION-ZWEITER/1/PAR-6",
        1355: "SECTION-SIEBTER/1/A/PAR-63",
        1152: "SECTION-SECHSTER/PAR-57",
    },
    "de-emfv.md": {430: "SECTION-3/SUBSECTION-1/PAR-5", 1028: "SECTION-4"},
    "de-gg.md": {57: "I/ARTICLE-1", 1159: "IV-A/ARTICLE-53A", 2275: "VIIIA/ARTICLE-91A"},
    "de-ifg.md": {23: "PAR-1", 333: "PAR-15"},
    "eu-2016-679-gdpr.txt": {
        727: "CHAPTER-I",
        731: "CHAPTER-I/ARTICLE-1",
        1161: "CHAPTER-III/SECTION-2/ARTICLE-13",
        3569: "CHAPTER-XI/ARTICLE-99",
    },
    "fr-code-minier-nouveau.md": {
        15: "PART-LEGISLATIVE/ARTICLE-L100-1",
        79: "PART-LEGISLATIVE/BOOK-IER/TITLE-IER/CHAPTER-IER/SECTION-1/ARTICLE-L111-1",
        180: "PART-LEGISLATIVE/BOOK-IER/TITLE-IER/CHAPTER-IER/SECTION-3/ARTICLE-L111-9~2",
    },
    "fr-constitution-1958.md": {
        14: "ARTICLE-PREAMBULE",
        28: "TITLE-PREMIER/ARTICLE-2",
        738: "TITLE-XI-BIS",
        978: "TITLE-XV~2",
    },
    "ie-1962-18-courts-amendment.md": {15: "1", 45: "2"},
    "ie-1983-11-statute-law-revision.md": {30: "ANNEX-REPEALS", 96: "ANNEX-REPEALS/PART-II"},
    "ie-2017-2-sexual-offences.md": {15: "PART-1", 477: "PART-3/22"},
    "us-code-title-09.md": {43: "TITLE-9/CHAPTER-1/SEC-10/A", 123: "TITLE-9/CHAPTER-2/SEC-201"},
    "us-code-title-13.md": {
        57: "TITLE-13/CHAPTER-1/SUBCHAPTER-I/SEC-9/A",
        233: "TITLE-13/CHAPTER-3/SUBCHAPTER-II",
        523: "TITLE-13/CHAPTER-9/SEC-301",
    },
    "us-constitution.md": {12: "ARTICLE-I/SECTION-1", 180: "ARTICLE-III/SECTION-1", 268: "AMENDMENTS/1"},
    "uy-constitucion-1967.md": {
        24: "SECTION-I/CHAPTER-I/ARTICLE-1",
        854: "SECTION-IV/CHAPTER-UNICO/ARTICLE-82",
        2396: "SECTION-XIII/ARTICLE-208",
    },
    "uy-ley-13835.md": {34: "CHAPTER-I/ARTICLE-1", 1744: "CHAPTER-XVIII/PODER-JUDICIAL"},
    "vn-30-2020-nd-cp.md": {
        13: "CHUONG-I/DIEU-1",
        64: "CHUONG-II/MUC-1",
        203: "CHUONG-III/MUC-3/DIEU-25",
        317: "CHUONG-VII/DIEU-38",
    },
    "vn-46-2026-nd-cp.md": {49: "CHUONG-I/DIEU-1", 307: "CHUONG-III/MUC-4/DIEU-14", 1165: "CHUONG-XI/DIEU-55"},
    "vn-71-2026-tt-bca.md": {52: "DIEU-1", 178: "MAU-M01"},
    "vn-phap-dien-con-dau.md": {28: "CHUONG-I/DIEU-39-12-QD-1-1", 238: "CHUONG-II/MUC-3/DIEU-39-12-ND-11"},
    "reading-rooms-act.en.md": {93: "PART-4/CHAPTER-I", 97: "PART-4/CHAPTER-I/ARTICLE-14", 123: "ANNEX-1"},
    "leihraeder-ordnung.de.md": {41: "SECTION-ZWEITER/SUBSECTION-1/PAR-5A", 107: "ANNEX-1"},
    "thu-vien-cong-dong.vi.md": {12: "CHUONG-I", 82: "CHUONG-II/MUC-3/DIEU-9"},
    "hien-phap-mau.vi.md": {9: "NT-1", 31: "KT-A", 52: "DIEU-0-B"},
}
"""Line → address under the prefix, read in the texts by hand: a container, a unit deep in the tree, a trap."""


@dataclass(frozen=True, kw_only=True)
class InItsLanguage:
    """One of LAWS, cut by the shipped profile of its language with the law's own options.

    The units are the counted ones of the law. `red` names the findings that refuse it, with the place that was read in
    the text; once they are accepted, `known` is line → address under the prefix, by hand.
    """

    file: str
    profile: str
    known: dict[int, str]
    red: tuple[str, ...] = ()

    @property
    def law(self) -> Law:
        """The counts and options of the text."""
        return next(law for law in LAWS if law.file == self.file)


IN_THEIR_LANGUAGE = (
    InItsLanguage(
        file="de-beurkg.md",
        profile="german-law",
        known={
            156: "ABSCHNITT-ZWEITER/1/PAR-6",
            1152: "ABSCHNITT-SECHSTER/PAR-57",
            1355: "ABSCHNITT-SIEBTER/1/A/PAR-63",
        },
    ),
    InItsLanguage(
        file="de-emfv.md",
        profile="german-law",
        known={430: "ABSCHNITT-3/UNTERABSCHNITT-1/PAR-5", 1028: "ABSCHNITT-4", 1233: "ANLAGE-1"},
    ),
    InItsLanguage(file="de-ifg.md", profile="german-law", known={23: "PAR-1", 333: "PAR-15"}),
    InItsLanguage(
        file="de-gg.md",
        profile="german-law",
        known={57: "I/ARTIKEL-1"},
        # the annex quotes articles of the treaty of unification in plain lines
        red=tuple(f"other_form:LINE-{line}" for line in (4258, 4268, 4271, 4297, 4301)),
    ),
    InItsLanguage(
        file="fr-constitution-1958.md",
        profile="french-law",
        known={28: "TITRE-PREMIER/ARTICLE-2", 738: "TITRE-XI-BIS", 978: "TITRE-XV~2"},
        # two versions of the titles, and repealed articles that left no trace
        red=(
            "number_repeated:LAW/TITRE-IX~2",
            "number_repeated:LAW/TITRE-XV/ARTICLE-88-1~2",
        ),
    ),
    InItsLanguage(
        file="uy-constitucion-1967.md",
        profile="spanish-law",
        known={24: "SECCION-I/CAPITULO-I/ARTICULO-1", 2396: "SECCION-XIII/ARTICULO-208"},
        # SECCION has more # than the CAPITULO inside it; references at the start of a line read like articles
        red=(
            "nesting_differs:LAW/SECCION-I/CAPITULO-I",
            "nesting_differs:LAW/SECCION-II",
        ),
    ),
    InItsLanguage(
        file="ie-2017-2-sexual-offences.md",
        profile="common-law-act",
        known={15: "PART-1", 71: "PART-2/3", 477: "PART-3/22"},
    ),
)


@dataclass(frozen=True)
class Heading:
    """An ATX heading as markdown-it sees it: line from 1, number of #, text without markup."""

    line: int
    depth: int
    text: str


def laws_folder() -> Path | None:
    """The folder of the real laws, None when it is not there."""
    named = os.environ.get("CUTTER_LAWS")
    folder = Path(named) if named else CHECKOUT.parent / "shared" / "laws"
    return folder if folder.is_dir() else None


def law_bytes(law: Law, folder: Path) -> bytes:
    """The text that is cut; in NFC where the law says so."""
    data = (folder / law.file).read_bytes()
    return unicodedata.normalize("NFC", data.decode()).encode() if law.normalise else data


def atx_headings(text: str) -> list[Heading]:
    """ATX headings by markdown-it (preset commonmark), front matter blanked, empty ones left out."""
    source = blank_front_matter(text)
    tokens = MarkdownIt("commonmark").parse(source)
    headings = []
    for position, token in enumerate(tokens):
        if token.type == "heading_open" and token.markup.startswith("#") and token.map is not None:
            content = inline_text(tokens[position + 1])
            if tokens[position + 1].content.strip():
                headings.append(Heading(token.map[0] + 1, len(token.markup), content))
    return headings


def blank_front_matter(text: str) -> str:
    """The text with the lines of a leading YAML block emptied, so that line numbers stay."""
    lines = text.split("\n")
    if lines[0] != "---":
        return text
    end = lines.index("---", 1)
    return "\n".join([""] * (end + 1) + lines[end + 1 :])


def inline_text(token: Token) -> str:
    """Text of an inline token on one line, without markup and invisible characters."""
    pieces = []
    for child in token.children or ():
        if child.type in ("text", "code_inline", "image"):
            pieces.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            pieces.append(" ")
    return " ".join(re.sub("[\u00ad\u200b-\u200d\ufeff]", "", "".join(pieces)).split())


def by_depth(headings: list[Heading]) -> dict[int, int]:
    """Headings counted by depth."""
    return dict(sorted(Counter(heading.depth for heading in headings).items()))


def main() -> None:
    """Print the independent counts beside the expected ones."""
    folder = laws_folder()
    if folder is None:
        raise SystemExit("no laws: set CUTTER_LAWS")
    for law in LAWS:
        data = law_bytes(law, folder)
        counted = by_depth(atx_headings(data.decode()))
        verdict = "as expected" if counted == law.headings else f"EXPECTED {law.headings}"
        print(f"{law.file}: {counted} {verdict}; {law.units} units; sha256 {hashlib.sha256(data).hexdigest()}")


if __name__ == "__main__":
    main()
