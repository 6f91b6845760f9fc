"""Polynomial chaos: `integrations.chaospy` and `integrations.openturns` beside LARS, the lasso and ARDRegression.

The Ishigami function, 60 runs (a Latin hypercube), 325 candidate terms.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import chaospy
import numpy as np
import openturns as ot
from sklearn.linear_model import ARDRegression, LassoLarsCV

from benchmarks.common import table
from benchmarks.fields.common import figure, publish, save, versions
from sparsebayes import SparseBayesRegressor
from sparsebayes.integrations.chaospy import fit_expansion
from sparsebayes.integrations.openturns import fit_chaos

DEGREE, NORM, TERMS = 14, 0.75, 325  # hyperbolic truncation: ‖degrees‖_0.75 ≤ 14
RUNS, TESTS = 60, 10000
A, B = 7.0, 0.1  # of the Ishigami function
INPUTS = chaospy.Iid(chaospy.Uniform(-np.pi, np.pi), 3)
JOINT = ot.JointDistribution([ot.Uniform(-np.pi, np.pi)] * 3)
Fit = tuple[Callable[[np.ndarray], np.ndarray], int]  # the fitted function of inputs (3, n), and its number of terms


def ishigami(x: np.ndarray) -> np.ndarray:
    """sin x₁ + 7 sin² x₂ + 0.1 x₃⁴ sin x₁ at inputs (3, n)."""
    return np.sin(x[0]) * (1 + B * x[2] ** 4) + A * np.sin(x[1]) ** 2


def true_indices() -> tuple[np.ndarray, np.ndarray]:
    """First-order and total Sobol indices of the Ishigami function, in closed form."""
    pi4 = np.pi**4
    one, two, both = 0.5 * (1 + B * pi4 / 5) ** 2, A**2 / 8, 8 * B**2 * pi4**2 / 225
    first = np.array([one, two, 0.0])
    return first / (one + two + both), (first + np.array([both, 0.0, both])) / (one + two + both)


def runs(seed: int, noise: float, number: int = RUNS) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (3, number), and outputs with noise of that share of their standard deviation."""
    np.random.seed(seed)  # chaospy draws from the global generator
    x = INPUTS.sample(number, rule="latin_hypercube")
    y = ishigami(x)
    return x, y + noise * y.std() * np.random.default_rng(seed).standard_normal(number)


def expansion() -> tuple[Any, np.ndarray]:
    """The candidate terms and their norms."""
    return chaospy.generate_expansion(DEGREE, INPUTS, cross_truncation=NORM, retall=True, normed=True)


def regression(model: Any) -> Callable[..., Fit]:
    """chaospy.fit_regression with an estimator of scikit-learn's kind."""

    def fit(terms: Any, norms: np.ndarray, x: np.ndarray, y: np.ndarray) -> Fit:
        polynomial, coefficients = chaospy.fit_regression(terms, x, y, model=model, retall=1)
        return lambda new: polynomial(*new), np.count_nonzero(coefficients)

    return fit


def basis() -> Any:
    """Legendre polynomials in the order of a hyperbolic enumerate function."""
    order = ot.HyperbolicAnisotropicEnumerateFunction(3, NORM)
    return ot.OrthogonalProductPolynomialFactory([ot.LegendreFactory()] * 3, order)


def lars(terms: Any, norms: np.ndarray, x: np.ndarray, y: np.ndarray) -> Fit:
    """OpenTURNS' sparse chaos: least angle regression, the model by corrected leave-one-out."""
    selection = ot.LeastSquaresMetaModelSelectionFactory(ot.LARS(), ot.CorrectedLeaveOneOut())
    inputs, outputs = x.T, y[:, None]
    projection = ot.LeastSquaresStrategy(ot.Sample(inputs), ot.Sample(outputs), selection)
    algorithm = ot.FunctionalChaosAlgorithm(inputs, outputs, JOINT, ot.FixedStrategy(basis(), TERMS), projection)
    algorithm.run()
    return _metamodel(algorithm.getResult())


def through_openturns(terms: Any, norms: np.ndarray, x: np.ndarray, y: np.ndarray) -> Fit:
    """`fit_chaos` in the same basis as LARS."""
    return _metamodel(fit_chaos(x.T, y, JOINT, basis(), TERMS).result)


def _metamodel(result: Any) -> Fit:
    function = result.getMetaModel()
    return lambda new: np.asarray(function(new.T))[:, 0], result.getIndices().getSize()


def through_chaospy(terms: Any, norms: np.ndarray, x: np.ndarray, y: np.ndarray) -> Fit:
    """`fit_expansion` with all defaults."""
    fitted = fit_expansion(terms, INPUTS, x, y, norms=norms)
    return lambda new: fitted.polynomial(*new), np.count_nonzero(fitted.coefficients)


METHODS: dict[str, Callable[..., Fit]] = {
    "sparsebayes, chaospy": through_chaospy,
    "sparsebayes, OpenTURNS": through_openturns,
    "sparsebayes, prior='uniform'": regression(SparseBayesRegressor(fit_intercept=False, prior="uniform")),
    "LassoLarsCV": regression(LassoLarsCV(fit_intercept=False)),
    "ARDRegression": regression(ARDRegression(fit_intercept=False)),
    "OpenTURNS LARS": lars,
}


