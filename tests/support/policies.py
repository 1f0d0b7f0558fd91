"""How a test puts an effect policy in force, a wrong one too, or takes it away."""

from __future__ import annotations

from cutter.catalogue import Role
from cutter.policy.rules import EffectPolicy, InvalidPolicy
from cutter.policy.rules_file import shipped
from cutter.settings import Settings
from cutter.storage import policies
from cutter.storage.pools import session
from cutter.storage.records import answer
from tests.support.database import Database

NEVER_INSTALLED = """
alter table cutter_governance.effect_policy disable trigger trg_effect_policy_append_only;
delete from cutter_governance.effect_policy;
alter table cutter_governance.effect_policy enable always trigger trg_effect_policy_append_only;
"""


def put_in_force(settings: Settings, data: bytes | None = None) -> None:
    """Put these bytes in force, or the shipped policy."""
    with session(settings, Role.OPERATOR) as connection:
        policies.install(connection, shipped() if data is None else data, replace=True)


def put_unread(settings: Settings, body: str) -> None:
    """Put a text in force that no command would install."""
    with session(settings, Role.OPERATOR) as connection:
        sha256 = policies.in_force(connection).sha256 or None
        answer(connection, "select cutter_governance.fn_effect_policy_install(%s, %s)", (body, sha256))


def policy_of(settings: Settings) -> EffectPolicy | InvalidPolicy:
    """The policy in force."""
    with session(settings, Role.OPERATOR) as connection:
        return policies.in_force(connection)


def never_installed(database: Database) -> None:
    """As before the first installation. Only the database's owner can do this."""
    database.run(NEVER_INSTALLED)
