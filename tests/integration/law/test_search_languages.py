"""A search finds the words of many languages and scripts: with and without accents, inside a word, and mistyped."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.integration.law.conftest import Corpus
from tests.support.database import Database, TestCluster
from tests.support.runs import Keys, deployment, drive

LAW = "ICX-WORDS-1"
ARTICLES = {
    "vi": ("Luật Đất đai", "Ủy ban nhân dân cấp huyện giao đất, cho thuê đất."),
    "de": ("Änderung der Straßenordnung", "Das Grundbuchamt prüft die Eintragung von Amts wegen."),
    "fr": ("Œuvre collective", "La pêche côtière s'exerce dès l'aube; l'élève n'y est point admis."),
    "es": ("Protección del niño", "La autoridad dictará resolución según el régimen jurídico."),
    "pt": ("Organização judiciária", "A petição não será recebida."),
    "pl": ("Łączność publiczna", "Sąd rozstrzyga o źródłach żądań."),
    "tr": ("Kırsal kalkınma", "İlçe müdürü başvuruyu inceler."),
    "is": ("Æðri menntun", "Ráðuneytið setur reglur um þjónustu."),
    "ru": ("О законодательстве", "Решение принимается ещё до съезда. Йод хранится отдельно."),
    "el": ("ΝΌΜΟΣ ΠΕΡΊ ΒΙΒΛΊΩΝ", "Η αίτηση υποβάλλεται εγγράφως στους αρμόδιους."),
    "zh": ("著作权保护", "国务院著作权行政管理部门主管全国的著作权管理工作。"),
    "ja": ("図書館の利用", "図書館は、ガイドラインにしたがい、がくしゅうの場を提供する。"),
    "ko": ("도서관법", "국립도서관은 자료를 보존하여야 한다."),
    "th": ("ห้องสมุด", "ให้ห้องสมุดจัดเก็บหนังสือสำหรับประชาชน"),
    "ar": ("قانون المكتبات", "يُعيَّن مديرُ المكتبةِ بقرارٍ من الوزير، وتُحفَظ الكُتُب في ١٢ خزانة."),
    "he": ("חוק הספריות", "הַסֵּפֶר יוחזר בתוך שבעה ימים."),
    "hi": ("पुस्तकालय अधिनियम", "पुस्तकालय प्रत्येक नागरिक के लिए खुला रहेगा।"),
    "en": ("Lending of books", "The library lends 12 books; a co-operative may lend more under section 30/2020."),
}
CASES = {
    "vi": ("Luật Đất đai", "luat dat dai", "LUẬT ĐẤT ĐAI", "ủy ban", "uy ban", "cap huyen", "nhân"),
    "de": ("Änderung", "anderung", "strasse", "Straße", "STRASSENORDNUNG", "grundbuch", "buchamt", "prüft", "pruft",
           "Grundbcuhamt"),
    "fr": ("œuvre", "oeuvre", "peche", "pêche", "cotiere", "élève", "eleve", "OEUVRE COLLECTIVE"),
    "es": ("niño", "nino", "resolucion", "regimen juridico", "juridco"),
    "pt": ("petição", "peticao", "organizacao"),
    "pl": ("łączność", "lacznosc", "zrodlach", "żądań"),
    "tr": ("kırsal", "kirsal", "ilçe", "ilce", "mudur"),
    "is": ("æðri", "aedri", "raduneytid", "þjónustu"),
    "ru": ("законодательстве", "ЗАКОНОДАТЕЛЬСТВЕ", "закон", "еще", "ещё", "иод"),
    "el": ("νόμος", "νομος", "ΒΙΒΛΙΩΝ", "αιτηση", "στους"),
    "zh": ("著作权", "著作", "权", "行政管理"),
    "ja": ("図書館", "図書", "ガイドライン", "ｶﾞｲﾄﾞﾗｲﾝ", "がくしゅう", "館"),
    "ko": ("도서관", "국립도서관", "도서", "법"),
    "th": ("ห้องสมุด", "หนังสือ", "ประชาชน"),
    "ar": ("المكتبة", "مكتبه", "مدير", "مُدِير", "الكتب", "12", "١٢"),
    "he": ("ספר", "הספר", "חוק"),
    "hi": ("पुस्तकालय", "नागरिक"),
    "en": ("lending", "LENDS", "libary", "librray", "co-operative", '"30/2020"', "ibrar", "12 books", "books -huyện"),
}  # fmt: skip


@pytest.fixture(scope="module")
def words(cluster: TestCluster, keys: Keys) -> Iterator[Corpus]:
    text = "# Words of many languages\n\nOne article for each.\n\n" + "\n".join(
        f"## {language} {title}\n\n{body}\n" for language, (title, body) in ARTICLES.items()
    )
    with cluster.database(prefix="words") as database, deployment(database, keys) as made:
        made.register(text, document_id=LAW)
        driven = drive(made, document_id=LAW)
        yield Corpus(made=made, act=driven, rules=driven)


def found(database: Database, asked: str) -> list[str]:
    titles = database.value(
        "select coalesce(array_agg(title order by rank desc), '{}') from api.search(%s)", (asked,), role="cutter_api"
    )
    return [title.partition(" ")[0] for title in titles]


@pytest.mark.parametrize(("language", "asked"), [(name, asked) for name, all_ in CASES.items() for asked in all_])
def test_a_word_is_found_as_people_of_its_language_type_it(words: Corpus, language: str, asked: str) -> None:
    assert language in found(words.database, asked)[:4]


@pytest.mark.parametrize(
    "asked",
    ["zebra", "grundbuhcmt", "buchamt grund", "著权", "lends -library -books -section", '"books lends"', "x"],
)
def test_what_the_law_does_not_have_is_not_found(words: Corpus, asked: str) -> None:
    assert found(words.database, asked) == []


@pytest.mark.promise
def test_a_title_comes_before_a_text_and_an_exact_word_before_a_part(words: Corpus) -> None:
    assert found(words.database, "도서관법")[0] == "ko"
    assert found(words.database, "law's") == []
    assert found(words.database, "One article for each")[0] == "Words"


def test_words_of_another_law_cost_and_count_nothing(words: Corpus) -> None:
    asked = "select count(*) from api.search('library', in_document => %s)"
    assert words.database.value(asked, (LAW,)) == 1
    assert words.database.value(asked, ("ICX-WORDS' & 'x",)) == 0
    assert words.database.value(asked, ("ICX-WORDS",)) == 0
