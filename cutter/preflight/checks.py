"""Pure: the one list of checks: which hosts need each, and why. The probes are in the other modules.

A check has an object, a finding and a remedy. A worker serves only after no check of its host fails. `cutter doctor`
makes these checks too, and those that only an operator or a machine with the local stack needs.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum

from cutter.catalogue import Role, WorkerRole


class Host(StrEnum):
    """The tasks of a host. One host can have several."""

    CUTTER = "cutter"
    EXEC = "exec"
    VERIFY = "verify"
    OPERATOR = "operator"
    LOCAL = "local"
    """The host runs the local stack, or a part of it (`cutter up`)."""


OF_WORKER = {
    WorkerRole.CUTTER: Host.CUTTER,
    WorkerRole.EXEC: Host.EXEC,
    WorkerRole.VERIFY: Host.VERIFY,
}
WORKERS = frozenset(OF_WORKER.values())
EVERY_HOST = WORKERS | {Host.OPERATOR}
OPERATORS = frozenset({Host.OPERATOR, Host.LOCAL})
ONLY_LOCAL = frozenset({Host.LOCAL})

ROLES = {
    Host.CUTTER: (Role.READ, Role.BACKUP),
    Host.EXEC: (Role.EXEC,),
    Host.VERIFY: (Role.VERIFY,),
    Host.OPERATOR: (Role.OPERATOR,),
}
"""The database roles whose passwords a host needs. The keys of the workers are in `cutter.stack.workers`."""


class Verdict(StrEnum):
    """`off` means that something does not run because nobody started it, which is no fault. `optional` means that
    something is missing and not needed here.
    """

    OK = "ok"
    OFF = "off"
    OPTIONAL = "optional"
    BAD = "bad"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The result of one check. `remedy` is the command or the setting that mends what is wrong. If the remedy is a
    sentence, `then` is the first command that it names.
    """

    name: str
    verdict: Verdict
    found: str
    remedy: str = ""
    then: str = ""

    @property
    def command(self) -> str:
        """The command to type first. Empty if the remedy names none."""
        return self.then or (self.remedy if self.remedy.startswith("cutter ") else "")

    def as_json(self) -> dict[str, str]:
        """The fields that programs see."""
        return {"name": self.name, "verdict": self.verdict, "found": self.found, "remedy": self.remedy}

    @property
    def failed(self) -> bool:
        return self.verdict is Verdict.BAD


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """A check before it is made."""

    name: str
    hosts: frozenset[Host]
    why: str


def _described(name: str, why: str, hosts: frozenset[Host] = EVERY_HOST) -> Description:
    return Description(name=name, hosts=hosts, why=why)


PYTHON = _described("python", "an older one does not run cutter", EVERY_HOST | ONLY_LOCAL)
GIT = _described("git", "a checkout needs it", ONLY_LOCAL)
MAKE = _described("make", "a checkout needs it", ONLY_LOCAL)
TEMPORAL_PROGRAM = _described("temporal program", "`cutter up` starts it", ONLY_LOCAL)
PROCESSES = _described("processes", "`cutter up` starts them", ONLY_LOCAL)
DEFINITIONS = _described("schema", "`cutter migrate` would change nothing", ONLY_LOCAL)
HOMES = _described("keys", "each worker has a key of its own", ONLY_LOCAL)
SIGNERS = _described("approvers", "somebody may approve the runs that this user starts", ONLY_LOCAL)
PASSWORDS = _described("passwords", "the host has the passwords of its roles, and only this account may read them")
DATABASE = _described("database", "each role of the host connects, without a pooler such as PgBouncer")
DATABASE_VERSION = _described("database version", "an older server lacks what cutter's functions use")
DATABASE_TLS = _described("database tls", "on a network, others can read what is not encrypted")
MIGRATIONS = _described(
    "migrations", "the schema must have what this version uses", frozenset({Host.CUTTER, Host.OPERATOR})
)
CLOCK = _described("clock", "a signature from the future is refused, and a certificate can be invalid")
POLICY = _described("effect policy", "without it every side effect is denied, and the run fails", WORKERS | ONLY_LOCAL)
TEMPORAL = _described("temporal", "the server answers, also over TLS", EVERY_HOST | ONLY_LOCAL)
TEMPORAL_TLS = _described("temporal tls", "on a network, others can read and change what is not encrypted")
TEMPORAL_VERSION = _described("temporal version", "an older server has no priorities and no fairness")
NAMESPACE = _described("namespace", "the server must have it, and the settings must agree about it")
SEARCH_ATTRIBUTES = _described(
    "search attributes", "a run that sets an unknown attribute stays pending without end",
    frozenset({Host.CUTTER, Host.OPERATOR}),
)  # fmt: skip
KNOWLEDGE_BASE = _described("knowledge base", "an object is written, read back and removed")
ARTIFACT_STORE = _described("artifact store", "an object is written, read back and removed", WORKERS)
APPROVERS = _described(
    "approver policy", "approvals are judged by the epoch that the database names",
    frozenset({Host.CUTTER, Host.EXEC, Host.OPERATOR}),
)  # fmt: skip
KEY = _described("key", "the worker holds its own key alone, and only this account may read it", WORKERS)
FOLDERS = _described("folders", "run folders, batch folders and temporary files are written", EVERY_HOST | ONLY_LOCAL)
GPG = _described("gpg", "it signs, verifies and encrypts", EVERY_HOST | ONLY_LOCAL)
RESTORE_POINTS = _described(
    "restore points", "a restore point is of use only if the server archives its log", frozenset({Host.CUTTER})
)
SERVING = _described("workers", "a role without a worker that serves lets runs wait", OPERATORS)
GUARDS = _described("database guards", "without its limits, one role can use up what the others need", OPERATORS)
LANES = _described("lanes", "a session of no run that holds a lane keeps every run from writing", OPERATORS)
CHANGE_NOTICES = _described("change notices", "a full queue lets batches see changes only by their poll", OPERATORS)
MESSAGES = _described("messages", "people get no message that no channel delivers", OPERATORS)
RUNS = _described("runs", "an open run that waits for nobody must move", OPERATORS)

