"""Pure: every named maximum with its unit and its reason; settings may lower most of them, never raise them."""

from __future__ import annotations

MIB = 1024 * 1024

SOURCE_BYTES_MAX = 16 * MIB
"""A law's snapshot. The largest real law seen is 0.4 MB; a larger file is a mistake."""

CANDIDATES_DEFAULT = 1_000
"""Units a document, unless set (seed 000 §4)."""

CANDIDATES_MAX = 10_000
"""One advisory lock a unit: 10,000 in a transaction pass on stock settings, 20,000 do not (measured)."""

TITLE_CHARACTERS_MAX = 300
"""A title is cut at a word to this length; the whole heading stays in the body."""

STATEMENT_BYTES_MAX = 64 * 1024
"""A signed statement; read once, verified on these bytes."""

SIGNATURE_BYTES_MAX = 16 * 1024
"""A detached OpenPGP signature; a real one has under 1 KiB."""

KB_OBJECT_BYTES_MAX = 16 * MIB
"""A knowledge-base object, the copy of a snapshot included."""

APPROVALS_A_GATE_MAX = 8
"""Distinct approvers that a tier may ask for."""

REFUSALS_A_GATE = 20
"""Refused messages at one sovereign gate before the run stops as stopped_signal_flood."""

INBOX_MESSAGES_MAX = 200
"""Messages a run keeps before it has read them; more are counted and dropped, since history has them."""

RETRIES_A_GATE = 4
"""Dependency failures of one gate that are retried, each a visible row (spec "Caps, retries, resume")."""

FAILURE_BUDGET_A_RUN = 6
"""Dependency failures of a whole run before it stops as stopped_unavailable_<what>."""

LOST_WORKERS_A_GATE = 20
"""Attempts of one gate that died with their worker; more means the gate itself kills workers."""

STILL_SECONDS = 300
"""A run that waits for nobody and has not moved for so long is shown with `cutter reconcile` as its next command."""

LOST_WORKER_DELAYS_SECONDS = (1, 2, 5, 10)
"""Pause before an attempt that died with its worker is tried again. A fault that fails every attempt at once would
otherwise use up all tries within a second."""

OUTAGE_LOOK_SECONDS = 30
"""A run that met an outage and could not record its stop in PostgreSQL tries to record it again after this time."""

OUTAGE_LOOK_SECONDS_MAX = 3_600
OUTAGE_LOOK_PART = 10
"""Later tries follow after a tenth of the time that the outage has lasted, but at most after the maximum: the record
follows soon after the outage ends, and a long outage costs few events."""

BACKUPS_A_GATE = 3
"""The number of backups that may become stale before leg A starts. After that the run stops, because taking a backup
takes longer than a backup may be old.
"""

SENT_BACK_A_RUN = 20
"""How often the workflow's view of a run may disagree with the database before the run stops for an operator."""

RETRY_DELAYS_SECONDS = (5, 30, 120, 600)
"""Backoff between retries, jittered, cut to what the caps leave (seed 003 §6.2)."""

CAP_SECONDS_MAX = 31 * 24 * 3600
"""Any cap, life or delay that is pinned in a run: more is a mistake, or a forged answer that no timer could hold."""

RETRY_JITTER_PERCENT = 20
"""Spread of a delay, so that many runs do not come back at once."""

HARD_CAP_MINUTES = 60
"""Active time of a run; waiting for people does not count (seed 000 §6)."""

HEARTBEAT_TIMEOUT_SECONDS = 15
"""A dead worker is noticed after this."""

WORKER_WAIT_MINUTES = 10
"""Schedule-to-start: no worker of a role within it stops the run as stopped_unavailable_worker_<role>."""

WORKER_BEAT_SECONDS = 10
"""Between two heartbeats of a worker; one that missed three is called unresponsive."""

WORKER_BEAT_WAIT_SECONDS = 3
"""A heartbeat's wait for its connection: when the database is unavailable the next one comes soon enough."""

TTL_SG1_HOURS = 24
TTL_SG2_HOURS = 12
"""Life of a request and of an approval (spec "The statement")."""

PRE_BATCHED_HOURS = 12
"""Life of an approval that is signed before the night (seed 001 §7)."""

SIGNED_BEFORE_SIGNATURE_MINUTES = 30
SIGNED_AFTER_SIGNATURE_SECONDS = 60
"""How far a statement's signed_utc may lie before and after the signature's own time."""

