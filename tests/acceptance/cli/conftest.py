"""The commands as processes of their own, on a deployment whose workers run in the test."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support import forked
from tests.support.stack import Stack
from tests.workflow.conftest import changed, kit, stack, temporal_address

__all__ = ["changed", "kit", "stack", "temporal_address"]

ROOT = Path(__file__).parents[3]
NOBODY = "127.0.0.1:1"
"""An address where no Temporal answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a command said: its exit code and both streams."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cutter:
    """`cutter …` with the settings of a test's stack."""

    stack: Stack

    async def __call__(self, *arguments: str, typed: str = "", **changed: str) -> Told:
        done = await asyncio.to_thread(forked.run, arguments, self.environment(changed), typed, cwd=ROOT)
        answer = Told(code=done.returncode, out=done.stdout, err=done.stderr)
        assert "Traceback" not in answer.err, answer.err
        return answer

    async def signed(self, *arguments: str, who: str = "alice", typed: str | None = None) -> Told:
        """A command that signs as one of the approvers; without anything `typed` it does not ask."""
        home = str(self.stack.kit.alice.home)
        asks = ("--yes",) if typed is None else ()
        return await self(*arguments, "--approver", who, "--gpg-home", home, "--json", *asks, typed=typed or "")

    def environment(self, changed: dict[str, str]) -> dict[str, str]:
        settings = self.stack.settings
        ours = {
            "CUTTER_STATE_DIR": str(settings.state_dir),
            "CUTTER_DATABASE_URL": str(settings.database_url),
            "CUTTER_SECRETS_DIR": str(settings.secrets),
            "CUTTER_KEYS_DIR": str(settings.keys),
            "CUTTER_TEMPORAL_ADDRESS": str(settings.temporal_address),
            "CUTTER_RETRY_DELAYS_SECONDS": json.dumps(settings.retry_delays_seconds),
        }
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("CUTTER_", "TEMPORAL_"))}
        return {**kept, **ours, **changed}


@pytest.fixture
def cutter(stack: Stack) -> Cutter:
    return Cutter(stack=stack)
