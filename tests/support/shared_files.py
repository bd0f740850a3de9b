"""What lies beside the project and is no part of it: public data, and servers for tests."""

import os
from pathlib import Path

SHARED_DATA = Path(
    os.environ.get("FOOTPATH_SHARED_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data"
).resolve()
SHARED_SERVERS = SHARED_DATA.parent / "servers"
