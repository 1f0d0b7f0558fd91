"""Pure: the words that laws use for their parts, in all languages: the one place to add a language.

Two readers use the table. The findings look for headings that a profile left out. The suggestion drafts a profile, and
also finds a word that is missing here if its numbers count up.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass

from cutter.marking import numbers
from cutter.marking.segments import ascii_upper


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """The role of a part of a law: its usual rank (0 is outermost) and the section_type of its units."""

    name: str
    rank: int
    section_type: str


ROLES = {
    role.name: role
    for role in (
        Role(name="annex", rank=0, section_type="appendix"),
        Role(name="part", rank=1, section_type="section"),
        Role(name="book", rank=2, section_type="section"),
        Role(name="title", rank=3, section_type="section"),
        Role(name="chapter", rank=4, section_type="section"),
        Role(name="section", rank=5, section_type="section"),
        Role(name="subsection", rank=6, section_type="section"),
        Role(name="article", rank=8, section_type="article"),
    )
}
"""Roles from the outermost to the innermost as most laws have them; a text's own levels of `#` count before."""

KINDS = {name: role.section_type for name, role in ROLES.items()} | {"paragraph": "paragraph", "point": "paragraph"}
"""What a level of a profile can be in the language of laws, and the section_type of its units."""


@dataclass(frozen=True, slots=True)
class _Words:
    """Words of one role. The findings count them as `kind`; an empty `kind` or `role` hides them from that reader.

    The findings expect the word on one side of its number. In capitals, they take the first word of the table that
    fits, so a plural is before its singular.
    """

    kind: str
    role: str
    words: str
    after: bool = False


_TABLE = (
    _Words("annex", "annex", "Annex, Annexe, Anexo, Anexa, Allegato, Anlage, Anhang, Bijlage, Schedule, Appendix, "
           "Phụ lục, Phu luc, Vedlegg, Sceideal, Lampiran, Příloha, Príloha, Załącznik, "
           "Додаток, Приложение, Παράρτημα"),
    _Words("annex", "annex", "melléklet, priedas, pielikums", after=True),
    _Words("", "annex", "Annexos, Lisa, Bilag, Bilaga, Liite"),
    _Words("part", "", "Parts, Kısım, ภาค, الباب"),
    _Words("part", "part", "Part, Partie, Teil, Parte, Phần, Deel, Część, Část, Časť, Часть, Частина, Μέρος"),
    _Words("part", "part", "osa, avd., avdelning, dalis, daļa, rész", after=True),
    _Words("part", "", "osasto", after=True),
    _Words("", "part", "Partea"),
    _Words("book", "book", "Book, Livre, Buch, Libro, Boek, Kniha, Księga, Книга"),
    _Words("book", "", "Kitap"),
    _Words("", "book", "Cartea, Llibre, Βιβλίο"),
    _Words("title", "title", "Title, Titre, Titel, Título, Titulo, Titolo, Titlul, Τίτλος"),
    _Words("chapter", "title", "Розділ"),
    _Words("", "title", "Títol, Tytuł, Раздел, Dział"),
    _Words("chapter", "", "Chapters, Rozdzial, Bölüm, Bab, BAB, หมวด, الفصل"),
    _Words("chapter", "chapter", "Chapter, Chapitre, Kapitel, Capítulo, Capitulo, Capitolul, Capo, Hoofdstuk, Chương, "
           "Kapitola, Hlava, Rozdział, Глава, Κεφάλαιο, Peatükk, Luku"),
    _Words("chapter", "", "Capitol"),
    _Words("chapter", "chapter", "luku, kap., kapitel, peatükk, skyrius, nodaļa, fejezet", after=True),
    _Words("chapter", "", "kafli, kapitulua, тарау, hauptstück", after=True),
    _Words("", "chapter", "Capítol"),
    _Words("section", "", "Sections, Secção, Seção"),
    _Words("section", "section", "Section, Sección, Seccion, Sezione, Secțiunea, Abschnitt, Afdeling, Oddíl, Oddiel, "
           "Oddział, Mục, Τμήμα, Jagu"),
    _Words("section", "section", "jagu, skirsnis, abschnitt", after=True),
    _Words("", "section", "Secció, Diel, Díl, Avsnitt, Subchapter, Titulek"),
    _Words("section", "subsection", "Unterabschnitt, Tiểu mục, Paragraaf"),
    _Words("section", "subsection", "jaotis, alljaotis", after=True),
    _Words("", "subsection", "Subsection, Sub-section, Sous-section, Subsección, Subseccion, Sub sección, Sub seccion, "
           "Subsecțiunea, Pododdíl, Subpart"),
    _Words("article", "", "Artículos, Articulos, Artigos, Artigo, Articoli, Artykul, Artikla, Arts., Чл., Madde, "
           "Pasal, มาตรา, المادة, مادة, ماده"),
    _Words("article", "article", "Articles, Article, Artikel, Artículo, Articulo, Articolo, Articolul, Artykuł, Art., "
           "Art, Čl., Článek, Článok, Стаття, Статья, Член, Άρθρο, Điều, §§, §"),
    _Words("section", "article", "Sec."),
    _Words("article", "article", "§, straipsnis, pants", after=True),
    _Words("article", "", "artikla, gr., artikulua, člen, бап", after=True),
    _Words("", "article", "Articol, Rule, Regulation, Clause"),
    _Words("division", "", "Division, Subdivision"),
)  # fmt: skip

