"""Polynomial chaos with OpenTURNS."""

import numpy as np
import pytest

ot = pytest.importorskip("openturns", reason="OpenTURNS is not installed", exc_type=ImportError)

from sparsebayes import SparseBayesRegressor  # noqa: E402
from sparsebayes.integrations.openturns import fit_chaos  # noqa: E402

INPUTS = ot.JointDistribution([ot.Uniform(0.0, 2.0), ot.Normal(1.0, 0.5), ot.Uniform(-1.0, 1.0)])
BASIS = ot.OrthogonalProductPolynomialFactory([ot.LegendreFactory(), ot.HermiteFactory(), ot.LegendreFactory()])
SIZE = 56  # total degree 5


def run(x):
    return 1 + (x[:, 0] - 1) + 2 * (x[:, 1] - 1) * x[:, 2]


@pytest.fixture(scope="module")
def sample():
    ot.RandomGenerator.SetSeed(0)
    return np.array(INPUTS.getSample(50))


@pytest.fixture(scope="module")
def fitted(sample):
    y = run(sample) + 0.01 * np.random.default_rng(0).standard_normal(len(sample))
    return fit_chaos(sample, y, INPUTS, BASIS, SIZE)


def test_the_result_is_a_usable_metamodel(fitted):
    new = np.array(INPUTS.getSample(100))
    np.testing.assert_allclose(np.array(fitted.result.getMetaModel()(new))[:, 0], run(new), atol=0.1)
    assert fitted.result.getIndices().getSize() < 8
    assert fitted.result.involvesModelSelection()


def test_indices_are_those_of_openturns(fitted):
    theirs, ours = ot.FunctionalChaosSobolIndices(fitted.result), fitted.sobol()
    for k in range(3):
        assert ours.first[k] == pytest.approx(theirs.getSobolIndex(k), abs=1e-12)
        assert ours.total[k] == pytest.approx(theirs.getSobolTotalIndex(k), abs=1e-12)
    assert (ours.total_std > 0).all()


def test_the_inputs_are_mapped_to_the_measure_of_the_basis(fitted):
    first = [list(degrees) for degrees in fitted.degrees].index([1, 0, 0])
    assert fitted.coefficients[first, 0] == pytest.approx(1 / np.sqrt(3), abs=0.02)
    assert 0 < fitted.standard_errors[first, 0] < 0.02


def test_several_outputs(sample):
    y = np.column_stack([run(sample), sample[:, 2]])
    fitted = fit_chaos(ot.Sample(sample), ot.Sample(y), INPUTS, BASIS, SIZE, SparseBayesRegressor(fit_intercept=False))
    new = np.array(INPUTS.getSample(20))
    np.testing.assert_allclose(fitted.result.getMetaModel()(new), np.column_stack([run(new), new[:, 2]]), atol=1e-4)
    assert fitted.sobol().first.shape == (3, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"size": 0}, "size must be an integer"),
        ({"output_sample": np.zeros(3)}, "output_sample must have one row"),
        ({"distribution": ot.Normal(2)}, "must have the same dimension"),
        ({"model": SparseBayesRegressor(fit_intercept=True)}, "model must have fit_intercept=False"),
    ],
)
def test_errors_name_the_argument(sample, change, message):
    arguments = {"input_sample": sample, "output_sample": run(sample), "distribution": INPUTS, "size": SIZE} | change
    with pytest.raises(ValueError, match=message):
        fit_chaos(basis=BASIS, **arguments)
