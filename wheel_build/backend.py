"""The build backend: setuptools', but that the packages of the wheel lie below ``footpath/``. An editable install leaves them where they are."""

import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from setuptools import build_meta

from wheel_build.archive import relocate

build_editable = build_meta.build_editable
build_sdist = build_meta.build_sdist
get_requires_for_build_editable = build_meta.get_requires_for_build_editable
get_requires_for_build_sdist = build_meta.get_requires_for_build_sdist
get_requires_for_build_wheel = build_meta.get_requires_for_build_wheel
prepare_metadata_for_build_editable = build_meta.prepare_metadata_for_build_editable


def build_wheel(
    wheel_directory: str,
    config_settings: Mapping[str, Any] | None = None,
    metadata_directory: str | None = None,  # noqa: ARG001  it would name the packages as they are here
) -> str:
    """The file's name. What setuptools makes on the way is made in a folder of its own, so that no earlier build leaves anything in it."""
    with TemporaryDirectory() as folder:
        paths = Path(folder)
        (paths / "plain").mkdir()
        (paths / "info").mkdir()
        places = paths / "places.cfg"
        places.write_text(
            f"[build]\nbuild_base = {paths / 'build'}\n[egg_info]\negg_base = {paths / 'info'}\n", encoding="utf-8"
        )
        before = os.environ.get("DIST_EXTRA_CONFIG")
        os.environ["DIST_EXTRA_CONFIG"] = str(places)
        try:
            name = build_meta.build_wheel(str(paths / "plain"), dict(config_settings or {}))
        finally:
            os.environ.pop("DIST_EXTRA_CONFIG")
            if before is not None:
                os.environ["DIST_EXTRA_CONFIG"] = before
        relocate(paths / "plain" / name, Path(wheel_directory) / name)
    return name
