"""The browser in which pages are tested."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.browser.chromium import NAMES, Browser, Page, find_program


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    program = find_program()
    if program is None:
        reason = f"no browser: none of {', '.join(NAMES)} is installed, and LANN_CHROMIUM names none"
        if os.environ.get("LANN_NEED_BROWSER"):
            pytest.fail(reason)
        pytest.skip(reason)
    browser = Browser(program, tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()


@pytest.fixture
def open_page(browser):
    def open_page(file: Path, *, width: int = 1200, scheme: str = "light", fragment: str = "") -> Page:
        return Page(browser, file.as_uri() + fragment, width, scheme)

    return open_page
