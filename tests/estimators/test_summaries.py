"""The summaries of fitted estimators: what the evidence loses by a deletion, error bars, and every way to show them."""

import io
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
import scipy.stats
from brute import LaplaceModel, codes, log_evidence, random_classes
from sklearn.exceptions import NotFittedError

import sparsebayes
from sparsebayes import (
    RBF,
    Columns,
    GeneralizedNormal,
    RationalQuadratic,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesClassifier,
    SparseBayesRegressor,
    SparseRecovery,
    Spike,
    Summary,
    Wavelet,
    WaveletDenoiser,
)
from sparsebayes.export import load, save
from sparsebayes.signals.wavelet_transform import WaveletOperator


def _rows(seed=0, n=60, d=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.5
    return X, X[:, 1] - 2 * X[:, 2] + 0.3 * rng.standard_normal(n)


def _two_outputs(seed=0):
    X, y = _rows(seed)
    return X, np.column_stack([y, 10 * X[:, 0] + y + 3 * np.random.default_rng(seed + 9).standard_normal(60)])


def _circular(n=30, M=40):
    rng = np.random.default_rng(0)
    Phi = np.exp(2j * np.pi * np.outer(np.arange(n), np.arange(M) / M))
    noise = 0.3 * (rng.standard_normal((n, 2)) + 1j * rng.standard_normal((n, 2)))
    return Phi, (2 * Phi[:, [10]] - 1j * Phi[:, [25]]) * [1.0, 0.5j] + noise


def _model(name):
    """A fitted estimator of every kind."""
    X, y = _rows()
    frame = pd.DataFrame(X, columns=["age_%", "<script>alert(1)</script>", "身長\n", "a\\b^c~d{e}&$#\"'"])
    Phi, Y = _circular()
    match name:
        case "columns":
            return SparseBayesRegressor(prior="uniform").fit(frame, y)
        case "kernel":
            return RelevanceVectorRegressor().fit(X, y)
        case "ard":
            return RelevanceVectorRegressor(gamma="ard", effort="fast").fit(X, y)
        case "parts":
            return RelevanceVectorRegressor(RBF(1.0) + Columns(degree=2), prior="bic").fit(X, y)
        case "signal":
            return RelevanceVectorRegressor(Wavelet() + Spike(), prior="bic").fit(np.arange(60)[:, None] / 60.0, y)
        case "outputs":
            return SparseBayesRegressor(prior="uniform", shared_noise=False).fit(*_two_outputs())
        case "separate":
            return SparseBayesRegressor(prior="uniform", joint=False).fit(*_two_outputs())
        case "shaped":
            return SparseBayesRegressor(likelihood=GeneralizedNormal(shape=3.0)).fit(X, y)
        case "unpenalised":
            return SparseBayesRegressor(unpenalised=[0]).fit(X, y)
        case "constant":
            with pytest.warns(match="y"):
                return SparseBayesRegressor().fit(X, np.ones(60))
        case "two classes":
            return SparseBayesClassifier(prior="uniform").fit(frame, np.where(y > 0, "no", "<b>"))
        case "classes":
            return SparseBayesClassifier(prior="uniform").fit(X, np.digitize(y, [-2, 0]))
        case "kernel classes":
            return RelevanceVectorClassifier().fit(X, np.digitize(y, [-2, 0]))
        case "recovery":
            return SparseRecovery().fit(Phi.real, Y[:, 0].real)
        case "complex":
            return SparseRecovery(fit_intercept=True).fit(Phi, Y[:, 0])
        case "snapshots":
            return SparseRecovery(shared_noise=False).fit(Phi, Y)
        case "separate snapshots":
            return SparseRecovery(joint=False).fit(Phi.real, Y.real)
        case "denoiser":
            return WaveletDenoiser(shifts=1).fit(np.cumsum(y))
        case "images":
            return WaveletDenoiser(ndim=2, prior="bic", shifts=1).fit(np.random.default_rng(0).random((2, 32, 32)))


KINDS = ["columns", "kernel", "ard", "parts", "signal", "outputs", "separate", "shaped", "unpenalised", "constant",
         "two classes", "classes", "kernel classes", "recovery", "complex", "snapshots", "separate snapshots",
         "denoiser", "images"]  # fmt: skip


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    return SimpleNamespace(name=request.param, model=_model(request.param))


# what is in the table


def _rest(flat):
    """Rows (n − k, n) that project out the columns `flat` (n, k), orthonormal."""
    return scipy.linalg.null_space(flat.T).T


def _losses(Phi, t, alpha, beta, flat=None):
    """What the evidence loses without each column, others as they are, after flat columns are integrated out."""
    H = np.eye(len(t)) if flat is None else _rest(flat)
    Phi, t = H @ Phi, H @ t
    whole = log_evidence(Phi, t, alpha, beta)
    every = range(len(alpha))
    return np.asarray([whole - log_evidence(np.delete(Phi, m, axis=1), t, np.delete(alpha, m), beta) for m in every])


def _table(model, **options):
    return model.to_frame(sort="model", **options)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_loss_is_that_of_a_deletion(seed, center, weighted):
    X, y = _rows(seed)
    counts = np.random.default_rng(seed).integers(0, 3, 60) if weighted else np.ones(60, dtype=int)
    model = SparseBayesRegressor(prior="uniform", fit_intercept=center).fit(X, y, counts if weighted else None)
    X, y = np.repeat(X, counts, axis=0), np.repeat(y, counts)
    flat = np.ones((len(y), 1)) if center else None
    Phi, beta = X[:, model.relevance_], 1 / model.noise_variance_
    assert len(model.relevance_) > 1
    np.testing.assert_allclose(
        _table(model)["delta_evidence"], _losses(Phi, y, model.alpha_, beta, flat), rtol=1e-6, atol=1e-7
    )


def test_loss_with_a_known_noise_of_every_row():
    X, y = _rows()
    variance = np.random.default_rng(1).uniform(0.05, 0.5, 60)
    model = SparseBayesRegressor(prior="uniform", fit_intercept=False).fit(X, y, noise_variance=variance)
    scale = np.sqrt(variance)
    expected = _losses(X[:, model.relevance_] / scale[:, None], y / scale, model.alpha_, 1.0)
    np.testing.assert_allclose(_table(model)["delta_evidence"], expected, rtol=1e-6, atol=1e-7)


def test_loss_of_kernels_and_of_orthonormal_functions():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (50, 1))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(50)
    model = RelevanceVectorRegressor(gamma=0.5).fit(X, y)
    Phi = np.exp(-0.5 * (X - model.relevance_vectors_.T) ** 2)
    expected = _losses(Phi, y, model.alpha_, 1 / model.noise_variance_, np.ones((50, 1)))
    np.testing.assert_allclose(_table(model)["delta_evidence"], expected, rtol=1e-5, atol=1e-5)
    t = np.arange(64) / 64.0
    waves = RelevanceVectorRegressor(Wavelet("haar"), fit_intercept=False, prior="bic").fit(
        t[:, None], np.sign(t - 0.4) + 0.1 * rng.standard_normal(64)
    )
    Phi = waves._fitted.basis(t[:, None])
    y = Phi @ (waves.dual_coef_ / waves.gamma_)  # the rest of the signal does not depend on the functions
    expected = _losses(Phi, y, waves.alpha_, 1 / waves.noise_variance_)
    np.testing.assert_allclose(_table(waves)["delta_evidence"], expected, rtol=1e-6, atol=1e-6)


