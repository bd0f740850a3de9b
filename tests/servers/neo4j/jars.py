"""The server's jars: fetched once by Maven, kept outside the checkout in a folder named by the pom's hash."""

import hashlib
import shutil
import subprocess
from pathlib import Path

from tests.servers.downloads import locked_folder
from tests.servers.missing import MissingServerError

POM = Path(__file__).with_name("pom.xml")
FETCH_SECONDS = 900


def fetched_jars() -> Path:
    """The folder of the jars, fetched first where they are not there yet (about two minutes, 123 MB).

    Several test processes may ask at once: one fetches, the others wait. The marker is written last, so a fetch that
    was interrupted is done again.

    Raises:
        MissingServerError: there is no Maven, or it could not fetch them.
    """
    with locked_folder(f"neo4j-{hashlib.sha256(POM.read_bytes()).hexdigest()[:16]}") as cache:
        jars, marker = cache / "lib", cache / "complete"
        if not marker.exists():
            shutil.rmtree(jars, ignore_errors=True)
            _fetch(jars)
            marker.touch()
    return jars


def _fetch(jars: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise MissingServerError("mvn is not on the PATH: install Maven")
    copy = "org.apache.maven.plugins:maven-dependency-plugin:copy-dependencies"
    command = [
        maven,
        "-B",
        "-ntp",
        "-q",
        "-Dmaven.artifact.threads=24",
        "-f",
        str(POM),
        copy,
        f"-DoutputDirectory={jars}",
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise MissingServerError(f"Maven did not fetch the server in {FETCH_SECONDS} s: check the network") from error
    if done.returncode:
        raise MissingServerError(f"Maven could not fetch the server: {(done.stdout + done.stderr).strip()[-800:]}")