SIGNS = {
    "编": ("part", "part", "BIAN"), "編": ("part", "part", "HEN"), "篇": ("", "part", "PIAN"), "편": ("part", "", ""),
    "章": ("chapter", "chapter", "ZHANG"), "장": ("chapter", "", ""),
    "节": ("section", "section", "JIE"), "節": ("section", "section", "SETSU"), "절": ("section", "", ""),
    "条": ("article", "article", "TIAO"), "條": ("article", "article", "TIAO"), "조": ("article", "", ""),
}  # fmt: skip
"""Chinese, Japanese and Korean signs after a number, as in 第十二条: the kind, the role and the segment of each."""


def found_words(*, after: bool) -> dict[str, tuple[str, ...]]:
    """The words that the findings look for before or after a number, by kind. Each kind has its own numbering."""
    kinds: dict[str, tuple[str, ...]] = defaultdict(tuple)
    for row in _TABLE:
        if row.kind and row.after == after:
            kinds[row.kind] += tuple(row.words.split(", "))
    return dict(kinds)


CONTENTS = (
    "Contents", "Table of contents", "Arrangement of sections", "Inhalt", "Inhaltsübersicht", "Inhaltsverzeichnis",
    "Sommaire", "Table des matières", "Índice", "Indice", "Mục lục", "Inhoud", "Sumari", "Cuprins", "Obsah", "Sisukord",
    "Sisällys", "Περιεχόμενα", "Зміст", "Оглавление", "目录", "目次",
    "Innehållsförteckning", "Tartalomjegyzék",
)  # fmt: skip
"""Titles of a table of contents."""

REGION_TITLES = (
    "Transitorio", "Transitorios", "Transitoria", "Transitorias", "Artículos transitorios", "Artículo transitorio",
    "Articulos transitorios", "Disposiciones transitorias", "Disposición transitoria", "Normas transitorias",
    "Artículos transitorios de decretos de reforma", "Disposiciones complementarias", "Disposiciones adicionales",
    "Disposiciones complementarias finales", "Disposiciones complementarias transitorias", "Fe de erratas",
    "Disposiciones complementarias modificatorias", "Disposiciones complementarias derogatorias",
    "Disposición complementaria final", "Disposición complementaria derogatoria", "Dispositions transitoires",
    "Transitional provisions", "Übergangsbestimmungen", "Övergångsbestämmelser", "Penjelasan", "Schlussprotokoll",
    "Ákvæði til bráðabirgða",
)  # fmt: skip
"""Titles that are alone in their line above another document in the file of a law."""

