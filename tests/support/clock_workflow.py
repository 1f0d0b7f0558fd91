"""A workflow that looks at the system's clock, which would break a replay. The sandbox must refuse it."""

from __future__ import annotations

import time
from typing import Any

from temporalio import workflow

from temporal import names


@workflow.defn(name=names.DOCUMENT_RUN)
class ClockWorkflow:
    """It takes the place of a document run."""

    @workflow.run
    async def run(self, *_: Any) -> float:
        """The time that no history has."""
        return time.time()  # noqa: TID251 — this is what the sandbox must refuse