BACKUP_MAX_AGE_MINUTES = 60
"""Older than this when leg A starts, a backup is stale and a new one is taken."""

LANE_WAIT_SECONDS = 5
"""Durable timer between two tries for the write lane."""

LANE_WAIT_TRIES = 720
"""Tries for the write lane (more than half an hour) before stopped_unavailable_write_lane."""

LOCK_TIMEOUT_SECONDS = 20
"""A gate's wait for a row or advisory lock; longer than the idle timeout of a stopped predecessor."""

IDLE_IN_TRANSACTION_SECONDS = 10
"""A stopped worker's transaction ends after this, before its successor's lock_timeout."""

READER_SECONDS = 60
"""A statement and a transaction of directus, which reads one table."""

TEMP_FILES_MIB = 256
"""Temporary files of one session; what the product sorts fits in memory."""

READER_TEMP_FILES_MIB = 32
"""The same of a session of directus."""

NOTIFY_QUEUE_PAGES = 8_192
"""Pages of 8 KiB for notifications that a session has not read yet, here 64 MiB: any role can fill them."""

NOTIFY_QUEUE_SHARE_MAX = 0.5
"""From here on a change of a batch is not announced, so that no COMMIT meets a full queue; the poll finds it."""

CAP_MARGIN_SECONDS = 5
"""transaction_timeout lies this far below the gate's cap, so that nothing keeps writing after it."""

HISTORY_SECONDS = 10
"""Temporal's answer with a page of a run's history; a whole one has some 140 events."""

HISTORY_EVENTS_MAX = 51_200
"""Temporal ends an execution at this many."""

STATE_LOCK_SECONDS = 5
"""Wait for state.lock before STOP_RUN_BUSY (seed 000 §7)."""

FINDINGS_SHOWN_MAX = 50
"""Findings that a command lists; the rest are counted."""

FINDINGS_IN_REQUEST_MAX = 500
"""Amber findings and notes that a request document lists, each; the rest are counted. It lists every red one."""

UNITS_IN_PROMPT = 60
"""Units of the tree that the prompt of `cutter approve` shows: two screens; the page shows all."""

LINES_IN_PROMPT = 20
"""Lines of one unit that a command shows with their numbers: less than a screen."""

EXCERPT_CHARACTERS = 140
"""Of a unit's text or of a finding's line, after its title: one line on a wide screen, two on a phone."""

REQUEST_TREE_BYTES_MAX = 4 * MIB
"""The list of units of a request document: 10,000 units of real laws have half of it, and the document stays far below
the size that the knowledge base takes. The units that do not fit are counted."""

FINDINGS_OF_A_KIND_SHOWN = 10
"""Findings of one kind that `cutter mark` shows, so that one a line does not hide the others."""

REASON_CHARACTERS_MAX = 500
"""A person's reason for a stop, cancel, void or refusal."""

VOID_WORDS_CHARACTERS_MAX = 40
"""Characters of a void's reason in the name of the state it ends in: some six words, and the state fits a column of
`cutter status`; the database has the same bound."""

DIFF_LINES_MAX = 40
"""Lines of a drift's readable diff that are stored and shown."""

POLL_SECONDS = 0.05
"""Between two looks at a process or a file that is awaited: short against every start time, long against its cost."""

POSTGRES_START_SECONDS = 120
"""A cluster's start, crash recovery included."""

POSTGRES_STOP_SECONDS = 30
"""A fast shutdown with its checkpoint; then an immediate one, which the next start recovers from."""

STATE_FOLDER_LOCK_SECONDS = 180
"""Wait for another command that makes or starts the same cluster; longer than that cluster's own start."""

ORPHAN_SECONDS = 1
"""Backends of a killed PostgreSQL notice its death by themselves; after this they are ended."""

BACKUP_DEADLINE_SECONDS = 240.0
"""Default bound of one backup or one restore check; below the gate's cap of five minutes."""

BACKUP_STEP_SHARE = 0.45
"""Of the backup gate's cap that one step of it may take: waiting for another item's backup, taking one, restoring it.
Two of them and the gate's own transaction fit."""

BACKUP_LINE_BYTES_MAX = 64 * MIB
"""One restored row as COPY text: a body of SOURCE_BYTES_MAX whose every byte is escaped, and room."""

