"""The stop-route report: each kind of stop has its way on in it, and what is to be signed is a whole statement."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from cutter import limits
from cutter.approvals import statement
from cutter.approvals.statement import Statement
from cutter.domain.run_record import RunSidecar
from cutter.projections.stop_route import StopRoute, render
from tests.unit.evidence import sidecars as made

DEPLOYMENT = "3f2b1c00-0000-4000-8000-000000000001"
FINGERPRINT = "9" * 64


def report(state: str, *, wrote: bool = False, deployment: str | None = DEPLOYMENT, **changed: Any) -> str:
    sidecar = made.sidecar(state)
    sidecar["run"] |= {
        "last_error": {"report": {"fingerprint": FINGERPRINT, "diff": []}, "reason": "why"},
        "caps": {"ttl_cut_seconds": 600.0, "ttl_lifecycle_seconds": 90_000.0},
        **changed,
    }
    sidecar["step_facts"]["wrote"] = wrote
    return render(
        StopRoute(
            sidecar=RunSidecar.of(sidecar), gate="IG_mark", reason="a <b>\nsecond line",
            kb_id="a/b/SG3.md", number=3, deployment_id=deployment,
        )
    )  # fmt: skip


def filled(text: str) -> Statement:
    """The statement in a report with its words replaced, as the parser reads it."""
    body = re.search(r"```yaml\n(.*?)```", text, re.S).group(1)  # type: ignore[union-attr]
    for word, value in (
        (statement.FILL_REASON, "it is right"), (statement.FILL_SIGNED, "2026-11-21T09:00:00Z"),
        (statement.FILL_UNTIL, "2026-11-21T10:00:00Z"), (statement.FILL_APPROVER, "an"),
    ):  # fmt: skip
        assert body.count(word) == 1
        body = body.replace(word, value)
    parsed = statement.parse(body.encode())
    assert isinstance(parsed, Statement), parsed
    return parsed


@pytest.mark.parametrize("wrote", [False, True])
@pytest.mark.parametrize("state", ["stopped_stop", "stopped_cancel", "stopped_hard_cap", "stopped_error_mark"])
def test_a_stop_that_needs_a_signature_holds_the_resume_to_sign(state: str, wrote: bool) -> None:
    """Seed 000 §3."""
    text = report(state, wrote=wrote)
    draft = filled(text)
    assert (draft.decision, draft.stopped_state, draft.reason) == ("resume", state, "it is right")
    assert draft.gate == ("SG_lifecycle_authz" if wrote else "SG_cut_authz")
    assert f"NOW + {limits.ORDER_LIFE_SECONDS if wrote else 600}" in text
    assert "gpg --detach-sign --armor SG3-resume-3-by-hand.md" in text
    assert "--name resume_stopped \\\n  --input '\"a/b/SG3-resume-3-by-hand.md\"'" in text


def test_a_drift_holds_the_acknowledgement_of_exactly_its_fingerprint() -> None:
    """Seed 000 §8."""
    text = report("stopped_drift_tables")
    draft = filled(text)
    assert (draft.decision, draft.fingerprint) == ("acknowledge_drift", FINGERPRINT)
    assert "--name acknowledge_drift \\\n" in text


def test_an_outage_is_resumed_by_hand_without_a_signature() -> None:
    text = report("stopped_unavailable_kb")
    assert re.search(r"--name resume_stopped\n```", text)
    assert "gpg" not in text


@pytest.mark.parametrize(("state", "deployment"), [("failed_mark", DEPLOYMENT), ("stopped_stop", None)])
def test_nothing_is_offered_to_sign_where_nobody_can(state: str, deployment: str | None) -> None:
    assert "by hand" not in report(state, deployment=deployment)


def test_a_failure_of_the_text_lists_every_command_on_a_line_of_its_own() -> None:
    """Seed 000 §3."""
    text = report("failed_mark")
    commands = text.split("```\n", 2)[1].splitlines()
    assert [line.split()[1] for line in commands] == ["source", "run"], "only drafts are voided"
    assert "First: correct the text" in text


def test_the_report_holds_the_whole_sidecar_and_the_error() -> None:
    """Seed 000 §3."""
    text = report("stopped_error_mark")
    sidecar, error = (json.loads(_block(text, title)) for title in ("Sidecar", "Evidence"))
    assert sidecar["state"] == "stopped_error_mark"
    assert {"run_id", "phases", "sovereign_approvals", "idempotency_keys", "context_pins"} < set(sidecar)
    assert sidecar["last_error"] == error
    assert error["reason"] == "why"


def _block(text: str, title: str) -> str:
    return text.partition(f"## {title}\n\n```json\n")[2].partition("\n```")[0]


def test_a_reason_is_one_line_without_a_tag() -> None:
    assert "reason: a &lt;b&gt; second line" in report("stopped_stop")