REPEALED = (
    "виключено|втратил[аи] чинність|скасовано|исключен[аы]?|утратил[аи] силу|weggefallen|aufgehoben|repealed|"
    "revoked|omitted|abrogée?s?|abrogat[oei]?|derogad[oa]s?|suprimid[oa]s?|supprimée?s?|revogad[oa]s?|zrušen[oaýáy]?|"
    "vypuštěn[oaýáy]?|vervallen|uchylon[yea]|kumottu|kehtetu|καταργήθηκ(?:ε|αν)|bãi bỏ"
)
"""The words, as an expression, of a note that says that the headings it numbers were repealed."""

REPEAL_STEMS = (
    "repeal", "omitted", "deleted", "reserved", "spent", "abrog", "aufgehoben", "weggefallen", "gegenstandslos",
    "derogad", "suprim", "opphev", "kumottu", "zruš", "vypušt", "vervallen", "upphäv", "upphört", "kehtet",
    "eliminad", "καταργ", "скасован", "виключен", "исключен", "втратил", "утратил", "bãi bỏ", "dihapus", "删除",
    "废止", "vetad", "anulad", "inconstitu", "uchylon", "revog",
)  # fmt: skip
"""Beginnings of words in the title of an article that say why it has no text."""

DOCUMENT_WORDS = (
    "LEY", "CÓDIGO", "REGLAMENTO", "ESTATUTO", "CONVENIO", "CONVENCIÓN", "TRATADO", "PROTOCOLO", "ACUERDO", "DECRETO",
    "CONVENTION", "ACCORD", "TRAITÉ", "ABKOMMEN", "VERTRAG", "TREATY", "AGREEMENT", "PROTOCOL", "PENJELASAN ATAS",
)  # fmt: skip
"""Words in capitals with which the title of another document begins."""

_ROMANISED = str.maketrans(
    dict(zip("αβγδεζηθικλμνξοπρστυφχψως", ("a", "v", "g", "d", "e", "z", "i", "th", "i", "k", "l", "m", "n", "x", "o",
             "p", "r", "s", "t", "y", "f", "ch", "ps", "o", "s"), strict=True))
    | dict(zip("άέήίόύώ", "aeiioyo", strict=True))
    | dict(zip("абвгдежзийклмнопрстуфхцчшщъыьэюяіїєґ", ("a", "b", "v", "g", "d", "e", "zh", "z", "i", "i", "k", "l",
               "m", "n", "o", "p", "r", "s", "t", "u", "f", "kh", "ts", "ch", "sh", "shch", "", "y", "", "e", "iu",
               "ia", "i", "i", "ie", "g"), strict=True))
)  # fmt: skip
"""Greek and Cyrillic letters as ASCII, for the segments of addresses."""

NUMBER = "{n}"
"""The place of the number in a marker, such as 第{n}条."""

SIGN_SEGMENT = "PAR"
"""The segment of `§`, which is not a letter."""

_SEGMENT_CHARACTERS = 24


ANNEX_WORDS = tuple(
    word for row in _TABLE if row.role == "annex" and not row.after for word in row.words.split(", ")
)  # fmt: skip
"""Words of annexes that come before their number."""

_ROLE_OF = {
    word.casefold(): ROLES[row.role] for row in _TABLE if row.role for word in row.words.split(", ")
}  # fmt: skip

SUGGESTED_WORD = re.compile(
    "|".join(re.escape(word).replace(r"\ ", r"[ \t\u00a0]+") for word in sorted(_ROLE_OF, key=len, reverse=True)),
    re.IGNORECASE,
)
"""A word that the suggestion knows, at the start of a text; the longest one."""


