"""Pure: the words that laws use for their parts, by language, and the role of each.

A word that is missing here is still found if its numbers count up. The table adds the word's role and the order of the
roles.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from cutter.marking.segments import ascii_upper


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """The role of a part of a law: its usual rank (0 is outermost) and the section_type of its units."""

    name: str
    rank: int
    section_type: str
    words: tuple[str, ...]


ROLES = (
    Role(name="annex", rank=0, section_type="appendix", words=(
        "Annex", "Annexe", "Appendix", "Schedule", "Anlage", "Anhang", "Anexo", "Anexa", "Annexos", "Bijlage",
        "Allegato", "Příloha", "Príloha", "Lisa", "Załącznik", "Bilag", "Bilaga", "Liite", "Παράρτημα", "Приложение",
        "Додаток", "Phụ lục", "Priedas", "Pielikums", "Melléklet")),
    Role(name="part", rank=1, section_type="section", words=(
        "Part", "Partie", "Teil", "Parte", "Phần", "Deel", "Część", "Část", "Časť", "Partea", "Osa", "Μέρος", "Часть",
        "Частина", "Dalis", "Daļa", "Rész", "Avd.", "Avdelning")),
    Role(name="book", rank=2, section_type="section", words=(
        "Book", "Livre", "Buch", "Libro", "Boek", "Kniha", "Księga", "Cartea", "Llibre", "Βιβλίο", "Книга")),
    Role(name="title", rank=3, section_type="section", words=(
        "Title", "Titre", "Titel", "Título", "Titulo", "Titolo", "Titlul", "Títol", "Tytuł", "Τίτλος", "Раздел",
        "Розділ", "Dział")),
    Role(name="chapter", rank=4, section_type="section", words=(
        "Chapter", "Chapitre", "Kapitel", "Capítulo", "Capitulo", "Capo", "Capitolul", "Capítol", "Hoofdstuk",
        "Kapitola", "Rozdział", "Peatükk", "Luku", "Chương", "Κεφάλαιο", "Глава", "Skyrius", "Nodaļa", "Fejezet",
        "Hlava", "Kap.")),
    Role(name="section", rank=5, section_type="section", words=(
        "Section", "Sección", "Seccion", "Abschnitt", "Sezione", "Secțiunea", "Secció", "Afdeling", "Oddíl", "Oddiel",
        "Diel", "Díl", "Oddział", "Jagu", "Mục", "Τμήμα", "Skirsnis", "Avsnitt", "Subchapter", "Titulek")),
    Role(name="subsection", rank=6, section_type="section", words=(
        "Subsection", "Sub-section", "Sous-section", "Subsección", "Subseccion", "Sub sección", "Sub seccion",
        "Unterabschnitt", "Subsecțiunea", "Pododdíl", "Jaotis", "Alljaotis", "Tiểu mục", "Paragraaf", "Subpart")),
    Role(name="article", rank=8, section_type="article", words=(
        "Article", "Articles", "Art", "Art.", "Artikel", "Artículo", "Articulo", "Articol", "Articolul", "Articolo",
        "Artykuł", "§", "§§", "Čl.", "Článok", "Článek", "Άρθρο", "Статья", "Стаття", "Член", "Điều", "Straipsnis",
        "Pants", "Sec.", "Rule", "Regulation", "Clause")),
)  # fmt: skip
"""Roles from the outermost to the innermost as most laws have them; a text's own levels of `#` count before."""

ROLE_NAMES = tuple(role.name for role in ROLES)

CONTENTS = (
    "Contents", "Table of contents", "Arrangement of sections", "Inhalt", "Inhaltsübersicht", "Inhaltsverzeichnis",
    "Sommaire", "Table des matières", "Índice", "Indice", "Mục lục", "Inhoud", "Sumari", "Cuprins", "Obsah", "Sisukord",
    "Sisällys", "Περιεχόμενα", "Зміст", "Оглавление", "目录", "目次",
    "Innehållsförteckning", "Tartalomjegyzék",
)  # fmt: skip
"""Titles of a table of contents."""

_ROMANISED = str.maketrans(
    dict(zip("αβγδεζηθικλμνξοπρστυφχψως", ("a", "v", "g", "d", "e", "z", "i", "th", "i", "k", "l", "m", "n", "x", "o",
             "p", "r", "s", "t", "y", "f", "ch", "ps", "o", "s"), strict=True))
    | dict(zip("άέήίόύώ", "aeiioyo", strict=True))
    | dict(zip("абвгдежзийклмнопрстуфхцчшщъыьэюяіїєґ", ("a", "b", "v", "g", "d", "e", "zh", "z", "i", "i", "k", "l",
               "m", "n", "o", "p", "r", "s", "t", "u", "f", "kh", "ts", "ch", "sh", "shch", "", "y", "", "e", "iu",
               "ia", "i", "i", "ie", "g"), strict=True))
)  # fmt: skip
"""Greek and Cyrillic letters as ASCII, for the segments of addresses."""

MARKERS = {
    "编": ("part", "BIAN"), "編": ("part", "HEN"), "篇": ("part", "PIAN"), "章": ("chapter", "ZHANG"),
    "节": ("section", "JIE"), "節": ("section", "SETSU"), "条": ("article", "TIAO"), "條": ("article", "TIAO"),
}  # fmt: skip
"""Chinese and Japanese signs after a number, as in 第十二条: the role and the segment of each."""

NUMBER = "{n}"
"""The place of the number in a marker, such as 第{n}条."""

SIGN_SEGMENT = "PAR"
"""The segment of `§`, which is not a letter."""

_SEGMENT_CHARACTERS = 24


@cache
def role_of(word: str) -> Role | None:
    """The role of a word in any case; None when the table does not have it."""
    if NUMBER in word:
        return next(role for role in ROLES if role.name == MARKERS[word[-1]][0])
    folded = word.casefold()
    return next((role for role in ROLES if any(folded == known.casefold() for known in role.words)), None)


@cache
def known_words() -> re.Pattern[str]:
    """All words of the table at the start of a text, longest first."""
    words = sorted((word for role in ROLES for word in role.words), key=len, reverse=True)
    return re.compile("|".join(re.escape(word).replace(r"\ ", r"[ \t\u00a0]+") for word in words), re.IGNORECASE)


def segment_of_word(word: str) -> str:
    """The part of an address that a word gives: its letters as ASCII capitals, in the text's own language."""
    if NUMBER in word:
        return MARKERS[word[-1]][1]
    if not any(character.isalpha() for character in word):
        return SIGN_SEGMENT
    segment = ascii_upper(word.lower().translate(_ROMANISED)).strip("-")[:_SEGMENT_CHARACTERS].strip("-")
    return segment if segment and segment[0].isalpha() else "LEVEL"
