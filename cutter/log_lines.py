"""IO: writes log lines for people. A quoted text cannot send control characters to a terminal."""

from __future__ import annotations

import sys
from typing import Any

import structlog
from structlog.typing import EventDict

from cutter.domain.visible import visible

_RENDERER = structlog.dev.ConsoleRenderer(colors=False)


def text_line(logger: Any, method: str, event: EventDict) -> str:
    """An event as a line. This is the last processor of structlog."""
    return visible(str(_RENDERER(logger, method, event)))


def to_standard_error() -> None:
    """Write a command's log to standard error, so that standard output has only its result."""
    moment = structlog.processors.TimeStamper(fmt="iso", utc=True)
    structlog.configure(
        processors=[structlog.processors.add_log_level, moment, text_line],
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
