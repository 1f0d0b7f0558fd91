"""IO: the database's clock."""

from __future__ import annotations

from datetime import datetime

from cutter.storage.records import Rows, values

CLOCK: Rows[datetime] = values("database_clock")
