"""`make test` proves each promise, except those of which every test takes too long."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from tests.support.promises import chosen

ROOT = Path(__file__).resolve().parents[2]

ONLY_IN_THE_WHOLE_SUITE = {
    "tests/acceptance/cli/test_late_approvals.py::test_a_night_with_five_late_approvals_closes_by_itself",
    "tests/acceptance/cli/test_shown_before_signing.py::test_yes_never_overrides_what_a_person_kept_and_a_question_names_it",
    "tests/integration/desk/test_desk_access.py::test_silent_callers_keep_no_reader_out_and_are_disconnected",
    "tests/integration/law/test_law_recorded.py::test_each_command_says_again_what_it_said_then",
    "tests/integration/storage/test_backfill_of_living_law.py::test_a_law_that_was_enacted_before_the_migration_is_revised_after_it",
    "tests/workflow/test_batch.py::test_each_document_of_a_batch_has_its_own_backup",
    "tests/workflow/test_batch_folder.py::test_a_batch_at_work_has_its_folder_and_one_that_is_resumed_gets_it_back",
    "tests/workflow/test_batch_lane.py::test_two_batches_write_and_enact_one_document_at_a_time",
    "tests/workflow/test_batch_policies.py::test_a_failed_document_is_taken_in_again_by_a_signature_of_its_own_and_so_is_what_needs_it",
    "tests/workflow/test_batch_policies.py::test_a_stop_by_a_person_fails_no_strict_batch",
    "tests/workflow/test_batch_policies.py::test_a_stopped_batch_stops_its_documents_and_says_how_to_go_on",
    "tests/workflow/test_batch_policies.py::test_over_the_hard_cap_what_runs_is_stopped_and_what_waits_for_people_waits_on",
    "tests/workflow/test_batch_resumed_late.py::test_a_set_that_is_judged_after_the_last_look_at_its_batch_is_followed_to_its_end",
    "tests/workflow/test_batches_of_revisions.py::test_an_approval_for_an_earlier_base_enacts_nothing_in_the_night",
    "tests/workflow/test_outages.py::test_a_resume_reaches_an_approved_run_in_an_outage_although_no_exec_worker_beats",
    "tests/workflow/test_red_texts.py::test_a_batch_sets_it_aside_and_takes_it_in_again_in_vain",
}
"""Tests that prove a guard or a line of the trace, and that only `make test-all` runs."""


@cache
def thorough(path: str) -> frozenset[str]:
    """The tests of a file that have the marker `thorough`."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    marked = [node for node in tree.body if "mark.thorough" in ast.unparse(node).partition("def ")[0]]
    if any(isinstance(node, ast.Assign) for node in marked):
        marked = tree.body
    return frozenset(node.name for node in marked if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_only_the_listed_promises_wait_for_the_whole_suite() -> None:
    tests = {test.partition("[")[0] for test in chosen()}
    assert {test for test in tests if test.partition("::")[2] in thorough(test.partition("::")[0])} == (
        ONLY_IN_THE_WHOLE_SUITE
    )
