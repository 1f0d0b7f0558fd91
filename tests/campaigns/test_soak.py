"""P25: its judge finds what grows and becomes slower, and nothing else."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.campaigns import __main__ as campaigns
from tests.campaigns import p25_soak as p25
from tests.cases.soak_halves import Halves, Series, compared, cost, together, verdicts
from tests.cases.trials import Dice

SECONDS = 600.0


def series(slope: float, *, noise: int = 4, level: float = 100.0) -> Series:
    """A value each two seconds that rises by `slope` a minute."""
    dice = Dice("noise", slope)
    return [(t, level + slope * t / 60 + dice.between(-noise, noise)) for t in map(float, range(0, int(SECONDS), 2))]


def test_what_grows_is_found_and_what_only_trembles_is_not() -> None:
    assert compared("grows", series(3.0), seconds=SECONDS).worse
    assert not compared("trembles", series(0.0, noise=40), seconds=SECONDS).worse
    assert not compared("falls", series(-3.0), seconds=SECONDS).worse


def test_growth_in_the_warm_up_is_no_failure() -> None:
    filled = [(t, 100 * (1 - math.exp(-t / SECONDS * 10))) for t, _ in series(0.0)]
    assert not compared("a cache", filled, seconds=SECONDS).worse


def test_a_peak_at_the_end_is_no_failure_although_the_median_rises() -> None:
    peak = [(t, 100.0 if t < 470 else 300.0) for t, _ in series(0.0)]
    assert not compared("one peak", peak, seconds=SECONDS).worse


def test_a_slower_machine_excuses_a_latency_but_no_leak() -> None:
    slower = series(12.0, level=50.0)
    excused, leak = verdicts({"leak": slower}, {}, {"gate": slower}, slower, seconds=SECONDS)[::-1]
    assert not excused.worse
    assert leak.worse


def test_measures_taken_together_have_equal_weight() -> None:
    slow, quick = [(0.0, 1000.0), (2.0, 3000.0), (4.0, 2000.0)], [(1.0, 1.0)]
    assert together({"slow": slow, "quick": quick}) == [(0.0, 0.5), (1.0, 1.0), (2.0, 1.5), (4.0, 1.0)]


def test_the_gates_of_a_worker_are_one_measure_too() -> None:
    gates = p25.with_roles({"IG_mark": [(0.0, 4.0)], "IG_cut_leg_a_execute": [(1.0, 6.0)]})
    assert gates["all gates of cutter, times the usual"] == [(0.0, 1.0)]
    assert gates["all gates of exec, times the usual"] == [(1.0, 1.0)]
    assert gates["all gates of verify, times the usual"] == []
    assert "latency of all gates of exec, times the usual" in p25.LEAKS.values()


def test_the_cpu_of_a_document_is_that_of_its_half() -> None:
    moments = [float(t) for t in range(0, 601, 2)]
    # One document each two seconds. In the second half, which begins at 360 s, each costs twice as much.
    done = [(t, t / 2) for t in moments]
    spent = [(t, t / 2 + max(t - 360, 0.0) / 2) for t in moments]
    assert cost(spent, done, seconds=SECONDS) == (1000.0, 2000.0)
    assert cost([], [], seconds=SECONDS) == (0.0, 0.0)


def test_what_is_larger_by_chance_is_not_called_no_worse() -> None:
    trembles = compared("trembles", [(t, 100 + 9 * (t > 360) - 18 * (int(t) % 120 < 60)) for t, _ in series(0.0)],
                        seconds=SECONDS)  # fmt: skip
    assert (trembles.worse, trembles.ratio > 1.05) == (False, True)
    assert "not beyond chance (higher in " in str(trembles)
    assert str(compared("grows", series(3.0), seconds=SECONDS)).endswith("WORSE")
    assert str(compared("same", series(0.0), seconds=SECONDS)).endswith("no worse")


def test_too_few_samples_are_no_verdict() -> None:
    few = [(t, t) for t, _ in series(0.0)][::40]
    assert not compared("few", few, seconds=SECONDS).worse
    assert "TOO FEW" in str(compared("few", few, seconds=SECONDS))


def test_options_are_for_one_campaign_only(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["campaigns", "P25", "P26", "--minutes", "1", "--page"])
    with pytest.raises(SystemExit):
        campaigns.main()
    assert "only one campaign" in capsys.readouterr().err


@pytest.mark.parametrize(("option", "recorded"), [("--only", False), ("--jobs", True)])
def test_a_part_of_a_campaign_is_not_recorded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, option: str, recorded: bool
) -> None:
    """The program refuses the value at once, and a refused run of the whole is recorded too."""
    monkeypatch.setattr(campaigns, "RESULTS", tmp_path)
    monkeypatch.setattr(campaigns, "TRIALS", tmp_path / "trials")
    p24 = next(campaign for campaign in campaigns.CAMPAIGNS if campaign.id == "P24")
    assert campaigns.run(p24, 1, [option, "no such guard"])["exit"] != 0
    assert (tmp_path / "p24.json").exists() is recorded


@pytest.mark.parametrize("blind", sorted(p25.LEAKS))
def test_p25_fails_if_a_measure_is_worse_or_a_leak_is_not_found(blind: str) -> None:
    good = [
        Halves(name=name, first=1.0, second=1.0, ratio=1.0, separation=0.5, worse=False, samples=99)
        for name in p25.LEAKS.values()
    ]
    bad = [
        Halves(name=half.name, first=1.0, second=2.0, ratio=2.0, separation=1.0, worse=True, samples=99)
        for half in good
    ]
    clean, leaking = (p25.Soaked(halves=halves, counts=p25.Counter(), problems=[], notes=[]) for halves in (good, bad))
    assert p25.summary(clean, leaking).accepted
    assert not p25.summary(leaking, leaking).accepted
    missed = [half if half.name != p25.LEAKS[blind] else good[bad.index(half)] for half in bad]
    assert not p25.summary(clean, p25.Soaked(halves=missed, counts=p25.Counter(), problems=[], notes=[])).accepted
