"""Pure: the batch (seed 001): its queue file, its plan, its states, and what to do with failed documents."""
