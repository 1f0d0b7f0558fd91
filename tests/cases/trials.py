"""Seeded dice, the JSON lines of a campaign, its summary and its command line, shared by the campaigns."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


class Dice:
    """Reproducible choices from a seed and a trial's number: the same on every machine and in any order of trials."""

    def __init__(self, *words: object) -> None:
        self._words = "/".join(map(str, words))
        self._drawn = 0

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1."""
        self._drawn += 1
        return int.from_bytes(hashlib.sha256(f"{self._words}/{self._drawn}".encode()).digest()[:8], "big") % limit

    def between(self, low: int, high: int) -> int:
        """A number from low to high, both possible."""
        return low + self.below(high - low + 1)

    def choose(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.below(len(options))]

    def bytes(self, count: int) -> bytes:
        """Some bytes."""
        return bytes(self.below(256) for _ in range(count))


@dataclass(slots=True)
class Summary:
    """What a campaign found. `control` is how often the weaker judge of the control arm was fooled."""

    name: str
    n: int
    failures: int
    control: int
    control_n: int
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def upper_bound(self) -> float:
        """95 % upper bound of the failure rate after no failure in n trials."""
        return 3 / self.n if self.n else 1.0

    @property
    def accepted(self) -> bool:
        """No failure, and a control arm that was fooled, so that no failure means something."""
        return self.failures == 0 and self.control > 0

    def lines(self) -> Iterable[str]:
        """For people."""
        yield f"{self.name}: n={self.n} failures={self.failures} upper bound (95 %) {self.upper_bound:.2g}"
        yield f"{self.name}: control arm fooled {self.control} of {self.control_n} times"
        for name, count in sorted(self.counts.items()):
            yield f"  {name}: {count}"


def write_lines(path: Path | None, rows: Iterable[dict[str, Any]]) -> None:
    """One JSON object a line; nothing without a path."""
    if path is None:
        return
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, sort_keys=True) + "\n")


def command_line(run: Callable[..., Summary], title: str, **sizes: int | str) -> int:
    """A campaign's command line: each size an option with its default (False: a switch; a text: a word); 0 when it is
    accepted.
    """
    parser = argparse.ArgumentParser(description=title)
    for name, default in sizes.items():
        if isinstance(default, bool):
            parser.add_argument(f"--{name}", action="store_true")
        else:
            parser.add_argument(f"--{name}", type=type(default), default=default, help=f"{default!r} unless given")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="file for the trials, one JSON object a line")
    result = run(**vars(parser.parse_args()))
    print("\n".join(result.lines()))
    return 0 if result.accepted else 1
