"""Country and language of a version: of the front matter of its source, else of its profile, else unknown."""

from __future__ import annotations

import pytest

from cutter import marking
from cutter.errors import InvalidInput
from cutter.law.export_record import Jurisdiction, jurisdiction_of


@pytest.mark.parametrize(
    ("source", "country", "language"),
    [
        (b"# A law\n", "vn", "vie"),
        (b'---\ntitle: "Loi"\ncountry: "fr"\n---\n# Loi\n', "fr", "vie"),
        (b"---\r\ncountry: FR\r\nlanguage: 'fra'\r\n---\r\n# Loi\r\n", "fr", "fra"),
        (b"\xef\xbb\xbf---\ncountry: fr\n---\n", "fr", "vie"),
        (b"---\ncountry: France\nlanguage: fr\n---\n", "vn", "vie"),
        (b"---\n  country: fr\n---\n", "vn", "vie"),
        (b"# A law\n\n---\ncountry: fr\n---\n", "vn", "vie"),
        (b"---\ncountry: fr\nno end\n", "vn", "vie"),
        (b"---\n\xff\ncountry: fr\n---\n", "fr", "vie"),
    ],
)  # fmt: skip
def test_the_front_matter_comes_before_the_profile(source: bytes, country: str, language: str) -> None:
    made = jurisdiction_of(source, country="vn", language="vie")
    assert made == Jurisdiction(country=country, language=language)


def test_what_nobody_names_is_unknown() -> None:
    assert jurisdiction_of(b"# A law\n", country=None, language=None) == Jurisdiction(country="zz", language="und")


@pytest.mark.parametrize(
    ("profile", "country", "language"),
    [("vietnamese-law", "vn", "vie"), ("german-law", None, "deu"), ("generic-markdown", None, None)],
)
def test_a_shipped_profile_names_what_all_its_laws_share(
    profile: str, country: str | None, language: str | None
) -> None:
    made = marking.load_profile(profile)
    assert (made.country, made.language) == (country, language)


@pytest.mark.parametrize(("field", "value"), [("country", "VN"), ("country", "vnm"), ("language", "vi")])
def test_a_profile_with_another_form_of_code_is_refused(field: str, value: str) -> None:
    body = marking.profile_bytes("generic-markdown").decode()
    with pytest.raises(InvalidInput, match=f"{field}.*letters such as"):
        marking.parse_profile(body.replace("unit_kind:", f"{field}: {value}\nunit_kind:", 1).encode())
