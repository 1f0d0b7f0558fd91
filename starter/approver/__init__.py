"""IO: the work on an approver's own machine: shows a request, signs it, and hands the signature over."""
