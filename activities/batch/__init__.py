"""IO: the activities of a batch: register it, advance it, judge its sets of approvals, write its documents."""
