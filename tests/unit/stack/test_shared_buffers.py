"""The memory in which the local PostgreSQL keeps pages: a share of the machine's, within limits."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from cutter import limits
from cutter.stack import postgres


@pytest.mark.parametrize(
    ("machine", "buffers"), [(512, "128MB"), (1024, "128MB"), (4096, "512MB"), (8192, "1024MB"), (65536, "1024MB")]
)
def test_postgresql_gets_an_eighth_of_the_memory_within_limits(
    monkeypatch: pytest.MonkeyPatch, machine: int, buffers: str
) -> None:
    monkeypatch.setattr(postgres.psutil, "virtual_memory", lambda: SimpleNamespace(total=machine * limits.MIB))
    assert postgres._shared_buffers() == buffers
