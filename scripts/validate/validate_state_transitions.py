"""IO: checks a file of transitions: `python scripts/validate/validate_state_transitions.py FILE [--json]`.

`-` is the standard input. The same check as `cutter verify`, with nothing but Python 3.11 and this
repository: exit 0 when all is well, 1 for findings, 2 for a file that cannot be read.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from cutter.domain.visible import visible_line
from cutter.errors import InvalidInput
from cutter.projections.transitions_file import told


def main() -> int:
    """Check the file that is named on the command line."""
    parser = argparse.ArgumentParser(description="Check a file of state transitions (transitions.jsonl).")
    parser.add_argument("file", help="a transitions.jsonl; - is the standard input")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    asked = parser.parse_args()
    try:
        return 0 if told(asked.file, print, as_json=asked.json) else 1
    except InvalidInput as problem:
        print(visible_line(str(problem)), file=sys.stderr)
        return problem.exit_code


if __name__ == "__main__":
    sys.exit(main())
