"""[TF03] Figures 1 to 5: time, error and sparsity of the old and the new algorithm, and of libsvm, against N.

Regression: sin(‖x‖)/‖x‖ on [−10, 10]², noise 0.1, Gaussian kernel of width 2.5. Classification: two mixtures of
Gaussians, Gaussian kernel of width 1. Prior uniform, an intercept, noise estimated. Old: MacKay's fixed point of all
α [T01]; new: one α at a time [TF03]; active-set: the default solver of this package. libsvm has C = 1 (and ε = 0.1).
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.common import table
from benchmarks.papers import ft02
from benchmarks.papers.cells import with_error
from benchmarks.papers.items import Item, Measured, Run, Shown
from benchmarks.papers.models import classifier, quietly, regressor, svc, svr
from benchmarks.papers.pictures import BLACK, BLUE, GREEN, ORANGE, image, picture
from sparsebayes.datasets import make_ripley, make_sinc2d

SIZES, OLD_SIZES = (100, 200, 500, 1000, 2000, 4000), (100, 200, 500, 1000)
DRAWS, TEST_ROWS = 10, 2000
COMPARED = 1000  # the N whose times are printed
SOLVERS = {"old": "mackay", "new": "sequential", "default": "active-set"}
LABELS = {"old": "old (fixed point)", "new": "new (sequential)", "default": "active-set", "svm": "libsvm"}
COLOURS = {"old": ORANGE, "new": BLUE, "default": GREEN, "svm": BLACK}
PRINTED = {
    "regression": {"old": 257.0, "new": 14.42, "svm": 1.03},
    "classification": {"old": 298.0, "new": 12.84, "svm": 0.38},
}
FIGURES = {"regression": ("2", "3"), "classification": ("4", "5")}
WHAT = {"regression": "RMS error", "classification": "error, %"}


def drawn(kind: str, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Training data."""
    if kind == "regression":
        X, y, _ = make_sinc2d(n, 0.1, random_state=seed)
        return X, y
    X, y, _ = make_ripley(n, random_state=seed)
    return X, y


def machine(kind: str, method: str) -> Any:
    """The model with all its settings."""
    if kind == "regression":
        gamma = 2.5**-2
        return (
            svr(gamma=gamma, C=1.0, epsilon=0.1)
            if method == "svm"
            else regressor("rbf", gamma=gamma, solver=SOLVERS[method])
        )
    return svc(gamma=1.0, C=1.0) if method == "svm" else classifier("rbf", gamma=1.0, solver=SOLVERS[method])


def error_of(kind: str, model: Any, seed: int) -> float:
    """RMS error against the function, or share of test points with the wrong class in per cent."""
    if kind == "regression":
        X, _, f = make_sinc2d(TEST_ROWS, 0.1, random_state=10_000 + seed)
        return float(np.sqrt(np.mean((model.predict(X) - f) ** 2)))
    X, y, _ = make_ripley(TEST_ROWS, random_state=10_000 + seed)
    return 100 * float(np.mean(model.predict(X) != y))


def one(kind: str, method: str, n: int, seed: int) -> list[float]:
    """Seconds, error and number of vectors."""
    X, y = drawn(kind, n, seed)
    model = machine(kind, method)
    start = time.process_time()
    quietly(lambda: model.fit(X, y))
    seconds = time.process_time() - start
    vectors = len(model.support_ if method == "svm" else model.relevance_)
    return [seconds, error_of(kind, model, seed), vectors]


def measure(run: Run, kind: str) -> Measured:
    """Every method at every size."""
    sizes = SIZES if run.full else SIZES[:2]
    draws = run.draws(1, DRAWS)
    found: Measured = {}
    for method in LABELS:
        for n in sizes:
            if method != "old" or n in OLD_SIZES:
                found.setdefault(method, {})[str(n)] = run.part(
                    f"{method}-{n}", lambda m=method, n=n: [one(kind, m, n, seed) for seed in range(draws)]
                )
    draw(run, kind, found)
    return found


def draw(run: Run, kind: str, found: Measured) -> None:
    """Time against N, then error and vectors of the algorithms."""
    names = [f"tf03-figure-{number}" for number in FIGURES[kind]]
    with picture(run.picture(names[0]), 1, 1, (5.2, 3.6)) as axes:
        panel(axes[0, 0], found, 0, list(LABELS))
        for method, seconds in PRINTED[kind].items():
            axes[0, 0].plot(COMPARED, seconds, "x", color=COLOURS[method], ms=7)
        axes[0, 0].set(yscale="log", ylabel="seconds of one fit", title=f"{kind}: run time (crosses: printed, 2003)")
        axes[0, 0].legend()
    with picture(run.picture(names[1]), 1, 2, (9, 3.4)) as axes:
        panel(axes[0, 0], found, 1, ["old", "new", "default"])
        panel(axes[0, 1], found, 2, ["old", "new", "default"])
        axes[0, 0].set(ylabel=WHAT[kind], title=f"{kind}: test error")
        axes[0, 1].set(ylabel="relevance vectors", title=f"{kind}: size of the model")
        axes[0, 1].set_ylim(bottom=0)
        axes[0, 0].legend()


