"""Secrets as files, as Docker, Podman and Kubernetes hand them to a container, and systemd to a service (``LoadCredential=``): a file of a
setting's name holds its value.
"""

import os
from pathlib import Path

FOLDER = Path(os.environ.get("CREDENTIALS_DIRECTORY") or "/run/secrets")
_PREFIX = "FOOTPATH_"


def secret_files() -> dict[str, str]:
    """The variables that files stand for, in capitals: ``footpath_graph_password`` is ``FOOTPATH_GRAPH_PASSWORD``.

    A line break at the end is no part of a value, and a file with nothing in it sets nothing. Empty where there is no such folder.
    """
    if not FOLDER.is_dir():
        return {}
    files = [file for file in FOLDER.iterdir() if file.name.upper().startswith(_PREFIX) and file.is_file()]
    values = {file.name.upper(): file.read_text(encoding="utf-8").strip() for file in files}
    return {name: value for name, value in values.items() if value}
