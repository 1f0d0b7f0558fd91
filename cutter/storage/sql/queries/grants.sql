-- name: live_grants
-- Returns the live privileges: how many cells (role, object, verb) there are, their digest, and those that are granted.
select cells, sha256, granted, relations, functions
from jsonb_to_record(cutter_governance.fn_grant_matrix(%(roles)s, %(verbs)s, %(schemas)s))
    as matrix (cells integer, sha256 text, granted jsonb, relations jsonb, functions jsonb)
