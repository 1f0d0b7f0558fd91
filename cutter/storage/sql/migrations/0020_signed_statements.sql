-- Keeps the bytes of each accepted statement and of its signature, as they were judged. Whoever needs them later reads
-- these rows. A verdict from before this migration has none, so its files are still read from the knowledge base.
create table cutter_governance.signed_statement (
    verdict_id bigint primary key references cutter_governance.approval_verdict (id),
    body bytea not null check (octet_length(body) between 1 and 65536),
    signature bytea not null check (octet_length(signature) between 1 and 16384)
);
