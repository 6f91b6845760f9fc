"""What a user says of Gaussian noise, in the solver's units."""

from dataclasses import replace

from sparsebayes.core.noise import Gaussian, GaussianNoise
from sparsebayes.core.units import Units
from sparsebayes.solvers.regression import NoiseOptions

UNITS = Units(20.0, False, target_scale=3.0, target_spread=0.5)


def test_an_estimate_starts_from_the_guess_but_not_above_the_ceiling():
    plain = NoiseOptions(Gaussian(prior=(0.1, 0.0))).model(UNITS)
    options = NoiseOptions(Gaussian(prior=(0.1, 0.0)), guess=1.125)
    assert options.model_from_guess(UNITS) == replace(plain, beta=8.0)
    tiny = NoiseOptions(Gaussian(), guess=1e-30)
    assert tiny.model_from_guess(UNITS).beta == plain.beta_max
    assert NoiseOptions(Gaussian(prior=(0.1, 0.0))).model_from_guess(UNITS) == plain


def test_noise_that_is_given_does_not_start_anywhere_else():
    given = NoiseOptions(Gaussian(), variance=0.5, guess=2.0).model_from_guess(UNITS)
    assert given == GaussianNoise(18.0, estimate=False)
