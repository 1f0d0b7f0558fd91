"""IO: connects to Temporal: at CUTTER_TEMPORAL_ADDRESS, else at the local stack, else as Temporal's own profile says.

Temporal's profile (`TEMPORAL_*`, temporal.toml) describes the connection to an existing server: TLS, API key and
namespace. The server of the local stack has none of these, so the profile does not apply to it.
"""

from __future__ import annotations

import re
from typing import Any

from temporalio.client import Client
from temporalio.envconfig import ClientConfig
from temporalio.runtime import Runtime
from temporalio.service import RPCError

from cutter.errors import Unavailable
from cutter.settings import Settings
from cutter.stack.addresses import TEMPORAL, temporal_address
from temporal import tracing
from temporal.data_converter import DATA_CONVERTER


async def connect(settings: Settings, *, identity: str | None = None, runtime: Runtime | None = None) -> Client:
    """Connect to Temporal. Raises Unavailable with one sentence if no server answers.

    A worker gives an `identity` and its own `runtime`.
    """
    given = profile(settings)
    if identity is not None:
        given["identity"] = identity
    try:
        return await Client.connect(
            **given,
            data_converter=DATA_CONVERTER,
            runtime=runtime,
            interceptors=tracing.interceptors(at_once=identity is None),
        )
    except (RPCError, RuntimeError) as problem:
        # The operating system's words in the transport's nested error, or the beginning of that error.
        words = re.findall(r'message: "([^"]+)"', str(problem))
        cause = words[-1] if words else str(problem).partition("\n")[0][:120]
        raise Unavailable(
            f"Temporal at {given['target_host']} does not answer: type",
            then="cutter up",
            rest=f" or see `cutter doctor` ({cause})",
            what="temporal",
        ) from None


def profile(settings: Settings) -> dict[str, Any]:
    """The arguments of a connection. Raises Unavailable if a file that Temporal's profile names cannot be read."""
    local = settings.temporal_address is None and (settings.state / TEMPORAL).exists()
    try:
        given: dict[str, Any] = {} if local else dict(ClientConfig.load_client_connect_config())
    except (OSError, RuntimeError) as problem:
        raise Unavailable(
            f"Temporal's profile cannot be read ({problem}): correct the variables that begin with TEMPORAL_",
            what="temporal",
        ) from None
    if settings.temporal_address or "target_host" not in given:
        given["target_host"] = temporal_address(settings)
    given.setdefault("namespace", settings.temporal_namespace)
    return given


def unanswered(problem: RPCError) -> Unavailable:
    """The error of cutter for a failure of Temporal."""
    return Unavailable(
        f"Temporal did not answer ({problem.status.name.lower()}): type",
        then="cutter up",
        rest=" or see `cutter doctor`",
        what="temporal",
    )
