"""What tests may take on this machine, and what CI does without a browser."""

from __future__ import annotations

import os

import pytest

from tests.conftest import TEST_SECONDS
from tests.support import browser, pace


def test_a_slow_machine_gets_longer_limits_and_a_fast_one_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pace.patient(10) >= 10
    monkeypatch.setattr(pace, "SLOWNESS", 3.0)
    assert pace.patient(10) == 30


def test_one_test_has_a_limit_and_the_suite_has_none(pytestconfig: pytest.Config) -> None:
    assert float(os.environ["PYTEST_TIMEOUT"]) >= TEST_SECONDS
    assert not pytestconfig.getini("session_timeout")


@pytest.mark.parametrize(("ci", "outcome"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)])
def test_a_missing_browser_fails_in_ci_and_skips_elsewhere(
    monkeypatch: pytest.MonkeyPatch, ci: str, outcome: type[BaseException]
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="apt-get install chromium"):
        browser.required()
