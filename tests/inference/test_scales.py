"""The search for scales: where it ends, what it does not depend on, and what it does with many rows."""

import numpy as np
import pytest

from sparsebayes import RelevanceVectorRegressor
from sparsebayes.bases import RBF, Columns, Periodic
from sparsebayes.inference import scales
from sparsebayes.inference.centres import CentredModel
from sparsebayes.inference.dense import DenseModel, GaussianEvidence
from sparsebayes.inference.scales import Rows, learn_scales


def rows_of(X, y, bound=None):
    ones = np.ones(len(y))

    def through(chosen, centres):
        return CentredModel(bound, X[chosen], X[centres], y[chosen], ones[chosen], True, None)

    def evidence(chosen):
        return GaussianEvidence(y[chosen], ones[chosen], True)

    return Rows(X, y, float(np.var(y)), evidence, None if bound is None else through)


def ripple(seed, n, frequency=3.0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 3))
    return X, np.sin(frequency * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.standard_normal(n)


@pytest.mark.parametrize("seed", range(3))
def test_no_scale_that_matters_wants_to_move(seed):
    X, y = ripple(seed, 80)
    bound = RBF().bind(X).with_scale_per_input()
    learned = learn_scales(bound, rows_of(X, y))
    model = DenseModel(bound, X, GaussianEvidence(y, np.ones(80), True))

    def height(log_scales):
        tail = [np.log(1.0), -np.log(learned.noise_variance)]
        return max(model(np.concatenate([log_scales, [s], tail[1:]]))[0] for s in np.linspace(-3, 6, 40))

    best = height(learned.bound.log_scales)
    assert best == pytest.approx(learned.log_evidence, abs=0.1)
    for k in (0, 1):
        for step in (-0.7, 0.7):
            assert height(learned.bound.log_scales + step * np.eye(3)[k]) < best + 0.05


def test_the_order_of_rows_and_inputs_does_not_matter():
    X, y = ripple(4, 90)
    rows, inputs = np.random.default_rng(0).permutation(90), [2, 0, 1]
    one = RelevanceVectorRegressor(gamma="ard").fit(X, y)
    other = RelevanceVectorRegressor(gamma="ard").fit(X[rows][:, inputs], y[rows])
    np.testing.assert_allclose(other.scales_, one.scales_[inputs], rtol=0.02)
    np.testing.assert_allclose(other.predict(X[:, inputs]), one.predict(X), atol=0.02)


def test_an_input_that_is_not_worth_its_scale_is_as_wide_as_can_be():
    X, y = ripple(5, 80)
    bound = RBF().bind(X).with_scale_per_input()
    learned = learn_scales(bound, rows_of(X, y))
    widest = bound.log_scale_bounds(X, scales.REACH)[2, 0]
    assert learned.bound.log_scales[2] == pytest.approx(widest)
    assert np.all(learned.bound.log_scales[:2] > bound.log_scale_bounds(X, 100.0)[:2, 0])


def test_many_rows_show_what_few_cannot(monkeypatch):
    """A ripple of which few rows see six a period."""
    for name, value in {"FEW_ROWS": 20, "ROWS": 40, "CENTRES": 60, "JUDGES": 100}.items():
        monkeypatch.setattr(scales, name, value)
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (400, 1))
    y = np.sin(20 * X[:, 0]) + 0.1 * rng.standard_normal(400)
    bound = RBF().bind(X)
    few, many = learn_scales(bound, rows_of(X, y)), learn_scales(bound, rows_of(X, y, bound))
    assert many.noise_variance == pytest.approx(0.01, rel=0.1)
    assert abs(np.log(many.noise_variance / 0.01)) < abs(np.log(few.noise_variance / 0.01))


def test_what_is_no_width_starts_from_what_it_is():
    x = np.linspace(0, 6, 120)[:, None]
    rng = np.random.default_rng(0)
    y = np.sign(np.sin(2 * np.pi * x[:, 0])) + 0.1 * rng.standard_normal(120)
    model = RelevanceVectorRegressor(Periodic(period=1.05) + Columns(), gamma="evidence").fit(x, y)
    names = model._fitted_basis.scale_names
    assert names == ("part0__period", "part0__width")
    assert model.scales_[0] == pytest.approx(1.0, abs=0.02)
