"""Pure: a statement to fill in, and the commands that make and send it with only a shell, gpg and temporal.

Request documents and stop-route reports show the same instructions, and a test follows them literally.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cutter.approvals import schema

FILL_REQUEST = "FILL_IN_SHA256_OF_THE_REQUEST"
FILL_SIGNED = "FILL_IN_TIME_NOW"
FILL_UNTIL = "FILL_IN_TIME_UNTIL"
FILL_APPROVER = "FILL_IN_YOUR_NAME"
FILL_REASON = "FILL_IN_WHY"

_MOMENT = "+%Y-%m-%dT%H:%M:%SZ"


def front_matter(decision: str, binding: str, gate: str, known: Mapping[str, object]) -> Iterator[str]:
    """Exactly the fields of that kind of statement. A FILL_IN word replaces each value that only a person knows."""
    values: dict[str, object] = {
        **known,
        "schema": schema.SCHEMA,
        "gate": gate,
        "decision": decision,
        "allowance": "explicit",
        "binding": binding,
        "signed_utc": FILL_SIGNED,
        "not_after": FILL_UNTIL,
        "approver": FILL_APPROVER,
    }
    yield "---"
    for name in schema.fields_of(decision, binding, gate) or ():
        yield f"{name}: {values[name]}"
    yield "---"


def fill_in(name: str, life_seconds: int, more: tuple[str, str], *, given: str = "") -> Iterator[str]:
    """The shell commands that fill the file in. `more` is one more word with its value, which `given` sets."""
    word, value = more
    yield "```sh"
    yield "APPROVER=your-name"
    if given:
        yield given
    # Both times come from one reading of the clock. Otherwise a second could pass between them, and the life would be a
    # second too long.
    yield "NOW=$(date +%s)"
    yield f'sed -i -e "s/{word}/{value}/" \\'
    yield f'  -e "s/{FILL_SIGNED}/$(date -u -d @$NOW {_MOMENT})/" \\'
    yield f'  -e "s/{FILL_UNTIL}/$(date -u -d @$((NOW + {life_seconds})) {_MOMENT})/" \\'
    yield f'  -e "s/{FILL_APPROVER}/$APPROVER/" {name}'
    yield "```"
    yield ""


def sign_and_put(kb_id: str, *, beside: str) -> Iterator[str]:
    """The gpg command, and the place of both files."""
    name = kb_id.rpartition("/")[2]
    yield f"3. Sign it with your key; this makes `{name}.asc`:"
    yield ""
    yield "```sh"
    yield f"gpg --detach-sign --armor {name}"
    yield "```"
    yield ""
    yield f"4. Put both files into the knowledge base, in the folder of {beside} (locally the state folder's `kb`):"
    yield ""
    yield f"   - `{kb_id}`"
    yield f"   - `{kb_id}.asc`"
    yield ""


def tell(document_id: str, run_id: str, signal: str, kb_id: str) -> Iterator[str]:
    """The temporal signal that names the document to the run, and the same with `cutter`."""
    yield "5. Tell the run, with either command (`temporal` finds its server by `TEMPORAL_ADDRESS`, see `cutter up`):"
    yield ""
    yield "```sh"
    yield f"temporal workflow signal --workflow-id document/{document_id} --name {signal} \\"
    yield f"  --input '\"{kb_id}\"'"
    yield f"cutter orchestrate resume --run-id {run_id} --approval-kb-id {kb_id}"
    yield "```"
    yield ""
