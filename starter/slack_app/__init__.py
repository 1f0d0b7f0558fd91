"""IO: the server that Slack calls, and the decisions that people make there."""
