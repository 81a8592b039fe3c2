"""A real browser for tests, driven from its own thread.

Playwright's sync API runs an event loop in its thread, and Django refuses database calls beside one.
So the test keeps its thread (and its database), and each call on the page is carried over to the other."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest
from playwright.sync_api import Browser, Page, Playwright, sync_playwright
from pytest_django.live_server_helper import LiveServer

CHROMIUM = "/usr/bin/chromium"
# --no-sandbox: containers run tests as root. The rest keeps it from talking to anything else.
CHROMIUM_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class OnThread:
    """Stands for a Playwright object of the browser's thread; its methods return such stand-ins too."""

    def __init__(self, target: Any, thread: ThreadPoolExecutor) -> None:
        self._target = target
        self._thread = thread

    def __getattr__(self, name: str) -> Any:
        value = self._thread.submit(getattr, self._target, name).result()
        if not callable(value):
            return self._wrapped(value)

        def call(*args: Any, **kwargs: Any) -> Any:
            plain = [_bare(arg) for arg in args]
            named = {key: _bare(arg) for key, arg in kwargs.items()}
            return self._wrapped(self._thread.submit(value, *plain, **named).result())

        return call

    def in_thread(self, script: Callable[[Any], Any]) -> Any:
        """Run a whole script on the real object, for `expect` and `with page.expect_...()`."""
        return self._wrapped(self._thread.submit(script, self._target).result())

    def _wrapped(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._wrapped(item) for item in value]
        if type(value).__module__.startswith("playwright."):
            return OnThread(value, self._thread)
        return value


def _bare(value: Any) -> Any:
    return value._target if isinstance(value, OnThread) else value


@pytest.fixture(scope="session")
def browser_thread() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="browser") as thread:
        yield thread


@pytest.fixture(scope="session")
def browser(browser_thread: ThreadPoolExecutor) -> Iterator[Browser]:
    def start() -> tuple[Playwright, Browser]:
        driver = sync_playwright().start()
        return driver, driver.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_FLAGS)

    driver, browser = browser_thread.submit(start).result()
    yield browser
    browser_thread.submit(browser.close).result()
    browser_thread.submit(driver.stop).result()


@pytest.fixture
def page_errors() -> list[str]:
    """What the browser complained about: script errors, refusals of the content policy, failed loads."""
    return []


@pytest.fixture
def page(
    live_server: LiveServer, browser: Browser, browser_thread: ThreadPoolExecutor, page_errors: list[str]
) -> Iterator[Page]:
    """A fresh page with the live server as its base address: `page.goto("/en/catalog/")`."""

    def open_page() -> Page:
        context = browser.new_context(base_url=live_server.url, locale="en-GB", timezone_id="UTC")
        page = context.new_page()
        page.on("pageerror", lambda error: page_errors.append(str(error)))
        page.on("console", lambda line: page_errors.append(line.text) if line.type == "error" else None)
        return page

    real = browser_thread.submit(open_page).result()
    yield cast(Page, OnThread(real, browser_thread))
    browser_thread.submit(real.context.close).result()
