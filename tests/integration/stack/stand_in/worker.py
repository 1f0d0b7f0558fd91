"""A stand-in for worker.py where only the supervision is tested: it says what it was given, is ready, and waits."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

role = sys.argv[sys.argv.index("--role") + 1]
folder = Path(os.environ["CUTTER_STATE_DIR"]) / "workers"
secrets = sorted(path.name for path in Path(os.environ["CUTTER_SECRETS_DIR"]).iterdir())
keys = sorted(path.name for path in Path(os.environ["CUTTER_KEYS_DIR"]).iterdir())
(folder / f"{role}.seen").write_text(
    json.dumps({"environment": dict(os.environ), "secrets": secrets, "keys": keys}), encoding="utf-8"
)
(folder / f"{role}.ready").write_text(str(os.getpid()), encoding="ascii")
signal.pause()
