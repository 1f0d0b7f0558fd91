"""For laws with quotations, gaps, two forms or a second document: the suggested cut is right, refused or flagged."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from cutter.marking import Marking, MarkRefusal
from cutter.marking.suggestion import Suggestion, suggest

TITLES = st.sampled_from(["TRANSITORIOS", "PENJELASAN", "ANEXO", "CONVENIO DE PAZ", "LEY DE FAROS"])
QUOTES = st.sampled_from(["«»", "“”", "„“", '""'])


def judged(text: str, right: list[str]) -> bool:
    """True if the suggested cut has exactly the right units, is refused, or has a finding that a person reads."""
    suggestion = suggest(text.encode(), docprefix="LAW", compared=())
    assert isinstance(suggestion, Suggestion)
    if isinstance(suggestion.result, MarkRefusal) or suggestion.result.unaccepted:
        return True
    assert isinstance(suggestion.result, Marking)
    cut = [unit.address.removeprefix("LAW/") for unit in suggestion.result.candidates]
    return cut == right or any(finding.severity == "amber" for finding in suggestion.result.findings)


def plain(first: int, last: int, *, head: str = "Artículo {}.- Texto de ley.") -> list[str]:
    return [head.format(number) for number in range(first, last + 1)]


def units(last: int, above: str = "") -> list[str]:
    return [f"{above}ARTICULO-{number}" for number in range(1, last + 1)]


@settings(deadline=None, max_examples=60)
@given(own=st.integers(2, 9), other=st.integers(1, 9), title=TITLES)
def test_a_second_document_is_a_region_of_its_own(own: int, other: int, title: str) -> None:
    text = "\n\n".join([*plain(1, own), title, *plain(1, other)]) + "\n"
    region = title.replace(" ", "-")
    assert judged(text, [*units(own), region, *units(other, f"{region}/")])


@settings(deadline=None, max_examples=60)
@given(own=st.integers(3, 9), first=st.integers(1, 40), count=st.integers(1, 4), quotes=QUOTES, data=st.data())
def test_a_quoted_article_is_none_of_the_law(
    own: int, first: int, count: int, quotes: str, data: st.DataObject
) -> None:
    at = data.draw(st.integers(1, own))
    quoted = plain(first, first + count)
    quoted[0], quoted[-1] = f"{quotes[0]}{quoted[0]}", f"{quoted[-1]}{quotes[1]}"
    articles = plain(1, own)
    text = "\n\n".join([*articles[:at], "Se agrega lo siguiente:", *quoted, *articles[at:]]) + "\n"
    assert judged(text, units(own))


@settings(deadline=None, max_examples=60)
@given(own=st.integers(3, 12), data=st.data())
def test_an_article_in_another_form_or_missing_is_seen(own: int, data: st.DataObject) -> None:
    articles = plain(1, own, head="##### Artículo {}\n\nTexto de ley.")
    at = data.draw(st.integers(0, own - 1))
    other = [*articles[:at], f"**Artículo {at + 1} —** Texto.", *articles[at + 1 :]]
    assert judged("\n\n".join(other) + "\n", units(own))
    assert at in (0, own - 1) or judged("\n\n".join(articles[:at] + articles[at + 1 :]) + "\n", [])