BACKUP_CHUNK_BYTES = 128 * 1024
"""Bytes moved at once between the processes of a backup; above the 64 KiB that a pipe holds."""

BACKUP_RECORD_BYTES_MAX = 64 * 1024
"""The record of an artifact; a real one has about 1 KiB."""

TREE_PAGE_ENTRIES_MAX = 32
"""Documents on one page of the tree of backups. A page is about 8 KiB, and a million documents are five pages deep."""

TREE_PAGE_BYTES_MAX = 64 * 1024
"""One page of the tree of backups: TREE_PAGE_ENTRIES_MAX entries with the longest names, and room."""

SEGMENT_HEADER_BYTES_MAX = 64 * MIB
"""The first line of a segment: about 150 bytes for each document, and room for 400,000 of them."""

BACKUP_VERIFIED_MAX_DAYS = 30
"""No backup is taken if a segment was verified longer ago. A daily scrub of a thirtieth of the segments suffices."""

SCRUB_DOCUMENTS = 200
"""Documents that one scrub verifies: about a minute of work."""

SCRUB_DOCUMENTS_EACH_PASS = 20
"""Documents that one pass of the reconciler verifies: a pass each ten minutes verifies 86,000 in a month."""

SCRUB_PASS_SECONDS = 60.0
"""The part of a reconciler's pass in which it verifies segments."""

SCRUB_EVERYTHING = 100_000_000
"""More documents than there are: a scrub of all of them."""

RESTORE_DEADLINE_SECONDS = 4 * 3600.0
"""A restore of everything, from the segments of years."""

SEGMENT_SEAL_TRIES = 20
"""How often a restored segment is entered into the tree while other backups enter theirs."""

BACKUP_STDERR_BYTES_MAX = 16 * 1024
"""Bytes kept of what one process of a backup writes to its error stream; the rest is read and dropped."""

BACKUP_NICENESS = 10
"""The priority of a backup's programs. A large batch takes one wave of backups after the other, and the documents of
others must begin meanwhile."""

BACKUP_POLL_SECONDS = 0.5
"""Longest time that a backup waits in one system call, so that a cancellation is noticed."""

GPG_ANSWER_SECONDS = 20.0
"""A question to gpg that needs no data (list keys, start the agent) or a program's version."""

PROGRAM_VERSION_SECONDS = 30
"""A program that is asked for its version; a 250 MB one, cold from a slow disk, needs a few."""

TEMPORAL_BUILD_SECONDS = 1_800
"""Building Temporal from source: 150 s on 2 cores, longer where the module proxy is slow."""

DOWNLOAD_STALL_SECONDS = 15
"""A download that brought no byte for so long is given up and the next way is tried."""

TEMPORAL_START_SECONDS = 90
"""Until a local Temporal server answers; 2 to 4 s are usual."""

TEMPORAL_ASK_SECONDS = 1.0
"""Between two questions to a Temporal server that does not answer yet."""

RECONCILE_MINUTES = 10
"""Between two looks of the reconciler's schedule that `cutter up` makes."""

TEMPORAL_STOP_SECONDS = 15
"""A local server's end; what it had acknowledged is on disk, so killing it after this loses nothing."""

WORKER_START_SECONDS = 60
"""Until a worker has written its ready file."""

WORKER_STOP_SECONDS = 30
"""A worker's orderly end before it is killed; a gate that was running is taken up again by the next worker."""

SHUTDOWN_IDLE_SECONDS = 20
"""A worker that got SIGTERM ends after nothing has run in it for this long, even if the server never answers its open
polls. It covers the report of the last activity's result."""

SHUTDOWN_LOOK_SECONDS = 0.5
"""Time between two looks whether a worker's shutdown is over."""

DISK_FREE_MIN_BYTES = 1_024 * MIB
"""Below this free space nothing is started: a database that meets a full disk stops in the middle of things."""

SEGMENT_CHARACTERS_MAX = 48
"""One segment of an address made from a title; longer titles are cut and get a piece of their digest."""

HEADING_CHARACTERS_READ = 2_048
"""How much of a heading's line is read for its title and number; the whole line stays in the body."""

VOCABULARY_BYTES_MAX = 16 * 1024
"""A file of words for the vocabularies: a few hundred owners."""

PROFILE_BYTES_MAX = 64 * 1024
"""A marking profile; the largest shipped one has 5 KiB."""