def accuracy(draws: int, noise: float) -> list[list[str]]:
    """One row per method: median and largest relative error, terms, seconds."""
    terms, norms = expansion()
    assert len(terms) == TERMS
    new = INPUTS.sample(TESTS, rule="halton")
    truth = ishigami(new)
    rows = []
    for name, fit in METHODS.items():
        errors, sizes, seconds = [], [], []
        for seed in range(draws):
            x, y = runs(seed, noise)
            start = time.perf_counter()
            predict, size = fit(terms, norms, x, y)
            seconds.append(time.perf_counter() - start)
            errors.append(np.mean((predict(new) - truth) ** 2) / truth.var())
            sizes.append(size)
        cells = [f"{np.median(errors):.0e}", f"{max(errors):.0e}", f"{np.mean(sizes):.0f}", f"{np.mean(seconds):.2f}"]
        rows.append([f"{noise:.0%}", name, *cells])
    return rows


def indices(draws: int, noise: float) -> list[list[str]]:
    """One row per Sobol index: truth, mean, error bar, root mean square error, and how often 2 error bars cover it."""
    terms, norms = expansion()
    found = [fit_expansion(terms, INPUTS, *runs(seed, noise), norms=norms).sobol() for seed in range(draws)]
    rows = []
    for kind, truth in zip(("first", "total"), true_indices(), strict=True):
        values = np.array([getattr(each, kind) for each in found])
        bars = np.array([getattr(each, f"{kind}_std") for each in found])
        for k in range(3):
            error = values[:, k] - truth[k]
            covered = np.mean(np.abs(error) <= 2 * bars[:, k] + 1e-12)
            spreads = [f"{np.sqrt(np.mean(each**2)):.0e}" for each in (bars[:, k], error)]
            values_ = [f"{truth[k]:.4f}", f"{values[:, k].mean():.4f}"]
            rows.append([f"{kind}, x{k + 1}", f"{noise:.0%}", *values_, *spreads, f"{covered:.0%}"])
    return rows


def draw(noise: float = 0.05) -> None:
    """Errors of all methods against the number of runs, and Sobol indices with error bars."""
    terms, norms = expansion()
    fig, axes = figure(1, 2, (9.5, 3.8))
    left, right = axes[0]
    new, numbers = INPUTS.sample(TESTS, rule="halton"), (30, 40, 60, 90, 130)
    truth = ishigami(new)
    for name in ("sparsebayes, chaospy", "LassoLarsCV", "ARDRegression", "OpenTURNS LARS"):
        medians = []
        for number in numbers:
            errors = []
            for seed in range(5):
                predict, _ = METHODS[name](terms, norms, *runs(seed, 0.0, number))
                errors.append(np.mean((predict(new) - truth) ** 2) / truth.var())
            medians.append(np.median(errors))
        left.loglog(numbers, medians, "o-", label=name.removesuffix(", chaospy"))
    left.set(xlabel="runs", ylabel="mean square error / variance", title="Ishigami function, 325 terms")
    left.set_xticks(numbers, [str(n) for n in numbers])
    left.minorticks_off()
    left.set_ylim(3e-10, 1e3)
    left.legend(fontsize=8, loc="upper right")
    sobol = fit_expansion(terms, INPUTS, *runs(0, noise), norms=norms).sobol()
    place = np.arange(3)
    for kind, shift, colour in (("first", -0.15, "C0"), ("total", 0.15, "C1")):
        value, bar = getattr(sobol, kind), getattr(sobol, f"{kind}_std")
        right.errorbar(place + shift, value, 2 * bar, fmt="o", capsize=5, color=colour, label=f"{kind}, ±2 error bars")
    for truth_, shift in zip(true_indices(), (-0.15, 0.15), strict=True):
        label = "truth" if shift < 0 else None
        right.plot(place + shift, truth_, "_", color="k", ms=26, mew=1.2, label=label, zorder=0)
    right.set_xticks(place, ["x₁", "x₂", "x₃"])
    right.set(ylabel="Sobol index", title=f"60 runs with {noise:.0%} noise", xlim=(-0.5, 2.5), ylim=(-0.04, 0.72))
    right.legend(fontsize=8)
    save(fig, "chaos")


def main() -> None:
    """Measure, print and write the tables; draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one draw of each, and nothing is written")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    rows = [row for noise in (0.0, 0.05) for row in accuracy(1 if quick else 5, noise)]
    head = ["noise", "method", "median error", "largest error", "terms", "seconds"]
    text = (
        f"The Ishigami function, {RUNS} runs (Latin hypercubes, five draws), {TERMS} candidate terms: Legendre "
        f"polynomials with ‖degrees‖_{NORM} ≤ {DEGREE}, for OpenTURNS the first {TERMS} of its enumerate function with "
        f"the same norm. The error is the mean square error at {TESTS} new points over the variance; noise in units "
        "of the standard deviation of the runs."
    )
    bars = [row for noise in (0.0, 0.05) for row in indices(2 if quick else 20, noise)]
    bars_head = ["index", "noise", "truth", "mean", "error bar", "rms error", "within 2 bars"]
    bars_text = (
        "Sobol indices of `fit_expansion` over 20 draws of the runs. The error bars are standard deviations over draws "
        "from the posterior of the coefficients: they do not count terms that were not selected."
    )
    sections = [text, table(head, rows), bars_text, table(bars_head, bars), versions("chaospy", "openturns")]
    publish("chaos", "polynomial-chaos", "Polynomial chaos", sections, not quick)
    if not quick:
        draw()


if __name__ == "__main__":
    main()
