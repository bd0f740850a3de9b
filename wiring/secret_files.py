"""Secrets as files: a file with a setting's name holds its value.

Docker, Podman and Kubernetes give them to a container, and systemd gives them to a service (``LoadCredential=``).
"""

import os
from pathlib import Path

FOLDER = Path(os.environ.get("CREDENTIALS_DIRECTORY") or "/run/secrets")
_PREFIX = "FOOTPATH_"


def read_secret_files() -> dict[str, str]:
    """Return the variables that files stand for, with names in capitals.

    The file ``footpath_graph_password`` is the variable ``FOOTPATH_GRAPH_PASSWORD``. A line break at the end is no part
    of a value, and an empty file sets nothing. The result is empty where there is no such folder.
    """
    if not FOLDER.is_dir():
        return {}
    files = [file for file in FOLDER.iterdir() if file.name.upper().startswith(_PREFIX) and file.is_file()]
    values = {file.name.upper(): file.read_text(encoding="utf-8").strip() for file in files}
    return {name: value for name, value in values.items() if value}
