"""Pure: every named maximum with its unit and its reason; settings may lower most of them, never raise them."""

from __future__ import annotations

# --- Laws and their marking ------------------------------------------------------------------------------------------

MIB = 1024 * 1024

SOURCE_BYTES_MAX = 16 * MIB
"""The size of a law's snapshot. The largest real law seen is 0.4 MB, so a larger file is a mistake."""

CANDIDATES_DEFAULT = 1_000
"""Units of a document, unless the setting or the document says otherwise (seed 000 §4)."""

CANDIDATES_MAX = 10_000
"""Units of a document at most. PostgreSQL's default settings have locks for 10,000 units, not for 20,000."""

TITLE_CHARACTERS_MAX = 300
"""Characters of a title. A longer title is cut at a word. The body keeps the whole heading."""

KB_OBJECT_BYTES_MAX = 16 * MIB
"""The size of an object in the knowledge base. The copy of a snapshot is such an object."""

SEGMENT_CHARACTERS_MAX = 48
"""Characters of an address segment that is made from a title. A longer title is cut and gets a part of its digest."""

HEADING_CHARACTERS_READ = 2_048
"""Characters of a heading's line that are read for its title and number. The body keeps the whole line."""

VOCABULARY_BYTES_MAX = 16 * 1024
"""The size of a file of words for the vocabularies. It holds a few hundred owners."""

PROFILE_BYTES_MAX = 64 * 1024
"""The size of a marking profile. The largest shipped one has 5 KiB."""

PROFILE_LEVELS_MAX = 32
"""Levels of a marking profile. Real laws use at most ten."""

TREE_ROWS_SHOWN = 60
"""Units of a suggested profile's tree on the terminal: one and a half screens. `--json` has all of them."""

CORRECTIONS_MAX = 100
"""Corrections of one suggested profile. A person who has more is quicker if they edit the file."""

PROFILES_KEPT = 16
"""Parsed profiles that a process remembers: the shipped ones, and a similar number of people's own."""

ACCEPTANCES_MAX = 64
"""Red findings that one version may accept by name. A text with more is cut by the wrong profile."""

RED_FINDINGS_OF_A_KIND = 8
"""Red findings of one kind that a person accepts one by one. More become one finding of the whole text."""

GIANT_UNIT_BYTES = 20_000
"""The size of a unit's own text from which the unit may be too large. The longest articles of real laws have 15 KB."""

GIANT_UNIT_RATIO = 15
"""A unit is a giant if it is so many times larger than the median of the other units."""

GIANT_UNIT_ITEMS = 5
"""Items of a list that explains the size of a unit. Fewer may be the paragraphs of a swallowed article."""

GIANT_ITEM_BYTES = 10_000
"""Bytes of an item in such a list, half of a giant. A longer item must be a list itself."""

HEADING_LINE_BYTES = 400
"""Bytes of a line that are read to decide whether it looks like a heading."""

LIKELY_HEADING_BYTES = 160
"""Bytes of a line that can be a heading although no sign shows it. A longer line is a sentence."""

QUOTATION_LINES_MAX = 150
"""Lines of a quotation. One whose end is further away has none, since a gazette may open one for a whole law."""

SHORT_TITLE_BYTES = 60
"""Bytes of a numbered title with text on the next line. A longer line is a wrapped item of a list."""

FRONT_MATTER_LINES_MAX = 400
"""Lines of a YAML block before the text. The longest seen has 30 lines. A block without an end counts as text."""

NAMES_COMPARED_MAX = 1_000
"""Documents on each side of an unknown name in the alphabet, and newest batches, that are compared with it."""

# --- Approvals, orders and policies ----------------------------------------------------------------------------------

STATEMENT_BYTES_MAX = 64 * 1024
"""The size of a signed statement. A worker reads it once and verifies exactly these bytes."""

SIGNATURE_BYTES_MAX = 16 * 1024
"""The size of a detached OpenPGP signature. A real one has less than 1 KiB."""

LIST_STATEMENTS_MAX = 20_000
"""Statements under one signature of a list: both gates of a queue of 10,000 documents."""

LIST_ANSWER_SECONDS = 60
"""How long gpg's answer about the signature of a list is used for its other statements. A key may expire meanwhile."""

