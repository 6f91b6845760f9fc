"""A real browser without a window, for tests of pages."""

import json
import shutil
from contextlib import contextmanager

import pytest

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
)  # fmt: skip


@contextmanager
def browser(width=1200, height=900):
    """Chromium, steered by Selenium; the test is skipped if either is not installed."""
    webdriver = pytest.importorskip("selenium.webdriver")
    chromium, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("needs Chromium and chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--window-size={width},{height}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    page = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        if width < 600:
            metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": True}
            page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        yield page
    finally:
        page.quit()


def complaints(page):
    """What the console of the page says: errors and warnings."""
    return [entry["message"] for entry in page.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def requests(page):
    """The addresses that the page has asked for."""
    events = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
