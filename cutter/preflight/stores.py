"""IO: checks the knowledge base and the artifact store: an object is written, read back and removed."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress

from cutter.backup.artifacts import open_store
from cutter.errors import CutterError
from cutter.kb.store import Store
from cutter.preflight import checks
from cutter.preflight.checks import Check, Description, bad, ok, warned
from cutter.preflight.database import is_elsewhere
from cutter.settings import Settings

NAME = ".preflight"
"""The beginning of the object's name. No rule for ids accepts a leading dot, so no list shows the object."""

BODY = b"cutter wrote this to check that it can write here\n"
ADD_S3 = "install its library: `pip install s3fs`"


def knowledge_base(settings: Settings, who: str) -> Check:
    """Write and read back one object in the knowledge base. `who` makes its name different on one host."""
    remedy = "make it writable for this account, or correct CUTTER_KB_URL"
    made = _checked(checks.KNOWLEDGE_BASE, lambda: Store(settings.kb), settings.kb, who, remedy)
    return _shared(settings, made, checks.KNOWLEDGE_BASE, settings.kb, "CUTTER_KB_URL")


def artifact_store(settings: Settings, who: str) -> Check:
    """Write and read back one object in the store of backups and bundles."""
    remedy = "make it writable for this account, or correct CUTTER_ARTIFACTS_URL"
    made = _checked(checks.ARTIFACT_STORE, lambda: open_store(settings.artifacts), settings.artifacts, who, remedy)
    return _shared(settings, made, checks.ARTIFACT_STORE, settings.artifacts, "CUTTER_ARTIFACTS_URL")


def _shared(settings: Settings, made: Check, description: Description, url: str, setting: str) -> Check:
    """The check, or a warning if the database is on another host and the store is a folder of this host."""
    if made.failed or not url.startswith("file:") or not is_elsewhere(settings):
        return made
    text = f"{url} was written, but other hosts see it only if the file system is shared"
    return warned(description, text, f"name a store of all hosts in {setting}, such as s3://BUCKET/FOLDER")


def _checked(description: Description, opened: Callable[[], Store], url: str, who: str, remedy: str) -> Check:
    try:
        written_and_read(opened(), f"{NAME}-{socket.gethostname()}-{who}")
    except CutterError as problem:
        missing = isinstance(problem.__cause__, ImportError)
        return bad(description, str(problem), ADD_S3 if missing else remedy)
    except OSError as problem:
        return bad(description, f"{url}: {problem.strerror or problem}", remedy)
    return ok(description, f"{url} was written and read back")


def written_and_read(store: Store, name: str) -> None:
    """Write one object, read it back and remove it.

    Some stores forbid to remove objects. There the object stays, and later checks only read it. Raises OSError and
    errors of cutter.
    """
    objects = store.objects
    with suppress(FileExistsError):
        objects.create(name, BODY)
    if objects.read(name, len(BODY)) != BODY:
        raise OSError(f"{name} holds other bytes than were written")
    with suppress(OSError):
        objects.remove(name)
