"""What a batch does with a document: it cuts the newest registered version that is not enacted."""

from __future__ import annotations

import uuid_utils

from cutter.batch.item import Outcome
from cutter.batch.view import ItemRecord
from cutter.storage import batch_views
from cutter.storage import batches as batch_rows
from tests.integration.living_law.texts import FIRST, SECOND
from tests.support.batch import queue_yaml
from tests.support.runs import Deployment, drive

POISON = "no heading at all\n"
SKIPPING = batch_rows.Options(skip_completed=True)


def admitted(made: Deployment, document_id: str) -> batch_rows.Admission:
    """The document as the one item of a queue that leaves out what is completed."""
    with made.database.connect("cutter_operator") as connection:
        queue = queue_yaml([{"document_id": document_id}], str(uuid_utils.uuid7()))
        return batch_rows.admit(connection, queue, SKIPPING)


def outcome(made: Deployment, document_id: str) -> Outcome | None:
    (item,) = admitted(made, document_id).items
    return item.outcome


def in_batch(made: Deployment, document_id: str) -> tuple[str, ItemRecord]:
    """A batch of the document: its id, and its item as the steering sees it."""
    admission = admitted(made, document_id)
    with made.database.connect("cutter_operator") as connection:
        batch_id, _ = batch_rows.register(
            connection, admission, SKIPPING, run_caps={"hard_seconds": 60.0}, starter="olga"
        )  # fmt: skip
        connection.commit()
    return batch_id, item_of(made, batch_id)


def item_of(made: Deployment, batch_id: str) -> ItemRecord:
    with made.database.connect("cutter_operator") as connection:
        (item,) = batch_views.view(connection, batch_id).items
        return item


def failed_at_mark(made: Deployment, document_id: str) -> None:
    """A run of a text that cannot be cut."""
    made.register(POISON, document_id=document_id)
    run_id = made.begin(document_id)
    made.gate("IG_source_pin", run_id)
    assert made.gate("IG_mark", run_id).state == "failed_mark"
    assert made.run_row(run_id)["state"] == "failed_mark"


def test_an_enacted_document_is_cut_again_only_if_a_later_version_is_registered(deployment: Deployment) -> None:
    document = drive(deployment, FIRST).document_id
    assert outcome(deployment, document) is Outcome.SKIPPED
    deployment.register(SECOND, document_id=document)
    assert outcome(deployment, document) is None


def test_a_revision_that_failed_is_left_out_until_somebody_signs_or_a_later_one_is_enacted(
    deployment: Deployment,
) -> None:
    document = drive(deployment, FIRST).document_id
    failed_at_mark(deployment, document)
    assert outcome(deployment, document) is Outcome.BLOCKED
    batch_id, item = in_batch(deployment, document)
    assert item.kept_out, "the enactment of the first version is older than the failure"
    deployment.register(SECOND, document_id=document)
    drive(deployment, document_id=document)
    assert not item_of(deployment, batch_id).kept_out
    deployment.register(FIRST, document_id=document)
    assert outcome(deployment, document) is None, "what failed before the last enactment does not count"


def test_a_text_that_is_registered_again_is_the_newest_version(deployment: Deployment) -> None:
    """A run cuts the newest version. An older one that was never enacted must not be answered as registered."""
    document = drive(deployment, FIRST).document_id
    for text in (SECOND, POISON, SECOND):
        deployment.register(text, document_id=document)
    assert drive(deployment, document_id=document).state == "closeout_reported"
    newest = "select max(version_seq) from public.source_version where source_document_ref = %s"
    assert deployment.database.value(newest, (document,)) == 4
