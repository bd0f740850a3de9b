"""A name for a home, so that a job whose files lie there is made there."""

import logging
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from wiring.private_files import PRIVATE_FOLDER_MODE

_log = logging.getLogger(__name__)


def home_id(home: Path) -> str:
    """The same each time. Where nothing can be written, a new one: what was begun before with its files is not taken up again."""
    file = home / "home.id"
    try:
        home.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER_MODE)
        if not file.exists():
            part = file.with_name(f"{file.name}.{uuid4().hex}")
            part.write_text(uuid4().hex, encoding="ascii")
            with suppress(FileExistsError):  # another process of this home was faster
                file.hardlink_to(part)
            part.unlink()
        return file.read_text(encoding="ascii")
    except OSError as error:
        _log.warning("no name can be kept in %s (%s)", home, error.strerror)
        return uuid4().hex