LIST_ANSWERS_MAX = 64
"""Answers about signatures of lists that a process keeps."""

APPROVALS_A_GATE_MAX = 8
"""Distinct approvers that a tier may ask for."""

REFUSALS_A_GATE = 20
"""Refused messages at one sovereign gate before the run stops as stopped_signal_flood."""

TTL_SG1_HOURS = 24
TTL_SG2_HOURS = 12
"""Life of a request and of an approval (spec "The statement")."""

PRE_BATCHED_HOURS = 12
"""The life of an approval that is signed before the night (seed 001 §7)."""

SIGNED_LOOK_SECONDS = 60
"""The time for which a session looks for what its signer has already approved in advance."""

SIGNED_LOOK_STATEMENTS = 3
"""The number of statements about one document that such a session reads."""


POLICY_BYTES_MAX = 256 * 1024
"""The size of an epoch of approvers.yaml. One with hundreds of approvers has less than 100 KiB."""

RULES_BYTES_MAX = 64 * 1024
"""The size of a policy.yaml, which PostgreSQL keeps. One with a hundred rules has less than 20 KiB."""

RULES_MAX = 200
"""Rules of a policy.yaml. They are more than people can remember, and a decision still takes microseconds."""

PUBLIC_KEY_BYTES_MAX = 256 * 1024
"""The size of an approver's exported public key. One with many signatures has less than 100 KiB."""

GPG_SECONDS = 30
"""The time for gpg's work on a signature, which takes milliseconds. A person's passphrase dialog has no limit."""

CLOCK_SKEW_SECONDS = 60
"""The time by which a signature's own time may be ahead of the database's clock."""

REQUESTS_AT_ONCE = 50
"""Requests that are read at once for the overview of a batch. Such a document can have megabytes."""

CLOCKS_APART_SECONDS = 1
CLOCK_CHECKS_MAX = 5
"""How often, and how far apart, the workflow asks whether a request has expired by the database's clock too."""

ORDER_LIFE_SECONDS = 12 * 3600
"""The life of an order that cutter writes for a person to sign. The run's limit at its gate may be shorter."""

ORDER_LIFE_SECONDS_MAX = 24 * 3600
"""The longest life of a signed order that a worker accepts."""

ORDER_ANSWER_SECONDS = 120
"""How long a command waits for the verdict on an order. Only an absent worker takes longer."""

# --- What people read and sign ---------------------------------------------------------------------------------------

FINDINGS_SHOWN_MAX = 50
"""Findings that a command lists. It counts the rest."""

FINDINGS_IN_REQUEST_MAX = 500
"""Amber findings, and notes, that a request document lists. It counts the rest. It lists every red finding."""

FINDINGS_IN_PAGE = 8
"""Findings on the short page of `cutter approve`, the worst first. It counts the rest."""

UNITS_IN_PAGE = 8
"""Units on the short page of `cutter approve`, which must fit a small terminal. It counts the rest."""

LINES_OF_A_UNIT = 20
"""Lines of one unit that a command shows with their numbers. They fit on a screen."""

EXCERPT_CHARACTERS = 140
"""Characters of a unit's text or of a finding's line after its title: one line on a wide screen."""

REQUEST_TREE_BYTES_MAX = 4 * MIB
"""The size of a request document's list of units, which counts the rest. 10,000 units of real laws have half of it."""

FINDINGS_OF_A_KIND_SHOWN = 10
"""Findings of one kind that `cutter mark` shows, so that one a line does not hide the others."""

EARLY_KEY_SECONDS = 0.3
"""A decision typed sooner after its page opened is ignored: nobody can have read the page, so it was for another."""

REQUESTS_LOOK_SECONDS = 5.0
"""How often an open signing session asks PostgreSQL whether its requests still wait. One query answers for all."""

QUIET_AFTER_EARLY_KEY_SECONDS = 1.0
"""After such a key, further ones are ignored until nothing was typed for this time: they may be part of a reason."""

REASON_CHARACTERS_MAX = 500
"""A person's reason for a stop, cancel, void or refusal."""

VOID_WORDS_CHARACTERS_MAX = 40
"""Characters of a void's reason in the state's name: about six words. The database has the same limit."""

