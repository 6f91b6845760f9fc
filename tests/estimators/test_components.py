"""What each part of a concatenation contributes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sparsebayes import RBF, Bias, Columns, RelevanceVectorRegressor, ThinPlateSpline, Wavelet
from sparsebayes.datasets import make_signal


@pytest.mark.parametrize("kernel", [RBF(width=2.0) + Columns(), Wavelet("haar") + ThinPlateSpline(3.0) + Bias()])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_components_sum_to_the_fitted_values(kernel, fit_intercept):
    X, y, _ = make_signal("heavisine", 128, snr=5.0, random_state=1)
    model = RelevanceVectorRegressor(kernel, prior="bic", fit_intercept=fit_intercept).fit(X, y)
    assert model.components_.shape == (len(kernel.parts), 128)
    assert_allclose(model.components_.sum(axis=0) + model.intercept_, model.predict(X), atol=1e-9)
    model.set_params(kernel="rbf").fit(X, y)
    assert not hasattr(model, "components_")


def test_components_belong_to_the_part():
    """A part whose functions are not kept contributes nothing."""
    X = np.linspace(-1, 1, 60)[:, None]
    y = 3 * X[:, 0] + 1e-3 * np.random.default_rng(0).standard_normal(60)
    model = RelevanceVectorRegressor(Columns() + Wavelet("haar"), prior="ric").fit(X, y)
    assert_allclose(model.components_[0], 3 * X[:, 0], atol=0.01)
    assert_allclose(model.components_[1], 0.0, atol=0.01)


def test_blocks_and_sinc_are_told_apart():
    """[SE07, figure 8]: steps by Haar wavelets, the smooth half by splines."""
    X, y, f = make_signal("blocks-sinc", 512, snr=7.0, random_state=0)
    kernel = Wavelet("haar") + ThinPlateSpline(3.0)
    model = RelevanceVectorRegressor(kernel, prior="ric", fit_intercept=True).fit(X, y)
    haar, spline = model.components_
    alone = [RelevanceVectorRegressor(part, prior="ric").fit(X, y).predict(X) for part in kernel.parts]
    error = np.mean((model.predict(X) - f) ** 2)
    assert all(error < np.mean((other - f) ** 2) for other in alone)
    # on the right, where the signal is smooth, the splines carry what varies
    smooth = slice(300, 512)
    assert np.std(haar[smooth]) < 0.5 * np.std(f[smooth])
    assert np.corrcoef(spline[smooth], f[smooth])[0, 1] > 0.9