PROFILE_LEVELS_MAX = 32
"""Levels of a marking profile; real laws use at most ten."""

TREE_ROWS_SHOWN = 60
"""Units of a suggested profile's tree that the terminal shows: a screen and a half; `--json` has them all."""

CORRECTIONS_MAX = 100
"""Corrections of one suggested profile; with more, editing the file is quicker."""

PROFILES_KEPT = 16
"""Parsed profiles that a process remembers: the shipped ones, and as many of people's own as are used side by side."""

ACCEPTANCES_MAX = 64
"""Red findings that one version may accept by name; a text with more is cut by the wrong profile."""

RED_FINDINGS_OF_A_KIND = 8
"""Red findings of one kind that a person accepts one by one; more of them are one finding of the whole text."""

GIANT_UNIT_BYTES = 20_000
"""Text of its own from which a unit may be too large; the longest articles of real laws have 15 KB."""

GIANT_UNIT_RATIO = 15
"""How much larger than the median of the other units a giant one is."""

HEADING_LINE_BYTES = 400
"""How much of a line is read to tell whether it looks like a heading."""

FRONT_MATTER_LINES_MAX = 400
"""A YAML block before the text; the longest seen has 30 lines, without an end it is text."""

POLICY_BYTES_MAX = 256 * 1024
"""An epoch of approvers.yaml; hundreds of approvers have under 100 KiB."""

RULES_BYTES_MAX = 64 * 1024
"""A policy.yaml; one with a hundred rules has under 20 KiB. Its text is kept with the decisions made by it."""

RULES_MAX = 200
"""Rules of a policy.yaml: more than people can hold in their heads, and still decided in microseconds."""

PUBLIC_KEY_BYTES_MAX = 256 * 1024
"""An approver's exported public key; one with many signatures has under 100 KiB."""

GPG_SECONDS = 30
"""One call of gpg about a signature, which takes milliseconds; a person's passphrase dialog is not bounded by this."""

CLOCK_SKEW_SECONDS = 60
"""How far a signature's own time may lie ahead of the database's clock."""

CARD_TITLE_MAX = 140
CARD_LINE_MAX = 300
CARD_TEXT_MAX = 1_400
"""Characters of a card's title, of a line and of a text: below Slack's own 150, 2,000 and 3,000, however it counts."""

SLACK_WINDOW_SECONDS = 300
"""A callback signed longer ago, or further ahead, may be a replay."""

CHANNEL_STEP_SECONDS = 5.0
"""Each step of a call of a channel's receiver, which answers in a tenth of a second: no run waits for it."""

CHANNEL_ANSWER_SECONDS = 15.0
"""Until an answer must be read: a receiver that sends a byte at a time never exceeds the time of one step."""

SMTP_SECONDS = 30.0
"""A whole conversation with a mail server, of some ten steps; shorter than the lease of the message."""

CHANNEL_ANSWER_BYTES_MAX = 4 * MIB
"""A receiver's answer: Slack's; that with the last hundred messages of a channel is the largest."""

NOTIFICATION_RETRY_SECONDS = (5.0, 30.0, 120.0, 600.0)
"""Between two tries of one message; if the receiver asks for a time, that, up to the last of these."""

NOTIFICATION_PASS_SECONDS = 2.0
"""Between two looks of `cutter notify serve` at what waits: one cheap question to PostgreSQL."""

SLACK_BODY_BYTES_MAX = 256 * 1024
"""A callback: it carries the whole message back, which has some 4 KiB."""

FOREIGN_WORKFLOWS_SHOWN = 100
"""Workflows under ids of ours that are not ours: `cutter reconcile` names so many at a time."""

FOREIGN_NAME_CHARACTERS = 80
"""Of a name that a stranger chose; enough to recognise it."""

SLACK_CALLERS_MAX = 16
"""Signed callbacks that are decided at once; Slack sends one for each press."""

SLACK_READERS_MAX = 256
"""Callers that are still sending, each a thread: with one more, the oldest of them is hung up on."""

SLACK_READERS_OF_ADDRESS_MAX = 64
"""The same for one address; all callers of a proxy share one."""

SLACK_READ_SECONDS = 5.0
"""A callback from its connection to its last byte; Slack itself waits three seconds for the answer."""

NOTIFICATION_TRIES = 150
"""Of one message: a day and a night of them, after which what it is about is over too."""

