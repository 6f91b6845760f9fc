"""The path of orthonormal functions: its statistics and units, and the solution of any solver on them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import sparsebayes
from sparsebayes.bases.operators import DenseOperator
from sparsebayes.core.noise import Gaussian
from sparsebayes.datasets import make_signal
from sparsebayes.priors import Smoothness
from sparsebayes.signals.path import OrthonormalPath, orthonormal_statistics
from sparsebayes.signals.transforms import DCTOperator
from sparsebayes.signals.wavelet_transform import WaveletOperator
from sparsebayes.solvers.monitor import FitMonitor
from sparsebayes.solvers.regression import NoiseOptions
from sparsebayes.solvers.sequential import Sequential


class SomeColumns(DenseOperator):
    """Orthonormal functions fewer than rows."""

    orthonormal = True


@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_statistics_are_those_of_unit_columns(offset):
    t = 5 * make_signal("doppler", 60, snr=3.0, random_state=1)[1] + offset
    quadratic, units = orthonormal_statistics(DCTOperator(60), t)
    scaled = t / np.sqrt(np.mean(t * t))
    assert_allclose(quadratic.h, DCTOperator(60).columns(range(60)).T @ scaled, atol=1e-12)
    assert quadratic.unseen == 0
    assert units.target_scale == pytest.approx(np.sqrt(np.mean(t * t)))
    assert units.target_spread == pytest.approx(scaled.var(), rel=1e-9)
    assert_array_equal(units.norms, 1.0)
    assert_array_equal(units.means, 0.0)
    assert units.norms.strides == units.means.strides == units.unit.strides == (0,)


@pytest.mark.parametrize("noise_variance", [None, 0.02])
def test_fewer_functions_than_rows(noise_variance):
    rng = np.random.default_rng(2)
    Phi = np.linalg.qr(rng.standard_normal((70, 25)))[0]
    t = Phi[:, :5] @ np.asarray([3.0, -2.0, 4.0, 1.0, -5.0]) + 0.2 * rng.standard_normal(70)
    path = OrthonormalPath(SomeColumns(Phi), t, NoiseOptions(Gaussian(), noise_variance))
    ours = path.fit(Smoothness("bic"), path.default_solver, FitMonitor())
    theirs = sparsebayes.fit(Phi, t, prior="bic", solver=Sequential(), noise_variance=noise_variance)
    assert_array_equal(ours.active, theirs.active)
    assert_allclose(ours.mean, theirs.mean, rtol=1e-6)
    assert_allclose(ours.noise_variance, theirs.noise_variance, rtol=1e-6)
    assert_allclose(ours.log_evidence, theirs.log_evidence, rtol=1e-9)
    assert ours.certificate.is_local_maximum


@pytest.mark.parametrize("prior", ["aic", "bic"])
def test_a_guess_at_the_noise_of_the_closed_form(prior):
    """The closed form starts from the guess, and ends where it ends without."""
    y = np.sin(np.arange(64) / 5) + 0.3 * np.random.default_rng(0).standard_normal(64)
    guessed, plain = (
        sparsebayes.fit(WaveletOperator(64), y, prior=prior, initial_noise_variance=guess) for guess in (0.1, None)
    )
    assert guessed.converged
    assert guessed.certificate.is_local_maximum
    assert guessed.log_evidence == pytest.approx(plain.log_evidence, abs=1e-5)
