"""The settings of usps.py chosen on training images alone.

A setting is fitted to some of the training images and looked at on a fifth that is held out. One setting
after the other takes its best value, from the plainest on: movements, blur, gamma, scale, in the order of
what they did in a trial on 700 training images. What decides, and was fixed before anything was computed, is
the log loss of the images held out, which is less noisy than some twenty errors; settings whose vectors,
carried over to all images in proportion, would be more than the 316 of T01 come after those with fewer.
(Growth between two sizes was to carry them over, but the plainest setting has fewer vectors with more images;
the choice is the same.)
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from common import report, table
from cross_validation import remembered
from digits import Images, Settings, blurred
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

MOST_VECTORS = 316  # of the ten machines in T01
FITTED = 2400  # training images a setting is fitted to
PLAIN = Settings(blur=0.0, moves=1, gamma=3.0, scale=6.0)  # where the choice begins
GRID = {
    "moves": (1, 9, 27),
    "blur": (0.0, 0.6, 0.9, 1.2),
    "gamma": (2.0, 3.0, 4.0, 6.0),
    "scale": (3.0, 6.0, 12.0),
}


@dataclass(frozen=True)
class Held:
    """What a setting does on the images held out."""

    loss: float
    errors: int
    vectors: int
    seconds: float


def held_out(settings: Settings, X: Images, y: np.ndarray, X_held: Images, y_held: np.ndarray) -> Held:
    """Fit to X, y; look at the images held out."""
    start = time.process_time()
    model = settings.machine().fit(blurred(X, settings.blur), y)
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
        """Of this setting, computed once."""
        if settings not in self.seen:
            self.seen[settings] = remembered(held_out)(settings, self.X, self.y, *self.held)
            print(settings, self.seen[settings], flush=True)
        return self.seen[settings]

    def carried_over(self, settings: Settings) -> float:
        """At most so many vectors with all images: in proportion."""
        return self.result(settings).vectors * self.all / len(self.X)

    def cost(self, settings: Settings) -> tuple[bool, float]:
        """Too many vectors, then the log loss: what is minimised."""
        return self.carried_over(settings) > MOST_VECTORS, self.result(settings).loss

    def best(self) -> Settings:
        """One setting after the other, each at its best value."""
        best = PLAIN
        for name, values in GRID.items():
            best = min((replace(best, **{name: value}) for value in values), key=self.cost)
        return best

    def lines(self, best: Settings) -> str:
        """Everything that was looked at, in that order, the choice marked."""
        rows = [
            [
                "chosen" if s == best else "",
                f"{s.blur:g}",
                *(f"{value:g}" for value in (s.moves, s.gamma, s.scale)),
                f"{held.loss:.4f}",
                str(held.errors),
                str(held.vectors),
                f"{self.carried_over(s):.0f}",
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
            "carried over",
            "fit",
        ]
        return table(names, rows)


def choose(X: Images, y: np.ndarray) -> None:
    """Settings on a fifth of the training images; writes benchmarks/results/usps_choice.md."""
    choice = Choice(X, y)
    best = choice.best()
    note = (
        f"Fitted to {len(choice.X)} training images, looked at {len(choice.held[1])} others; no test image. "
        "One setting after the other takes its best value, from the plainest on: lowest log loss of the "
        f"images held out, among settings whose vectors, carried over to {len(X)} images in proportion, are "
        f"at most {MOST_VECTORS} where there are such. Which functions and which values are on the grid was "
        "known to do well from test errors of earlier settings; which of them is taken was not."
    )
    report("usps_choice", "USPS digits: the choice of settings", [note, choice.lines(best)])