CHANGES_SHOWN_MAX = 500
"""Units of each kind (added, changed, removed) that a request document lists. It counts the rest."""

WORD_PAIRS_COMPARED_MAX = 25_000_000
"""Words of one text times those of the other that a diff compares, in two seconds. Beyond it all are different."""

REQUEST_DIFFERENCE_CHARACTERS_MAX = 2_000_000
"""Characters of the difference by word in a request document: 6 MiB in Chinese. Page and JSON form show every unit."""

DIFFERENCE_IN_PAGE_CHARACTERS = 20_000
"""Characters of the difference by word in the prompt of `cutter approve`, about five pages. It counts the rest."""

DIFF_CONTEXT_CHARACTERS = 80
"""Unchanged characters that a diff shows next to a change on a terminal and in a request document."""

# --- Runs: retries, caps and waits -----------------------------------------------------------------------------------

INBOX_MESSAGES_MAX = 100
"""Unread messages of each kind that a run keeps. It drops further ones, because Temporal's history has them."""

RETRIES_A_GATE = 4
"""Failures of a dependency after which one gate is tried again. People see each try as a row."""

FAILURE_BUDGET_A_RUN = 6
"""Failures of dependencies in a whole run, before it stops as stopped_unavailable_<what>."""

STILL_SECONDS = 300
"""A run that waits for nobody and has not moved for so long is shown with `cutter reconcile` as its next command."""

HOLD_LOOK_SECONDS = 15
"""A command asks Temporal about a run that has not moved for so long, because somebody may have paused it there."""

OUTAGE_LOOK_SECONDS = 30
"""A run that met an outage and could not record its stop in PostgreSQL tries to record it again after this time."""

OUTAGE_LOOK_SECONDS_MAX = 3_600
OUTAGE_LOOK_PART = 10
"""Later tries follow after a tenth of the outage so far, at most the maximum: a long outage costs few events."""

SENT_BACK_A_RUN = 20
"""How often the workflow's view of a run may disagree with the database before the run stops for an operator."""

RETRY_DELAYS_SECONDS = (5, 30, 120, 600)
"""The pauses before the retries, each with a random part, and never longer than the caps allow (seed 003 §6.2)."""

CAP_SECONDS_MAX = 31 * 24 * 3600
"""The longest cap, life or delay that a run may pin. A longer one is a mistake or a forged answer."""

RETRY_JITTER_PERCENT = 20
"""The random part of a pause, so that many runs do not continue at the same moment."""

HARD_CAP_MINUTES = 60
"""The active time of a run. The time in which it waits for people does not count (seed 000 §6)."""

LANE_WAIT_SECONDS = 5
"""The durable timer between two tries to get the write lane."""

HISTORY_SECONDS = 10
"""The size of Temporal's answer with a page of a run's history. A whole history has some 140 events."""

STATE_LOCK_SECONDS = 5
"""The time that a worker waits for state.lock before STOP_RUN_BUSY (seed 000 §7)."""

STEER_SILENT_SECONDS = 900
"""A moving document without a record for so long is named again, because its workflow may have been terminated."""

RECONCILE_MINUTES = 10
"""The time between two looks of the reconciler's schedule that `cutter up` makes."""

RECONCILE_SECONDS = 300
"""The time for which the reconciler's schedule asks Temporal which workflows are open."""

EVENT_BYTES_MAX = 1 * MIB
"""The size of one line of transitions.jsonl. Ours have less than 2 KiB."""

TRANSITIONS_MARGIN_SECONDS = 15
"""The age at which `cutter transitions export --follow` writes a transition, because a commit follows later."""

TRANSITIONS_PAUSE_SECONDS = 2
"""Between two looks of `cutter transitions export --follow`."""

CONTROL_ACTIVITY_SECONDS = 120
"""The cap of one activity that is no gate: a request, a verdict, a report."""

PARKED_SECONDS = 30 * 24 * 3600
"""The workflow of a stopped run closes after this time. `cutter orchestrate resume` starts a new one."""

START_GRACE_SECONDS = 60
"""The reconciler ignores a younger run that has tried no gate: its workflow starts a moment after its row."""

CLOSING_SECONDS = 5
"""A workflow closes a moment after its run has ended. So the next run of the document waits this long for it."""

