"""Pure and IO: the signed statement, the request it answers, the policy of who may sign, and the check of all three."""
