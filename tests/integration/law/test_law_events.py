"""Each enactment is told to a webhook, whose receiver then reads the law as a client of the schema `api` alone."""

from __future__ import annotations

import hashlib
import hmac
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from cutter import sources
from cutter.domain.digests import sha256_hex
from cutter.notifications import channels, delivery, webhook
from cutter.notifications.channels import Channel
from cutter.settings import Settings
from tests.integration.law.test_law_versions import BEGUN, CHANGED, FIRST, LAW, SECOND, register
from tests.support.database import TestCluster
from tests.support.receivers import HttpReceiver, http_receiver
from tests.support.runs import Deployment, Keys, deployment, drive

SECRET = "0123456789abcdef0123456789abcdef"
REPEALED = "2025-07-01"


@dataclass(slots=True, kw_only=True)
class Subscriber:
    """A program elsewhere: it has the webhook's secret and the password of `cutter_api`, and nothing else."""

    http: HttpReceiver
    url: str
    cursor: int = 0
    keys: set[str] = field(default_factory=set)

    def events(self) -> list[dict[str, Any]]:
        """The enactments that arrived since the last look, each once and each with a genuine signature."""
        enactments = []
        for posted in self.http.posted:
            stamp, body = posted.headers["Cutter-Timestamp"], posted.body
            made = "v1=" + hmac.new(SECRET.encode(), stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
            assert hmac.compare_digest(made, posted.headers["Cutter-Signature"])
            assert abs(datetime.now(UTC).timestamp() - int(stamp)) < 300
            read = json.loads(body)
            if read["key"] not in self.keys and read["card"]["kind"] == "enacted":
                enactments.append(read["card"]["enactment"])
            self.keys.add(read["key"])
        return enactments

    def read(self, query: str, **asked: object) -> list[dict[str, Any]]:
        """One request of a client such as PostgREST."""
        with psycopg.connect(self.url, row_factory=dict_row) as connection:
            connection.execute("set transaction read only")
            return connection.execute(query, asked).fetchall()  # type: ignore[arg-type]

    def changes(self) -> list[dict[str, Any]]:
        """What the feed has above the cursor."""
        rows = self.read('select * from api.change where "cursor" > %(cursor)s order by "cursor"', cursor=self.cursor)
        self.cursor = max((row["cursor"] for row in rows), default=self.cursor)
        return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Publisher:
    """A deployment whose webhook goes to the subscriber."""

    made: Deployment
    settings: Settings

    def enact(self, text: str | None, effective: str) -> None:
        if text is None:
            sources.repeal(self.settings, LAW, effective=date.fromisoformat(effective), reason="No longer needed")
        else:
            register(self.made, text, effective)
        drive(self.made, document_id=LAW)

    def deliver(self) -> None:
        delivery.make_pass(self.settings, self.channel())

    def channel(self) -> Channel:
        channel = channels.channel(self.settings, webhook.NAME)
        assert channel is not None
        return channel


@pytest.fixture
def both(cluster: TestCluster, keys: Keys, tmp_path: Path) -> Iterator[tuple[Publisher, Subscriber]]:
    secrets = tmp_path / "secrets"
    shutil.copytree(cluster.secrets, secrets)
    (secrets / webhook.SECRET_FILE).write_text(SECRET)
    with (
        cluster.database(prefix="evt") as database, deployment(database, keys) as made, http_receiver() as http
    ):  # fmt: skip
        settings = made.settings.model_copy(update={"webhook_url": http.url, "secrets_dir": secrets})
        publisher = Publisher(made=made, settings=settings)
        publisher.deliver()
        yield publisher, Subscriber(http=http, url=database.url("cutter_api"))


@pytest.mark.promise
def test_a_subscriber_follows_a_law_from_its_first_cut_to_its_repeal(both: tuple[Publisher, Subscriber]) -> None:
    publisher, subscriber = both
    for version, (text, day, operation) in enumerate(
        [(FIRST, BEGUN, "first_cut"), (SECOND, CHANGED, "revision"), (None, REPEALED, "repeal")], start=1
    ):
        publisher.enact(text, day)
        publisher.deliver()
        (event,) = subscriber.events()
        assert (event["document"], event["version"], event["operation"]) == (LAW, version, operation)
        assert (event["effective_from"], event["base_version"]) == (day, version - 1 or None)
        (row,) = subscriber.read(
            "select * from api.law_version where document = %(document)s and version = %(version)s", **event
        )
        as_text = {name: str(value) for name, value in row.items()}
        moment = event.pop("enacted_at")
        assert {name: str(value) for name, value in event.items()} == {name: as_text[name] for name in event}
        assert moment.startswith(row["enacted_at"].astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S"))
        units = subscriber.read(
            "select * from api.unit_of_version where document = %(document)s and version = %(version)s", **event
        )
        assert len(units) == event["units"]
        assert all(sha256_hex(unit["body"]) == unit["content_sha256"] for unit in units)
        assert {change["version"] for change in subscriber.changes()} == {version}


def test_a_repeated_message_is_known_by_its_key(both: tuple[Publisher, Subscriber]) -> None:
    publisher, subscriber = both
    publisher.enact(FIRST, BEGUN)
    subscriber.http.answers.append((500, {}))
    publisher.deliver()
    publisher.made.database.run("update cutter_governance.notification_delivery set next_eligible_at = now()")
    publisher.deliver()
    assert len(subscriber.events()) == 1
    publisher.made.database.run(
        "update cutter_governance.notification_delivery set done_at = null, outcome = null, next_eligible_at = now()"
        " where outcome = 'delivered'"
    )
    publisher.deliver()
    assert subscriber.events() == []


def test_an_event_holds_no_text_and_no_address_of_the_law(both: tuple[Publisher, Subscriber]) -> None:
    publisher, subscriber = both
    publisher.enact(FIRST, BEGUN)
    publisher.deliver()
    posted = b"".join(request.body for request in subscriber.http.posted if b'"enacted"' in request.body)
    assert posted
    for word in (b"Part One", b"PART-ONE", b"Preamble", b"euros", b"Kept"):
        assert word.lower() not in posted.lower()


def test_people_are_not_told_of_enactments_unless_the_settings_name_them(
    both: tuple[Publisher, Subscriber],
) -> None:
    publisher, _ = both
    kinds = {name: channels.kinds_of(publisher.settings, name) for name in ("slack", "email", "webhook")}
    assert ["enacted" in kinds[name] for name in kinds] == [False, False, True]
    named = publisher.settings.model_copy(update={"notify": {"email": ["enacted"], "webhook": ["stop"]}})
    assert channels.kinds_of(named, "email") == ("enacted",)
    assert channels.kinds_of(named, "webhook") == ("stop",)