# --- Workers ---------------------------------------------------------------------------------------------------------

HEARTBEAT_TIMEOUT_SECONDS = 15
"""The time after which Temporal notices that a worker is dead."""

WORKER_WAIT_MINUTES = 10
"""The time that a task waits for a worker of its role. Then the run stops as stopped_unavailable_worker_<role>."""

WORKER_BEAT_SECONDS = 10
"""The time between two heartbeats of a worker. A worker that missed three is called unresponsive."""

WORKER_BEAT_WAIT_SECONDS = 3
"""The time that a heartbeat waits for its connection. The next one follows soon."""

PREFLIGHT_SECONDS = 60
"""The time between two preflights of a worker that serves. A preflight takes about a second of this worker's host."""

PREFLIGHT_AGAIN_SECONDS = 5
"""The time after which a worker whose preflight failed makes the next one, so that it serves soon after the repair."""

PREFLIGHT_LIMIT_SECONDS = 60
"""The time for a whole preflight. If a store or a server hangs, the preflight has failed after this time."""

PREFLIGHT_CONNECT_SECONDS = 10
"""The time for a connection to Temporal in a preflight. With TLS it takes less than a second."""

BLOCKED_SHOWN_MAX = 3
BLOCKED_CHARACTERS_MAX = 400
"""Failed checks that a worker's heartbeat names, and characters of each. A heartbeat has room for 2,000 characters."""

SENDERS_MAX = 256
"""Callers of one server that are still sending, two threads each. One more, and the oldest is disconnected."""

SENDERS_OF_ADDRESS_MAX = 64
"""Callers from one address that are still sending. All callers of a proxy share one address."""

SENDER_SECONDS = 5.0
"""The time for a request, from its connection to its last byte. Slack itself waits three seconds for the answer."""

WORKER_STOP_SECONDS = 30
"""The time for a worker to end before it is killed. The next worker takes up a gate that was running."""

SHUTDOWN_IDLE_SECONDS = 20
"""After SIGTERM a worker ends when nothing has run for this long, even if the server answers no open poll."""

SHUTDOWN_LOOK_SECONDS = 0.5
"""Time between two looks whether a worker's shutdown is over."""

WORKFLOWS_CACHED = 120
"""Runs that a worker keeps in memory (0.2 MiB each). Another is read from its history, with 40 ms of CPU."""

ARENAS = 2
"""Arenas of glibc's allocator in a worker. Python's threads take turns, and small objects have another allocator."""

GIVE_BACK_SECONDS = 30
"""The pause after which a worker gives memory back. A look at a large batch frees megabytes."""

# --- PostgreSQL ------------------------------------------------------------------------------------------------------

LOCK_TIMEOUT_SECONDS = 20
"""The time that a gate waits for a lock. It is longer than the idle timeout of a stopped predecessor."""

IDLE_IN_TRANSACTION_SECONDS = 10
"""The server ends a stopped worker's transaction after this time. Its successor's lock_timeout is longer."""

READER_SECONDS = 60
"""The longest statement and transaction of directus, which reads one table."""

READER_TEMP_FILES_MIB = 32
"""Temporary files of one session of directus."""

SHARED_BUFFERS_MIN_MB = 128
SHARED_BUFFERS_MAX_MB = 1024
"""The memory that `cutter up` lets its own PostgreSQL keep pages in."""

WATCH_KEPT_SECONDS = 5
"""How long a worker keeps its view of a batch, and the connection that hears of changes, for the batch's next step."""

WATCH_READS = 100
"""Reads of notifications at once. Each takes what has arrived."""

DATABASE_CONNECT_SECONDS = 5
"""The time for a connection to PostgreSQL, and for a pool to try again before it reports that none is possible."""

# --- Backups ---------------------------------------------------------------------------------------------------------

BACKUP_MAX_AGE_MINUTES = 60
"""The age at which a backup is stale. If it is older when leg A starts, a worker takes a new one."""

BACKUP_DEADLINE_SECONDS = 240.0
"""The default time limit of a backup with its check. It is shorter than the gate's cap of five minutes."""

WHOLE_DATABASE_SECONDS = 4 * 3600.0
"""A dump of the whole database of a local stack, or its restore."""

