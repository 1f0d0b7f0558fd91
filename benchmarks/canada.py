"""Pure: an act in the XML of the Department of Justice of Canada, rendered as plain text or as Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree import ElementTree

_PARTS = ("Subsection", "Paragraph", "Subparagraph", "Clause", "Definition", "ContinuedSectionSubsection", "Provision")
_NOTES = ("HistoricalNote", "MarginalNote", "Label", "Footnote")
_SECTION_HASHES = "####"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """The text, and the lines from 1 where its sections begin."""

    text: str
    sections: frozenset[int]


class _Writer:
    """Paragraphs with an empty line after each."""

    def __init__(self, *, markdown: bool) -> None:
        self.markdown = markdown
        self.lines: list[str] = []
        self.sections: list[int] = []

    def add(self, text: str) -> None:
        if text:
            self.lines += [text, ""]

    def heading(self, element: ElementTree.Element, hashes: str) -> None:
        title = " ".join(filter(None, (_text(element.find("Label")), _text(element.find("TitleText")))))
        self.add(f"{hashes} {title}" if self.markdown and title else title)

    def section(self, element: ElementTree.Element) -> None:
        note, label = _text(element.find("MarginalNote")), _text(element.find("Label"))
        text = _own_text(element)
        if self.markdown:
            self.add(f"{_SECTION_HASHES} {label} {note}".rstrip())
            self.add(text)
            self.parts(element, "")
            return
        self.add(note)
        self.sections.append(len(self.lines) + 1)
        if text:
            self.add(f"{label} {text}")
            self.parts(element, "")
        else:
            self.parts(element, label)
            if len(self.lines) + 1 == self.sections[-1]:
                self.add(label)

    def parts(self, element: ElementTree.Element, first: str) -> None:
        """The paragraphs below; `first` is the section's number, which is on the line of its first subsection."""
        for part in element:
            if part.tag in _PARTS:
                if part.find("MarginalNote") is not None and not first:
                    self.add(_text(part.find("MarginalNote")))
                self.add(" ".join(filter(None, (first, _text(part.find("Label")), _own_text(part)))))
                first = ""
                self.parts(part, "")


def render(xml: bytes, *, markdown: bool) -> Rendered | None:
    """The act as a text; None if the file is no act with sections."""
    root = ElementTree.fromstring(xml)
    body = root.find("Body")
    if body is None:
        return None
    writer = _Writer(markdown=markdown)
    title = _text(root.find("Identification/ShortTitle")) or _text(root.find("Identification/LongTitle"))
    writer.add(f"# {title}" if markdown else title.upper())
    for provision in root.iterfind("Introduction//Text"):
        writer.add(_text(provision))
    for element in body:
        if element.tag == "Section":
            writer.section(element)
        elif element.tag == "Heading":
            writer.heading(element, "##" if element.get("level", "1") == "1" else "###")
    for schedule in root.iterfind("Schedule"):
        heading = schedule.find("ScheduleFormHeading")
        if heading is not None and schedule.get("id") != "NifProvs":
            writer.heading(heading, "##")
            for text in schedule.iterfind(".//Text"):
                writer.add(_text(text))
    return Rendered(text="\n".join(writer.lines), sections=frozenset(writer.sections))


def _own_text(element: ElementTree.Element) -> str:
    """The text of an element without its parts, its number and its notes."""
    kept = (_text(child) for child in element if child.tag not in (*_PARTS, *_NOTES))
    return " ".join(filter(None, kept))


def _text(element: ElementTree.Element | None) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())
