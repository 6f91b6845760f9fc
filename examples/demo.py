"""What the package does, on problems whose answer is known. This is what `make demo` runs.

Every part below fits one model, and returns a row of the table and a function that draws the fit. A new part
is a new function in PARTS.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

from sparsebayes import (
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesRegressor,
    WaveletDenoiser,
)
from sparsebayes.datasets import make_ripley, make_signal, make_sinc, make_sinc2d, sinc
from sparsebayes.inspection import ClassificationDisplay, RegressionDisplay

PICTURE = Path("build/demo.png")
SINC_NOISE, LINEAR_NOISE = 0.1, 0.5  # true standard deviations
ARM_SCATTER = 0.55  # standard deviation of the angle, in radians
BLUE, VERMILION, BLACK = "#0072B2", "#D55E00", "#222222"

Draw = Callable[[Any], None]


@dataclass(frozen=True)
class Row:
    """One line of the table, every cell as it is printed."""

    task: str
    error: str
    noise_found: str
    true_noise: str
    vectors: str
    log_evidence: str
    time: str


def fitted(model: Any, X: np.ndarray, y: np.ndarray) -> tuple[Any, float]:
    """The fitted model, and the seconds it took."""
    start = time.perf_counter()
    model.fit(X, y)
    return model, time.perf_counter() - start


def regression_row(task: str, model: Any, seconds: float, error: np.ndarray, noise: float, M: int) -> Row:
    """A regression as a row: its errors against the noise-free truth, the true noise, M candidates."""
    return Row(
        task=task,
        error=f"RMSE {np.sqrt(np.mean(error**2)):.4f}",
        noise_found=f"{np.sqrt(model.noise_variance_):.4f}",
        true_noise=f"{noise:.4f}",
        vectors=f"{len(model.relevance_)} of {M}",
        log_evidence=f"{model.log_evidence_:.2f}",
        time=f"{1000 * seconds:.0f} ms",
    )


def classification(
    task: str, train: tuple[np.ndarray, ...], test: tuple[np.ndarray, ...], gamma: float
) -> tuple[Row, Draw]:
    """A Gaussian kernel on X, labels y and true probabilities p (N, K), its test error beside the least."""
    (X, y, _), (X_test, y_test, p_test) = train, test
    model, seconds = fitted(RelevanceVectorClassifier("rbf", gamma=gamma), X, y)
    error, least = np.mean(model.predict(X_test) != y_test), np.mean(p_test.argmax(axis=1) != y_test)
    row = Row(
        task=task,
        error=f"error {100 * error:.1f} % (Bayes {100 * least:.1f} %)",
        noise_found="–",
        true_noise="–",
        vectors=f"{len(model.relevance_)} of {len(X)}",
        log_evidence=f"{model.log_evidence_:.2f}",
        time=f"{1000 * seconds:.0f} ms",
    )

    def draw(ax: Any) -> None:
        ClassificationDisplay.from_estimator(model, X, y, ax=ax)

    return row, draw


def sinc_regression(task: str, kernel: str, **parameters: Any) -> tuple[Row, Draw]:
    """A hundred noisy points of sin(x)/x [T01, 4.1]."""
    X, y, _ = make_sinc(100, "gaussian", SINC_NOISE, random_state=1)
    model, seconds = fitted(RelevanceVectorRegressor(kernel, **parameters), X, y)
    grid = np.linspace(-10, 10, 1000)
    error = model.predict(grid[:, None]) - sinc(grid)
    row = regression_row(task, model, seconds, error, SINC_NOISE, len(X))

    def draw(ax: Any) -> None:
        RegressionDisplay.from_estimator(model, X, y, ax=ax)
        ax.plot(grid, sinc(grid), color=BLACK, lw=1.2, ls=(0, (4, 3)), label="truth")
        ax.legend(loc="upper left", fontsize="small", frameon=False)

    return row, draw


def gaussian_kernel() -> tuple[Row, Draw]:
    """Gaussian kernel of width 3: exp(−‖x − z‖²/9)."""
    return sinc_regression("sinc, Gaussian kernel", "rbf", gamma=1 / 9)


def linear_spline_kernel() -> tuple[Row, Draw]:
    """The kernel that T01 uses for these data, which has no parameter to tune."""
    return sinc_regression("sinc, linear spline kernel", "linear-spline")


def two_inputs() -> tuple[Row, Draw]:
    """A thousand noisy points of sin(‖x‖)/‖x‖, Gaussian kernel of width 2.5 [TF03, 5.1]."""
    X, y, _ = make_sinc2d(1000, SINC_NOISE, random_state=1)
    model, seconds = fitted(RelevanceVectorRegressor("rbf", gamma=1 / 2.5**2), X, y)
    side = np.linspace(-10, 10, 101)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    mean = model.predict(grid)
    error = mean - sinc(np.hypot(*grid.T))
    row = regression_row("2-D sinc, Gaussian kernel", model, seconds, error, SINC_NOISE, len(X))

    def draw(ax: Any) -> None:
        shown = ax.pcolormesh(side, side, mean.reshape(101, 101), cmap="cividis", shading="gouraud")
        ax.figure.colorbar(shown, ax=ax, label="mean")
        ring = {"s": 45, "facecolors": "none", "edgecolors": "white", "linewidths": 1.4, "clip_on": False}
        ax.scatter(*model.relevance_vectors_.T, **ring)
        ax.set(aspect="equal", xlabel="$x_1$", ylabel="$x_2$")

    return row, draw


def sparse_linear() -> tuple[Row, Draw]:
    """Twelve relevant weights among 300, from 150 observations."""
    rng = np.random.default_rng(1)
    X, weights = rng.standard_normal((150, 300)), np.zeros(300)
    weights[rng.choice(300, 12, replace=False)] = rng.choice([-1, 1], 12) * rng.uniform(0.5, 2.0, 12)
    y = X @ weights + LINEAR_NOISE * rng.standard_normal(150)
    # more candidates than rows: the strictest of the named priors
    model, seconds = fitted(SparseBayesRegressor(prior="ric"), X, y)
    X_test = rng.standard_normal((2000, 300))
    error = model.predict(X_test) - X_test @ weights
    row = regression_row("12 weights among 300", model, seconds, error, LINEAR_NOISE, 300)

    def draw(ax: Any) -> None:
        std = np.sqrt(np.diagonal(model.covariance_))
        true = np.flatnonzero(weights)
        ax.axhline(0, color=BLACK, lw=0.8)
        ax.scatter(true, weights[true], marker="_", s=180, color=BLACK, lw=1.8, label="truth")
        bars = {"fmt": "o", "ms": 3.5, "capsize": 4, "color": VERMILION, "lw": 1.6}
        ax.errorbar(model.relevance_, model.active_coef_, yerr=2 * std, label="found, ± 2 std", **bars)
        ax.set(xlabel="column of X", ylabel="weight", xlim=(-6, 305))
        ax.legend(loc="upper left", fontsize="small", frameon=False, ncols=2)
        ax.margins(y=0.12)

    return row, draw


def two_classes() -> tuple[Row, Draw]:
    """Two overlapping classes, each a mixture of two Gaussians; kernel of width 1 [TF03, 5.2]."""

    def drawn(n: int, seed: int) -> tuple[np.ndarray, ...]:
        X, y, p = make_ripley(n, random_state=seed)
        return X, y, np.column_stack([1 - p, p])

    return classification("two classes, Gaussian kernel", drawn(1000, 1), drawn(20_000, 2), gamma=1.0)


def three_classes() -> tuple[Row, Draw]:
    """The three arms of a spiral, one softmax over three outputs; kernel of width ½."""
    return classification("three classes, Gaussian kernel", spiral(500, 1), spiral(20_000, 2), gamma=4.0)


def spiral(n: int, seed: int) -> tuple[np.ndarray, ...]:
    """Points of three arms, 120° from one another, which turn as they go out; normal scatter in the angle."""
    rng = np.random.default_rng(seed)
    y, radius = rng.integers(3, size=n), rng.uniform(0.15, 1.0, n)
    scatter = ARM_SCATTER * rng.standard_normal(n)
    angle = 2 * np.pi * y / 3 + 3 * radius + scatter
    p = np.zeros((n, 3))
    for thirds in range(-6, 7):  # an arm that is this many thirds of a turn further on
        density = np.exp(-0.5 * ((scatter - 2 * np.pi * thirds / 3) / ARM_SCATTER) ** 2)
        p[np.arange(n), (y + thirds) % 3] += density
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return X, y, p / p.sum(axis=1, keepdims=True)


def denoising(name: str, shifts: int) -> tuple[Row, Draw]:
    """A test signal of Donoho and Johnstone under noise, at a signal-to-noise ratio of 7."""
    X, y, f = make_signal(name, 2048, snr=7.0, random_state=1)
    x = X[:, 0]
    start = time.perf_counter()
    model = WaveletDenoiser(shifts=shifts)
    mean, std = model.fit(y).transform(y, return_std=True)
    seconds = time.perf_counter() - start
    row = Row(
        task=f"{name}, wavelets" + (f", {shifts} shifts" if shifts else ""),
        error=f"RMSE {np.sqrt(np.mean((mean - f) ** 2)):.4f}",
        noise_found=f"{np.sqrt(model.noise_variance_):.4f}",
        true_noise=f"{f.std() / 7:.4f}",
        vectors=f"{model.n_active_} of {len(y)}",
        log_evidence="–",
        time=f"{1000 * seconds:.0f} ms",
    )

    def draw(ax: Any) -> None:
        ax.plot(x, y, ".", ms=2, color="#999999", label="data")
        ax.fill_between(x, mean - 2 * std, mean + 2 * std, color=BLUE, alpha=0.25, lw=0, label="± 2 std")
        ax.plot(x, mean, color=BLUE, lw=1.3, label="mean")
        ax.plot(x, f, color=BLACK, lw=0.8, ls=(0, (4, 3)), label="truth")
        ax.set(xlabel="x", ylabel="y")
        ax.legend(loc="lower right", fontsize="small", frameon=False)

    return row, draw


def doppler() -> tuple[Row, Draw]:
    """A chirp: the fast transform, and a closed form for every coefficient."""
    return denoising("doppler", 0)


def blocks() -> tuple[Row, Draw]:
    """Jumps, with the average over sixteen circular shifts."""
    return denoising("blocks", 16)


PARTS = [
    gaussian_kernel,
    linear_spline_kernel,
    two_inputs,
    sparse_linear,
    two_classes,
    three_classes,
    doppler,
    blocks,
]


def print_table(rows: list[Row]) -> None:
    """All rows, each column as wide as its widest cell; the first to the left, the others to the right."""
    head = [field.name.replace("_", " ") for field in fields(Row)]
    lines = [head, *(list(astuple(row)) for row in rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    rule = "  ".join("-" * width for width in widths)
    for number, line in enumerate(lines):
        cells = [line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))]
        print("  ".join(cells))
        if number == 0:
            print(rule)


def draw_picture(panels: list[tuple[str, Draw]], path: Path) -> None:
    """All panels, two per row, as one picture."""
    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = (len(panels) + 1) // 2
    figure, axes = pyplot.subplots(rows, 2, figsize=(12, 4.4 * rows), layout="constrained", squeeze=False)
    for ax, (title, draw) in zip(axes.flat, panels, strict=False):
        draw(ax)
        ax.set_title(title, loc="left", fontsize="medium")
        ax.spines[["top", "right"]].set_visible(False)
    for ax in axes.flat[len(panels) :]:
        ax.set_axis_off()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)


def main() -> None:
    """Run every part, print the table, write the picture."""
    done = [part() for part in PARTS]
    print_table([row for row, _ in done])
    titles = [f"{row.task}: {row.vectors} selected" for row, _ in done]
    draw_picture([(title, draw) for title, (_, draw) in zip(titles, done, strict=True)], PICTURE)
    print(f"\nPicture: {PICTURE}")


if __name__ == "__main__":
    main()
