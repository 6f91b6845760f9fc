"""Reports: what they say is what the model says; all text is escaped; nothing is loaded from elsewhere."""

import re
import sys
from functools import cache
from html.parser import HTMLParser

import display_models as models
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from matplotlib import pyplot
from scipy.stats import norm
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.metrics import accuracy_score, log_loss, mean_absolute_error, r2_score
from sklearn.pipeline import Pipeline

from sparsebayes import (
    RBF,
    Columns,
    GeneralizedNormal,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesRegressor,
    SparseRecovery,
    WaveletDenoiser,
)
from sparsebayes.datasets import make_signal, make_sinc
from sparsebayes.inspection import PartialDependenceDisplay
from sparsebayes.inspection._pictures import pictures_of
from sparsebayes.reports import Report, report
from sparsebayes.reports._rows import Evidence, statement
from sparsebayes.reports._scores import regression_scores
from sparsebayes.reports._subject import Subject
from sparsebayes.summaries.numbers import nats, significant
from sparsebayes.tables import TableEncoder

EVIL = "<script>alert('x')</script> & \"more\""
LARGEST = 2_000_000  # bytes of a page
X4, Y4 = models.table(models.inputs()), models.targets(models.inputs())
C4 = models.table(models.inputs(90))
S4 = scipy.sparse.csr_array(models.inputs())
SINC, TARGET, _ = make_sinc(60, random_state=0)
SIGNAL = make_signal("doppler", 256, random_state=0)[1]
CHANNELS = np.stack([SIGNAL, 2 * SIGNAL], axis=1)


def table_model():
    """A table of the kind that the command line reads, and a pipeline fitted to it."""
    rng = np.random.default_rng(0)
    n = 80
    table = pd.DataFrame({EVIL: rng.uniform(20, 200, n), "city": rng.choice(["Ulm", EVIL, "Bonn"], n)})
    y = pd.Series(0.1 * table[EVIL] + 5 * (table["city"] == "Ulm") + rng.standard_normal(n), name="<b>price</b>")
    table.loc[3, EVIL] = np.nan
    steps = [("table", TableEncoder()), ("model", RelevanceVectorRegressor(gamma="ard"))]
    return Pipeline(steps).fit(table, y), table, y


def evil_classes():
    y = np.where(SINC[:, 0] > 0, EVIL, "no")
    return RelevanceVectorClassifier(gamma=0.1).fit(SINC, y), SINC, y


def of_sinc(*args, **options):
    return RelevanceVectorRegressor(*args, **options).fit(SINC, TARGET), SINC, TARGET


CASES = {
    "columns": lambda: (models.regressor("columns"), X4, Y4),
    "sparse": lambda: (SparseBayesRegressor().fit(S4, Y4), S4, Y4),
    "curve": of_sinc,
    "parts": lambda: of_sinc(RBF(gamma=0.1) + Columns()),
    "noise": lambda: of_sinc(gamma=0.1, likelihood=GeneralizedNormal(3.0)),
    "joint": lambda: (models.joint_regressor("columns"), X4, models.outputs(models.inputs())),
    "apart": lambda: (models.joint_regressor("columns", False), X4, models.outputs(models.inputs())),
    "three classes": lambda: (models.classifier("columns", 3), C4, models.labels(models.inputs(90), 3)),
    "evil classes": evil_classes,
    "table": table_model,
    "signal": lambda: (WaveletDenoiser().fit(SIGNAL), SIGNAL, None),
    "channels": lambda: (
        WaveletDenoiser(channel_axis=1, noise_variance=[1.0, 2.0]).fit(CHANNELS),
        CHANNELS,
        None,
    ),
}


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


@cache
def case(kind):
    model, X, y = CASES[kind]()
    return model, X, y, report(model, X, y)


