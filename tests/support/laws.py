"""Pure: laws made for tests: as many units as asked for, no word of any real law."""

from __future__ import annotations

ARTICLES_A_CHAPTER = 24
WORDS = ("river", "lamp", "bridge", "orchard", "harbour", "meadow", "window", "garden", "letter", "station")


def law(units: int, *, title: str = "Act on Made Laws", word: str = "", heading: str = "") -> str:
    """Markdown that `generic-markdown` cuts into exactly `units`: an act, its chapters, their articles.

    `word` goes into every article's body and `heading` into every heading, as canaries.
    """
    chapters = _chapters(units)
    lines = [f"# {title}{_spaced(heading)}", "", f"An Act of {units} units.{_spaced(word)}", ""]
    articles = iter(range(1, units))
    for chapter in range(1, chapters + 1):
        lines += [f"## Chapter {chapter} On {WORDS[chapter % 10]}s{_spaced(heading)}", ""]
        for number in (next(articles) for _ in range(_share(units - 1 - chapters, chapters, chapter))):
            lines += [f"### Article {number}. The {WORDS[number % 10]}{_spaced(heading)}", "", _body(number, word), ""]
    return "\n".join(lines)


def _chapters(units: int) -> int:
    """A law of up to three units is an act and its articles below one chapter."""
    return max(1, (units - 1) // (ARTICLES_A_CHAPTER + 1))


def _share(articles: int, chapters: int, chapter: int) -> int:
    """Articles of one chapter, so that all of them add up."""
    return articles * chapter // chapters - articles * (chapter - 1) // chapters


def _body(number: int, word: str) -> str:
    first, second = WORDS[number % 10], WORDS[number // 10 % 10]
    return f"Every {first} numbered {number} stands beside its {second}, in the order of this Act.{_spaced(word)}"


def _spaced(word: str) -> str:
    return f" {word}" if word else ""
