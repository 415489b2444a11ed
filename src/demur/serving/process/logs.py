"""What the server logs: lines of JSON on stderr."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any


def log_as_json() -> None:
    """Write what is logged as lines of JSON to stderr: of demur all, of others warnings."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name, level in (("", logging.WARNING), ("demur", logging.INFO)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)


class JsonLines(logging.Formatter):
    """Log records as lines of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        told: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        told |= record.__dict__.get("facts", {})
        if record.exc_info:
            told["traceback"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False, default=str)
