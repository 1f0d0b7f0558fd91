"""IO: checks an evidence bundle or an audit export, with nothing but the standard library and gpg.

The check trusts nothing in a bundle. Each step looks for a contradiction between two members, or between a member and
a value that the auditor gave. A member of the wrong form makes its step fail. docs/reference/evidence.md lists the
steps; a comment such as `# 6.2` begins the code of the step with that number. `docs/verifier.py` joins these modules
into the one file that an auditor copies, scripts/verify/verify_evidence.py.
"""

from __future__ import annotations

from cutter.evidence.offline.approvals import PARDONS
from cutter.evidence.offline.checks import NO_ANSWER, Bundle, check, check_files, exit_code, printed
from cutter.evidence.offline.members import MANIFEST, OPENED, sealed
from cutter.evidence.offline.notation import BROKEN, FAILED, NOT_CHECKED, OK, Line, canonical, statement
from cutter.evidence.offline.receipts import CLOSING, EVENT, EXPORT, GATES, GLOBAL, head_of, verify_export

__all__ = [
    "BROKEN", "CLOSING", "EVENT", "EXPORT", "FAILED", "GATES", "GLOBAL", "MANIFEST", "NOT_CHECKED", "NO_ANSWER", "OK",
    "OPENED", "PARDONS", "Bundle", "Line", "canonical", "check", "check_files", "exit_code", "head_of", "printed",
    "sealed", "statement", "verify_export",
]  # fmt: skip
