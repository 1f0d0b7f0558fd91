"""Pure: lines in the text of a law that begin another document, such as an annex or its transitory articles."""

from __future__ import annotations

import re
from itertools import pairwise

from benchmarks.words import head, plain

_NUMBER = r"(?:[ ]*(?:n[o.]+[ ]*)?(?:[0-9]{1,3}|[ivxlc]{1,7}|[a-z]|[α-ω]))?(?:[ ]?[(][^)]{1,20}[)])?"
_ANNEXES = (
    "annex annexe annexes appendix appendices sceideal schedule schedules anlage anlagen anhang anhange anexo anexos "
    "anexa allegato bijlage bijlagen priloha prilohy lampiran vedlegg lisa liite bilaga bilag "
    "παραρτημα додаток приложение"
)
_REGION = re.compile(
    rf"(?:(?:the )?(?:first|second|third|fourth|fifth )?(?:{_ANNEXES.replace(' ', '|')}){_NUMBER}"
    r"|(?:articulos? |disposicion(?:es)? |normas )?transitori[oa]s?(?: de decretos? de reforma)?"
    r"|disposiciones (?:adicionales|finales|derogatorias|complementarias)(?: y [a-z]+)?"
    r"|dispositions transitoires(?: et [a-z]+)?|transitional provisions|ubergangsbestimmungen"
    r"|penjelasan|fe de erratas|schlussprotokoll|phu luc)[ ]*[.:–—-]{0,2}[*_ ]*"
)
"""A title that stands alone."""

_CAPITALS = re.compile(
    rf"(?:penjelasan atas|articulos? transitorios?|decreto por el que"
    rf"|(?:{_ANNEXES.replace(' ', '|')}){_NUMBER}(?=[ .:–—-])"
    r"|(?:convenio|convencion|tratado|protocolo|acuerdo|convention|accord|traite|abkommen|treaty|protocol)[ ])"
)
"""A title that is written in capitals to its end."""

_ENDS_THE_NUMBER = re.compile(r"[ ]*(?:[.:;)–—-]|[*_]|$)")
"""What follows the number of a heading in a plain line; another word makes it a reference."""

_FOLLOWING_LINES = 2
"""Lines of text that a document has after its title."""


def region_titles(lines: list[str], excluded: set[int]) -> tuple[int, ...]:
    """The numbers of the plain lines that are the title of another document in the file, outside `excluded`."""
    return tuple(
        number for number, line in enumerate(lines, 1)
        if line.strip() and len(line) < 200 and number not in excluded and _is_title(line)
        and sum(bool(after.strip()) for after in lines[number : number + 12]) >= _FOLLOWING_LINES
    )  # fmt: skip


def _is_title(line: str) -> bool:
    text = plain(line)
    in_capitals = line.upper() == line and any(character.isalpha() for character in line)
    bold_or_capital = in_capitals or line.lstrip(" >").startswith("**") or line.strip()[:1].isupper()
    return bool((bold_or_capital and _REGION.fullmatch(text)) or (in_capitals and _CAPITALS.match(text)))


def new_counts(lines: list[str], excluded: set[int]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Runs of plain lines that count articles up from 1, outside `excluded`, each run with the kind of its word."""
    runs: list[tuple[str, list[int]]] = []
    open_runs: dict[str, list[int]] = {}
    for number, line in enumerate(lines, 1):
        if number in excluded or len(line) < 2:
            continue
        known = head(line)
        if known is None or known.role != "article" or not _ENDS_THE_NUMBER.match(known.after):
            continue
        if known.value == 1:
            open_runs[known.kind] = [number]
            runs.append((known.kind, open_runs[known.kind]))
        elif known.kind in open_runs and known.value == len(open_runs[known.kind]) + 1:
            open_runs[known.kind].append(number)
    return tuple((kind, tuple(run)) for kind, run in runs if len(run) > 1)


_BARE_LINE = re.compile(r"(?P<number>[0-9]{1,3})[.]?[ ]+[^\W\d_a-zß-ÿа-яα-ω]")


def bare_count(lines: list[str], excluded: set[int]) -> tuple[int, ...]:
    """The longest-running count of paragraphs that begin with a bare number, from 1 on through the whole text."""
    run: list[int] = []
    for before, number in pairwise(range(len(lines) + 1)):
        line = lines[before]
        if number in excluded or (before and lines[before - 1].strip()):
            continue
        match = _BARE_LINE.match(line)
        if match and int(match["number"]) == len(run) + 1:
            run.append(number)
    return tuple(run)
