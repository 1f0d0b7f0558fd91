"""Pure: Slack, an optional extra: a card for each gate that waits for people, and what their clicks may decide."""
