"""An operator extends the vocabularies of owners and types with a file; nobody else does, and nothing is taken back."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from psycopg.types.json import Jsonb

from cutter import marking, sources
from starter.commands.profile import extend
from tests.support.runs import OPTIONS, Deployment, drive, law

EXTEND = "select cutter_governance.fn_vocabulary_extend(%s, 'olga')"
OWNER = {"owner": ("harbour_board",)}


def register(deployment: Deployment, folder: Path) -> str:
    """A law by a profile whose owner is not in the vocabulary of a new deployment."""
    body = marking.profile_bytes("generic-markdown").replace(b"owner: incomex_council", b"owner: harbour_board")
    profile = folder / "harbour.yaml"
    profile.write_bytes(body)
    sources.register(
        deployment.settings, law(2).encode(), document_id="ICX-HARBOUR", docprefix="ICX-HARBOUR", profile=str(profile),
        options=dict(OPTIONS),
    )  # fmt: skip
    return "ICX-HARBOUR"


def test_a_profile_with_an_unknown_owner_is_refused_before_anybody_is_asked(
    deployment: Deployment, tmp_path: Path
) -> None:
    document = register(deployment, tmp_path)
    run_id = deployment.begin(document)
    for gate in ("IG_source_pin", "IG_mark"):
        assert deployment.gate(gate, run_id).status == "passed"
    outcome = deployment.gate("IG_cutplan", run_id)
    assert outcome.status == "failed"
    assert "owner harbour_board" in outcome.reason


def test_a_profile_with_an_added_owner_is_planned(deployment: Deployment, tmp_path: Path) -> None:
    assert extend(deployment.settings, OWNER) == (("owner", "harbour_board"),)
    document = register(deployment, tmp_path)
    run = drive(deployment, document_id=document, until="IG_grant_probe")
    assert run.outcomes["IG_cutplan"].status == "passed"


def test_a_word_is_added_once_and_recorded_with_its_author(deployment: Deployment) -> None:
    words = {"owner": ("legislature", "harbour_board"), "publication_type": ("by-law",)}
    assert extend(deployment.settings, words) == (("owner", "harbour_board"), ("publication_type", "by-law"))
    assert extend(deployment.settings, words) == ()
    events = deployment.database.value(
        "select array_agg(kind) from cutter_governance.audit_event where chain = 'vocabulary'"
    )
    assert events == ["vocabulary_extended"]


@pytest.mark.parametrize(
    "words",
    [{"section_type": ["poem"]}, {"lifecycle": ["law"]}, {"owner": ["Harbour Board"]}, {"owner": [None]},
     {"owner": ["fine"], "unit_kind": [""]}],
)  # fmt: skip
def test_other_vocabularies_and_forms_of_words_are_refused_and_nothing_is_added(
    deployment: Deployment, words: dict[str, list[str]]
) -> None:
    before = deployment.database.value("select count(*) from public.vocabulary")
    with pytest.raises(psycopg.Error, match="cannot be added to the vocabulary"):
        deployment.database.value(EXTEND, (Jsonb(words),), role="cutter_operator")
    assert deployment.database.value("select count(*) from public.vocabulary") == before


@pytest.mark.parametrize("role", ["cutter_read", "cutter_exec", "cutter_verify", "directus"])
def test_no_other_role_extends_a_vocabulary(deployment: Deployment, role: str) -> None:
    with pytest.raises(psycopg.Error, match="permission denied"):
        deployment.database.value(EXTEND, (Jsonb({"owner": ["mine"]}),), role=role)