NOTIFICATION_LEASE_SECONDS = 60
"""A message that is being sent belongs to its sender for so long: longer than all steps of two calls."""

NOTIFICATIONS_A_PASS = 50
"""Messages of one pass of a channel, which Slack lets through at about one a second; the next pass takes the rest."""

NOTIFICATION_DAYS = 7
"""Age at which a message that no pass has put in line is left, and for which messages that were given up are shown."""

NOTIFICATIONS_SHOWN = 200
"""Undelivered messages that a command lists; the counts are of all."""

NOTIFICATION_SILENT_SECONDS = 3_600
"""After which `cutter doctor` says that nobody serves a channel: one pass an hour is the least that is useful."""

SLACK_HISTORY_MESSAGES = 100
"""Messages of the channel among which one is looked for whose answer was lost."""

CHANGES_SHOWN_MAX = 500
"""Units of each kind (added, changed, removed) that a request document lists; the rest are counted."""

CONNECT_SECONDS = 3
"""A look whether an address accepts connections."""

BACKUP_REASON_CHARACTERS_MAX = 200
"""Of pg_dump's first error line that an error shows."""

KILL_SECONDS = 5
"""A killed process is gone well within this, unless the kernel holds it."""

PORT_TRIES = 3
"""Starts on a port that was free a moment ago, before another program's hold on every one of them is an error."""

BACKUP_GRACE_MILLISECONDS = 2_000
"""The server ends a backup's transaction this much after the backup's own deadline, so that its own message comes."""

PORT_LOWEST = 20_000
PORT_SPAN = 10_000
"""Where free ports are looked for: above well-known servers, below what systems hand out (32,768 or 49,152 and up)."""

PORT_LOOKS = 200
"""Ports looked at before giving up."""

STEER_SECONDS = 300
"""A batch's activity waits at most so long for a change before it answers that there is none."""

STEER_PAUSE_SECONDS = 0.5
"""Changes that come within this time are answered together."""

SET_SECONDS = 1800
"""Cap of judging one set of approvals: a thousand signatures, each verified by gpg."""

QUEUE_ITEMS_DEFAULT = 100
"""Documents of a queue, unless set (seed 001 §2)."""

QUEUE_ITEMS_MAX = 1_000
"""What is tested and measured of the same code."""

QUEUE_BYTES_A_HUNDRED_ITEMS = 64 * 1024
"""Of queue.yaml for each hundred documents begun; a plain item has under 100 bytes."""

QUEUE_LINE_CHARACTERS_MAX = 4_096
"""A line of queue.yaml: what is looked at for secrets stays cheap."""

QUEUE_PROBLEMS_SHOWN = 20
"""Problems of a queue that are reported at once; the rest are counted."""

PRIORITY_MAX = 9_999
"""The last priority of an item."""

PRIORITY_DEFAULT = 100
"""An item without a priority: there is room before and after it."""

PRIORITY_STEPS = (PRIORITY_DEFAULT, 500, 1_000, 5_000)
"""Single runs up to the first number come before everything. Up to the second they follow late approvals, up to the
third they are like batches, up to the last like nights, and above it they come last."""

SOURCE_URI_CHARACTERS_MAX = 2_048
"""What browsers and servers take for the length of an address."""

ANSWER_CHARACTERS_MAX = 4_000
"""A text in an activity's answer to a workflow; the longest of ours is a source's address."""

NAME_CHARACTERS_MAX = 100
"""A state, a gate or a field's name in such an answer: people filter by it, and the server takes no long ones."""

ANSWER_ENTRIES_MAX = 50
"""Facts, counts or names in such an answer; the most of ours is twenty."""

BATCH_WINDOW = 500
"""Documents of a batch that are open at once, those in human review not counted (the engine's own bound is 2,000)."""

WORKFLOWS_CACHED = BATCH_WINDOW + 100
"""Runs that a worker keeps in memory between two of their steps: more than a batch has open. All documents of a signing
session wake at once, and each one that is not in memory is read from its whole history at each of its steps."""

WORKFLOW_TASKS = 16
"""Steps of workflows that a worker takes at once. Python runs them one after the other anyway: a hundred of them taken
together would each last longer than the server waits for one, and be taken again."""

BATCH_STARTS = 400
"""Children that one execution of a batch starts before the next one begins: what it must remember stays small."""

STEER_POLL_SECONDS = 10
"""Without a notification a batch's state is read again so often."""

