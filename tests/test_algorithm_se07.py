"""The algorithm that SE07 prints, kept in the benchmarks: its formulas, and where it has a fixed point."""

import brute
import numpy as np
import pytest

from benchmarks.papers.se07_algorithm import Algorithm1, WithoutLoss
from sparsebayes import RelevanceVectorRegressor, Wavelet
from sparsebayes.datasets import make_signal


@pytest.mark.parametrize("algorithm", [Algorithm1, WithoutLoss])
@pytest.mark.parametrize("seed", range(3))
def test_posterior_and_scores_are_those_of_the_definition(seed, algorithm):
    Phi, t, _ = brute.random_problem(seed, N=30, M=45, active=5)
    Phi = Phi * np.random.default_rng(seed).uniform(0.1, 10, 45)  # any norms
    model = algorithm(Phi, t, c=np.log(30))
    model.run(60, np.random.default_rng(seed), lambda model: None)
    J = model.active
    C = brute.covariance(Phi[:, J], model.alpha[J], model.beta)
    np.testing.assert_allclose(Phi[:, J] @ model.mean, t - np.linalg.solve(C, t) / model.beta, atol=1e-9)
    for i in range(45):
        others = [j for j in J if j != i]
        C = brute.covariance(Phi[:, others], model.alpha[others], model.beta)
        direct = Phi[:, i] @ np.linalg.solve(C, np.column_stack([Phi[:, i], t]))  # s_i and q_i, eqs. 30 and 31
        np.testing.assert_allclose(model.scores(i), direct, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("prior", "c"), [("bic", 0.5 * np.log(128)), ("ric", np.log(128))])
@pytest.mark.parametrize("seed", range(3))
def test_on_orthonormal_functions_it_settles_where_the_library_does(prior, c, seed):
    X, y, f = make_signal("blocks", 128, snr=7.0, random_state=seed)
    t, noise = y - y.mean(), float(f.std() / 7) ** 2  # given, as σ² may have several maxima
    bound = Wavelet("haar").bind(X)
    Phi = np.asarray(bound.operator(X).columns(range(bound.n_functions)))
    model = Algorithm1(Phi, t, c, noise)
    model.run(2000, np.random.default_rng(seed), lambda model: None)
    ours = RelevanceVectorRegressor(Wavelet("haar"), prior=prior, noise_variance=noise, fit_intercept=False)
    ours.fit(X, t)
    assert sorted(model.active) == sorted(ours.relevance_)
    np.testing.assert_allclose(Phi[:, model.active] @ model.mean, ours.predict(X), atol=1e-9 * np.std(t))
