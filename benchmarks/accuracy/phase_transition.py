"""Phase transitions of sparse recovery: how many spikes are recovered, of T outputs that share them, beside peers.

    python -m benchmarks.accuracy.phase_transition            # tables and figure; half an hour on one core
    python -m benchmarks.accuracy.phase_transition --quick    # a few cells, printed and not kept

With δ = N/M measurements per atom and ρ = k/N spikes per measurement, a cell is the share of draws with
‖Ŵ−W‖²/‖W‖² < 0.01. Noise 0.003 on every measurement, its variance unknown; all defaults. OMP is given the true k.
Peers know one output at a time.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.fft import idct

from benchmarks.accuracy.recovery import METHODS as SINGLE
from benchmarks.accuracy.recovery import Method
from benchmarks.common import report, table
from sparsebayes import fit

ATOMS, NOISE, SUCCESS = 100, 0.003, 1e-2
DELTAS, RHOS = (0.3, 0.5, 0.7), (0.15, 0.3, 0.45, 0.6, 0.75, 0.9)
DRAWS, QUICK, FIRST_SEED = 10, 2, 9000
PEERS = ("OMP, true k", "LassoLarsCV", "ARDRegression", "fastrvm")
Transitions = dict[tuple[str, bool, int, str], list[float]]
IMAGE = Path(__file__).resolve().parents[2] / "docs" / "images" / "phase_transition.png"


@dataclass(frozen=True)
class Cell:
    """Random problems of one kind.

    kind : "Gaussian", "DCT" (random rows of the inverse cosine transform) or "AR(0.9)" (columns correlated 0.9 with
    the next).  equal : whether amplitudes are ±1, else Gaussian.  outputs : T.
    """

    kind: str
    equal: bool
    outputs: int
    delta: float
    rho: float

    @property
    def rows(self) -> int:
        """N."""
        return round(self.delta * ATOMS)

    @property
    def spikes(self) -> int:
        """k."""
        return max(1, round(self.rho * self.rows))

    def draw(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Φ (N, M) with columns of unit norm, Y (N, T) and the true weights (M, T)."""
        rng = np.random.default_rng([seed, self.rows, self.spikes, self.outputs, int(self.equal)])
        Phi = dictionary(self.kind, self.rows, rng)
        W, shape = np.zeros((ATOMS, self.outputs)), (self.spikes, self.outputs)
        J = rng.choice(ATOMS, self.spikes, replace=False)
        W[J] = rng.choice([-1.0, 1.0], shape) if self.equal else rng.standard_normal(shape)
        return Phi, Phi @ W + NOISE * rng.standard_normal((self.rows, self.outputs)), W