class Page(HTMLParser):
    """The tags, anchors and text of a page."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.ids, self.links, self.sources, self.text, self.open = [], [], [], [], "", []
        self.feed(html)
        self.text = " ".join(self.text.split())

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.tags.append(tag)
        self.open += [tag] if tag not in ("meta", "link", "img") else []
        self.ids += [named["id"]] if "id" in named else []
        self.links += [named["href"]] if tag == "a" else []
        self.sources += [named[name] for name in ("src", "href") if name in named and tag != "a"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data + " "


def text_of(kind):
    return Page(case(kind)[3].html).text


@pytest.mark.parametrize("kind", CASES)
def test_a_page_is_whole_and_asks_for_nothing(kind):
    html = case(kind)[3].html
    page = Page(html)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids)) >= 6
    assert [link.removeprefix("#") for link in page.links] == page.ids
    assert all(source.startswith("data:") for source in page.sources)
    assert not re.search(r"https?:|@import|url\(", html)
    assert "script" not in page.tags
    assert len(html.encode()) < LARGEST
    assert "Not drawn" not in page.text or kind == "sparse"
    assert "Not computed" not in page.text
    assert page.tags.count("img") >= 2
    assert " nan " not in page.text.lower()
    assert "max_rows" not in page.text


def test_evil_text_is_escaped():
    for kind in ("table", "evil classes"):
        html = case(kind)[3].html
        assert "<script" not in html
        assert "<b>" not in html
        assert EVIL in Page(html).text
    assert "<script" not in report(*case("signal")[:3], title=EVIL).html


@pytest.mark.parametrize("kind", CASES)
def test_the_card_is_that_of_the_model(kind):
    model = case(kind)[0]
    last, text = model[-1] if isinstance(model, Pipeline) else model, text_of(kind)
    assert type(last).__name__ in text
    if hasattr(last, "log_evidence_"):
        assert nats(last.log_evidence_) in text
        assert f"{len(last.relevance_)} of" in text


def test_the_errors_of_a_regression_are_those_of_its_predictions():
    model, X, y, _ = case("curve")
    mean, std = model.predict(X, return_std=True)
    text = text_of("curve")
    numbers = [
        np.sqrt(np.mean((y - mean) ** 2)),
        mean_absolute_error(y, mean),
        r2_score(y, mean),
        -norm.logpdf(y, mean, std).mean(),
        -norm.logpdf(y, y.mean(), y.std()).mean(),
    ]
    assert " ".join(significant(each) for each in numbers) in text
    inside = []
    for level in (0.5, 0.8, 0.95):
        low, high = model.predict_interval(X, level=level)
        inside.append(f"{100 * np.mean((low <= y) & (y <= high)):.1f} %")
    assert "y " + " ".join(inside) in text


def test_noise_that_is_not_gaussian_is_integrated_over_f():
    model, X, y, _ = case("noise")
    samples, width = model.sample_y(X, 20_000, random_state=0), 0.02
    near = np.mean(np.abs(samples - y[:, None]) < width, axis=1) / (2 * width)
    errors = text_of("noise").split("NLPD without inputs ")[1].split()
    assert float(errors[4]) == pytest.approx(-np.log(near).mean(), abs=0.02)


def test_the_scores_of_a_classifier_are_those_of_its_probabilities():
    model, X, y, _ = case("three classes")
    p = model.predict_proba(X)
    found, hits, chosen = np.equal.outer(y, model.classes_), model.predict(X) == y, p.max(axis=1)
    bins = np.minimum((10 * chosen).astype(int), 9)
    gaps = [abs(np.sum(hits[bins == b]) - np.sum(chosen[bins == b])) for b in range(10)]
    shares = found.mean(axis=0)
    numbers = {
        "accuracy": accuracy_score(y, model.predict(X)),
        "accuracy of the largest class": shares.max(),
        "log loss": log_loss(y, p, labels=model.classes_),
        "log loss without inputs": -np.sum(shares * np.log(shares)),
        "Brier score": np.mean(np.sum((found - p) ** 2, axis=1)),
        "expected calibration error": np.sum(gaps) / len(y),
    }
    text = " ".join(f"{name} {significant(float(value))}" for name, value in numbers.items())
    assert text in text_of("three classes")


@pytest.mark.parametrize("kind", ["columns", "curve", "joint", "apart", "three classes", "evil classes", "table"])
def test_rows_of_the_fit_are_recognised(kind):
    assert "As far as the model can tell these are training rows" in text_of(kind)


def stated(evaluation, model, X, y):
    return statement(evaluation, Evidence.of(Subject.of(model, X, y, None)))


def test_what_is_stated_is_compared_with_what_the_model_knows():
    model, X, y, _ = case("columns")
    assert "but they look like training rows" in stated("held out", model, X, y)
    assert 'class="warning"' in stated("held out", model, X, y)
    assert "as was stated and as the model confirms" in stated("training", model, X, y)
    assert "the model cannot tell" in stated(None, model, X[:50], y[:50])
    assert "You said that these rows played no part in the fit. The model cannot check that: they are" in stated(
        "held out", model, X, y + 0.1
    )


def test_rows_are_held_out_if_no_relevance_vector_is_among_them():
    model, X, y, _ = case("evil classes")
    assert "These are held-out rows" in stated("held out", model, X + 0.01, y)
    assert "but they look like held-out rows" in stated("training", model, X + 0.01, y)
    assert "the model cannot tell" in stated(None, model, X[:9] + 0.01, y[:9])  # which may be chance


def test_some_of_the_rows_of_a_fit_are_neither():
    model, X, y, _ = case("curve")
    some = np.ones(len(X), dtype=bool)
    some[model.relevance_[0]] = False
    S = len(model.relevance_)
    words = f"the fit had 60 rows, these are 59, and {S - 1} of its {S} relevance vectors are among them"
    assert words in stated(None, model, X[some], y[some])
    assert f"The model cannot check that: {words}" in stated("training", model, X[some], y[some])
    assert f"but some look like rows of the fit: {words}" in stated("held out", model, X[some], y[some])
    assert 'class="warning"' in stated("held out", model, X[some], y[some])


def test_which_rows_these_are_is_said_once():
    assert text_of("curve").count("As far as the model can tell") == 1


def test_the_verdict_is_that_of_the_scores():
    model, X, y, _ = case("curve")
    assert "y: predictions are better than those without inputs (NLPD -" in text_of("curve")
    assert "of the targets, as they should (" in text_of("curve")
    text = Page(report(model, X, np.roll(y, 23)).html).text
    assert "y: predictions are no better than those without inputs (NLPD " in text
    assert "fewer than they should (88.3 % to 100.0 % are to be expected): error bars are too narrow" in text
    text = Page(report(model, X, model.predict(X)).html).text
    assert "100.0 % of the targets, as they should" in text  # which may be with 60 rows
    model, X, y, _ = case("three classes")
    assert "Probabilities are better than those without inputs (log loss " in text_of("three classes")
    assert "Probabilities are no better than those" in Page(report(model, X, np.roll(y, 1)).html).text


def test_missing_values_do_not_empty_the_picture_of_an_input():
    model, X, _, _ = case("table")
    display = PartialDependenceDisplay.from_estimator(model, X, [EVIL])
    assert np.isfinite(display.grids[0]).all()
    assert np.isfinite(display.deciles[0]).all()
    assert np.ptp(display.mean[0]) > 1


def test_text_that_an_encoder_takes_for_dates_counts_as_dates():
    table = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=60).astype(str), "x": SINC[:, 0]})
    table.loc[4, "day"] = None
    y = pd.Series(np.arange(60) / 20 + TARGET, name="y")
    model = Pipeline([("table", TableEncoder()), ("model", SparseBayesRegressor())]).fit(table, y)
    text = Page(report(model, table, y).html).text
    assert "day date 2024-01-01 — 2024-02-29 59 1" in text
    assert "Partial dependence is drawn for numbers and dates alone" not in text


def test_panels_beside_one_another_have_the_same_height_and_their_own_label():
    model, X, _, _ = case("columns")
    draw = lambda: PartialDependenceDisplay.from_estimator(model, X)  # noqa: E731
    labelled = [panel.get_ylabel() for panel in draw().ax_]
    pictures = pictures_of(draw, by_panel=True)
    assert len({picture.height for picture in pictures[:3]}) == 1
    assert labelled == [""] * len(pictures)
    display = draw()
    pictures_of(lambda: display, by_panel=True)
    assert [panel.get_ylabel() for panel in display.ax_] == ["average prediction"] * len(pictures)


def test_inputs_that_are_not_drawn_are_named_in_the_caption():
    data = np.random.default_rng(0).standard_normal((80, 12))
    model = SparseBayesRegressor(noise_variance=1e-6).fit(data, data @ np.arange(12))
    assert "9 of 12 inputs; the average moves less along x0, x1, x2." in Page(report(model, data, data[:, 0]).html).text


def test_the_page_is_saved_whole(tmp_path):
    page = case("curve")[3]
    page.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_bytes() == page.html.encode()
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(TypeError, match="path must be"):
        page.save(3)


def test_a_notebook_shows_it_in_a_frame():
    page = Report("<p>a & b</p>", EVIL)
    assert Page(page._repr_html_()).tags == ["iframe"]
    assert "<p>" not in page._repr_html_()
    assert "kB" in repr(page)


def test_coverage_of_rows_with_gaps_is_told_from_that_of_the_others():
    rng = np.random.default_rng(0)
    table, gaps = pd.DataFrame({"a": rng.standard_normal(80), "b": rng.standard_normal(80)}), np.arange(80) % 8 == 0
    y = 3 * table["a"] + 0.1 * rng.standard_normal(80)
    table.loc[gaps, "a"] = np.nan
    steps = [("table", TableEncoder()), ("model", SparseBayesRegressor())]
    model = Pipeline(steps).fit(table, y)
    page = "".join(regression_scores(Subject.of(model, table, y, None)))
    mean, std = model.predict(table, return_std=True)
    z = np.abs((y - mean) / std)
    for rows, words in ((gaps, "10 rows with missing values"), (~gaps, "70 rows without missing values")):
        shares = [100 * np.mean(z[rows] <= norm.ppf(0.5 + 0.5 * level)) for level in (0.5, 0.8, 0.95)]
        found = page.partition(words)[2].partition("</tr>")[0]
        assert [float(each) for each in re.findall(r"([\d.]+) %", found)] == pytest.approx(shares, abs=0.05)
    whole = Subject.of(model, table[~gaps], y[~gaps], None)
    assert "missing values" not in "".join(regression_scores(whole))


def test_the_noise_of_each_row_is_counted():
    noise = np.random.default_rng(0).uniform(0.005, 0.02, len(SINC))
    model = RelevanceVectorRegressor(gamma=0.1).fit(SINC, TARGET, noise_variance=noise)
    mean, std = model.predict(SINC, return_std=True)
    nlpd = -norm.logpdf(TARGET, mean, np.sqrt(std**2 + noise)).mean()
    assert significant(nlpd) in Page(report(model, SINC, TARGET, noise_variance=noise).html).text
    with pytest.raises(ValueError, match="noise_variance must be 60 numbers"):
        report(model, SINC, TARGET)


def test_one_row_is_enough():
    model, X, y, _ = case("table")
    text = Page(report(model, X[:1], y[:1]).html).text
    assert "Not drawn" not in text
    assert "rows here 1 " in text


def test_no_figure_stays_open():
    model, X, y, _ = case("signal")
    report(model, X, y)
    assert pyplot.get_fignums() == []


def test_names_in_any_letters_are_drawn_without_a_warning():
    rng, fonts = np.random.default_rng(0), list(pyplot.rcParams["font.family"])
    X = pd.DataFrame(rng.standard_normal((30, 2)), columns=["日本", "\ue000"])  # the second is in no font
    y = X["日本"] + 0.1 * rng.standard_normal(30)
    page = str(report(SparseBayesRegressor().fit(X, y), X, y))
    assert "日本" in page
    assert pyplot.rcParams["font.family"] == fonts


def test_errors_are_one_clear_sentence(monkeypatch):
    model, X, y, _ = case("curve")
    with pytest.raises(NotFittedError, match="not fitted"):
        report(RelevanceVectorRegressor(), X, y)
    with pytest.raises(ValueError, match=r"y must have shape \(60,\)"):
        report(model, X, y[:-1])
    with pytest.raises(ValueError, match="y must hold finite numbers"):
        report(model, X, np.where(y > 0, np.nan, y))
    with pytest.raises(ValueError, match="y must have shape"):
        report(model, X)
    with pytest.raises(ValueError, match="X must be a table"):
        report(model, X[:0], y[:0])
    with pytest.raises(ValueError, match=r"X contains (NaN|infinity) in row 1"):
        report(model, np.where(X == X[1], np.nan, X), y)
    with pytest.raises(ValueError, match="2 features"):
        report(model, np.column_stack([X, X]), y)
    with pytest.raises(ValueError, match="noise_variance must be None"):
        report(model, X, y, noise_variance=np.ones(60))
    with pytest.raises(ValueError, match="evaluation must be"):
        report(model, X, y, evaluation="test")
    with pytest.raises(TypeError, match="model must be a fitted regressor"):
        report(LinearRegression().fit(X, y), X, y)
    with pytest.raises(TypeError, match="model must be a fitted regressor"):
        report(SparseRecovery().fit(np.eye(5), np.ones(5)), np.eye(5), np.ones(5))
    with pytest.raises(ValueError, match="y must hold classes of the model"):
        report(models.classifier("columns"), C4, ["other"] * 90)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"sparsebayes\[plot\]"):
        report(model, X, y)
