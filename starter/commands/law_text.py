"""IO: a law's text as a person gives it: the file, its profile, the choices for its marking, and what a run would say.

`cutter mark`, `cutter source add` and `cutter orchestrate batch --check` share it, so that they agree with each other
and with the workers.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Annotated, Any

import typer

from cutter import limits, marking
from cutter.domain.digests import sha256_hex
from cutter.errors import InvalidInput, Refused
from cutter.settings import Settings
from cutter.stack import workers
from cutter.storage.pools import Connection
from cutter.storage.queries import query

PROFILE_FILES = (".yaml", ".yml")

PROFILE = "generic-markdown"
"""The profile that counts where none is named: in the preview and in the register alike."""

Profile = Annotated[str, typer.Option(help=f"{', '.join(marking.PROFILES)}, or a YAML file.")]
Duplicates = Annotated[str | None, typer.Option(help="refuse, or ordinal: repeats become ~2, ~3 …; default: profile's")]
Empty = Annotated[
    str | None, typer.Option(help="refuse, or heading_only: headings without text are units; default: profile's")
]
Scope = Annotated[str | None, typer.Option(help="all or enacted_only; default: profile's")]
Deepest = Annotated[str | None, typer.Option(help="Finest level that becomes a unit, such as khoan")]
MaxCandidates = Annotated[
    int | None, typer.Option(help="Units that the document may have; at most what the workers allow")
]
Forbid = Annotated[
    list[str] | None, typer.Option(help="An address segment that must not be cut, such as DIEU-44; may be repeated")
]
Normalise = Annotated[str | None, typer.Option(help="nfc: use the text in Unicode's composed form")]


def read(file: Path) -> bytes:
    """The bytes of a file that a person named; InvalidInput says why it cannot be read."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{file}: {error.strerror or error}; name a readable file") from None


def profile_of(name: str) -> tuple[bytes, marking.Profile]:
    """A shipped profile by its name, or one from a YAML file: its bytes and what they mean."""
    path = Path(name)
    if name not in marking.PROFILES and path.suffix in PROFILE_FILES:
        body = read(path)
        return body, marking.parse_profile(body)
    profile = marking.load_profile(name)
    return marking.profile_bytes(name), profile


def chosen(**given: Any) -> dict[str, Any]:
    """The marking options that were given, as they are stored beside a version."""
    return {name: value for name, value in given.items() if value is not None}


def normalised(data: bytes, form: str | None) -> tuple[bytes, dict[str, Any]]:
    """The text in that form, and what changed; without a form as it is."""
    if form is None:
        return data, {}
    if form != "nfc":
        raise InvalidInput(f"--normalise {form}: only nfc is known")
    text = decoded(data)
    after = unicodedata.normalize("NFC", text)
    changed = sum(one != other for one, other in zip(text.split("\n"), after.split("\n"), strict=True))
    new = after.encode()
    return new, {
        "normalised": "nfc",
        "from_sha256": sha256_hex(data),
        "to_sha256": sha256_hex(new),
        "lines_changed": changed,
    }


def decoded(data: bytes) -> str:
    """The text of UTF-8 bytes; InvalidInput names the line of the first byte that is none."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        raise InvalidInput(
            f"line {line}: byte {problem.start} is not UTF-8: convert the file, then try again"
        ) from None


def allowed_candidates(settings: Settings) -> int:
    """Units that a document may have here: what the running workers were given, else the setting."""
    return int(workers.given_settings(settings).get("max_candidates", settings.max_candidates))


def require_allowed(settings: Settings, wanted: int | None) -> None:
    """Refuse more units than the workers would cut."""
    allowed = allowed_candidates(settings)
    if wanted is None or wanted <= allowed:
        return
    if wanted > limits.CANDIDATES_MAX:
        raise InvalidInput(f"--max-candidates {wanted}: 1 to {limits.CANDIDATES_MAX}")
    raise InvalidInput(
        f"--max-candidates {wanted}: the workers allow {allowed}: set CUTTER_MAX_CANDIDATES={wanted}, type "
        "`cutter down`, then `cutter up`"
    )


def outcome(
    settings: Settings, data: bytes, profile: marking.Profile, options: dict[str, Any], *, docprefix: str,
    forbidden: tuple[str, ...] = (),
) -> marking.Marking | marking.MarkRefusal:  # fmt: skip
    """What a run would make of the text: the document's own bound counts up to the workers'."""
    allowed = allowed_candidates(settings)
    bounded = {**options, "max_candidates": min(int(options.get("max_candidates", allowed)), allowed)}
    made = marking.Options(**bounded, forbidden_ids=forbidden)
    return marking.mark(data, profile=profile, docprefix=docprefix, options=made)


def refusal_of_registered(settings: Settings, connection: Connection, document_id: str) -> tuple[str, str] | None:
    """(Code, reason) for which a run would not mark a document's newest version; None when it would."""
    row = connection.execute(query("text_of_newest_version"), {"document_id": document_id}).fetchone()
    if row is None:
        return None
    data, body, options, docprefix, forbidden = row
    profile = marking.parse_profile(str(body).encode())
    result = outcome(
        settings, bytes(data), profile, dict(options), docprefix=str(docprefix), forbidden=tuple(forbidden)  # type: ignore[call-overload, arg-type]
    )  # fmt: skip
    return (result.code, result.message) if isinstance(result, marking.MarkRefusal) else None


def require_markable(result: marking.Marking | marking.MarkRefusal, *, remedy: str) -> None:
    """Refuse what a run would refuse; `remedy` says what else may be typed."""
    if isinstance(result, marking.MarkRefusal):
        raise Refused(f"{result.message}; {remedy}", code=result.code)
