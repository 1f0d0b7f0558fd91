"""The view of a revision shows operation, base, every change, day and reason; a first cut shows none of them."""

from __future__ import annotations

import dataclasses

from cutter.marking import build_plan
from cutter.marking.revision import Base, UnitInForce
from cutter.request_view import RequestView, build_view, view_digest, view_record
from cutter.request_view.markdown import markdown
from tests.unit.marking.texts import cut

BEFORE = "# One\n\n## Kept\nstays\n\n## Revised\nold\n\n## Dropped\nends\n\n## Moved\nsame\n\n# Two\nend\n"
AFTER = "# One\n\n## Kept\nstays\n\n## Fresh\nnew\n\n## Revised\nnew\n\n# Two\nend\n\n## Moved\nsame\n"


def base(kind: str = "revision") -> Base:
    plan = build_plan(BEFORE.encode(), cut(BEFORE), docprefix="LAW", source_version_id="v1")
    names = [field.name for field in dataclasses.fields(UnitInForce)]
    units = tuple(UnitInForce(**{name: getattr(row, name) for name in names}) for row in plan.rows)
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
        "### Moved": "- `LAW/ONE/MOVED` becomes `LAW/TWO/MOVED` Moved",
        "### Revised": "- `LAW/ONE/REVISED` Revised",
        "### Created": "- `LAW/ONE/FRESH` Fresh",
        "### Repealed": "- `LAW/ONE/DROPPED` Dropped",
    }.items():
        assert f"{heading}\n\n{lines}\n\n" in head
    assert head.count("LAW/TWO/MOVED") == 1


def test_a_kept_unit_has_one_short_line_and_a_changed_one_shows_its_text() -> None:
    text = markdown(shown(base()))
    tree = text[text.index("## Units") :].splitlines()
    assert "  - **Kept** · `LAW/ONE/KEPT` · kept" in tree
    assert next(line for line in tree if "LAW/ONE/REVISED" in line).endswith("2 words: new")
    assert "kept" not in markdown(shown(None))


def test_the_day_and_the_reason_are_shown_on_every_form() -> None:
    view = shown(base("correction"), "2027-01-01", "a <b>wrong</b> word")
    terms = dict(view.terms)
    assert (terms["operation"], terms["takes effect"]) == ("correction", "2027-01-01")
    assert terms["rows"] == "3 kept, 1 revised, 2 created, 2 repealed, 1 of them moved"
    head = markdown(view)
    assert "- Takes effect on 2027-01-01." in head
    assert "<b>" not in head, "a reason is a text from others"


def test_the_digest_of_the_view_covers_base_operation_day_and_reason() -> None:
    law = base()
    views = (
        shown(None), shown(law), shown(base("correction")), shown(law, "2027-01-01"), shown(law, None, "so"),
        shown(dataclasses.replace(law, receipt_hash="b" * 64)), shown(dataclasses.replace(law, units=law.units[1:])),
    )  # fmt: skip
    assert len({view_digest(view) for view in views}) == len(views)
