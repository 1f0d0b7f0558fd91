"""IO: the work of an approver's own machine: show a request, sign it, hand the signature over."""
