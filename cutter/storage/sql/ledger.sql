-- What of sql/ was applied to this database, each file with its sha256; cutter.storage.migrate reads and writes it.
create schema if not exists cutter_ledger;
create table if not exists cutter_ledger.migration (
    number integer primary key,
    name text not null,
    sha256 text not null,
    applied_at timestamptz not null default clock_timestamp()
);
create table if not exists cutter_ledger.definition (
    kind text not null,
    name text not null,
    sha256 text not null,
    applied_at timestamptz not null default clock_timestamp(),
    primary key (kind, name)
);
-- Each set of functions and trigger sets that this database had, in order: an older version of cutter is known by it.
create table if not exists cutter_ledger.definition_set (
    sha256 text primary key,
    seq bigint generated always as identity,
    applied_at timestamptz not null default clock_timestamp()
);
