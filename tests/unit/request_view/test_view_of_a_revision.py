"""The view of a revision shows operation, base, every change, day and reason; a first cut shows none of them."""

from __future__ import annotations

import dataclasses

import pytest

from cutter import limits
from cutter.errors import ProgrammingError
from cutter.marking import Marking, Options, build_plan, load_profile, mark_registered
from cutter.marking.revision import Base, UnitTextInForce, plan_revision
from cutter.request_view.builder import build_view
from cutter.request_view.forms import markdown, view_digest, view_record
from cutter.request_view.view import RequestView
from tests.unit.marking.texts import cut

BEFORE = "# One\n\n## Kept\nstays\n\n## Revised\nold\n\n## Dropped\nends\n\n## Moved\nsame\n\n# Two\nend\n"
AFTER = "# One\n\n## Kept\nstays\n\n## Fresh\nnew\n\n## Revised\nnew\n\n# Two\nend\n\n## Moved\nsame\n"


def base(kind: str = "revision") -> Base:
    plan = build_plan(BEFORE.encode(), cut(BEFORE), docprefix="LAW", source_version_id="v1")
    names = [field.name for field in dataclasses.fields(UnitTextInForce)]
    units = tuple(UnitTextInForce(**{name: getattr(row, name) for name in names}) for row in plan.rows)
    return Base(operation_kind=kind, source_version_id="v1", receipt_hash="a" * 64, units=units)


def shown(law: Base | None, day: str | None = None, reason: str | None = None) -> RequestView:
    return build_view(
        AFTER.encode(), cut(AFTER), docprefix="LAW", source_version_id="v2", law=law, effective_from=day, reason=reason
    )


def test_a_first_cut_shows_no_change_of_a_law() -> None:
    view = shown(None)
    assert view.terms == ()
    assert not {"revision", "effective_from", "reason"} & set(view_record(view))
    assert markdown(view).startswith("## Findings")


def test_every_change_is_listed_once_and_a_move_is_no_repeal() -> None:
    text = markdown(shown(base()))
    head = text[: text.index("## Findings")]
    assert "3 kept, 1 revised, 2 created, 2 repealed" in head
    for heading, lines in {
        "### Moved: Moved": "`LAW/TWO/MOVED`, before `LAW/ONE/MOVED`\n(`parent_address` differ)\n\n> The same text.",
        "### Revised: Revised": "`LAW/ONE/REVISED`\n\n> \\#\\# Revised\n> ~~old~~**new**",
        "### Created: Fresh": "`LAW/ONE/FRESH`\n\n> **\\#\\# Fresh**\n> **new**",
        "### Repealed: Dropped": "`LAW/ONE/DROPPED`\n\n> ~~\\#\\# Dropped~~\n> ~~ends~~",
    }.items():
        assert f"{heading}\n\n{lines}\n\n" in head
    assert head.count("LAW/TWO/MOVED") == 1
    assert "3 units kept, without a change." in head
    assert "KEPT" not in head


def test_the_kept_units_are_one_line_and_a_changed_one_shows_its_text() -> None:
    text = markdown(shown(base()))
    tree = text[text.index("## Units") :].splitlines()
    assert "- and 3 kept units; `cutter request` shows them all" in tree
    assert not any("LAW/ONE/KEPT" in line for line in tree)
    assert next(line for line in tree if "LAW/ONE/REVISED" in line).endswith("2 words: new")
    assert "kept" not in markdown(shown(None))


def test_the_day_and_the_reason_are_shown_on_every_form() -> None:
    view = shown(base("correction"), "2027-01-01", "a <b>wrong</b> word")
    terms = dict(view.terms)
    assert (terms["operation"], terms["takes effect"]) == ("correction", "2027-01-01")
    assert terms["rows"] == "3 kept, 1 revised, 2 created, 2 repealed, 1 of them moved"
    head = markdown(view)
    assert "- Takes effect on **2027-01-01**." in head
    assert "<b>" not in head, "a reason is a text from others"


def test_the_digest_of_the_view_covers_base_operation_day_and_reason() -> None:
    law = base()
    views = (
        shown(None), shown(law), shown(base("correction")), shown(law, "2027-01-01"), shown(law, None, "so"),
        shown(dataclasses.replace(law, receipt_hash="b" * 64)), shown(dataclasses.replace(law, units=law.units[1:])),
    )  # fmt: skip
    assert len({view_digest(view) for view in views}) == len(views)


def test_the_removed_and_the_added_words_are_in_every_form_and_in_the_digest() -> None:
    """Two laws with the same digests but other texts cannot exist. A text that is not the signed one is never shown."""
    view = shown(base())
    revised = next(change for change in view.difference if change.change == "revised")
    assert [(piece.kind, piece.text.strip()) for piece in revised.words][1:3] == [("removed", "old"), ("added", "new")]
    record = view_record(view)
    assert list(record)[1:3] == ["title", "difference"]
    assert ["removed", "old"] in next(row for row in record["difference"] if row["change"] == "revised")["words"]
    units = tuple(
        dataclasses.replace(unit, body=f"{unit.body}!") if unit.address == "LAW/ONE/REVISED" else unit
        for unit in base().units
    )
    with pytest.raises(ProgrammingError, match="not the one that was enacted"):
        view_digest(shown(dataclasses.replace(base(), units=units)))


def test_a_repeal_shows_the_title_the_whole_text_and_the_day() -> None:
    law = dataclasses.replace(base("repeal"), title="An Act of Old")
    empty = mark_registered(b"", profile=load_profile("generic-markdown"), docprefix="LAW", options=Options())
    assert isinstance(empty, Marking)
    view = build_view(
        b"", empty, docprefix="LAW", source_version_id="v2", law=law, effective_from="2027-01-01", reason="replaced"
    )
    assert (view.repeals, view.title) == (True, "An Act of Old")
    head = markdown(view).split("## Findings")[0]
    assert head.startswith("## The text that ends\n\n- The law: **An Act of Old**.\n- **The whole law ends.**")
    assert "- Ends on **2027-01-01**." in head
    assert all(f"~~{word}~~" in head for word in ("stays", "old", "ends", "same"))
    other = dataclasses.replace(law, title="Another Act")
    assert view_digest(view) != view_digest(dataclasses.replace(view, revision=plan_revision(view.revision.cut, other)))


def test_what_was_removed_as_parts_of_pages_is_shown_and_part_of_the_digest() -> None:
    removed = "5 page number, from the text with sha256 abc"
    for law in (None, base()):
        view = dataclasses.replace(shown(law), removed_pages=removed)
        assert f"Removed before the registration as parts of pages: {removed}" in markdown(view)
        assert ("removed as parts of pages", removed) in view.terms
        assert view_digest(view) != view_digest(shown(law))


def test_a_long_difference_is_bounded_in_the_document_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    view = shown(base())
    monkeypatch.setattr(limits, "REQUEST_DIFFERENCE_CHARACTERS_MAX", 4)
    assert "4 of 4 changed units not shown whole: `cutter request` shows them all." in markdown(view)
    assert len(view_record(view)["difference"]) == 4
