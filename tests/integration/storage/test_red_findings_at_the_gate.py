"""A text with a red finding passes IG_mark by no route; with the accepted names of its version it does."""

from __future__ import annotations

from typing import Any

import pytest

from cutter import sources
from cutter.errors import Refused
from tests.support.runs import Deployment, drive

SWALLOWED = b"# Act\n\n## Article 1. Scope\n\nOne.\n\nArticle 2.\n\nTwo.\n\n## Article 3. Terms\n\nThree.\n"
ACCEPTED = {"heading_absorbed:ICX-RED/ARTICLE-1": "quoted from the act of 1911"}


def registered(made: Deployment, **options: Any) -> dict[str, Any]:
    return sources.register(
        made.settings, SWALLOWED, document_id="ICX-RED", docprefix="ICX-RED", profile="generic-markdown",
        options=options,
    )  # fmt: skip


def test_the_gate_refuses_a_text_that_was_registered_by_force(deployment: Deployment) -> None:
    registered(deployment)
    run_id = deployment.begin("ICX-RED")
    assert deployment.gate("IG_source_pin", run_id).status == "passed"
    outcome = deployment.gate("IG_mark", run_id)
    assert outcome.status == "failed"
    assert "heading_absorbed, line 7, red 1: see `cutter mark FILE" in outcome.reason


def test_the_gate_passes_the_version_whose_findings_were_accepted(deployment: Deployment) -> None:
    registered(deployment, accept=ACCEPTED)
    assert drive(deployment, document_id="ICX-RED", until="IG_cutplan").outcomes["IG_mark"].status == "passed"


def test_an_acceptance_makes_a_version_of_its_own(deployment: Deployment) -> None:
    first, second = registered(deployment), registered(deployment, accept=ACCEPTED)
    assert (first["status"], second["status"]) == ("registered", "registered")
    assert first["source_version_id"] != second["source_version_id"]
    assert registered(deployment, accept=ACCEPTED)["status"] == "registered_before"


def test_a_run_of_an_older_text_does_not_take_the_acceptance_of_a_newer_one(deployment: Deployment) -> None:
    registered(deployment)
    run_id = deployment.begin("ICX-RED")
    assert deployment.gate("IG_source_pin", run_id).status == "passed"
    registered(deployment, accept=ACCEPTED)
    assert deployment.gate("IG_mark", run_id).status != "passed"


def test_the_register_refuses_and_names_what_can_be_accepted(deployment: Deployment) -> None:
    wanted = sources.Registration(
        document_id="ICX-RED", docprefix="ICX-RED", profile="generic-markdown", options={}, source_uri=None,
        normalise=None, forbidden=(),
    )  # fmt: skip
    with pytest.raises(Refused, match="--accept heading_absorbed:ICX-RED/ARTICLE-1 --because TEXT") as refused:
        sources.require_runnable(deployment.settings, SWALLOWED, wanted)
    assert refused.value.code == "heading_absorbed"