def test_loss_with_columns_without_a_prior():
    X, y = _rows()
    model = SparseBayesRegressor(prior="uniform", unpenalised=[0]).fit(X, y)
    table, penalised = _table(model), model.alpha_ > 0
    assert np.isnan(table["delta_evidence"][~penalised]).all()
    flat = np.column_stack([np.ones(60), X[:, 0]])
    J = model.relevance_[penalised]
    expected = _losses(X[:, J], y, model.alpha_[penalised], 1 / model.noise_variance_, flat)
    np.testing.assert_allclose(table["delta_evidence"][penalised], expected, rtol=1e-6, atol=1e-7)
    assert "x0" in str(model.summary())
    assert "—" in str(model.summary())


@pytest.mark.parametrize("shared", [True, False])
def test_loss_in_each_of_several_outputs(shared):
    X, Y = _two_outputs()
    model = SparseBayesRegressor(prior="uniform", shared_noise=shared).fit(X, Y)
    result, flat = model._fitted.result, np.ones((60, 1))
    expected = [
        _losses(X[:, model.relevance_], y / s, result.alpha, 1 / result.noise_variance, flat)
        for y, s in zip(Y.T, result.output_scales, strict=True)
    ]
    table = _table(model)
    np.testing.assert_allclose(table["delta_evidence"], np.concatenate(expected), rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(table["weight"], model.active_coef_.ravel())
    assert table["output"].tolist() == [0] * len(result.alpha) + [1] * len(result.alpha)


def test_loss_of_complex_weights():
    Phi, Y = _circular()
    model = SparseRecovery(shared_noise=False).fit(Phi, Y)
    result = model._fitted.result
    Phi = Phi[:, model.support_]

    def evidence(kept, y):
        C = result.noise_variance * np.eye(len(y)) + (Phi[:, kept] / model.alpha_[kept]) @ Phi[:, kept].conj().T
        return -np.linalg.slogdet(np.pi * C)[1] - (y.conj() @ np.linalg.solve(C, y)).real

    every = np.arange(len(model.alpha_))
    expected = [
        evidence(every, y) - evidence(np.delete(every, m), y) for y in (Y / result.output_scales).T for m in every
    ]
    table = _table(model)
    np.testing.assert_allclose(table["delta_evidence"], expected, rtol=1e-6)
    np.testing.assert_allclose(table["amplitude"], np.abs(model.coef_[:, model.support_]).ravel())
    np.testing.assert_allclose(table["std"], model.coef_std_[:, model.support_].ravel())


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("seed", range(2))
def test_loss_of_classes_is_that_of_the_quadratic_at_the_mode(K, seed):
    """½ log α + ½ log(|H without m|⁻¹|H|) …: minors of the Hessian of the log posterior, and where it is zero."""
    X, labels = random_classes(seed, 80, 5, K)
    model = SparseBayesClassifier(prior="uniform", moderated=False).fit(X, labels)
    result = model._fitted.result
    brute = LaplaceModel(X, codes(labels, K), result.active, result.output, result.alpha, np.ones(80), True)
    theta, S = brute.mode(), len(result.mean)
    np.testing.assert_allclose(theta[:S], result.mean, rtol=1e-4, atol=1e-6)
    H, expected = brute.hessian(theta), []
    for m in range(S):
        rest = np.delete(np.arange(len(theta)), m)
        logdet = np.linalg.slogdet(H[np.ix_(rest, rest)])[1] - np.linalg.slogdet(H)[1]
        # the largest value of the quadratic with w_m = 0: the others move by −H_rest⁻¹ H_rest,m (0 − w_m)
        step = np.zeros(len(theta))
        step[m] = -theta[m]
        step[rest] = np.linalg.solve(H[np.ix_(rest, rest)], H[rest, m]) * theta[m]
        expected.append(0.5 * np.log(result.alpha[m]) + 0.5 * logdet + 0.5 * step @ H @ step)
    np.testing.assert_allclose(_table(model)["delta_evidence"], expected, rtol=1e-3, atol=1e-5)
    assert "Laplace" in str(model.summary())


def test_weights_intervals_and_intercepts():
    X, y = _rows()
    model = SparseBayesRegressor(prior="uniform").fit(X, y)
    std = np.sqrt(model.covariance_.diagonal())
    for level in (0.5, 0.95):
        table = _table(model, level=level)
        lower, upper = scipy.stats.norm.interval(level, model.active_coef_, std)
        np.testing.assert_array_equal(table["weight"], model.active_coef_)
        np.testing.assert_allclose(table["std"], std)
        np.testing.assert_allclose(table["lower"], lower)
        np.testing.assert_allclose(table["upper"], upper)
        np.testing.assert_array_equal(table["gamma"], model.gamma_)
    assert "25%" in str(model.summary(level=0.5))
    _, at_zero = model.predict(np.zeros((1, 4)), return_std=True)
    known = dict(model.summary().facts)
    value, _, error = known["intercept"].partition(" (std ")
    assert float(value) == pytest.approx(model.intercept_, abs=5e-4)
    assert float(error[:-1]) == pytest.approx(np.sqrt(at_zero[0] ** 2 - model.noise_variance_), rel=5e-3)
    assert float(known["degrees of freedom"]) == pytest.approx(model.degrees_of_freedom_, rel=5e-3)


def test_rows_that_do_not_count_are_not_counted():
    X, y = _rows()
    counts = np.ones(60)
    counts[:7] = 0
    chunks = [(X[:20], y[:20], counts[:20]), (X[20:], y[20:], counts[20:])]
    models = [SparseBayesRegressor().fit(X, y, counts), RelevanceVectorRegressor(gamma=0.5).fit(X, y, counts),
              SparseBayesClassifier().fit(X, y > 0, counts), SparseBayesRegressor().fit(chunks),
              SparseBayesRegressor().partial_fit(X, y, counts)]  # fmt: skip
    for model in models:
        assert dict(model.summary().facts)["rows"] == "53"


@pytest.mark.parametrize("joint", [True, False])
def test_outputs_have_the_names_of_a_data_frame(joint):
    X, Y = _two_outputs()
    for model in (SparseBayesRegressor(prior="uniform", joint=joint), RelevanceVectorRegressor("rbf", joint=joint)):
        named = model.fit(X, y=pd.DataFrame(Y, columns=["height", "width"]))
        file = io.BytesIO()
        save(named, file)
        file.seek(0)
        for each in (named, load(file)):
            assert set(each.to_frame()["output"]) == {"height", "width"}
        assert set(model.fit(X, Y).to_frame()["output"]) == {0, 1}


def test_separate_outputs_are_those_of_their_models():
    X, Y = _two_outputs()
    model = SparseBayesRegressor(joint=False).fit(X, Y)
    table = model.to_frame()
    for t in range(2):
        alone = SparseBayesRegressor().fit(X, Y[:, t]).to_frame()
        own = table[table["output"] == t].drop(columns="output").reset_index(drop=True)
        pd.testing.assert_frame_equal(own, alone)
    assert dict(model.summary().facts)["solver"].startswith("certified local maximum")


def test_levels_of_a_denoiser():
    model = _model("denoiser")
    table = model.to_frame()
    assert table["kept"].sum() == model.n_active_
    assert table["coefficients"].sum() == len(model.coef_)
    assert table["energy"].sum() == pytest.approx(1)
    assert table["threshold"].iloc[0] == 0
    assert table["level"].tolist()[0] == "coarse"
    assert model.summary(max_rows=2).shown.tolist() == [0, 1]


@pytest.mark.parametrize("prior", ["auto", "uniform", "bic"])
def test_thresholds_of_a_denoiser(prior):
    """In an orthonormal basis a coefficient above the threshold is kept, one below it is not."""
    y = np.sign(np.arange(256) - 100) + 0.2 * np.random.default_rng(0).standard_normal(256)
    model = WaveletDenoiser("haar", prior=prior, noise_variance=0.04, boundary="periodic", shifts=1).fit(y)
    w = WaveletOperator((256,), "haar", None).analyze(y - y.mean())
    for band, threshold in zip(model.bands_, model.to_frame()["threshold"], strict=True):
        np.testing.assert_array_equal(model.coef_[band.where] != 0, np.abs(w[band.where]) > threshold)


def test_the_letters_of_levels_are_explained_where_there_are_any():
    words, third = '"d" has differences along it, "a" averages', '"n" is not halved at this level'
    assert words in str(_model("images").summary())
    assert third not in str(_model("images").summary())
    assert words not in str(_model("denoiser").summary())
    long = WaveletDenoiser(ndim=2, shifts=0).fit(np.random.default_rng(0).standard_normal((16, 128)))
    assert any("n" in band.kind for band in long.bands_)
    assert f"{words}, {third}" in str(long.summary())


def test_the_channels_of_one_signal_are_called_so():
    x = np.random.default_rng(0).standard_normal((2, 64, 3))
    for signals, heading in ((x[0], "channel"), (x, "signal"), (x[:, :, 0], "signal")):
        channels = None if signals.ndim == 2 and heading == "signal" else -1
        summary = WaveletDenoiser(channel_axis=channels, shifts=0).fit(signals).summary()
        assert re.search(rf"^{heading} +level ", str(summary), flags=re.MULTILINE)


def test_the_channels_of_an_image_are_called_so():
    model = WaveletDenoiser(ndim=2, channel_axis=-1).fit(np.random.default_rng(0).random((32, 32, 3)))
    assert sorted(set(model.to_frame()["signal"])) == [0, 1, 2]
    assert dict(model.summary().facts)["channels"] == "3"


# the ways to show it


def test_every_kind_of_model_has_a_summary(kind):
    summary = kind.model.summary(max_rows=None)
    assert isinstance(summary, Summary)
    frame, text = summary.to_frame(), str(summary)
    assert text == repr(summary)
    assert len(frame) == len(summary.shown)
    pd.testing.assert_frame_equal(frame, kind.model.to_frame())
    for form in (text, summary.to_html(), summary.to_latex()):
        assert "nan" not in form.lower()
    if kind.name not in ("unpenalised", "images"):
        assert not frame.isna().any().any()
    if "term" in frame:
        assert set(frame["term"]) == set(kind.model.get_feature_names_out())
        assert (
            frame.groupby(list({"output", "class", "snapshot"} & set(frame)) or (lambda _: 0))["delta_evidence"]
            .apply(lambda loss: loss.dropna().is_monotonic_decreasing)
            .all()
        )


def test_table_as_text(kind):
    text = str(kind.model.summary())
    lines = text.splitlines()
    rules = [k for k, line in enumerate(lines) if set(line) == {"─"}]
    if kind.name == "constant":
        assert not rules
        assert lines[-1] == "No function was selected."
        return
    assert len(rules) == 3
    width = len(lines[rules[0]])
    for line in lines[rules[0] : rules[2]]:
        assert len(line) + sum(character in "身長" for character in line) <= width
    for line in lines[rules[1] + 1 : rules[2]]:
        assert len(line) + sum(character in "身長" for character in line) >= width - 5


class _Cells(HTMLParser):
    """The text of a page, its tags balanced."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.texts = [], set(), []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_table_as_html(kind):
    summary = kind.model.summary()
    page = _Cells()
    page.feed(summary._repr_html_())
    page.close()
    assert not page.open
    assert page.tags <= {"div", "table", "thead", "tbody", "tr", "th", "td"}
    assert {each.replace("\n", "\\n") for pair in summary.facts for each in pair} <= set(page.texts)
    for column, texts in summary.cells() if len(summary.shown) else []:
        assert column.heading in page.texts
        shown = {text.strip().replace("−", "-") for text in page.texts}
        assert {text.replace("\n", "\\n") for text in texts} <= shown


def test_table_as_latex(kind):
    """Every special character is escaped, and every row has the same number of cells."""
    latex = kind.model.summary().to_latex()
    body = [line for line in latex.splitlines() if not line.startswith("%")]
    if kind.name == "constant":
        assert not body
        return
    assert body[0].startswith(r"\begin{tabular}")
    assert body[-1] == r"\end{tabular}"
    rows = [line for line in body[1:-1] if line != r"\hline"]
    columns = len(kind.model.summary().columns)
    for line in rows:
        assert line.endswith(r" \\")
        bare = line.replace(r"\&", "").replace(r"\textasciicircum{}", "").removesuffix(r" \\")
        assert bare.count("&") == columns - 1
        for special in "#%_":
            assert bare.count(special) == bare.count("\\" + special), bare
        assert bare.replace(r"\$", "").count("$") % 2 == 0
        plain = bare.replace(r"\{", "").replace(r"\}", "")
        assert plain.count("{") == plain.count("}")


def test_names_that_need_care():
    model = _model("columns")
    assert len(model.relevance_) >= 2
    summary = model.summary()
    text, latex, page = str(summary), summary.to_latex(), summary.to_html()
    assert "<script>" in text
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert r"$<$script$>$alert(1)" in latex
    assert r"身長\n" in text
    assert "age\\_\\%" in latex or "age_%" not in text


def test_scales_have_the_names_of_inputs():
    X, y = _rows()
    frame = pd.DataFrame(X, columns=["age", "height", "weight", "x"])
    model = RelevanceVectorRegressor(gamma="ard", effort="fast").fit(frame, y)
    scales = dict(model.summary().facts)["length scales"]
    assert scales.endswith(" (learned)")
    found = dict(each.split(" ") for each in scales.removesuffix(" (learned)").split(", "))
    assert list(found) == list(frame.columns)
    np.testing.assert_allclose([float(value) for value in found.values()], model.scales_**-0.5, rtol=1e-3)


def test_scales_that_are_no_widths_have_their_names():
    X, y = _rows()
    kernel = RationalQuadratic(alpha=3.0, gamma=0.25) + RBF(gamma=4.0)
    found = dict(RelevanceVectorRegressor(kernel, prior="bic").fit(X, y).summary().facts)
    assert found["length scales"] == "part0: 2.000; part1: 0.5000"
    assert found["scales"] == "part0__alpha = 3.000"


def test_scales_of_constant_targets_are_not_learned():
    with pytest.warns(match="y"):
        model = RelevanceVectorRegressor(gamma="ard").fit(_rows()[0], np.ones(60))
    assert "learned" not in dict(model.summary().facts)["length scales"]


def test_a_stored_model_has_the_same_summary(kind, tmp_path):
    save(kind.model, tmp_path / "model")
    stored = load(tmp_path / "model")
    assert str(stored.summary()) == str(kind.model.summary())
    if hasattr(stored, "formula"):
        assert stored.formula() == kind.model.formula()


def test_long_tables_are_cut():
    model = _model("kernel classes")
    whole, cut = model.summary(max_rows=None), model.summary(max_rows=2)
    losses = whole.to_frame()["delta_evidence"]
    assert len(losses) > 3
    assert len(cut.shown) == 2
    assert set(cut.shown) == set(np.argsort(-losses)[:2])
    assert f"… and {len(losses) - 2} more of smaller" in str(cut)
    assert " more of smaller" not in str(whole)
    assert "summary(max_rows=None) shows all rows" in str(cut)
    assert "max_rows" not in str(whole) + str(cut.for_readers())
    assert f"… and {len(losses) - 2} more of smaller" in str(cut.for_readers())
    pd.testing.assert_frame_equal(cut.to_frame(), whole.to_frame())


def test_orders():
    model = _model("columns")
    size = model.to_frame(sort="weight")["weight"].abs()
    assert size.is_monotonic_decreasing
    assert model.to_frame(sort="model")["term"].tolist() == model.get_feature_names_out().tolist()


def test_names_of_inputs():
    X, y = _rows()
    model = SparseBayesRegressor(prior="bic").fit(X, y)
    assert set(model.to_frame(input_features=list("abcd"))["term"]) == {"b", "c"}


@pytest.mark.parametrize("factor", [1e-80, 1e-7, 1.0, 1e7, 1e80])
def test_numbers_of_any_size(factor):
    X, y = _rows()
    summary = SparseBayesRegressor(prior="bic").fit(X, factor * y).summary()
    weight, std = (next(texts for column, texts in summary.cells() if column.key == key) for key in ("weight", "std"))
    frame = summary.to_frame()
    np.testing.assert_allclose([float(text) for text in weight], frame["weight"], atol=5.1e-3 * frame["std"].max())
    np.testing.assert_allclose([float(text) for text in std], frame["std"], rtol=5.1e-3)
    assert max(map(len, str(summary).splitlines())) < 110


@pytest.mark.parametrize(
    ("options", "message"),
    [({"level": 1.0}, "level must"), ({"level": "high"}, "level must"), ({"max_rows": 0}, "max_rows must"),
     ({"sort": "size"}, "sort must")],
)  # fmt: skip
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        _model("columns").summary(**options)


def test_before_a_fit():
    for model in (SparseBayesRegressor(), SparseBayesClassifier(), SparseRecovery(), WaveletDenoiser()):
        with pytest.raises(NotFittedError):
            model.summary()
        with pytest.raises(NotFittedError):
            model.to_frame()


def test_without_pandas(monkeypatch):
    model = _model("kernel")
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert str(model.summary())
    with pytest.raises(ImportError, match="to_frame needs pandas"):
        model.to_frame()


def test_a_summary_is_exported():
    assert sparsebayes.Summary is Summary
    summary = _model("kernel").summary()
    assert replace(summary, title="other").title == "other"


def test_a_summary_says_what_error_bars_count_beside_the_noise():
    X = np.random.default_rng(0).uniform(size=(40, 2))
    y = np.sin(6 * X[:, 0]) + X[:, 1] + 0.1 * np.random.default_rng(1).standard_normal(40)
    model = RelevanceVectorRegressor().fit(X, y)
    assert model.excess_variance_ > 0
    both = (model.noise_variance_ + model.excess_variance_) ** 0.5
    assert "functions not selected" in str(model.summary())
    assert f"together {both:.3f} (standard deviations)" in str(model.summary())
    assert "not selected" not in str(RelevanceVectorRegressor(gamma=1.0).fit(X, y).summary())


def test_a_summary_says_that_inputs_share_one_width(tmp_path):
    X, y = np.random.default_rng(0).uniform(size=(60, 30)) * np.arange(1, 31), np.arange(60) % 2
    model = RelevanceVectorClassifier(gamma="ard").fit(X, y)
    text = dict(model.summary().facts)["length scales"]
    assert text.startswith("one width for all inputs (own widths gained too little): ")
    width = float(text.split(": ")[1].removesuffix(" of their standard deviations"))
    np.testing.assert_allclose(model.scales_**-0.5 / X.std(axis=0), width, rtol=1e-3)
    save(model, tmp_path / "model.sbm")
    assert str(load(tmp_path / "model.sbm").summary()) == str(model.summary())
    model._shared_scale = True  # as in files of earlier versions
    assert "(own widths gained too little): x0 " in dict(model.summary().facts)["length scales"]
    assert "own widths" not in str(RelevanceVectorClassifier(gamma="evidence").fit(X, y).summary())


def test_long_facts_are_broken_below_their_column():
    X, y = np.random.default_rng(0).uniform(size=(40, 4)), np.arange(40.0)
    names = [f"a rather long name of an input, number {k}" for k in range(4)]
    model = RelevanceVectorRegressor(gamma="ard", effort="fast").fit(pd.DataFrame(X, columns=names), y)
    lines = str(model.summary()).split("\n")
    first = next(k for k, line in enumerate(lines) if line.startswith("length scales"))
    column = len("degrees of freedom") + 2
    assert max(map(len, lines[first : first + 3])) <= 100
    assert lines[first + 1].startswith(" " * column)
    assert lines[first + 1][column] != " "
    assert "relevance: the mean square change of the prediction" in lines[-1]
