"""What the model and the summary of P32 say. tests/workflow/test_changing_laws.py plays a small sequence."""

from __future__ import annotations

from datetime import date

from tests.campaigns import p32_changing_laws as p32
from tests.cases.changing_laws import CORRECTION, REPEAL, TEXT, Change, Law, drawn
from tests.cases.trials import Dice

TODAY = date(2026, 6, 1)
ONE, TWO = (("ALPHA", "A rule."),), (("ALPHA", "Another rule."), ("BETA", "A rule."))


def test_the_model_knows_the_law_on_each_day() -> None:
    law = Law(document_id="D")
    law.enact(Change(kind=TEXT, articles=ONE, effective=date(2026, 1, 1)), "r1", TODAY)
    law.enact(Change(kind=TEXT, articles=TWO, effective=date(2026, 3, 1)), "r2", TODAY)
    law.enact(Change(kind=CORRECTION, articles=ONE), "r3", TODAY)
    law.enact(Change(kind=REPEAL, effective=date(2026, 9, 1)), "r4", TODAY)
    assert [enactment.kind for enactment in law.enacted] == ["first_cut", "revision", "correction", "repeal"]
    assert [enactment.day.month for enactment in law.enacted] == [1, 3, 3, 9]
    assert law.in_force(date(2025, 12, 31)) == {}
    assert law.in_force(date(2026, 3, 1))["D/ALPHA"] == "## Alpha\n\nA rule."
    assert "D/BETA" not in law.in_force(date(2026, 8, 31))
    assert law.in_force(date(2026, 9, 1)) == law.newest == {}


def test_the_model_refuses_what_no_run_can_enact() -> None:
    law = Law(document_id="D")
    law.enact(Change(kind=TEXT, articles=ONE, effective=TODAY), "r1", TODAY)
    assert law.refuses(Change(kind=TEXT, articles=TWO, effective=date(2026, 5, 31)), TODAY)
    assert law.refuses(Change(kind=CORRECTION, articles=ONE), TODAY)
    assert not law.refuses(Change(kind=CORRECTION, articles=TWO), TODAY)


def test_the_dice_draw_every_kind_of_change() -> None:
    law = Law(document_id="D")
    assert {drawn(law, Dice(1, n), TODAY).kind for n in range(20)} == {TEXT}
    law.enact(Change(kind=TEXT, articles=ONE), "r1", TODAY)
    assert {drawn(law, Dice(1, n), TODAY).kind for n in range(60)} == {TEXT, CORRECTION, REPEAL}


def test_one_step_that_differs_or_a_damage_that_nobody_sees_fails_p32() -> None:
    good = {"sequence": 0, "kind": TEXT, "way": "enact", "state": "closeout_reported", "kills": 1, "problems": []}
    assert p32.summary([good], []).accepted
    assert not p32.summary([good, {**good, "problems": ["x"]}], []).accepted
    assert not p32.summary([good], ["a text is changed"]).accepted
