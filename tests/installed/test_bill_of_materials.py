"""The bill of materials of the image. Its generator comes from the package index, as the packages themselves do."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCKED = re.compile(r"^([a-z0-9._-]+)==([^ ]+)", re.M)


def test_the_bill_of_materials_lists_each_locked_package() -> None:
    done = subprocess.run([ROOT / "deploy" / "image" / "sbom"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    bill = json.loads(done.stdout)
    listed = {(component["name"], component["version"]) for component in bill["components"]}
    locked = set(LOCKED.findall((ROOT / "requirements-deploy.lock").read_text(encoding="utf-8")))
    assert len(locked) > 50
    assert listed == locked
    assert bill["metadata"]["component"]["name"] == "cutter"
