-- The effect policies that operators put in force. The newest one decides on every host.
create table cutter_governance.effect_policy (
    number integer generated always as identity primary key,
    sha256 text not null references cutter_governance.governing_policy,
    installed_at timestamptz not null default clock_timestamp(),
    installed_by text not null default session_user
);

comment on column cutter_governance.governing_policy.first_used_at is
    'When the text was first put in force, or first decided by.';
