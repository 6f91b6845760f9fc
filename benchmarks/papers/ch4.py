"""[Ch4] The thesis chapter: its two algorithms beside the solvers of this package, and compressive sensing.

Algorithms: 100 points of sinc with noise 0.1, Gaussian kernel of r = 3 and a constant, uniform prior, σ² estimated.
Compressive sensing: Haar coefficients (9 halvings) of Blocks, N = 512, from K < N random projections with noise a
hundredth of their size; σ² estimated; `active-set`, `sequential` and `mackay` under the uniform prior, `active-set`
under RIC.
"""

from __future__ import annotations

import inspect
import time

import numpy as np

from benchmarks.common import log_evidence, table
from benchmarks.papers import ch4_algorithms as chapter
from benchmarks.papers.cells import with_error
from benchmarks.papers.items import Item, Measured, Run, Shown
from benchmarks.papers.models import gaussian, matrix_fit, with_bias
from benchmarks.papers.pictures import BLACK, BLUE, GREEN, GREY, ORANGE, image, picture
from sparsebayes import Wavelet
from sparsebayes.datasets import make_signal, make_sinc

SAME = {"algorithm_4_1": "mackay", "algorithm_4_2_2": "sequential"}
SAMPLES, LEVEL, QUIET = 512, 9, 0.01
MEASUREMENTS = (64, 96, 128, 160, 192, 256)
METHODS = {
    "active-set, RIC prior": ("active-set", "ric", BLACK),
    "active-set": ("active-set", "uniform", GREEN),
    "sequential": ("sequential", "uniform", BLUE),
    "mackay": ("mackay", "uniform", ORANGE),
}
DRAWS = 5


def measure_algorithms(run: Run) -> Measured:
    """Both algorithms and the solvers that do the same."""
    X, y, _ = make_sinc(100, "gaussian", 0.1, random_state=0)
    Phi = np.asarray(with_bias(gaussian(3.0)).bind(X)(X))
    found: Measured = {}
    for name, solver in SAME.items():
        start = time.process_time()
        active, alpha, noise = getattr(chapter, name)(Phi, y)
        seconds = time.process_time() - start
        found[name] = [log_evidence(Phi[:, active], y, alpha, noise), len(active), noise, seconds]
        start = time.process_time()
        result = matrix_fit(Phi, y, solver=solver)
        found[solver] = [result.log_evidence, len(result.active), result.noise_variance, time.process_time() - start]
    result = matrix_fit(Phi, y, solver="active-set")
    found["active-set"] = [result.log_evidence, len(result.active), result.noise_variance, 0.0]
    return found


def show_algorithms(found: Measured) -> Shown:
    """Evidence, size and noise side by side."""
    names = {"algorithm_4_1": "algorithm 4.1", "algorithm_4_2_2": "the algorithm of 4.2.2"}
    rows = [
        [names.get(name, f"`{name}`"), f"{evidence:.3f}", f"{n}", f"{noise:.6f}"]
        for name, (evidence, n, noise, _) in found.items()
    ]
    text = (
        "[chapter4.md](chapter4.md) has both algorithms line by line with the equations of the chapter. On 100 "
        "points of sinc (Gaussian kernel of r = 3, a constant, uniform prior) they end where the solvers `mackay` "
        "and `sequential` of this package end; one α at a time is greedy and stops at a lower evidence, which "
        "`active-set` does not. The chapter prints no results."
    )
    head = ["", "log evidence", "functions", "σ²"]
    ours = (
        f"evidence {found['algorithm_4_1'][0]:.2f} and {found['algorithm_4_2_2'][0]:.2f}, as `mackay` and `sequential`"
    )
    return Shown("no figures", ours, text + "\n\n" + table(head, rows))


