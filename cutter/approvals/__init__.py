"""Pure and IO: the signed statement, the request that it answers, the approver policy, and the check of all three."""
