"""Pure: the gates: what each one checks, and the one table that orders them."""
