"""IO: records the processes that `cutter up` started, in `<state_dir>/stack.json`. `cutter down` stops only these."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter

from cutter.errors import Unavailable
from cutter.stack.processes import Process, alive


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """One started process. `given` describes its inputs. If they change, the process must start again.

    `note` says what the present call did with it ("started", "had died, started again"). The record has none.
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


_RECORDED = TypeAdapter(dict[str, Service])


def read(state_dir: Path) -> dict[str, Service]:
    """The services by name, including dead ones. Empty if nothing was started."""
    path = _path(state_dir)
    try:
        return _RECORDED.validate_json(path.read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError as problem:
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
    draft = path.with_suffix(".new")
    with draft.open("wb") as file:
        file.write(_RECORDED.dump_json(dict(services), indent=1))
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
