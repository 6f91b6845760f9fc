"""Estimators that between them hold an object of every class that a model file can hold."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pywt
import scipy.sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsebayes import (
    DCT,
    RBF,
    ActiveSet,
    ActiveSetSettings,
    Automatic,
    Bernoulli,
    Bias,
    Columns,
    Cosine,
    CubicSpline,
    FixedPoint,
    Gamma,
    Gaussian,
    GeneralizedNormal,
    Greedy,
    HistogramIntersection,
    Inclusion,
    KernelSum,
    Laplace,
    Laplacian,
    Linear,
    LinearSpline,
    Matern,
    MultiScale,
    Orthonormal,
    Periodic,
    PerPart,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    Search,
    Sequential,
    Sigmoid,
    Smoothness,
    SparseBayesClassifier,
    SparseBayesRegressor,
    SparseRecovery,
    Spike,
    Sweep,
    ThinPlateSpline,
    Uniform,
    Wavelet,
    WaveletDenoiser,
)
from sparsebayes.bases import Fixed
from sparsebayes.tables import TableEncoder

N = 40
RNG = np.random.default_rng(7)
X = RNG.uniform(-3, 3, (N, 2))
TIMES = np.linspace(0, 1, N)[:, None]
Y = np.sinc(X[:, 0]) + 0.1 * RNG.standard_normal(N)
WAVE = np.sin(9 * TIMES[:, 0]) + 0.1 * RNG.standard_normal(N)
TWO = np.column_stack([Y, np.cos(X[:, 1]) + 0.1 * RNG.standard_normal(N)])
WIDE = RNG.standard_normal((N, 12))
LINEAR = WIDE[:, 3] - 2 * WIDE[:, 5] + 0.1 * RNG.standard_normal(N)
SPARSE = scipy.sparse.random_array((N, 12), density=0.4, random_state=RNG, format="csr")
TABLE = pd.DataFrame({"kind": ["a", "b", None, "c"] * (N // 4), "size": np.where(WIDE[:, 3] > 1, np.nan, WIDE[:, 3])})
FRAME = pd.DataFrame(WIDE, columns=[f"c{k}" for k in range(12)])
DICTIONARY = RNG.standard_normal((20, 50))
SIGNALS = np.sin(np.arange(64) / 5) + 0.1 * RNG.standard_normal((3, 64))
MATRIX = np.exp(-((X[:, :1] - X[:, 0]) ** 2))
THREE = np.digitize(X[:, 0], [-1, 1])

KERNEL, LINES = RelevanceVectorRegressor, SparseBayesRegressor


class Example(NamedTuple):
    """An estimator, what it is fitted to and asked for predictions at, and the method that fits it."""

    model: Any
    X: Any
    y: Any = None
    fit: Any = None
    by: str = "fit"


EXAMPLES: dict[str, Callable[[], Example]] = {
    **{
        f"variance {variance} {gamma}": lambda variance=variance, gamma=gamma: Example(
            KERNEL(variance=variance, gamma=gamma), X, Y
        )
        for variance, gamma in [("posterior", None), ("augmented", 0.3), ("gp", "evidence"), ("gp", "ard")]
    },
    **{
        f"kernel {kernel!r}": lambda kernel=kernel: Example(KERNEL(kernel), X, Y)
        for kernel in [
            "linear", "poly", "sigmoid", "laplacian", Cosine(), Matern(nu=1.5), RationalQuadratic(alpha=0.7),
            Periodic(period=2.5), LinearSpline(), ThinPlateSpline(), Polynomial(degree=2), Sigmoid(), Laplacian(),
            RBF([0.2, 0.9]), RBF(width=2.0) * Linear(), KernelSum([RBF(0.3), Linear()], weights=[1.0, 0.5]),
            MultiScale(RBF()), Columns(degree=2), Bias() + RBF() + Columns(), RBF().bind(X[:3]),
        ]
    },
    **{
        f"prior {prior!r}": lambda prior=prior: Example(KERNEL(prior=prior), X, Y)
        for prior in ["aic", Uniform(), Laplace(), Gamma(1e-3, 1e-3), Smoothness(), Inclusion(1.0), Automatic(N)]
    },
    **{
        f"solver {name}": lambda solver=solver: Example(KERNEL(solver=solver), X, Y)
        for name, solver in {
            "word": "em",
            "sequential": Sequential(),
            "fixed point": FixedPoint(),
            "greedy": Greedy(),
            "settings": ActiveSet(pool=20, settings=ActiveSetSettings(small=64)),
            "search": ActiveSet(effort=Search(starts=(1.0,), sweeps=(Sweep(3),), seconds=5.0)),
        }.items()
    },
    "positive inputs": lambda: Example(KERNEL(HistogramIntersection()), np.abs(X), Y),
    "cubic": lambda: Example(KERNEL(CubicSpline(width=2.0)), TIMES, WAVE),
    "gp of columns and functions": lambda: Example(
        KERNEL(RBF() + Columns(degree=2), gamma="evidence", variance="gp"), X, Y
    ),
    "signals": lambda: Example(KERNEL(Wavelet("haar") + DCT() + Spike()), TIMES, WAVE),
    "orthonormal": lambda: Example(
        KERNEL(Wavelet(pywt.Wavelet("db4")), solver=Orthonormal(), fit_intercept=False, prior="bic"), TIMES, WAVE
    ),
    "fixed": lambda: Example(KERNEL(Fixed(RBF(0.4).bind(X[:5]))), X, Y),
    "matrix": lambda: Example(KERNEL("precomputed"), MATRIX, Y, {"sample_weight": np.arange(N) % 3}),
    "matrix by name": lambda: Example(KERNEL(Precomputed()), MATRIX, Y),
    "centres": lambda: Example(KERNEL(centres=X[:9]), X, Y),
    "prior per part": lambda: Example(KERNEL(RBF() + Columns(), prior=PerPart([Uniform(), Laplace()], [N, 2])), X, Y),
    "noise shape": lambda: Example(KERNEL(likelihood=GeneralizedNormal(8.0)), X, Y),
    "noise prior": lambda: Example(KERNEL(likelihood=Gaussian(prior=(1e-3, 1e-3))), X, Y),
    "few": lambda: Example(KERNEL(max_vectors=3, random_state=3, max_time=100.0), X, Y),
    "constant": lambda: Example(KERNEL(), X, np.ones(N)),
    "outputs": lambda: Example(KERNEL(), X, TWO),
    "outputs with noise": lambda: Example(KERNEL(shared_noise=True), X, TWO),
    "outputs each": lambda: Example(KERNEL(joint=False), X, TWO),
    "outputs in groups": lambda: Example(KERNEL(groups=["a", "b"]), X, TWO),
    "columns": lambda: Example(LINES(), WIDE, LINEAR),
    "columns, streamed": lambda: Example(LINES(), WIDE, LINEAR, by="partial_fit"),
    "columns by hand": lambda: Example(LINES(solver="sequential", noise_variance=0.01), WIDE, LINEAR),
    "columns of a frame": lambda: Example(LINES(), FRAME, LINEAR),
    "columns, sparse": lambda: Example(LINES(), SPARSE, LINEAR),
    "columns, outputs": lambda: Example(LINES(), WIDE, np.column_stack([LINEAR, WIDE[:, 1] + LINEAR])),
    "columns, outputs each": lambda: Example(LINES(joint=False), WIDE, np.column_stack([LINEAR, WIDE[:, 1]])),
    "columns in groups": lambda: Example(LINES(groups=np.arange(12) // 3), WIDE, LINEAR),
    "columns without a prior": lambda: Example(LINES(unpenalised=[0, 1]), WIDE, LINEAR),
    "noise of each row": lambda: Example(LINES(), WIDE, LINEAR, {"noise_variance": np.linspace(0.01, 0.1, N)}),
    **{
        f"labels {name} {gamma}": lambda labels=labels, gamma=gamma: Example(
            RelevanceVectorClassifier(gamma=gamma), X, labels
        )
        for name, labels, gamma in [
            ("bool", X[:, 0] > 0, None),
            ("bool", X[:, 0] > 0, "evidence"),
            ("text", np.where(X[:, 0] > 0, "rechts", "links"), "evidence"),
            ("objects", np.array(["λ", "b"], dtype=object)[(X[:, 0] > 0) * 1], None),
            ("three", THREE * 5, None),
        ]
    },
    "labels of columns": lambda: Example(SparseBayesClassifier(class_weight={0: 1.0, 1: 2.0}), WIDE, (LINEAR > 0) * 1),
    "labels of columns, three": lambda: Example(SparseBayesClassifier(), SPARSE, np.array(["u", "v", "w"])[THREE]),
    "labels, few": lambda: Example(SparseBayesClassifier(moderated=False, polish=True), WIDE, LINEAR > 0),
    "recovery": lambda: Example(SparseRecovery(), DICTIONARY, DICTIONARY[:, 3] - DICTIONARY[:, 7]),
    "recovery, complex": lambda: Example(
        SparseRecovery(), DICTIONARY + 1j * DICTIONARY[:, ::-1], (1 + 2j) * DICTIONARY[:, 3]
    ),
    "recovery, outputs": lambda: Example(SparseRecovery(), DICTIONARY, DICTIONARY[:, [3, 4]] + DICTIONARY[:, [7]]),
    "recovery, each": lambda: Example(SparseRecovery(joint=False), DICTIONARY, DICTIONARY[:, [3, 4]]),
    "denoiser": lambda: Example(WaveletDenoiser(), SIGNALS[0]),
    "denoiser of a batch": lambda: Example(WaveletDenoiser("haar", shifts=2, prior="bic"), SIGNALS),
    "pipeline": lambda: Example(make_pipeline(StandardScaler(), KERNEL()), X, Y),
    "pipeline of own": lambda: Example(make_pipeline(WaveletDenoiser(), make_pipeline("passthrough", LINES())),
                                       SIGNALS, np.arange(3.0)),
    "learned outputs": lambda: Example(KERNEL(gamma="evidence"), X, TWO),
    "pipeline of a table": lambda: Example(make_pipeline(TableEncoder(), LINES()), TABLE, LINEAR),
    "transformer": lambda: Example(KERNEL(Columns(transformer=StandardScaler())), X, Y),
    "likelihoods": lambda: Example(LINES(likelihood=Bernoulli()), WIDE, (LINEAR > 0) * 1),
}  # fmt: skip


@cache
def example(name: str) -> Example:
    """The example of that name, fitted."""
    found = EXAMPLES[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a fit has to say of such data is not the matter here
        getattr(found.model, found.by)(found.X, found.y, **(found.fit or {}))
    return found