BACKUP_CHUNK_BYTES = 128 * 1024
"""Bytes that a backup moves at once between its processes. They are more than the 64 KiB that a pipe holds."""

BACKUP_RECORD_BYTES_MAX = 64 * 1024
"""The size of an artifact's record, and of an artifact's first line. A real one has about 5 KiB."""

ARCHIVER_LATE_SECONDS = 600
"""No restore point is marked if the archiver is later: a lost disk would lose the point. A file takes seconds."""

BACKUP_NICENESS = 10
"""The priority of a backup's programs, because the documents of others must begin meanwhile."""

# --- Batches and queues ----------------------------------------------------------------------------------------------

STEER_SECONDS = 300
"""The longest time that a batch's activity waits for a change. Then it answers that there is none."""

QUEUE_ITEMS_DEFAULT = 100
"""Documents of a queue, unless the setting says otherwise (seed 001 §2)."""

QUEUE_ITEMS_MAX = 10_000
"""Documents of a queue at most. The code is measured with so many (`python -m benchmarks.queue`)."""

QUEUE_BYTES_A_HUNDRED_ITEMS = 64 * 1024
"""The size of queue.yaml for each hundred documents. An item without options has less than 100 bytes."""

QUEUE_LINE_CHARACTERS_MAX = 4_096
"""Characters of a line of queue.yaml, so that the search for secrets stays cheap."""

QUEUE_PROBLEMS_SHOWN = 20
"""Problems of a queue that are reported at once. The rest are counted."""

PRIORITY_MAX = 9_999
"""The last priority of an item."""

PRIORITY_DEFAULT = 100
"""The priority of an item that names none. There is room before and after it."""

PRIORITY_STEPS = (PRIORITY_DEFAULT, 500, 1_000, 5_000)
"""Single runs up to the first number come before everything. Up to the second they follow late approvals, up to the
third they are like batches, up to the last like nights, and above it they come last."""

BATCH_WINDOW = 5_000
"""Documents of a batch that are open at once. Temporal accepts 2,000 children of one execution (`BATCH_STARTS`)."""

BATCH_STARTS = 400
"""Children that one execution of a batch starts, so that it has little to remember. Then the next begins."""

BATCH_ORDERS_AT_ONCE = 400
"""Orders in one answer to a batch's workflow: each is a command, and Temporal accepts four megabytes in a task."""

STEER_POLL_SECONDS = 10
"""The time after which a batch is looked at again without a notification."""

BATCH_PART_ITEMS = 500
"""Items of a batch that are read at once. Each has about a kilobyte."""

WHOLE_LOOK_SHARE = 30
"""A whole look follows after this many times its own length, so that looks take a thirtieth of the time."""

STEER_UNHEARD_SECONDS = 30
"""A run that has not begun after this time, or a stop, is named again: the answer may be lost with its worker."""

SET_STATEMENTS_MAX = 1_000
"""Requests of one signing session, and statements of one set. Few people read so many in a day."""

SET_FILES_MAX = 4 * QUEUE_ITEMS_MAX
"""Files in a folder of approvals signed in advance: two for each document of a batch and each of two people."""

BATCH_FOLDER_PAUSE_SECONDS = 2
BATCH_FOLDER_ITEM_SECONDS = 0.1
"""The pause between two writes of a batch's folder, and the addition for each document: a twentieth of the time."""

BATCH_HISTORY_DOCUMENTS_MAX = 1_000
"""Documents of a batch up to which its folder shows their history: more take hundreds of megabytes of memory."""

BATCH_FOLDER_NEWS = 10
"""The part of that pause that a change of the batch's own state waits."""

BATCH_SLOTS = 32
"""Activities of batches that one worker runs at once. Each open batch holds one while it waits for changes."""

BATCH_LANES = 4
"""Documents that are planned at once (seed 001 §5)."""

BATCH_LANES_MAX = 64
"""Lanes that a person may ask for. No machine has use for so many. The database has the same limit."""

WEIGHT_MAX = 1_000
"""The largest weight of a tenant. Temporal's fairness accepts no larger one. The database has the same limit."""

# --- Notifications ---------------------------------------------------------------------------------------------------