def role_of(word: str) -> Role | None:
    """The role that the suggestion gives a word in any case; None when the table does not have it."""
    return ROLES[SIGNS[word[-1]][1]] if NUMBER in word else _ROLE_OF.get(word.casefold())


def segment_of_word(word: str) -> str:
    """The part of an address that a word gives: its letters as ASCII capitals, in the text's own language."""
    if NUMBER in word:
        return SIGNS[word[-1]][2]
    if not any(character.isalpha() for character in word):
        return SIGN_SEGMENT
    segment = ascii_upper(word.lower().translate(_ROMANISED)).strip("-")[:_SEGMENT_CHARACTERS].strip("-")
    return segment if segment and segment[0].isalpha() else "LEVEL"


def without_accents(text: str) -> str:
    """A word as capitals often have it: `ΠΑΡΑΡΤΗΜΑ`, `TITULO`."""
    return "".join(sign for sign in unicodedata.normalize("NFD", text) if not unicodedata.combining(sign))


_KIND_ROLES = {"annex": "annex", "part": "part", "book": "book", "title": "title", "chapter": "chapter",
               "section": "section", "division": "part", "article": "article"}  # fmt: skip
_ONLY_KINDS = {"kapittel": "chapter", "chuong": "chapter", "dieu": "article", "muc": "section", "avdeling": "part"}
"""Words of headings that give a kind but no level: other spellings of words of the table."""
_KIND_OF = (
    {word.casefold(): _KIND_ROLES[row.kind] for row in _TABLE if row.kind for word in row.words.split(", ")}
    | {word: role.name for word, role in _ROLE_OF.items()}
    | _ONLY_KINDS
)
_KIND_OF |= {without_accents(word): name for word, name in _KIND_OF.items()}
_AFTER = {word.casefold() for row in _TABLE if row.after for word in row.words.split(", ")} | {"kapittel", "kap."}
_GROUPS = {word for word, name in _KIND_OF.items() if name not in ("article", "annex")}
_MORE_ORDINALS = (
    "segon", "segona", "tercer", "tercera", "quart", "quarta", "cinquè", "sisè", "setè", "vuitè", "novè", "desè",
    "první", "druhá", "třetí", "čtvrtá", "pátá", "šestá", "sedmá", "osmá", "devátá", "desátá",
    "prvá", "tretia", "štvrtá", "piata", "šiesta", "siedma", "ôsma", "deviata", "desiata",
    "primer", "prvý", "druhý", "tretí", "štvrtý", "pirma", "antra", "unic", "unică",
    "πρώτο", "δεύτερο", "τρίτο", "τέταρτο", "πέμπτο", "έκτο",
)  # fmt: skip
"""Ordinal numbers that tell the kind of a heading. They are not compared."""
_OPENS = r"[\"'„“”«»‘’\[ \u00a0]*(?:\([0-9]{1,6}\)[ ]*(?=§))?"
_NUMBERS = numbers.pattern(("code", "dotted", "arabic", "roman", "ordinal", "letter", "lettered"))
_ORDINAL_WORDS = {*numbers.ORDINALS, *_MORE_ORDINALS, *map(without_accents, _MORE_ORDINALS)}
_ORDINAL = "(?:" + "|".join(map(re.escape, sorted(_ORDINAL_WORDS, key=len, reverse=True))) + ")"


def _any(words: set[str]) -> str:
    return "|".join(re.escape(word).replace(r"\ ", r"[ \u00a0]+") for word in sorted(words, key=len, reverse=True))


