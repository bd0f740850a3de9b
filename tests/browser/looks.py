"""How a page looks to those who cannot see it, on a wide and a narrow screen, by day and by night; and pictures of it for those who can."""

import os
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

WIDE, NARROW = (1280, 900), (390, 844)
_PICTURES = os.environ.get("FOOTPATH_PICTURES", "")
"""The folder where pictures are kept, if anywhere; read at once, since tests begin without settings."""
_SERIOUS = ("serious", "critical")
_RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]},
    # Of what is as it should be it tells the names only.
    "resultTypes": ["violations"],
}


def settled(page: Page) -> None:
    """Wait until the page is drawn, and stands still for a moment."""
    app = page.get_by_test_id("stApp")
    for _ in range(2):
        expect(app).to_have_attribute("data-test-script-state", "notRunning")
        page.wait_for_timeout(150)
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0)


def in_all_lights(page: Page, name: str) -> None:
    """Look at what is open by day on a wide screen and by night on a narrow one."""
    for (width, height), light in ((WIDE, "light"), (NARROW, "dark")):
        page.emulate_media(color_scheme="dark" if light == "dark" else "light")
        page.set_viewport_size({"width": width, "height": height})
        settled(page)
        picture(page, f"{name}-{width}-{light}")
        found = faults(page)
        assert not found, f"{name}, {width} px, {light}:\n" + "\n".join(found)
        assert not too_wide(page), f"{name}: wider than {width} px: {too_wide(page)}"
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    assert page.locator("h1").count() == 1, f"{name}: {page.locator('h1').all_inner_texts()}"


def faults(page: Page) -> list[str]:
    """What axe finds that keeps somebody out, a line each."""
    page.evaluate(_axe())
    told: list[dict[str, Any]] = page.evaluate("async rules => (await axe.run(document, rules)).violations", _RULES)
    return [
        f"{one['id']} ({one['impact']}): {one['help']}: {node['html'][:200]}"
        for one in told
        if one["impact"] in _SERIOUS
        for node in one["nodes"][:3]
    ]


@cache
def _axe() -> str:
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def too_wide(page: Page) -> int:
    """Pixels by which the page is scrolled to the side."""
    return page.evaluate(
        """() => {
            const main = document.querySelector('[data-testid="stMain"]') ?? document.documentElement;
            return Math.max(0, main.scrollWidth - main.clientWidth, document.documentElement.scrollWidth - innerWidth);
        }"""
    )


def picture(page: Page, name: str) -> None:
    """Keep one where pictures are wanted."""
    if _PICTURES:
        page.screenshot(path=Path(_PICTURES) / f"{name}.png", animations="disabled")