CARD_TITLE_MAX = 140
CARD_LINE_MAX = 300
CARD_TEXT_MAX = 1_400
"""Characters of a card's title, of a line, and of a text: below Slack's 150, 2,000 and 3,000, however it counts."""

SLACK_WINDOW_SECONDS = 300
"""The most by which a callback's timestamp may differ from our clock. Otherwise it may be a replay."""

CHANNEL_STEP_SECONDS = 5.0
"""The time for each step of a call to a receiver, which answers in a tenth of a second. No run waits for it."""

SMTP_SECONDS = 30.0
"""The time for a conversation with a mail server, about ten steps. The lease of the message is longer."""

CHANNEL_ANSWER_BYTES_MAX = 4 * MIB
"""The size of a receiver's answer. The largest is Slack's answer with the last hundred messages of a channel."""

NOTIFICATION_RETRY_SECONDS = (5.0, 30.0, 120.0, 600.0)
"""The pauses between two tries of one message. A pause that the receiver asks for is at most the last one."""

SLACK_BODY_BYTES_MAX = 256 * 1024
"""The size of a callback. It carries the whole message back, which has about 4 KiB."""

SLACK_CALLERS_MAX = 16
"""Signed callbacks that are decided at the same time. Slack sends one for each press."""

NOTIFICATION_TRIES = 150
"""Tries of one message. They take a day and a night. After that the event of the message is over too."""

NOTIFICATION_LEASE_SECONDS = 60
"""The time for which a message that is being sent belongs to its sender. It is longer than all steps of two calls."""

NOTIFICATIONS_A_PASS = 50
"""Messages in one pass of a channel. Slack accepts about one a second. The next pass sends the rest."""

NOTIFICATION_DAYS = 7
"""The age at which an untaken message is dropped, and up to which a message that was given up is shown."""

# --- Local services --------------------------------------------------------------------------------------------------

POLL_SECONDS = 0.05
"""The time between two looks at a process or a file. It is short compared with every start."""

POSTGRES_START_SECONDS = 120
"""The time for the start of a database cluster, crash recovery included."""


TEMPORAL_START_SECONDS = 90
"""The time until a local Temporal server answers. It usually needs 2 to 4 s."""

TEMPORAL_STOP_SECONDS = 15
"""The time for a local server to end. Everything that it acknowledged is on disk, so killing it loses nothing."""

DISK_FREE_MIN_BYTES = 1_024 * MIB
"""The free space below which nothing is started: a database that fills its disk stops in its work."""

DISK_FREE_TO_READ_BYTES = 128 * MIB
"""The free space below which an existing stack is not started. The recovery of its database writes files of 16 MiB."""

CONNECT_SECONDS = 3
"""The time for a check whether an address accepts connections."""

KILL_SECONDS = 5
"""The time in which a killed process ends, unless the kernel holds it."""

# --- Files of people, and names of strangers -------------------------------------------------------------------------

ANSWER_CHARACTERS_MAX = 4_000
"""Characters of a text in an activity's answer to a workflow. Our longest one is the address of a source."""

NAME_CHARACTERS_MAX = 100
"""Characters of a state, a gate or a field's name in such an answer. The server accepts no long ones."""

ANSWER_ENTRIES_MAX = 50
"""Facts, counts or names in such an answer. Our largest answer has twenty."""

YAML_DEPTH_MAX = 6
"""Levels of mappings and lists in a YAML file of people."""

YAML_FLAWS_MAX = 100
"""Flaws of a YAML file after which its reader stops."""

# --- Reading enacted law ---------------------------------------------------------------------------------------------

SEARCH_HITS_DEFAULT = 20
"""Units that `cutter law search` shows, unless another number is given. A person reads so many in one list."""

SEARCH_WORDS_CHARACTERS_MAX = 500
"""Characters of a search. A longer one is a pasted text."""

LAW_EXPORT_BYTES_MAX = 256 * MIB
"""The size of an exported law. It holds a source of 16 MiB twice, and XML and JSON write some letters with six."""

DESK_TEXT_BYTES = 200_000
"""Text of units on one page of `cutter desk`; a longer unit has a page of its own."""

DESK_ROWS = 500
"""Rows of a list on one page of `cutter desk`."""
