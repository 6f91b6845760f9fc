"""The settings of usps.py chosen on training images alone.

A setting is fitted to some of the training images and judged on a fifth that is held out. One setting after
the other takes its best value, starting from the plainest: movements, blur, gamma, scale, in the order of
their effect in a trial on 700 training images. The criterion, which was fixed before anything was computed, is
the log loss of the held-out images, which is less noisy than some twenty errors; settings with more vectors
than the 316 of T01, extrapolated to all images in proportion, rank below those with fewer. (They were to be
extrapolated by their growth between two sizes, but the plainest setting has fewer vectors with more images;
the choice is the same.)
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from benchmarks.common import report, table
from benchmarks.papers.digits import Images, Settings, blurred
from benchmarks.papers.t01_choice import remembered

MOST_VECTORS = 316  # of the ten classifiers in T01
FITTED = 2400  # training images that a setting is fitted to
PLAIN = Settings(blur=0.0, moves=1, gamma=3.0, scale=6.0)  # where the choice begins
GRID = {
    "moves": (1, 9, 27),
    "blur": (0.0, 0.6, 0.9, 1.2),
    "gamma": (2.0, 3.0, 4.0, 6.0),
    "scale": (3.0, 6.0, 12.0),
}


@dataclass(frozen=True)
class Held:
    """How a setting does on the held-out images."""

    loss: float
    errors: int
    vectors: int
    seconds: float


def held_out(settings: Settings, X: Images, y: np.ndarray, X_held: Images, y_held: np.ndarray) -> Held:
    """Fit to X, y and judge on the held-out images."""
    start = time.process_time()
    model = settings.classifier().fit(blurred(X, settings.blur), y)
    seconds = time.process_time() - start
    p = model.predict_proba(blurred(X_held, settings.blur))
    errors = int(np.sum(p.argmax(axis=1) != y_held))
    return Held(float(log_loss(y_held, p)), errors, len(model.relevance_), seconds)


class Choice:
    """The search for settings on training images alone."""

    def __init__(self, X: Images, y: np.ndarray) -> None:
        X_rest, X_held, y_rest, y_held = train_test_split(X, y, test_size=0.2, random_state=0, stratify=y)
        self.all, self.held = len(X), (X_held, y_held)
        self.X, _, self.y, _ = train_test_split(
            X_rest, y_rest, train_size=min(FITTED, len(y_rest) // 2), random_state=0, stratify=y_rest
        )
        self.seen: dict[Settings, Held] = {}

    def result(self, settings: Settings) -> Held:
        """The result of this setting, computed once."""
        if settings not in self.seen:
            self.seen[settings] = remembered(held_out)(settings, self.X, self.y, *self.held)
            print(settings, self.seen[settings], flush=True)
        return self.seen[settings]

    def extrapolated(self, settings: Settings) -> float:
        """Number of vectors with all images, in proportion."""
        return self.result(settings).vectors * self.all / len(self.X)

    def cost(self, settings: Settings) -> tuple[bool, float]:
        """Too many vectors, then the log loss: what is minimised."""
        return self.extrapolated(settings) > MOST_VECTORS, self.result(settings).loss

    def best(self) -> Settings:
        """One setting after the other, each at its best value."""
        best = PLAIN
        for name, values in GRID.items():
            best = min((replace(best, **{name: value}) for value in values), key=self.cost)
        return best

    def lines(self, best: Settings) -> str:
        """All settings that were tried, in that order, the chosen one marked."""
        rows = [
            [
                "chosen" if s == best else "",
                f"{s.blur:g}",
                *(f"{value:g}" for value in (s.moves, s.gamma, s.scale)),
                f"{held.loss:.4f}",
                str(held.errors),
                str(held.vectors),
                f"{self.extrapolated(s):.0f}",
                f"{held.seconds:.0f} s",
            ]
            for s, held in self.seen.items()
        ]
        names = [
            "",
            "blur",
            "moves",
            "gamma",
            "scale",
            "log loss",
            "errors",
            "vectors",
            "extrapolated",
            "fit",
        ]
        return table(names, rows)


def choose(X: Images, y: np.ndarray) -> None:
    """Choose the settings on training images alone, and write benchmarks/results/usps_choice.md."""
    choice = Choice(X, y)
    best = choice.best()
    note = (
        f"Fitted to {len(choice.X)} training images, judged on {len(choice.held[1])} others; no test image. "
        "One setting after the other takes its best value, starting from the plainest: the lowest log loss of "
        f"the held-out images, among settings with at most {MOST_VECTORS} vectors, extrapolated to {len(X)} "
        "images in proportion, if there are such. The functions and values on the grid were known to do well "
        "from test errors of earlier settings; the choice among them did not use test errors."
    )
    report("usps_choice", "USPS digits: the choice of settings", [note, choice.lines(best)])