def dictionary(kind: str, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Φ (rows, ATOMS) with columns of unit norm."""
    if kind == "DCT":
        Phi = idct(np.eye(ATOMS), axis=0, norm="ortho")[rng.choice(ATOMS, rows, replace=False)]
    else:
        Phi = rng.standard_normal((rows, ATOMS))
    if kind == "AR(0.9)":
        for m in range(1, ATOMS):
            Phi[:, m] = 0.9 * Phi[:, m - 1] + np.sqrt(1 - 0.81) * Phi[:, m]
    return Phi / np.linalg.norm(Phi, axis=0)


def ours(Phi: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """The weights (M, T) of one joint fit."""
    T, W = Y.shape[1], np.zeros((Phi.shape[1], Y.shape[1]))
    result = fit(Phi, Y if T > 1 else Y[:, 0], prior="ric", shared_noise=True)
    W[result.active] = result.mean if T > 1 else result.mean[:, None]
    return W


def peer(method: Method, Phi: np.ndarray, Y: np.ndarray, k: int) -> np.ndarray:
    """The weights (M, T), output by output."""
    return np.column_stack([method(Phi, y, k) for y in Y.T])


def success(cell: Cell, draws: int, name: str) -> float:
    """The share of draws that a method recovers."""
    hits = 0
    for seed in range(FIRST_SEED, FIRST_SEED + draws):
        Phi, Y, W = cell.draw(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = ours(Phi, Y) if name == "sparsebayes" else peer(SINGLE[name], Phi, Y, cell.spikes)
            except Exception:  # a peer that fails has not recovered the signal
                continue
        hits += float(np.sum((found - W) ** 2)) < SUCCESS * float(np.sum(W**2))
    return hits / draws


def curve(kind: str, equal: bool, outputs: int, delta: float, draws: int, name: str) -> list[float]:
    """Success at every ρ; once two in a row are 0, so are the rest."""
    values: list[float] = []
    for rho in RHOS:
        failed = len(values) > 1 and values[-1] == values[-2] == 0
        values.append(0.0 if failed else success(Cell(kind, equal, outputs, delta, rho), draws, name))
    return values


def transition(values: list[float]) -> float:
    """The ρ at which success falls through one half, by linear interpolation; RHOS[-1] if it never does."""
    for k, value in enumerate(values):
        if value < 0.5:
            if k == 0:
                return 0.0
            before = values[k - 1]
            return RHOS[k - 1] + (RHOS[k] - RHOS[k - 1]) * (before - 0.5) / (before - value)
    return RHOS[-1]


def measured(draws: int, kinds: tuple[str, ...]) -> tuple[list[list[str]], Transitions]:
    """A table of transitions, and the transitions by (dictionary, amplitudes, T, method) over δ."""
    rows, found = [], {}
    for kind in kinds:
        for equal in (True, False):
            for T in (1, 3, 10):
                for name in ("sparsebayes", *(PEERS if T == 1 else PEERS[:1])):
                    edges = [transition(curve(kind, equal, T, delta, draws, name)) for delta in DELTAS]
                    found[kind, equal, T, name] = edges
                    label = "±1" if equal else "Gaussian"
                    rows.append([kind, label, str(T), name, *(f"{edge:.2f}" for edge in edges)])
                    print(" | ".join(rows[-1]), flush=True)
    return rows, found


def draw(found: Transitions) -> None:
    """The transitions over δ, one panel for each dictionary and kind of amplitudes."""
    import matplotlib.pyplot as plt

    kinds = list(dict.fromkeys(key[0] for key in found))
    fig, axes = plt.subplots(2, len(kinds), figsize=(3.3 * len(kinds), 5.6), sharex=True, sharey=True, squeeze=False)
    styles = {"sparsebayes": ("C0", "-"), "OMP, true k": ("C1", "--"), "LassoLarsCV": ("C2", "--")}
    styles |= {"ARDRegression": ("C3", "--"), "fastrvm": ("C4", "--")}
    for (kind, equal, T, name), edges in found.items():
        axis = axes[0 if equal else 1, kinds.index(kind)]
        if T > 1 and name != "sparsebayes":
            continue
        colour, line = styles[name]
        label = f"{name}, T = {T}" if name == "sparsebayes" else name
        alpha, width = {1: (1.0, 2.2), 3: (0.65, 2.2), 10: (0.35, 2.2)}[T] if name == "sparsebayes" else (0.9, 1.3)
        axis.plot(DELTAS, edges, line, marker="o", ms=3.5, color=colour, alpha=alpha, lw=width, label=label)
        axis.set_title(f"{kind}, {'±1' if equal else 'Gaussian'} amplitudes", fontsize=9)
    for axis in axes[-1]:
        axis.set_xlabel("δ = measurements per atom")
    for axis in axes[:, 0]:
        axis.set_ylabel("ρ = spikes per measurement")
    axes[0, 0].set(ylim=(0, 1), xticks=DELTAS)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="lower center", ncols=4, fontsize=8, frameon=False)
    fig.tight_layout(rect=(0, 0.08, 1, 1))
    fig.savefig(IMAGE, dpi=110)


def main() -> None:
    """Measure, print, write the table and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two draws of Gaussian dictionaries, nothing is kept")
    parser.add_argument("--draws", type=int, default=DRAWS, help="draws of each cell")
    options = parser.parse_args()
    draws, kinds = (QUICK, ("Gaussian",)) if options.quick else (options.draws, ("Gaussian", "DCT", "AR(0.9)"))
    rows, found = measured(draws, kinds)
    head = ["dictionary", "amplitudes", "T", "method", *(f"δ = {delta}" for delta in DELTAS)]
    note = (
        f"M = {ATOMS} atoms, noise {NOISE}, its variance unknown, {draws} draws of each cell: ρ = k/N at which half of "
        f"the signals are recovered (squared error below {SUCCESS:g} of ‖W‖²), {RHOS[-1]} if all are. OMP is given k."
    )
    report("phase_transition", "Phase transitions of sparse recovery", [note, table(head, rows)], not options.quick)
    if not options.quick:
        draw(found)


if __name__ == "__main__":
    main()
