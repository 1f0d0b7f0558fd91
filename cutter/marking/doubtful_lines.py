"""Pure: amber findings about lines that a numbering cannot prove, because an inserted number leaves no gap.

They are text that begins like a heading, and headings in the middle of a sentence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from cutter.domain.amounts import counted
from cutter.marking.heading_lines import NEVER, begins_like_heading
from cutter.marking.hierarchy import Node
from cutter.marking.lines import Lines
from cutter.marking.result import Finding
from cutter.marking.uncut import EXAMPLES, Place

_ENDS = (b".", b":", b";", b"!", b"?", b'"', b"*", b"_", "”".encode(), "»".encode(), "“".encode())
"""What the last line of a paragraph ends with, if it is a sentence or a note."""


def unread_headings(nodes: list[Node], place: Place, not_judged: Collection[int]) -> Iterator[Finding]:
    """Paragraphs that begin like a heading (`2 a § har ändrats`, `§ 3 b (Opphevet)`) and are text. They may be
    references. Each unit has at most one finding.
    """
    lines = place.lines
    headings = {index for node in nodes for index in range(node.heading.index, node.heading.last + 1)}
    groups: dict[str | None, list[tuple[int, str]]] = defaultdict(list)
    for index, line in enumerate(lines.lines):
        if not line or line[0] in NEVER or index in headings or index in not_judged or lines.opaque[index]:
            continue
        before = lines.lines[index - 1].strip() if index else b""
        if before and not before.startswith(b"#") and not before.endswith(_ENDS):
            continue
        beginning = begins_like_heading(line)
        if beginning is not None:
            unit = place.unit(index)
            groups[unit.address if unit else None].append((lines.number(index), beginning))
    for address, group in groups.items():
        shown = ", ".join(f"{text!r} (line {number})" for number, text in group[:EXAMPLES])
        more = f" and {len(group) - EXAMPLES} more" if len(group) > EXAMPLES else ""
        yield Finding(
            code="heading_unread", line=group[0][0], address=address, severity="amber",
            message=f"line {group[0][0]}: {counted(len(group), 'paragraph')} of text "
            f"{'begins' if len(group) == 1 else 'begin'} like a heading, perhaps with a reference: {shown}{more}",
        )  # fmt: skip


def headings_in_sentences(nodes: list[Node], lines: Lines) -> Iterator[Finding]:
    """Headings in plain lines that continue a sentence as a reference would, or that a colon announces as a quotation.

    This looks at inserted numbers, and at numbers before a word with text after it. Others would break the numbering.
    """
    bare = {node.heading.index for node in nodes if node.heading.bare or node.heading.form == "atx"}
    for node in nodes:
        heading = node.heading
        inserted = heading.number is not None and len(heading.number.value or ()) > 1
        first = heading.title[:1].isdigit() and not heading.bare
        before = heading.index - 1
        if heading.form != "plain" or not (inserted or first) or before < 0 or before in bare:
            continue
        last = next((index for index in range(before, -1, -1) if not lines.is_blank(index)), None)
        quoted = inserted and last is not None and lines.lines[last].rstrip().endswith(b":")
        if quoted or not (lines.is_blank(before) or lines.lines[before].rstrip().endswith(_ENDS)):
            number = lines.number(heading.index)
            yield Finding(
                code="heading_in_sentence", line=number, severity="amber",
                message=f"line {number}: {heading.title!r} begins a unit, and the line before it does not end a "
                "sentence. If it is a reference, join it to that line. If it is quoted, put `> ` before it",
            )  # fmt: skip
