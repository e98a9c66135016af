"""A real browser for the pages: Debian's Chromium, driven by Playwright, with axe-core to check what a screen reader is given.

Where there is no Chromium these tests skip, unless ``REQUIRE_BROWSER`` is set. ``CHROMIUM`` names another program than the one on the path,
``SCREENSHOTS`` a folder that keeps the pictures.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

import pytest

from tests.page_cases import played

Page = Any
OpenPage = Callable[..., Page]

SIZES = {"1280": (1280, 900), "390": (390, 844)}
"""Name -> width and height in pixels of a desk and of a phone."""
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
LOCAL = {"127.0.0.1", "localhost", "[::1]", ""}
PATIENCE = 15_000  # milliseconds that a step of a test may take on a slow machine


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test of this folder carries the marker ``browser``."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def compiled() -> None:
    """The kernels of all policies that the pages are played against: on a new machine compiling them takes longer than a page may wait."""
    played("bergen", ["search:pimc?worlds=1", "bergen/ppo"], moves=8)
    played("bergen", ["search:ismcts?simulations=1", "greedy", "random"], moves=8)


@pytest.fixture(scope="session")
def browser(compiled: None) -> Iterator[Any]:
    """One Chromium for all tests; each page has a context, so a profile, of its own."""
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        _do_without("there is no chromium on the path (apt-get install chromium)")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _do_without("playwright is not installed (pip install 'domino-env[test]')")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=FLAGS, headless=True)
        yield running
        running.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[OpenPage]:
    """``open_page(width, height, **options)``: a new page; options as ``browser.new_context`` takes them (``color_scheme``, ...).

    Motion is reduced unless asked otherwise. What goes wrong in a page (``page.faults``: errors in its console or script, requests to
    anywhere but this machine) fails the test at its end.
    """
    contexts: list[Any] = []
    pages: list[Page] = []

    def open_one(width: int = 1280, height: int = 900, **options: Any) -> Page:
        options = {"reduced_motion": "reduce", "viewport": {"width": width, "height": height}, **options}
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.set_default_timeout(PATIENCE)
        _watch(page)
        pages.append(page)
        return page

    yield open_one
    faults = [fault for page in pages for fault in page.faults]
    for context in contexts:
        context.close()
    assert not faults, "\n".join(faults)


@pytest.fixture(params=SIZES)
def page(open_page: OpenPage, request: pytest.FixtureRequest) -> Page:
    """A page at the size of a desk, then at that of a phone."""
    return open_page(*SIZES[request.param])


@pytest.fixture
def no_console_errors() -> Callable[[Page], None]:
    """``no_console_errors(page)``: fails where something went wrong in the page so far."""

    def check(page: Page) -> None:
        assert not page.faults, "\n".join(page.faults)

    return check


@pytest.fixture(scope="session")
def axe() -> Callable[[Page], None]:
    """``axe(page)``: fails on what axe-core finds serious or critical, and where the page can be scrolled sideways."""
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        _do_without("axe-playwright-python is not installed (pip install 'domino-env[test]')")
    checker = Axe()

    def check(page: Page) -> None:
        found = [fault for fault in checker.run(page).response["violations"] if fault["impact"] in ("serious", "critical")]
        told = [f"{fault['id']} ({fault['impact']}): {fault['help']}\n" + _nodes(fault) for fault in found]
        assert not told, "\n".join(told)
        width, room = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert width <= room, f"the page is {width} px wide in a window of {room} px"

    return check


@pytest.fixture
def shot(tmp_path: Path) -> Callable[..., Path]:
    """``shot(page, name)``: a picture of the whole page, in the folder ``SCREENSHOTS`` or a passing one."""
    folder = Path(os.environ.get("SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)

    def take(page: Page, name: str, full_page: bool = True) -> Path:
        path = folder / f"{name}_{page.viewport_size['width']}.png"
        page.screenshot(path=path, full_page=full_page)
        return path

    return take


def _do_without(reason: str) -> NoReturn:
    if os.environ.get("REQUIRE_BROWSER"):
        pytest.fail(f"{reason}, but REQUIRE_BROWSER asks for these tests")
    pytest.skip(reason)


def _watch(page: Page) -> None:
    page.faults = []
    page.on("pageerror", lambda error: page.faults.append(f"script error: {error}"))
    page.on("console", lambda line: page.faults.append(f"console {line.type}: {line.text}") if line.type in ("error", "warning") else None)
    page.on("request", lambda request: _is_local(request.url) or page.faults.append(f"request to {request.url}"))


def _is_local(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in ("data", "blob", "file", "about") or (parts.hostname or "") in LOCAL


def _nodes(fault: dict[str, Any]) -> str:
    return "\n".join(f"    {node['html'][:160]}\n      {node['failureSummary']}" for node in fault["nodes"][:5])
