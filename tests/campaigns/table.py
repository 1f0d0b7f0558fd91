"""Pure: the campaigns as a table: what is tried, how often, when it is accepted (spec "Campaigns")."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """One row: its module and the arguments of its full size. A campaign that is `named_only` needs root."""

    id: str
    title: str
    module: str
    full: tuple[str, ...]
    accepted_when: str
    named_only: bool = False


HOSTS = Campaign(
    id="hosts", title="30 documents on two nodes, a database with a synchronous standby and six workers of six users, "
    "which are killed in turn, stopped and cut off; an upgrade, other keys, a restore",
    module="tests.hosts", full=("--documents", "30"), named_only=True,
    accepted_when="0 lost, 0 doubled, no manual step except signatures; planted losses and doubles are found",
)  # fmt: skip

CAMPAIGNS = (*(
    Campaign(id=id, title=title, module=f"tests.campaigns.{module}", full=full, accepted_when=accepted)
    for id, title, module, full, accepted in (
        ("P1", "random faults over whole runs", "p01_random_faults", ("--runs", "1000"),
         "0 lost, 0 doubled, 0 approvals consumed twice, every run over or waiting, 30 % law, each fault 3 times"),
        ("P2", "lost COMMIT acknowledgement at the four writing gates", "p02_lost_acknowledgement",
         ("--cuts", "10000", "--control", "1000"), "0 doubled, 0 lost; the control doubles more than 300 of 1,000"),
        ("P3", "SIGKILL at 85 named points of a run's steps, 25 seeds", "p03_crash_points", ("--seeds", "25"),
         "each of 2,125 correct: 0 lost, 0 doubled"),
        ("P4", "zombie workers: SIGSTOP until another has the gate, then SIGCONT", "p04_zombie_workers",
         ("--trials", "500"), "0 writes by a stale attempt; without the fence there are"),
        ("P5", "locks after SIGKILL", "p05_locks_after_kill", ("--trials", "200"), "p99 at most 2 s"),
        ("P6", "progress after a worker's SIGKILL", "p06_progress_after_kill", ("--trials", "40"), "p95 at most 45 s"),
        ("P8", "mutated approvals", "p08_mutated_approvals", ("--trials", "10000"), "0 accepted; 1,000 good ones are"),
        ("P9", "approvals offered to every run and gate, by eight at once", "p09_offered_everywhere", ("--rounds", "8"),
         "each accepted exactly once, by its own"),
        ("P10", "every bit flip of 10 signatures", "p10_signature_bit_flips", ("--signatures", "10"),
         "whatever verifies has the same approval id"),
        ("P11", "stop against approve, both orders, same workflow task", "p11_stop_against_approve",
         ("--trials", "400"), "stop wins"),
        ("P12", "ten shuffled signals", "p12_shuffled_signals", ("--trials", "1000"), "every run ends the same"),
        ("P13", "forged results, our activities scheduled by strangers, a stolen password", "p13_forged_results",
         ("--trials", "55"), "0 rows written, no run wedged"),
        ("P14", "reset of a finished run to each of its workflow tasks", "p14_reset", ("--trials", "60"),
         "0 rows, 0 consumptions changed"),
        ("P15", "tampering before a gate and while its transaction is open", "p15_tampering", ("--trials", "1000"),
         "all detected; 1,000 clean ones, 0 false stops"),
        ("P16", "every role × object × verb", "p16_grant_matrix", (), "equals the declared matrix"),
        ("P17", "routes of changing an enacted row, version, receipt or audit event", "p17_immutability", (),
         "0 succeed for anyone but the owner and a superuser"),
        ("P18", "backup defects", "p18_backup_defects", ("--trials", "200"), "200 caught, no plaintext on disk"),
        ("P20", "100 documents, 4 lanes, 10 poisoned, 2 kills of worker and server, one outage", "p20_the_night",
         ("--documents", "100", "--poisoned", "10", "--lanes", "4", "--kills", "2", "--outages", "1", "--plain"),
         "90 enacted, 10 quarantined with one document each, leg A and enactment never two at once"),
        ("night", "30 documents: approvals expired, of another text, missing; a poisoned one's dependent; 2 kills",
         "p20_the_night", ("--documents", "30", "--poisoned", "2", "--lanes", "2", "--kills", "2", "--outages", "0"),
         "exactly the right ones are law, the others in the right queues, whose commands work; nothing doubled"),
        ("P21", "approvals signed before, at the edge of their time", "p21_ttl_edge", ("--trials", "60"),
         "each consumed exactly once, or its document in human review with nothing written"),
        ("P22", "canaries through every input and error path: texts of laws, approvals, passwords", "p22_canaries", (),
         "0 in histories, logs, search attributes, temporary files and reports; a planted one is found in each"),
        ("P23", "one edit of the audit export: delete, alter, insert, reorder; the forger knows the format",
         "p23_edited_exports", ("--trials", "1000"), "1,000 of 1,000 detected by the stand-alone verifier"),
        ("P24", "our own guards removed one at a time", "p24_removed_guards", ("--jobs", "2"),
         "at least 98 % turn their test red; every test is green with all guards in place"),
        ("P25", "two hours close to saturation: batches, revisions, stopped and cancelled runs, killed workers",
         "p25_soak", ("--minutes", "120"),
         "memory, files, connections, dead tuples, latency: no second half is more than 5 % worse, and higher "
         "in nine of ten pairs of its blocks with the first half's; planted leaks are found"),
        ("P26", "rows that no writer of ours makes, by each role and past the checks, and every reader of them",
         "p26_hostile_rows", ("--trials", "120"), "0 readers fail, the run is closed; without the guards they fail"),
        ("P27", "forged evidence bundles: each part removed or replaced, all digests and chains made to fit",
         "p27_forged_bundles", ("--trials", "2000"),
         "0 verify, with gpg or without; the earlier verifier is fooled; what no file can show is NOT CHECKED"),
        ("P28", "20 hostile texts through every input, read in every command, document and page", "p28_hostile_text",
         ("--strings", "20"), "0 leaks; without the escaping the same trials leak"),
        ("P29", "each role makes noise while a document is cut: locks, rows, connections, large objects, files, "
         "NOTIFY, own settings, long statements", "p29_noisy_roles", ("--seconds", "7"),
         "every document is law, under the noise of a reader while it lasts; without the guards it stalls or stops"),
        ("P30", "web pages of strangers, also under a name that leads to this machine, against every port of Temporal",
         "p30_web_pages", ("--rounds", "3"),
         "0 requests take effect; without the guards they signal, end, start and read"),
        ("P31", "printed commands: next lines, errors, JSON fields, help, mistakes, runbooks, in more than 100 states",
         "p31_next_commands", (), "each leads on in its state: 0 circles; planted ones are found"),
        ("P32", "random changes of laws, with kills, stops, rejections and voids, against a simple model",
         "p32_changing_laws", ("--sequences", "20", "--steps", "12"),
         "after each step the law in force on each day, every enacted text and its signatures are the model's"),
        ("P33", "each worker's role calls every function that it may call, at every gate", "p33_facts_of_one_role",
         ("--trials", "300"), "each run ends by signed statements, its evidence holds; without the guards some do not"),
        ("P34", "each file of a run in the knowledge base changed, removed or replaced, at every gate",
         "p34_changed_files", ("--trials", "600"),
         "each run becomes law, its evidence holds; evidence from the knowledge base does not"),
        ("P35", "each node, attribute, member, name, order and line of a law's exports changed", "p35_forged_exports",
         ("--articles", "12"), "0 hold; the comparison of the units' texts alone is fooled"),
        ("kills", "1,000 units, SIGKILL at ten moments, `cutter up` after each", "kills",
         ("--runs", "3", "--units", "1000"), "1,000 units, one receipt a gate, each approval consumed once"),
    )
), HOSTS)  # fmt: skip
