"""A report in a real browser: no errors, all pictures shown, anchors that work, nothing wider than a telephone."""

import numpy as np
import pandas as pd
import pytest
from browser import browser, complaints, requests
from sklearn.pipeline import Pipeline

from sparsebayes import RelevanceVectorRegressor
from sparsebayes.reports import report
from sparsebayes.tables import TableEncoder

LONG = "a_very_long_name_of_a_column_that_has_no_space_in_it_and_goes_on_and_on_and_on"
PICTURES = "return [...document.images].map(each => [each.complete, each.naturalWidth, each.offsetWidth])"
WIDER = """
const inside = each => each.closest('.scroll, pre');
return [...document.body.querySelectorAll('*')].filter(
  each => !inside(each) && each.getBoundingClientRect().right > innerWidth + 1).map(each => each.tagName);
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    rng = np.random.default_rng(1)
    table = pd.DataFrame({LONG: rng.uniform(0, 9, 60), "city": rng.choice(["Ulm", "<b>Köln</b>"], 60)})
    y = pd.Series(table[LONG] ** 2 + 5 * (table["city"] == "Ulm") + rng.standard_normal(60), name="price")
    steps = [("table", TableEncoder()), ("model", RelevanceVectorRegressor(gamma="ard"))]
    path = tmp_path_factory.mktemp("reports") / "report.html"
    report(Pipeline(steps).fit(table, y), table, y, title="Prices & more").save(path)
    return path.as_uri()


@pytest.mark.parametrize("width", [390, 1200])
def test_a_report_is_shown_as_it_should_be(page, width):
    with browser(width, 844) as chromium:
        chromium.get(page)
        assert chromium.title == "Prices & more"
        assert complaints(chromium) == []
        assert {address for address in requests(chromium) if not address.startswith("data:")} == {page}
        shown = chromium.execute_script(PICTURES)
        assert len(shown) > 6
        assert all(complete and natural > 50 and 50 < wide <= width for complete, natural, wide in shown)
        assert chromium.execute_script(WIDER) == []
        assert chromium.execute_script("return document.documentElement.scrollWidth") <= width
        chromium.execute_script("document.documentElement.style.scrollBehavior = 'auto'")
        links = chromium.find_elements("css selector", "nav a")
        assert len(links) > 8
        for link in links:
            name = link.get_attribute("hash")[1:]
            chromium.execute_script("arguments[0].click()", link)
            assert chromium.current_url == f"{page}#{name}"
            top = chromium.execute_script(
                "return document.getElementById(arguments[0]).getBoundingClientRect().top", name
            )
            assert 0 <= top < 844