_WORD_FIRST = re.compile(
    rf"{_OPENS}(?P<word>{_any(set(_KIND_OF))})(?:\.?[ \u00a0]+|(?<=[§.])|(?=[0-9]))"
    rf"(?:(?P<number>{_NUMBERS}{numbers.SPACED_LETTER}?)|{_ORDINAL}|(?-i:[Α-ΩА-Я]{{1,2}})['΄´ʹ’]?)(?!\w)",
    re.IGNORECASE,
)  # fmt: skip
_NUMBER_FIRST = re.compile(
    rf"{_OPENS}(?:(?P<number>{numbers.pattern(('arabic', 'roman'))}{numbers.INSERTED}?)\.?[ \u00a0]*(?P<word>"
    rf"{_any(_AFTER)})|(?P<ordinal>{_ORDINAL})[ \u00a0]+(?P<group>{_any(_GROUPS)}))(?!\w)", re.IGNORECASE,
)  # fmt: skip
_SIGNED = re.compile(
    rf"{_OPENS}[第제] ?(?P<number>[0-9]{{1,4}}|[{''.join(numbers.CJK_DIGITS)}]{{1,9}}) ?(?P<word>[{''.join(SIGNS)}])"
)
_ANNEX = re.compile(
    rf"{_OPENS}(?:{_any({word for word, name in _KIND_OF.items() if name == 'annex'})})(?=$|[.:–—(-]| [(–—-])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Designation:
    """What the beginning of a heading says of it: its word and kind, and its number, empty if it is not compared."""

    kind: str
    word: str
    number: str
    end: int


def designation(title: str) -> Designation | None:
    """The known word next to a number at the beginning of a heading, or the word of an annex."""
    for expression in (_SIGNED, _WORD_FIRST, _NUMBER_FIRST):
        if match := expression.match(title):
            groups = match.groupdict()
            word = " ".join((groups.get("word") or groups["group"]).casefold().split())
            kind = SIGNS[word][0] if expression is _SIGNED else _KIND_OF[word]
            number = groups["number"] or ""
            return Designation(kind=kind or "part", word=word, number=" ".join(number.split()), end=match.end())
    if match := _ANNEX.match(title):
        return Designation(kind="annex", word="", number="", end=match.end())
    return None


def type_of_word(word: str) -> str:
    """The section type of a word's units, also of a word that the suggestion finds only by its numbers."""
    return KINDS[_KIND_OF.get(word.casefold(), "section")]


def fitting_types(known: Designation) -> frozenset[str]:
    """The section types that do not contradict a heading's word."""
    if known.word.rstrip(".") in ("section", "sections", "sec"):
        return frozenset({"section", "article"})  # the smallest part of an English act
    if known.kind == "subsection":
        return frozenset({"section", "paragraph", "article"})
    return frozenset({KINDS[known.kind]})


_OTHER_SEGMENTS = {
    "SEC": "section", "HEN": "part", "SHO": "chapter", "PYEON": "part", "JANG": "chapter", "JEOL": "section",
    "JO": "article", "LIVRO": "book", "SECAO": "section", "SUBSECAO": "subsection", "SUBTITLE": "subtitle",
    "SUBCHAPTER": "subchapter", "SUBPART": "subpart", "DIVISION": "division", "SUBDIVISION": "subdivision",
    "PARAGRAPH": "paragraph", "PARAGRAPHE": "paragraph", "KHOAN": "paragraph", "DIEM": "point",
    "UNTERTITEL": "subtitle",
}  # fmt: skip
"""Segments of the shipped profiles that are no word of the table, or that mean less there."""
_SEGMENT_KINDS = (
    {segment_of_word(word): name for word, name in reversed(_KIND_OF.items())}
    | {segment: kind or role for kind, role, segment in SIGNS.values() if segment}
    | _OTHER_SEGMENTS
)
_SEGMENT_NUMBER = re.compile(
    "(?:[0-9]|[IVXLCDM]+|[A-Z]|" + "|".join(sorted({ascii_upper(word) for word in numbers.ORDINALS})) + r")(?![A-Z])"
    r"|[0-9]"
)


def kind_of_segment(segment: str) -> str | None:
    """What the word of an address says that the unit is."""
    return _SEGMENT_KINDS.get(segment)


def begins_with_number(rest: str) -> bool:
    """Whether a number follows the word of an address's segment."""
    return _SEGMENT_NUMBER.match(rest) is not None