STEER_UNHEARD_SECONDS = 30
"""A run that a batch registered and nothing has begun is named to the batch's workflow again after so long: the answer
that named it first may have been lost with its worker. So is a stop that has not come about."""

STEER_SILENT_SECONDS = 900
"""A document of a batch that moves, but of which nothing was recorded for so long, is named again too: its workflow may
have been terminated. Longer than any pause between two tries; if it still runs, its start is refused and nothing is
lost."""

HALT_MARGIN_SECONDS = 300
"""A halted batch waits for its documents so much longer than the longest gate may take; then it ends without those that
have come to no stop, and its report names them."""

STEER_SHOW_SECONDS = 5
"""A batch's totals are shown at most this much after they changed; what people wait for is shown at once."""

SET_DOCUMENTS_MAX = 4_000
"""Files in the folder of one set of approvals: twice the documents that a batch may have."""

RECONCILE_SECONDS = 300
"""The reconciler's schedule asks Temporal at most so long which workflows are open."""

BATCH_FOLDER_PAUSE_SECONDS = 2
BATCH_FOLDER_ITEM_SECONDS = 0.1
"""Between two writes of the folder of a batch at work: so long, and so much more for each of its documents. A write
takes a few milliseconds a document, so that the folder costs about a twentieth of the time whatever the size."""

BATCH_FOLDER_NEWS = 10
"""A change of the batch's own state waits only for this part of that pause."""

BATCH_SLOTS = 32
"""Activities of batches at once in one worker: each batch that is open holds one while it waits for changes."""

BATCH_LANES = 4
"""Documents that are planned at once (seed 001 §5)."""

BATCH_LANES_MAX = 64
"""Lanes that may be asked for: far more than a machine has use for; the database has the same bound."""

OVERNIGHT_LANES = 2
OVERNIGHT_HARD_CAP_MINUTES = 360
"""Of a batch that nobody watches (seed 001 §7)."""

BATCH_HARD_CAP_MINUTES = 7 * 24 * 60
"""Of a batch whose approvals people give in their own time."""

EVENT_BYTES_MAX = 1 * MIB
"""One line of transitions.jsonl; one of ours has under 2 KiB."""

ENTITIES_IN_MEMORY = 20_000
"""Entities of a file of transitions that are kept in memory while it is checked, some 20 MB; more go to disk."""

EXPORT_ROWS_AT_ONCE = 500
"""Rows that `cutter transitions export` holds at once, of those that it reads one after another."""

FINDINGS_IN_JSON = 1_000
"""Findings of such a file that one JSON document lists; the rest are counted."""

TENANT_CHARACTERS_MAX = 64
"""A tenant's name; Temporal's keys of fairness are not longer. The database has the same bound."""

WEIGHT_MAX = 1_000
"""A tenant's weight: what Temporal's fairness takes at most. The database has the same bound."""

NAMES_COMPARED_MAX = 5_000
"""Names that an unknown one is compared with to say which was meant; about a fifth of a second."""

BACKUPS_LISTED_MAX = 200
"""Backups that `cutter backup list` shows: weeks of them, in a list that a person can still read."""

JSON_DIGITS_MAX = 4_000
"""Digits of a whole number in a JSON value: Python reads at most 4,300, PostgreSQL holds 131,072."""

JSON_DEPTH_MAX = 100
"""Depth at which a JSON value is shown by a word: Python's parser ends near 1,000, PostgreSQL's near 6,000."""

BACKUPS_LOOKED_AT_MAX = 20
"""Recorded backups of a run that are read back, the newest first, until one is as it was recorded."""

WORD_PAIRS_COMPARED_MAX = 25_000_000
"""Words of one text times words of the other that a diff compares, about two seconds; beyond it all words differ."""

SEARCH_HITS_DEFAULT = 20
"""Units that `cutter law search` shows unless another number is given: what a person reads in one list."""

SEARCH_HITS_MAX = 1_000
"""Units that one search returns at most."""

SEARCH_WORDS_CHARACTERS_MAX = 500
"""A search; a longer one is a pasted text."""

DIFF_CONTEXT_CHARACTERS = 80
"""Unchanged characters that a diff shows next to a change on a terminal."""

LAW_EXPORT_BYTES_MAX = 256 * MIB
"""An export of a law: a source of 16 MiB is written twice, and XML and JSON write some letters with six."""
