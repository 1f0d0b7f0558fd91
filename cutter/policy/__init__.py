"""Pure: the operator's policy: which side effects may happen (spec 05 "Policy")."""
