"""IO: log lines that people read: what they quote cannot reach a terminal as a control."""

from __future__ import annotations

import sys
from typing import Any

import structlog
from structlog.typing import EventDict

from cutter.domain.visible import visible

_RENDERER = structlog.dev.ConsoleRenderer(colors=False)


def text_line(logger: Any, method: str, event: EventDict) -> str:
    """An event as a line, the last of structlog's processors."""
    return visible(str(_RENDERER(logger, method, event)))


def to_standard_error() -> None:
    """Let a command log without touching its result, which is alone on standard output."""
    moment = structlog.processors.TimeStamper(fmt="iso", utc=True)
    structlog.configure(
        processors=[structlog.processors.add_log_level, moment, text_line],
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
