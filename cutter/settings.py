"""IO: the one settings object, read once at the edge (environment `CUTTER_*`, then optional `cutter.toml`).

Secrets are never settings: a role's password is in `<state_dir>/secrets/<role>.password` or in the folder that
`secrets_dir` names. Temporal's own connection settings stay in Temporal's environment profile (`TEMPORAL_*`).
"""

from __future__ import annotations

import os
import re
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote, urlsplit

from pydantic import Field, PositiveFloat, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from cutter import limits
from cutter.approvals.schema import NAME_FORM
from cutter.errors import InvalidInput, Unavailable

PREFIX = "CUTTER_"

NOTIFICATION_CHANNELS = {"slack": "slack_channel", "email": "email_to", "webhook": "webhook_url"}
"""The channels. Each is a module of cutter.notifications, with the setting that switches it on."""

NOTIFICATION_SETTINGS = (
    *("notify", "email_to", "email_from", "smtp_host", "smtp_security", "smtp_user", "webhook_url"),
    *("slack_channel", "slack_people", "slack_url"),
)
"""The settings of all channels. No worker reads them."""

DESK_SETTINGS = ("desk_hosts", "desk_user_header", "desk_proxies")
"""The settings of `cutter desk`; no worker reads them."""

OUTSIDE_SETTINGS = {"CUTTER_LAWS"}
"""Variables with this prefix that are not settings of the product. One names the place of real laws for the tests."""

Address = Annotated[str, Field(max_length=254, pattern=r"^[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$")]
NotificationKind = Literal["approval", "policy_stop", "stop", "failure", "finished", "batch", "enacted"]

HostName = Annotated[str, Field(max_length=260, pattern=r"^[a-z0-9.-]{1,253}(:[0-9]{1,5})?$")]

_URL = r"^(https://[A-Za-z0-9.-]+|http://127\.0\.0\.1)(:[0-9]{1,5})?(/[!-~]{0,500})?$"


