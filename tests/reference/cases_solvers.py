"""Solvers, priors and noise: on kernels, on columns, on more columns than rows, on orthonormal functions."""

from __future__ import annotations

from functools import partial

import api
import numpy as np
from cases import Record, add, box, columns, fits, fits_columns, of_result, sinc, wide

from sparsebayes import DCT, Gamma, Laplace, LinearSpline, Smoothness, Uniform, Wavelet
from sparsebayes.datasets import make_signal

SOLVERS = {
    "default": None,
    "thorough": "thorough",
    "sequential": "sequential",
    "mackay": "mackay",
    "em": "em",
    "one start": api.solver("ActiveSet", pool=0),
    "small pool": api.solver("ActiveSet", pool=20),
    "one by one": api.solver("ActiveSet", batch=1),
    "no exchanges": api.solver("ActiveSet", exchanges=0),
    "many exchanges": api.solver("ActiveSet", exchanges=6, substitutes=8),
    "nearly orthogonal additions": api.solver("ActiveSet", independence=0.2),
    "annealed": api.solver("ActiveSet", stages=5),
    "regrown": api.solver("ActiveSet", rebuilds=2),
    "sequential random": api.solver("Sequential", "random"),
    "sequential in turn": api.solver("Sequential", "next"),
    "sequential, noise at every step": api.solver("Sequential", noise_every=1, refresh=10),
    "sequential, annealed": api.solver("Sequential", stages=4),
    "sequential, not polished": api.solver("Sequential", polish=False),
    "mackay, not polished": api.solver("FixedPoint", "mackay", polish=False),
    "em, not polished": api.solver("FixedPoint", "em", polish=False),
}
PRIORS = {
    "uniform": "uniform",
    "aic": "aic",
    "bic": "bic",
    "ric": "ric",
    "Smoothness": Smoothness(2.5),
    "Gamma": Gamma(0.01, 0.001),
    "Gamma without a": Gamma(0.0, 0.05),
    "Laplace": Laplace(2.0),
}


def orthonormal(basis, n=256, snr=5.0):
    """Orthonormal functions on a signal, and the targets."""
    X, y, _ = make_signal("doppler", n, snr=snr, random_state=3)
    return api.operator(basis, X), y


def solved(name, data, **options):
    """The functional `fit`, without an intercept unless the options say so."""

    def record() -> Record:
        Phi, t, queries = data()
        return of_result(api.fit(Phi, t, **options), queries)

    add(name, record)


def transformed(name, basis, **options):
    """The functional `fit` of orthonormal functions, predicting at the samples; some of them are recorded."""

    def record() -> Record:
        Phi, t = orthonormal(basis)
        found = of_result(api.fit(Phi, t, **options), Phi)
        return found | {key: np.asarray(found[key])[5::25] for key in ("mean", "std")}

    add(name, record)


for label, solver in SOLVERS.items():
    chosen = {} if solver is None else {"solver": solver, "random_state": 0}
    if label in ("em, not polished", "mackay, not polished"):
        chosen["max_iter"] = 300
    if label != "sequential random":  # there the last digit decides what is drawn next
        fits(f"solver {label}, sinc", sinc, gamma=0.1, **chosen)
    fits_columns(f"solver {label}, more columns than rows", wide, noise_variance=0.04, **chosen)
for label in ("default", "thorough", "sequential", "mackay", "em"):
    chosen = {} if label == "default" else {"solver": label}
    fits(
        f"solver {label}, splines, noise known",
        sinc,
        LinearSpline(),
        noise_variance=0.01,
        fit_intercept=False,
        **chosen,
    )
    fits_columns(f"solver {label}, bic, columns", columns, prior="bic", **chosen)
fits("solver default, loose tolerance", partial(box, 150), tol=1e-2)
fits("solver default, few iterations", sinc, gamma=0.1, max_iter=5)
fits("solver sequential, few iterations", sinc, gamma=0.1, solver="sequential", max_iter=12)
fits(
    "solver default, stopped by the callback",
    sinc,
    gamma=0.1,
    callback=lambda progress: progress.iteration >= 4,
)

for label, prior in PRIORS.items():
    fits(f"prior {label}, sinc", partial(sinc, seed=5), gamma=0.3, prior=prior)
    fits_columns(f"prior {label}, columns", columns, prior=prior)
    transformed(f"prior {label}, orthonormal", Wavelet(), prior=prior)
    solved(
        f"prior {label}, functional, more columns than rows",
        partial(wide, seed=9),
        prior=prior,
        noise_variance=0.04,
    )
for label in ("bic", "Gamma", "Laplace"):
    fits(f"prior {label}, mackay", sinc, gamma=0.1, prior=PRIORS[label], solver="mackay")
    fits(f"prior {label}, sequential", sinc, gamma=0.1, prior=PRIORS[label], solver="sequential")
    transformed(f"prior {label}, orthonormal, noise known", DCT(), prior=PRIORS[label], noise_variance=0.003)
transformed("orthonormal by name", Wavelet("haar"), solver="orthonormal", prior="bic")
transformed("orthonormal by the general solver", Wavelet(), solver=api.solver("ActiveSet"), prior="ric")
transformed("orthonormal with an intercept", Wavelet(), fit_intercept=True, prior="bic")
transformed("orthonormal with a prior on the noise", DCT(), noise_prior=(2.0, 0.01), prior="bic")

fits("prior Uniform", sinc, gamma=0.1, prior=Uniform())

fits("noise known", sinc, gamma=0.1, noise_variance=0.02)
fits("noise prior", sinc, gamma=0.1, noise_prior=(5.0, 0.1))
fits("noise prior, no intercept", box, noise_prior=(1.0, 0.5), fit_intercept=False)
fits_columns("noise prior, columns", columns, noise_prior=(10.0, 3.0))
solved("noise prior, functional", columns, noise_prior=(3.0, 0.5), fit_intercept=True)
uniform = partial(sinc, 150, noise="uniform")
for shape in (2.0, 3.0, 8.0, "evidence"):
    fits(f"noise shape {shape}, uniform noise", uniform, gamma=0.1, noise_shape=shape)
    fits_columns(f"noise shape {shape}, columns", partial(columns, 200, 8), noise_shape=shape)
fits("noise shape evidence, Gaussian noise", sinc, gamma=0.1, noise_shape="evidence")
fits("noise shape 4, noise known", uniform, gamma=0.1, noise_shape=4.0, noise_variance=0.0035)
fits("noise shape 4, no intercept", uniform, gamma=0.1, noise_shape=4.0, fit_intercept=False)
fits("noise shape 5, weights", uniform, gamma=0.1, noise_shape=5.0, weights=np.arange(150) % 3 + 0.5)
fits("noise shape evidence, bic", uniform, gamma=0.1, noise_shape="evidence", prior="bic")
fits("noise shape 4, gamma evidence", uniform, gamma="evidence", noise_shape=4.0)
fits("noise shape 4, sequential", uniform, gamma=0.1, noise_shape=4.0, solver="sequential")
solved("noise shape 3, functional", partial(columns, 200, 8), noise_shape=3.0, fit_intercept=True)
solved("noise shape evidence, functional", partial(columns, 200, 8), noise_shape="evidence", fit_intercept=True)
solved("functional, no intercept", columns)
solved("functional, intercept and weights", columns, fit_intercept=True, sample_weight=np.arange(150) % 3 * 1.0)
solved("functional, noise known", wide, noise_variance=0.04)
