"""Named secrets from the sources of settings.

These are environment variables, below them the ``.env`` file, and below that files of secrets.
"""

import os
from pathlib import Path

from dotenv import dotenv_values

from agent.execution.secret_store import EnvironmentSecrets
from wiring.secret_files import read_secret_files
from wiring.settings import Settings


def read_secrets() -> EnvironmentSecrets:
    """Read all secrets as they are now.

    As for settings, a variable of the environment wins over a file unless it is empty.
    """
    file = Settings.model_config.get("env_file")
    written = dotenv_values(Path(str(file)), interpolate=False) if file else {}
    variables = {name.upper(): value for name, value in written.items() if value}
    return EnvironmentSecrets(
        read_secret_files() | variables | {name.upper(): value for name, value in os.environ.items() if value}
    )