CHECKS = (
    PYTHON, GIT, MAKE, TEMPORAL_PROGRAM, PROCESSES, HOMES,
    PASSWORDS, DATABASE, DATABASE_VERSION, DATABASE_TLS, MIGRATIONS, CLOCK, POLICY, TEMPORAL, TEMPORAL_TLS,
    TEMPORAL_VERSION, NAMESPACE, SEARCH_ATTRIBUTES, KNOWLEDGE_BASE, ARTIFACT_STORE, APPROVERS, KEY, FOLDERS, GPG,
    RESTORE_POINTS, DEFINITIONS, SIGNERS, SERVING, GUARDS, LANES, CHANGE_NOTICES, MESSAGES, RUNS,
)  # fmt: skip
"""Every check, in the order in which it is made and shown."""

Probe = Callable[[], Iterable["Check"]]


def made(
    probes: Iterable[tuple[Description, Probe]], hosts: frozenset[Host], without: Collection[Description] = ()
) -> list[Check]:
    """The results of the probes that these hosts need. `without` leaves out those of servers that nobody started.

    An unexpected error is a failed check, because a preflight must end with an answer.
    """
    results: list[Check] = []
    for description, probe in probes:
        if not description.hosts & hosts or description in without:
            continue
        try:
            results.extend(probe())
        except Exception as problem:
            at = traceback.extract_tb(problem.__traceback__)[-1]
            text = f"the check ended with {type(problem).__name__}: {problem}"[:300]
            remedy = f"report this bug of cutter, at {at.filename.rpartition('/')[2]}:{at.lineno}"
            results.append(bad(description, text, remedy))
    return results


def ok(description: Description, text: str) -> Check:
    return Check(name=description.name, verdict=Verdict.OK, found=text)


def bad(description: Description, text: str, remedy: str, *, then: str = "") -> Check:
    return Check(name=description.name, verdict=Verdict.BAD, found=text, remedy=remedy, then=then)


def warned(description: Description, text: str, remedy: str) -> Check:
    """A result that a person should know. It keeps no worker from serving."""
    return Check(name=description.name, verdict=Verdict.OPTIONAL, found=text, remedy=remedy)


def unseen(description: Description, text: str, remedy: str = "") -> Check:
    """A check that cannot be made, because another check failed or nobody started a part. The other check has the
    remedy, or nothing is wrong.
    """
    return Check(name=description.name, verdict=Verdict.OFF, found=text, remedy=remedy)


def failures(checks: Iterable[Check]) -> tuple[Check, ...]:
    return tuple(check for check in checks if check.failed)


def sentence(check: Check) -> str:
    """The check in one line for a person."""
    return f"{check.name}: {check.found}" + (f"; {advice(check)}" if check.remedy else "")


def advice(check: Check) -> str:
    """The remedy as a part of a sentence. A remedy that is only a command gets backquotes."""
    return f"type `{check.remedy}`" if check.remedy.startswith("cutter ") else check.remedy
