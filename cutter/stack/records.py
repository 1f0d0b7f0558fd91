"""IO: records the processes that `cutter up` started, in `<state_dir>/stack.json`. `cutter down` stops only these."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from cutter.errors import Unavailable
from cutter.stack.processes import Process, alive

_TEXTS = ("address", "version", "how", "given")


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """One started process. `given` describes its inputs. If they change, the process must start again.

    `note` says what the present call did with it ("started", "had died, started again"). It is not recorded.
    """

    name: str
    process: Process
    address: str = ""
    version: str = ""
    how: str = ""
    given: str = ""
    note: str = ""

    @property
    def alive(self) -> bool:
        return alive(self.process)


def read(state_dir: Path) -> dict[str, Service]:
    """The services by name, including dead ones. Empty if nothing was started."""
    path = _path(state_dir)
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        services = {}
        for name, entry in known.items():
            process = Process(pid=int(entry["pid"]), birth=str(entry["birth"]))
            texts = {key: str(entry.get(key, "")) for key in _TEXTS}
            services[name] = Service(name=name, process=process, **texts)
        return services
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, KeyError, AttributeError) as problem:
        raise Unavailable(
            f"{path} is damaged: end the processes it names by hand, then delete it", what="state"
        ) from problem


def remember(state_dir: Path, service: Service) -> None:
    _write(state_dir, {**read(state_dir), service.name: replace(service, note="")})


def forget(state_dir: Path, name: str) -> None:
    _write(state_dir, {other: service for other, service in read(state_dir).items() if other != name})


def _path(state_dir: Path) -> Path:
    return state_dir / "stack.json"


def _write(state_dir: Path, services: Mapping[str, Service]) -> None:
    """Write a new file and rename it. So a crash leaves the whole old record or the whole new one."""
    path = _path(state_dir)
    path.parent.mkdir(parents=True, exist_ok=True)
    entries = {
        name: {**asdict(service.process), **{key: getattr(service, key) for key in _TEXTS}}
        for name, service in services.items()
    }
    draft = path.with_suffix(".new")
    with draft.open("w", encoding="utf-8") as file:
        json.dump(entries, file, indent=1, sort_keys=True)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
