"""Changes of the data that a regression should not notice: units, origins, order of columns, weights or repeats."""

from functools import cache

import numpy as np
import pytest
from metamorphic.exceptions import EXCEPTIONS, is_exception
from metamorphic.problems import KERNEL_MACHINES, LINEAR_MODELS, surface, table
from metamorphic.transformations import INPUTS, ROWS, TARGETS, Data, repeated, weighted

from sparsebayes import fit

MODELS = KERNEL_MACHINES | LINEAR_MODELS
CHANGES = ROWS | INPUTS | {name: change for name, change in TARGETS.items() if name != "sign of y"}
# of predictions, in standard deviations of y: rounding, and more of it where columns are nearly dependent; Laplace's
# approximation and learned scales are found to their own tolerances
CLOSE = {"cubic-spline": 1e-4, "GeneralizedNormal(4)": 1e-3, 'gamma="ard"': 1e-3}
CLOSE |= {"columns, GeneralizedNormal(4)": 1e-4, 'gamma="evidence"': 1e-5}


@cache
def _data(name: str, seed: int) -> Data:
    return Data(*(surface(seed) if name in KERNEL_MACHINES else table(seed)))


@cache
def _plain(name: str, seed: int):
    return _data(name, seed).fitted(MODELS[name])


def _assert_same(changed, plain, change, name: str, before: Data, after: Data) -> None:
    scale, shift = (1.0, 0.0) if change is None else (change.scale, change.shift)
    close = CLOSE.get(name, 1e-6)
    size = np.std(before.y)
    mean, std = plain.predict(before.queries, return_std=True)
    changed_mean, changed_std = changed.predict(after.queries, return_std=True)
    np.testing.assert_allclose((changed_mean - shift) / scale, mean, rtol=close, atol=close * size)
    np.testing.assert_allclose(changed_std / abs(scale), std, rtol=close, atol=close * size)
    assert changed.noise_variance_ / scale**2 == pytest.approx(plain.noise_variance_, rel=10 * close)
    rows = before.y.size if before.weights is None else before.weights.sum()
    evidence = changed.log_evidence_ + (rows - bool(plain.fit_intercept)) * np.log(abs(scale))
    assert evidence == pytest.approx(plain.log_evidence_, rel=close, abs=max(1e-6, 10 * close))


PAIRS = [(name, change) for name in MODELS for change in CHANGES if not is_exception(change, name)]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("name", "change"), PAIRS)
def test_nothing_changes(name, change, seed):
    data = _data(name, seed)
    after = CHANGES[change].change(data)
    _assert_same(after.fitted(MODELS[name]), _plain(name, seed), CHANGES[change], name, data, after)


@pytest.mark.filterwarnings("ignore::sparsebayes.SparsityWarning")  # a rough kernel selects most rows
@pytest.mark.filterwarnings("ignore::sparsebayes.NoiseCollapseWarning")
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", [name for name in MODELS if not is_exception("weights or repeated rows", name)])
def test_integer_weights_equal_repeated_rows(name, seed):
    data = _data(name, seed)
    before, after = weighted(data), repeated(data)
    ours, theirs = after.fitted(MODELS[name]), before.fitted(MODELS[name])
    if theirs.certificate_.at_noise_floor:  # repeated rows have equal targets: noise may well collapse, for both
        assert ours.certificate_.at_noise_floor
    else:
        _assert_same(ours, theirs, None, name, before, after)


@pytest.mark.parametrize("change", ["rows twice with half weights", "weights or repeated rows"])
@pytest.mark.parametrize("name", EXCEPTIONS["weights or repeated rows"])
def test_learned_scales_hardly_notice_repeated_rows(name, change):
    data = _data(name, 0)
    before, after = (weighted(data), repeated(data)) if "or" in change else (data, ROWS[change].change(data))
    ours, theirs = before.fitted(MODELS[name]), after.fitted(MODELS[name])
    np.testing.assert_allclose(ours.scales_, theirs.scales_, rtol=1e-2)
    np.testing.assert_allclose(ours.predict(data.queries), theirs.predict(data.queries), atol=1e-2)


# `fit`, with a design matrix of any kind

DESIGNS = {
    "tall": lambda rng: rng.standard_normal((60, 12)),
    "wide": lambda rng: rng.standard_normal((30, 70)),
    "nearly dependent": lambda rng: np.cumsum(rng.standard_normal((50, 25)), axis=1),
}


def _problem(design: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    Phi = DESIGNS[design](rng)
    return Phi, Phi[:, :3] @ [2.0, -1.0, 1.5] + 0.3 * rng.standard_normal(len(Phi))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("prior", ["bic", "ric"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("design", DESIGNS)
def test_fit(design, fit_intercept, prior, seed):
    Phi, y = _problem(design, seed)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(y)), rng.permutation(Phi.shape[1])
    scales = 10.0 ** rng.uniform(-3, 3, Phi.shape[1]) * rng.choice([-1.0, 1.0], Phi.shape[1])
    options = {"fit_intercept": fit_intercept, "prior": prior}
    plain = fit(Phi, y, **options)
    size = np.std(y)
    for changed, design_now, order in (
        (fit(Phi[rows], y[rows], **options), Phi, None),
        (fit(Phi[:, columns], y, **options), Phi[:, columns], columns),
        (fit(Phi * scales, y, **options), Phi * scales, None),
        (fit(np.tile(Phi, (2, 1)), np.tile(y, 2), sample_weight=np.full(2 * len(y), 0.5), **options), Phi, None),
    ):
        selected = changed.active if order is None else order[changed.active]
        np.testing.assert_array_equal(np.sort(selected), np.sort(plain.active))
        np.testing.assert_allclose(changed.predict(design_now), plain.predict(Phi), atol=1e-6 * size)
        assert changed.log_evidence == pytest.approx(plain.log_evidence, abs=1e-6)
    scaled = fit(Phi, 1e5 * y, **options)
    np.testing.assert_allclose(scaled.predict(Phi) / 1e5, plain.predict(Phi), atol=1e-6 * size)
    if fit_intercept:
        np.testing.assert_allclose(fit(Phi, y + 40, **options).predict(Phi) - 40, plain.predict(Phi), atol=1e-6 * size)