def sensed(seed: int, measurements: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Φ = RW (K, N), y, the signal, and W: random projections R of a signal with Haar coefficients w."""
    X, _, f = make_signal("blocks", SAMPLES, snr=None)
    W = np.asarray(Wavelet("haar", level=LEVEL).bind(X).operator(X).columns(range(SAMPLES)))
    rng = np.random.default_rng(seed)
    R = rng.standard_normal((measurements, SAMPLES)) / np.sqrt(measurements)
    y = R @ f
    return R @ W, y + QUIET * y.std() * rng.standard_normal(measurements), f, W


def recovered(seed: int, measurements: int) -> Measured:
    """Relative error and number of functions of each solver; the least squares solution of least norm beside them."""
    Phi, y, f, W = sensed(seed, measurements)
    found: Measured = {"least norm": [relative(W @ np.linalg.lstsq(Phi, y)[0], f), SAMPLES, 0.0]}
    for name, (solver, prior, _) in METHODS.items():
        start = time.process_time()
        result = matrix_fit(Phi, y, solver=solver, prior=prior)
        seconds = time.process_time() - start
        found[name] = [relative(W[:, result.active] @ np.ravel(result.mean), f), len(result.active), seconds]
    return found


def relative(estimate: np.ndarray, f: np.ndarray) -> float:
    """‖estimate − f‖/‖f‖."""
    return float(np.linalg.norm(estimate - f) / np.linalg.norm(f))


def measure_sensing(run: Run) -> Measured:
    """Error against the number of measurements."""
    counts = MEASUREMENTS if run.full else MEASUREMENTS[1:2]
    draws = run.draws(1, DRAWS)
    found = {
        str(k): run.part(f"sensing-{k}", lambda k=k: [recovered(seed, k) for seed in range(draws)]) for k in counts
    }
    Phi, y, f, W = sensed(0, 256 if run.full else counts[0])
    result = matrix_fit(Phi, y, solver="active-set", prior="ric")
    estimate = W[:, result.active] @ np.ravel(result.mean)
    with picture(run.picture("ch4-sensing"), 1, 2, (10, 3.5)) as axes:
        axes[0, 0].plot(f, color=BLACK, lw=2.5, alpha=0.35, label="signal")
        axes[0, 0].plot(
            estimate, color=ORANGE, lw=1.1, label=f"from {len(y)} measurements, {len(result.active)} Haar functions"
        )
        axes[0, 0].set(title=f"Blocks, {SAMPLES} samples", xlabel="sample")
        axes[0, 0].legend()
        colours = {name: colour for name, (_, _, colour) in METHODS.items()}
        for method, colour in {**colours, "least norm": GREY}.items():
            means = [np.mean([draw[method][0] for draw in found[str(k)]]) for k in counts]
            axes[0, 1].semilogy(counts, means, "o-", ms=4, color=colour, label=method)
        axes[0, 1].set(
            title="error of the reconstruction",
            xlabel=f"measurements (of {SAMPLES} samples)",
            ylabel="‖error‖/‖signal‖",
        )
        axes[0, 1].legend()
    W0 = W.T @ f
    return {"counts": found, "nonzero": int(np.sum(np.abs(W0) > 1e-9 * np.abs(W0).max()))}


def show_sensing(found: Measured) -> Shown:
    """The setting that the chapter comes from."""
    rows = []
    for k, draws in found["counts"].items():
        for method in ("least norm", *METHODS):
            columns = list(zip(*[draw[method] for draw in draws], strict=True))
            rows.append(
                [
                    k,
                    method,
                    with_error(columns[0]),
                    f"{np.mean(columns[1]):.1f}",
                    str(len(draws)),
                    f"{np.mean(columns[2]):.2f}",
                ]
            )
    text = (
        "The chapter's algorithms are those of a thesis on reconstructing signals from few measurements: y = R f "
        "+ ε with K random projections R of f = W w, whose Haar coefficients w are mostly zero "
        f"({found['nonzero']} of {SAMPLES} are not). Φ = R W has more columns than rows; the weights that survive "
        "are the signal. Noise is a hundredth of the measurements' deviation and is estimated. Without a prior "
        "the signal is found from fewer measurements, but with almost as many functions as measurements, for the "
        "noise is estimated far too low; under the RIC prior, once K is large enough, with those that are there "
        "and a smaller error. The chapter prints no figures of it."
    )
    head = ["K", "solver", "relative error", "functions", "draws", "seconds"]
    last = found["counts"][max(found["counts"], key=int)]
    error = float(np.mean([draw["active-set, RIC prior"][0] for draw in last]))
    body = "\n\n".join([image("ch4-sensing", "compressive sensing"), text, table(head, rows)])
    return Shown("no figures", f"relative error {error:.3f} from {max(map(int, found['counts']))} of {SAMPLES}", body)


PAGE = """# The algorithms of chapter 4, line by line

A thesis chapter (Ch4) restates sparse Bayesian learning [T01; TF03] for reconstructing signals from few
measurements. Its two algorithms are short enough to be read in full. The numbers beside the lines are those of its
equations; the code below is `benchmarks/papers/ch4_algorithms.py`, and this page is written from it by `make papers`.

The model is y = Φw + ε with ε ~ N(0, σ²I_N) and w_j ~ N(0, 1/α_j) (equations 4.4 to 4.6; 4.5 is printed as N(y | w,
σ²I_M) and has to be N(y | Φw, σ²I_N)). Both algorithms look for the α and σ² that maximise

    L(α, σ²) = −½ [N log 2π + log|C| + yᵀC⁻¹y],   C = σ²I + ΦA⁻¹Φᵀ             (4.12), (4.15)

| symbol | equation | line of code |
|---|---|---|
| Σ = (Φ'Φ/σ² + A)⁻¹ | (4.13) | `posterior` |
| μ = ΣΦ'y/σ² | (4.14) | `posterior` |
| γ_j = 1 − α_j Σ_jj | (4.18) | `gamma = 1 - alpha * Sigma.diagonal()` |
| α_j = γ_j/μ_j² | (4.16) | `alpha = gamma / mu**2` |
| σ² = ‖y − Φμ‖²/(N − Σγ_j) | (4.17) | `noise = residual @ residual / (len(y) - gamma.sum())` |
| s_j = φ_j'C₋ⱼ⁻¹φ_j, q_j = φ_j'C₋ⱼ⁻¹y | before (4.20) | `factors` |
| ℓ(α_j) = ½[log α_j − log(α_j + s_j) + q_j²/(α_j + s_j)] | (4.19) | `gain` |
| α_j = s_j²/(q_j² − s_j) if q_j² > s_j, else ∞ | (4.20) | `best` |

The first costs O(M³) per iteration as long as all M functions are in. The second starts with one function, and its
steps are additions, re-estimations and deletions, whichever gains most.

```python
{code}```

Both on 100 points of sin(x)/x with noise, Gaussian kernels and a constant, beside the solvers of this package that
do the same with fewer operations and safeguards (`mackay`, `sequential`), and its default:

```python
from sparsebayes import RBF, Bias, fit
from sparsebayes.datasets import make_sinc

X, t, _ = make_sinc(100, "gaussian", 0.1, random_state=0)
Phi = (RBF(width=3.0) + Bias()).bind(X)(X)


def evidence(active, alpha, noise):
    C = noise * np.eye(len(t)) + (Phi[:, active] / alpha) @ Phi[:, active].T
    return -0.5 * (len(t) * np.log(2 * np.pi) + np.linalg.slogdet(C)[1] + t @ np.linalg.solve(C, t))


for algorithm, solver in ((algorithm_4_1, "mackay"), (algorithm_4_2_2, "sequential")):
    ours = fit(Phi, t, prior="uniform", solver=solver).log_evidence
    assert abs(evidence(*algorithm(Phi, t)) - ours) < 0.2
best = fit(Phi, t, prior="uniform", solver="active-set").log_evidence
assert best > ours + 1  # one α at a time is greedy
```

## Compressive sensing

K random projections of a signal with N > K samples determine it if few of its Haar coefficients differ from zero: Φ
= RW has K rows and N columns, and the weights that survive are the coefficients.
[papers.md](papers.md#ch4-section-42-compressive-sensing) has the error against K.

```python
from sparsebayes import Wavelet
from sparsebayes.datasets import make_signal

X, _, f = make_signal("blocks", 256, snr=None)
W = Wavelet("haar", level=8).bind(X).operator(X).columns(range(256))
rng = np.random.default_rng(0)
R = rng.standard_normal((128, 256)) / np.sqrt(128)
y = R @ f + 0.01 * rng.standard_normal(128)
result = fit(R @ W, y, prior="ric", solver="active-set")
estimate = W[:, result.active] @ np.ravel(result.mean)
assert np.linalg.norm(estimate - f) < 0.1 * np.linalg.norm(f)
print(len(result.active), "functions of", int(np.sum(np.abs(W.T @ f) > 1e-9)), "that differ from zero")
```
"""


def page() -> str:
    """docs/chapter4.md, with the code of the algorithms as it stands."""
    source = inspect.getsource(chapter)
    return PAGE.replace("{code}", source[source.index("import numpy") :])


ITEMS = [
    Item(
        "ch4-algorithms", ("Algorithm 4.1", "Section 4.2.2, sequential algorithm"), measure_algorithms, show_algorithms
    ),
    Item("ch4-sensing", ("Section 4.2, compressive sensing",), measure_sensing, show_sensing),
]