class Settings(BaseSettings):
    """All settings, frozen. `CUTTER_<NAME>` sets a field. The table in the documentation shows the description of each
    field.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, frozen=True, extra="forbid", toml_file="cutter.toml", validate_default=True
    )

    state_dir: Path = Field(Path(".cutter"), description="Folder of everything the local stack keeps")
    runs_dir: Path | None = Field(None, description="Run folders; default <state_dir>/runs")
    kb_url: str | None = Field(None, description="Knowledge base, an fsspec URL; default file://<state_dir>/kb")
    artifacts_url: str | None = Field(
        None,
        description="Backups and bundles, an fsspec URL; default: the run folders (<run_id>/pre_write.gpg)",
    )
    database_url: str | None = Field(
        None,
        description="PostgreSQL without user or password, such as postgresql://db.example:5432/cutter; "
        "default: the embedded one",
    )
    secrets_dir: Path | None = Field(None, description="Folder of <role>.password files; default <state_dir>/secrets")
    keys_dir: Path | None = Field(
        None,
        description="GnuPG homes executor, verifier, backup, of which `cutter up` hands each worker its own; "
        "default <state_dir>/keys",
    )
    approvers_dir: Path | None = Field(
        None, description="approvers.yaml epochs and public keys; default <state_dir>/approvers"
    )
    temporal_address: str | None = Field(None, description="A Temporal server that exists, such as 127.0.0.1:7233")
    temporal_namespace: str = Field("default", description="Temporal namespace")

    build_id: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$",
        description="Names the code that the workers run; default: the version and a digest of the code",
    )
    versioning: Literal["off", "pinned"] = Field(
        "off",
        description="pinned: a run ends on the build that it began on (docs/runbooks/upgrade.md)",
    )
    worker_beat_seconds: int = Field(
        limits.WORKER_BEAT_SECONDS, ge=1, le=60, description="Between two heartbeats of a worker (`cutter workers`)"
    )

    metrics_port: int | None = Field(
        None,
        ge=1024,
        le=65_000,
        description="Prometheus metrics of the cutter worker; exec and verify are one and two above, another build's "
        "three above that; default: none are served",
    )
    health_port: int | None = Field(
        None,
        ge=1024,
        le=65_000,
        description="`/healthz` and `/readyz` of the cutter worker; exec and verify are one and two above; "
        "default: none are served (docs/guides/deploy.md)",
    )
    probe_host: str = Field("127.0.0.1", description="Address on which metrics, `/healthz` and `/readyz` are served")

    batch_dir: Path | None = Field(
        None, description="Batch folders, each with its queue.yaml; default <state_dir>/batches"
    )
    batch_items_max: int = Field(
        limits.QUEUE_ITEMS_DEFAULT, ge=1, le=limits.QUEUE_ITEMS_MAX, description="Documents a queue may have"
    )
    tenant: str = Field(
        "default", pattern=r"^[A-Za-z0-9._@-]{1,64}$", description="Tenant of sources registered without one"
    )
    max_candidates: int = Field(
        limits.CANDIDATES_DEFAULT, ge=1, le=limits.CANDIDATES_MAX, description="Units a document may have"
    )
    soft_cap_seconds: dict[str, float] = Field(
        default_factory=dict,
        description='Soft caps by phase, such as {"mark": 30}; the stricter of the starter\'s and the '
        "worker's holds; default: the catalogue's",
    )
    hard_cap_minutes: PositiveFloat = Field(
        limits.HARD_CAP_MINUTES, le=limits.HARD_CAP_MINUTES, description="Active time"
    )
    heartbeat_timeout_seconds: PositiveFloat = Field(
        limits.HEARTBEAT_TIMEOUT_SECONDS, le=60, description="A dead worker is noticed after this"
    )
    retry_delays_seconds: tuple[PositiveFloat, ...] = Field(
        limits.RETRY_DELAYS_SECONDS, min_length=1, max_length=4, description="Backoff between retries of a gate"
    )
    worker_wait_minutes: PositiveFloat = Field(
        limits.WORKER_WAIT_MINUTES, le=limits.WORKER_WAIT_MINUTES, description="Wait for a worker of a role"
    )
    ttl_sg1_hours: PositiveFloat = Field(limits.TTL_SG1_HOURS, le=limits.TTL_SG1_HOURS, description="Life of SG_1")
    backup_max_age_minutes: PositiveFloat = Field(
        limits.BACKUP_MAX_AGE_MINUTES, le=limits.BACKUP_MAX_AGE_MINUTES, description="A backup is stale after this"
    )
    backup_restore_point: bool = Field(
        False,
        description="Before each backup of a gate, also mark a restore point in the write-ahead log of PostgreSQL, "
        "which must archive this log (docs/guides/backup.md)",
    )
    lane_wait_seconds: PositiveFloat = Field(
        limits.LANE_WAIT_SECONDS, le=60, description="Between tries for the write lane"
    )
    outage_look_seconds: PositiveFloat = Field(
        limits.OUTAGE_LOOK_SECONDS,
        le=limits.OUTAGE_LOOK_SECONDS_MAX,
        description="Before a run that met an outage tries again to record its stop in PostgreSQL",
    )

    notify: dict[str, list[NotificationKind]] = Field(
        default_factory=dict,
        description='Kinds of message by channel, such as {"email": ["failure", "batch"]}; default: each channel that '
        "is on gets all but `finished`, and only the webhook gets `enacted` (docs/guides/notifications.md)",
    )
    email_to: tuple[Address, ...] = Field(
        (), max_length=20, description='Addresses that get messages by e-mail, such as ["an@example.org"]'
    )
    email_from: Address | None = Field(None, description="Sender's address of those messages")
    smtp_host: str | None = Field(
        None,
        pattern=r"^([A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?$",
        description="Mail server, such as mail.example.org:2525; default port: 465, 587 or 25 by the security",
    )
    smtp_security: Literal["tls", "starttls", "none"] = Field(
        "starttls", description="tls: encrypted from the start; starttls: before anything is said; none: loopback only"
    )
    smtp_user: str | None = Field(
        None, pattern=r"^[!-~]{1,254}$", description="Login there; its password is the file smtp.password"
    )
    webhook_url: str | None = Field(
        None, pattern=_URL, description="Address that gets each message as signed JSON (docs/guides/notifications.md)"
    )
    slack_channel: str | None = Field(
        None,
        pattern=r"^[CGD][A-Z0-9]{2,20}$",
        description="Id of the Slack channel that gets messages (docs/guides/notifications.md); default: none",
    )
    slack_people: dict[str, str] = Field(
        default_factory=dict,
        description='Approvers by their Slack user ids, such as {"U012AB3CD": "an"}; other users are refused',
    )
    slack_url: str = Field(
        "https://slack.com/api",
        pattern=r"^(https://[a-z0-9.-]+|http://127\.0\.0\.1)(:[0-9]{1,5})?(/[a-z0-9._/-]*)?$",
        description="Address of Slack's Web API",
    )

    desk_hosts: tuple[HostName, ...] = Field(
        (), max_length=20, description='Names by which browsers reach `cutter desk`, such as ["desk.example.org"]'
    )
    desk_user_header: str | None = Field(
        None,
        pattern=r"^[A-Za-z][A-Za-z0-9-]{0,63}$",
        description="Header with the user's name, which a reverse proxy sets after its OpenID Connect login "
        "(docs/guides/desk.md); `cutter desk` then answers nobody without it",
    )
    desk_proxies: tuple[str, ...] = Field(
        (), max_length=20, description='Addresses or networks of these proxies, such as ["10.0.0.5", "fd00::/64"]'
    )

    @field_validator("desk_proxies")
    @classmethod
    def _proxies_are_networks(cls, proxies: tuple[str, ...]) -> tuple[str, ...]:
        for proxy in proxies:
            ip_network(proxy)
        return proxies

    @field_validator("smtp_host")
    @classmethod
    def _mail_server_has_a_port(cls, server: str | None) -> str | None:
        urlsplit(f"//{server}").port  # noqa: B018 - it raises ValueError for a port that is too large
        return server

    @field_validator("notify")
    @classmethod
    def _channels_are_known(cls, routes: dict[str, list[str]]) -> dict[str, list[str]]:
        unknown = [name for name in routes if name not in NOTIFICATION_CHANNELS]
        if unknown:
            raise ValueError(f"no channel {unknown[0][:40]!r}; known: {', '.join(NOTIFICATION_CHANNELS)}")
        return routes

    @field_validator("slack_people")
    @classmethod
    def _people_are_named(cls, people: dict[str, str]) -> dict[str, str]:
        for user, name in people.items():
            if not re.fullmatch(r"[UW][A-Z0-9]{2,20}", user) or not re.fullmatch(NAME_FORM, name):
                raise ValueError(
                    f'{user[:40]!r}: a Slack user id with an approver\'s name, such as {{"U012AB3CD": "an"}}'
                )
        return people

    @field_validator("soft_cap_seconds")
    @classmethod
    def _caps_are_lower(cls, caps: dict[str, float]) -> dict[str, float]:
        from cutter.catalogue import GATES

        known = {gate.phase: gate.cap_minutes * 60.0 for gate in GATES}
        for phase, seconds in caps.items():
            if phase not in known:
                raise ValueError(f"no phase {phase!r}; known: {', '.join(known)}")
            if not 0 < seconds <= known[phase]:
                raise ValueError(f"{phase}: more than 0 and at most {known[phase]:.0f} seconds")
        return caps

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is pydantic's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    @property
    def state(self) -> Path:
        return self.state_dir.absolute()

    @property
    def runs(self) -> Path:
        return (self.runs_dir or self.state / "runs").absolute()

    @property
    def batches(self) -> Path:
        return (self.batch_dir or self.state / "batches").absolute()

    @property
    def kb(self) -> str:
        return self.kb_url or (self.state / "kb").as_uri()

    @property
    def artifacts(self) -> str:
        return self.artifacts_url or self.runs.as_uri()

    @property
    def secrets(self) -> Path:
        return (self.secrets_dir or self.state / "secrets").absolute()

    @property
    def keys(self) -> Path:
        return (self.keys_dir or self.state / "keys").absolute()

    def key_home(self, name: str) -> Path:
        """The GnuPG home of that name. A link is followed, because a home has one agent, and the path of its socket
        must be short.
        """
        return (self.keys / name).resolve()

    @property
    def approvers(self) -> Path:
        return (self.approvers_dir or self.state / "approvers").absolute()

    def cap_seconds(self, phase: str) -> float:
        """The soft cap of a phase from the settings, else from the catalogue."""
        from cutter.catalogue import GATES

        return self.soft_cap_seconds.get(phase) or next(g.cap_minutes * 60.0 for g in GATES if g.phase == phase)


def load(**overrides: Any) -> Settings:
    """Read the settings once. For an unknown or malformed setting, raises InvalidInput with its name and the remedy."""
    unknown = sorted(
        name
        for name in os.environ
        if name.startswith(PREFIX)
        and name not in OUTSIDE_SETTINGS
        and name.removeprefix(PREFIX).lower() not in Settings.model_fields
    )
    if unknown:
        known = ", ".join(PREFIX + name.upper() for name in Settings.model_fields)
        raise InvalidInput(f"unknown setting {unknown[0]}; known: {known}")
    try:
        return Settings(**overrides)
    except ValidationError as problem:
        first = problem.errors()[0]
        name = PREFIX + ".".join(str(part) for part in first["loc"]).upper()
        field = Settings.model_fields.get(str(first["loc"][0])) if first["loc"] else None
        hint = f" ({field.description})" if field and field.description else ""
        raise InvalidInput(f"setting {name}: {first['msg']}{hint}") from None


def password(settings: Settings, role: str) -> str:
    """A role's password from its file. Raises Unavailable if the file is missing."""
    path = settings.secrets / f"{role}.password"
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        up = None if settings.database_url else "cutter up"
        local = f"type `{up}`, or put the file there (mode 0600)"
        elsewhere = "copy the file from the host where the roles were made (mode 0600), or use a host that has it"
        remedy = local if up else elsewhere
        raise Unavailable(f"no password of {role} at {path}: {remedy}", what="secrets").leads_to(up) from None


def dsn(settings: Settings, role: str, *, database: str = "cutter") -> str:
    """The connection string of one role: from `database_url`, else from the file that the running embedded PostgreSQL
    wrote.
    """
    base = settings.database_url or embedded_url(settings)
    scheme, _, rest = base.partition("://")
    host, _, path = rest.partition("/")
    name, _, options = path.partition("?")
    if database != "cutter" or not name:
        name = database
    return f"{scheme}://{quote(role)}:{quote(password(settings, role))}@{host}/{name}" + (
        f"?{options}" if options else ""
    )


def embedded_url(settings: Settings) -> str:
    """The address of the running embedded PostgreSQL (`<state_dir>/postgres.url`, written by `cutter up`)."""
    try:
        return (settings.state / "postgres.url").read_text(encoding="ascii").strip()
    except OSError:
        raise Unavailable(
            "the database is not up: type", then="cutter up", rest=", or set CUTTER_DATABASE_URL", what="database"
        ) from None
