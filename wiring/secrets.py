"""Named secrets from where settings come from: environment variables, the ``.env`` file below them, files of secrets below that."""

import os
from pathlib import Path

from dotenv import dotenv_values

from agent.execution.secrets import EnvironmentSecrets
from wiring.secret_files import secret_files
from wiring.settings import Settings


def read_secrets() -> EnvironmentSecrets:
    """All of them, as they are now. A variable of the environment wins over a file unless it is empty, as for settings."""
    file = Settings.model_config.get("env_file")
    written = dotenv_values(Path(str(file)), interpolate=False) if file else {}
    variables = {name.upper(): value for name, value in written.items() if value}
    return EnvironmentSecrets(
        secret_files() | variables | {name.upper(): value for name, value in os.environ.items() if value}
    )
