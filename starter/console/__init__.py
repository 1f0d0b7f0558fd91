"""IO: the terminal: output, progress, live tables, failures and questions."""
