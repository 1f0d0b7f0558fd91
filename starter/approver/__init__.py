"""IO: what an approver's own machine does: show a request, sign it, hand the signature over."""
