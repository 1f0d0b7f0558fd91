"""Pure package root: cutter cuts law documents into governed Information Units.

The core is importable without the workflow engine; `workflows/`, `activities/`, `starter/` and `worker.py` join it to
Temporal.
"""

__version__ = "0.1.0"
