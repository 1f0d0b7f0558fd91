"""What the database answers about a run, as JSON; the product reads the same answer as records."""

from __future__ import annotations

from cutter.catalogue import Role
from cutter.settings import Settings
from cutter.storage.pools import session
from cutter.storage.records import answer
from cutter.types import Json


def sidecar(settings: Settings, run_id: str) -> Json:
    """The answer of `fn_run_sidecar` about a run that there is."""
    with session(settings, Role.OPERATOR) as connection:
        view: Json = answer(connection, "select cutter_governance.fn_run_sidecar(%s)", (run_id,))
    return view