def panel(ax: Any, found: Measured, column: int, methods: list[str]) -> None:
    """One quantity against N: mean and standard error."""
    for method in methods:
        sizes = [int(n) for n in found[method]]
        values = [np.asarray(found[method][str(n)])[:, column] for n in sizes]
        means = [v.mean() for v in values]
        errors = [v.std(ddof=1) / np.sqrt(len(v)) if len(v) > 1 else 0 for v in values]
        ax.errorbar(sizes, means, errors, marker="o", ms=3.5, capsize=2, color=COLOURS[method], label=LABELS[method])
    ax.set(xscale="log", xlabel="N, number of training points")
    ax.set_xticks(sizes, [str(n) for n in sizes])
    ax.minorticks_off()


TEXT = """Mean of {draws} draws (10 in print); the old algorithm up to N = 1000, as in print. Gaussian kernel of width
{width}, uniform prior, an intercept; the error is that of {rows} test points {against}. libsvm has C = 1{tube}. The
printed times are those of Matlab (and C for the support vector machine) on an Athlon XP 2000+, at N = 1000."""


def remark_on(found: Measured, seconds: dict[str, float], size: str, printed: dict[str, float]) -> str:
    """How the times compare, at the N of the printed times and at the largest one."""
    ratio = seconds["old"] / seconds["new"]
    last = max(found["new"], key=int)
    late = {method: float(np.mean([draw[0] for draw in found[method][last]])) for method in ("default", "new", "svm")}
    return (
        f"At N = {size} the new algorithm is {ratio:.1f} times as fast as the old one "
        f"({printed['old'] / printed['new']:.0f} times in print, whose old one factorises all N functions for "
        f"longer). The default solver, `active-set`, takes {seconds['default'] / seconds['new']:.2f} times the "
        f"time of the new one there, and at N = {last} {late['default']:.2f} s, against {late['new']:.2f} s and "
        f"{late['svm']:.2f} s of libsvm. The number of support vectors grows with N, that of relevance vectors "
        "hardly."
    )


def show(found: Measured, kind: str) -> Shown:
    """The figures and the numbers behind them."""
    regression = kind == "regression"
    size = str(COMPARED if str(COMPARED) in found["new"] else max(map(int, found["new"])))
    seconds = {method: float(np.mean([draw[0] for draw in found[method][size]])) for method in found}
    rows = [
        [
            f"N = {n}",
            LABELS[method],
            *(with_error([draw[column] for draw in draws]) for column in (0, 1, 2)),
            f"{PRINTED[kind].get(method, np.nan):g} s" if int(n) == COMPARED and method in PRINTED[kind] else "",
        ]
        for n in found["new"]
        for method in found
        if (draws := found[method].get(n))
    ]
    head = ["", "algorithm", "seconds", WHAT[kind], "vectors", "printed time"]
    text = TEXT.format(
        draws=len(found["new"][size]),
        width="2.5" if regression else "1",
        rows=TEST_ROWS,
        against="against the function" if regression else "with their classes",
        tube=" and ε = 0.1" if regression else "",
    )
    printed, remark = PRINTED[kind], remark_on(found, seconds, size, PRINTED[kind])
    pictures = "\n\n".join(image(f"tf03-figure-{number}", f"TF03 figure {number}, {kind}") for number in FIGURES[kind])
    ours = f"{seconds['old']:.2g}, {seconds['new']:.2g}, {seconds['svm']:.2g} s; default {seconds['default']:.2g} s"
    body = "\n\n".join([text, pictures, remark, table(head, rows)])
    return Shown("{old:g}, {new:g}, {svm:g} s at N = 1000 (old, new, SVM)".format(**printed), ours, body)


ITEMS = [
    Item("tf03-figure-1", ("Figure 1",), ft02.measure_two_cases, ft02.show_two_cases),
    Item(
        "tf03-figures-2-3",
        ("Figure 2", "Figure 3"),
        lambda run: measure(run, "regression"),
        lambda found: show(found, "regression"),
    ),
    Item(
        "tf03-figures-4-5",
        ("Figure 4", "Figure 5"),
        lambda run: measure(run, "classification"),
        lambda found: show(found, "classification"),
    ),
]
