"""Pure: whether the second half of a long run was worse than the first: memory, open files, latency and the like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

TOLERANCE = 1.05
"""The second half may be this many times the first."""

WARM_UP = 0.2
"""The share of the time before the first half, in which caches and pools fill."""

BLOCKS = 6
"""Each half is cut into so many blocks of equal length, and each block has a median."""

SEPARATED = 0.9
"""The share of pairs of blocks in which the later one must be worse. By chance this happens once in a hundred times."""

SAMPLES_MIN = 2 * BLOCKS
"""A half with fewer samples says nothing."""

Series = Sequence[tuple[float, float]]
"""(Seconds since the beginning, value); more is worse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Halves:
    """A measure in both halves: medians, ratio, separation, and whether the second is worse beyond chance."""

    name: str
    first: float
    second: float
    ratio: float
    separation: float
    worse: bool
    samples: int

    def __str__(self) -> str:
        return f"{self.name}: {self.first:.4g} to {self.second:.4g}, {self.ratio:.3f} times, {self._said()}"

    def _said(self) -> str:
        if self.samples < SAMPLES_MIN:
            return "TOO FEW SAMPLES"
        if self.worse or self.ratio <= TOLERANCE:
            return "WORSE" if self.worse else "no worse"
        return f"not beyond chance (higher in {self.separation:.0%} of the pairs of blocks)"


def compared(name: str, series: Series, *, seconds: float, floor: float = 0.0, machine: float = 1.0) -> Halves:
    """Compare the halves of `seconds` after the warm-up.

    A difference up to `floor` is the granularity of the measure. The second half's values are divided by `machine`,
    which says how much slower a fixed piece of work was in it.
    """
    middle = seconds * (1 + WARM_UP) / 2
    first = _blocks(series, seconds * WARM_UP, middle)
    second = [[value / machine for value in block] for block in _blocks(series, middle, seconds)]
    values = [[value for block in half for value in block] for half in (first, second)]
    fewest = min(map(len, values))
    if not fewest:
        return Halves(name=name, first=0.0, second=0.0, ratio=1.0, separation=0.0, worse=False, samples=0)
    before, after = median(values[0]), median(values[1])
    larger = after > before * TOLERANCE and after - before > floor
    apart = separation(first, second)
    return Halves(
        name=name, first=before, second=after, ratio=after / before if before else float(after > floor) + 1.0,
        separation=apart, worse=larger and apart >= SEPARATED and fewest >= SAMPLES_MIN, samples=fewest,
    )  # fmt: skip


def separation(first: Sequence[Sequence[float]], second: Sequence[Sequence[float]]) -> float:
    """The share of pairs of a first and a second block in which the second one's median is higher."""
    pairs = [(median(block), median(other)) for block in first if block for other in second if other]
    return sum(early < other for early, other in pairs) / len(pairs) if pairs else 0.0


def together(series: Mapping[str, Series]) -> Series:
    """Several measures as one: each value as a multiple of its own measure's median, so that all have equal weight."""
    middles = {name: median(value for _, value in pairs) for name, pairs in series.items()}
    return sorted((at, value / middles[name]) for name, pairs in series.items() for at, value in pairs if middles[name])


def slowdown(probe: Series, *, seconds: float) -> float:
    """How many times longer a fixed piece of work took in the second half, so how much slower the machine was."""
    halves = compared("machine", probe, seconds=seconds)
    return halves.second / halves.first if halves.first else 1.0


def cost(spent: Series, done: Series, *, seconds: float) -> tuple[float, float]:
    """The CPU milliseconds of a document in each half, from the CPU seconds and the documents until each moment."""
    middle = seconds * (1 + WARM_UP) / 2
    marks = (seconds * WARM_UP, middle, seconds)
    first, second = (
        1000 * (_until(spent, end) - _until(spent, begin)) / max(_until(done, end) - _until(done, begin), 1.0)
        for begin, end in pairwise(marks)
    )
    return first, second


def _until(series: Series, moment: float) -> float:
    """The newest value until a moment."""
    return max((value for at, value in series if at <= moment), default=0.0)


def _blocks(series: Series, begin: float, end: float) -> list[list[float]]:
    length = (end - begin) / BLOCKS
    blocks: list[list[float]] = [[] for _ in range(BLOCKS)]
    for moment, value in series:
        if begin <= moment < end:
            blocks[min(int((moment - begin) / length), BLOCKS - 1)].append(value)
    return blocks


def verdicts(
    measured: Mapping[str, Series], floors: Mapping[str, float], latencies: Mapping[str, Series], probe: Series,
    *, seconds: float,
) -> list[Halves]:  # fmt: skip
    """Each measure; the latencies as if the machine had been equally fast in both halves."""
    machine = slowdown(probe, seconds=seconds)
    plain = [
        compared(name, series, seconds=seconds, floor=next((floors[word] for word in floors if word in name), 0.0))
        for name, series in measured.items()
    ]
    return plain + [
        compared(f"latency of {gate}", series, seconds=seconds, machine=machine) for gate, series in latencies.items()
    ]
