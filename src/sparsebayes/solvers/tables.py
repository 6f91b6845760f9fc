"""The posterior as the sequential algorithm acts on it: one function added, re-estimated or deleted at a time.

`Table` follows by the update formulae of [TF03, appendix A.2-A.4], `GroupTable` is recomputed after each action.
"""

from __future__ import annotations

import math

import numpy as np

from sparsebayes._array import asfloat64, combined_rows, row_lengths, to_numpy
from sparsebayes.core.groups import GroupedState
from sparsebayes.core.posterior import SPANNED, State


class GroupTable:
    """The posterior where every function is a group of columns, recomputed after each action.

    It has what `Table` has, without update formulae.
    """

    broken = False

    def __init__(self, state: State) -> None:
        self.state, self.problem, self.beta = state, state.problem, state.beta

    @property
    def objective(self) -> float:
        """The objective of the state."""
        return self.state.objective

    @property
    def J(self) -> list[int]:
        """The numbers of the active functions."""
        return self.state.J.tolist()

    @property
    def size(self) -> int:
        """How many functions are active."""
        return self.state.size

    @property
    def alpha(self) -> np.ndarray:
        """α of every function, ∞ of those that are not active."""
        alpha = np.full(self.problem.size, np.inf)
        alpha[self.state.J] = to_numpy(self.state.alpha)
        return alpha

    def exact(self) -> State:
        """The state."""
        return self.state

    def target(self) -> np.ndarray:
        """The best α of every function, ∞ for those better out and those in the span of the active ones."""
        target = to_numpy(self.state.scores.alpha).copy()
        target[self.state.J] = to_numpy(self.state.best_alpha)
        return target

    def gains(self, target: np.ndarray) -> np.ndarray:
        """What moving each α to its target, that of `target()`, adds to the objective."""
        gains = to_numpy(self.state.scores.gain).copy()
        gains[self.state.J] = to_numpy(self.state.reestimate_gain)
        if self.size == 1 and not np.isfinite(target[self.state.J[0]]):
            gains[self.state.J[0]] = -np.inf  # the last function stays: a model needs one
        return gains

    def act(self, m: int, alpha: float) -> None:
        """Add, re-estimate or delete function m so that its precision is `alpha`."""
        state, position = self.state, np.flatnonzero(self.state.J == m)
        if not len(position):
            self.state = state.extended([m], np.asarray([alpha]))
        elif math.isfinite(alpha):
            changed = to_numpy(state.alpha).copy()
            changed[position] = alpha
            self.state = state.moved(asfloat64(changed, like=state.alpha), state.beta)
        else:
            self.state = state.keep(np.delete(np.arange(state.size), position))


def table_of(state: State) -> Table | GroupTable:
    """The posterior in the form that actions are made on."""
    return GroupTable(state) if isinstance(state, GroupedState) else Table(state)


class Table:
    """Σ, μ of the active set and S, Q of all functions, kept by the update formulae at fixed β.

    It has what a monitor reads of a state: objective, size, beta.
    """

    def __init__(self, state: State) -> None:
        self.problem, self.beta = state.problem, state.beta
        quadratic = self.problem.quadratic
        self.J = state.J.tolist()
        self.alpha = np.full(quadratic.size, np.inf)
        self.alpha[self.J] = to_numpy(state.alpha)
        self.Sigma, self.mean = to_numpy(state.covariance), to_numpy(state.mean)
        rows = quadratic.rows(state.J)
        whitened = state.inverse_factor @ rows
        self.S = to_numpy(self.beta - self.beta**2 * quadratic.xp.sum(whitened * whitened, axis=0)).copy()
        self.Q = to_numpy(self.beta * (quadratic.h - combined_rows(state.mean, rows))).copy()
        self.unit = to_numpy(self.problem.unit)
        self.objective = state.objective
        self.broken = False

    @property
    def size(self) -> int:
        """How many functions are active."""
        return len(self.J)

    def exact(self) -> State:
        """The state recomputed from a Cholesky factorisation."""
        like = self.problem.quadratic.h
        return self.problem.start(self.J, asfloat64(self.alpha[self.J], like=like), self.beta)

    def factors(self) -> tuple[np.ndarray, np.ndarray]:
        """(s, q) of every function: those of the active ones from Σ, without cancellation."""
        s, q = self.S.copy(), row_lengths(self.Q).copy()
        variance = self.Sigma.diagonal()
        s[self.J] = 1 / variance - self.alpha[self.J]
        q[self.J] = row_lengths(self.mean) / variance
        return np.maximum(s, 1e-300), q

    def target(self) -> np.ndarray:
        """The best α of every function, ∞ for those better out and those in the span of the active ones."""
        s, q = self.factors()
        target = self.problem.prior.maximise(s, q, self.beta, self.unit)
        spanned = self.S < SPANNED * self.beta
        spanned[self.J] = False
        target[spanned] = np.inf
        return target

    def gains(self, target: np.ndarray) -> np.ndarray:
        """What moving each α to its target adds to the objective; exact for one move [TF03, A.2-A.4]."""
        s, q = self.factors()
        prior = self.problem.prior
        after = prior.gain(target, s, q, self.beta, self.unit)
        gains = after - prior.gain(self.alpha, s, q, self.beta, self.unit)
        if len(self.J) == 1 and not np.isfinite(target[self.J[0]]):
            gains[self.J[0]] = -np.inf  # the last function stays: a model needs one
        return gains

    def act(self, m: int, alpha: float) -> None:
        """Add, re-estimate or delete function m so that its precision is `alpha`."""
        if alpha == self.alpha[m]:
            return
        self.objective += float(self.gains(np.where(np.arange(len(self.S)) == m, alpha, self.alpha))[m])
        if m not in self.J:
            self._add(m, alpha)
        elif math.isfinite(alpha):
            self._change(self.J.index(m), 1 / (self.alpha[m] - alpha), alpha)
        else:
            self._delete(m)
        self.broken = bool((self.S <= 0).any())

    def _products(self, weights: np.ndarray) -> np.ndarray:
        """βΦᵀΦ_J weights: the products of a combination of active functions with all functions."""
        rows = to_numpy(self.problem.quadratic.rows(self.J))
        return self.beta * (weights @ rows)

    def _add(self, m: int, alpha: float) -> None:
        """[TF03, A.2], with the off-diagonal of Σ̃ carrying one β (erratum: docs/derivations.md)."""
        column = to_numpy(self.problem.quadratic.rows([m]))[0]
        v = self.Sigma @ column[self.J]  # ΣΦᵀφ_m
        variance = 1 / (alpha + self.S[m])
        mean = variance * self.Q[m]
        error = self.beta * column - self.beta * self._products(v)  # βφᵀe for every function
        self.Sigma = np.block(
            [
                [self.Sigma + self.beta**2 * variance * np.outer(v, v), -self.beta * variance * v[:, None]],
                [-self.beta * variance * v[None, :], np.full((1, 1), variance)],
            ]
        )
        self.mean = np.concatenate([self.mean - self.beta * np.multiply.outer(v, mean), np.asarray(mean)[None]])
        self.S -= variance * error**2
        self.Q -= np.multiply.outer(error, mean)
        self.alpha[m] = alpha
        self.J.append(m)

    def _change(self, j: int, inverse: float, alpha: float) -> None:
        """[TF03, A.3]: κ = 1/(Σ_jj + 1/(α̃−α)); `inverse` is −1/(α̃−α), 0 for a deletion [A.4]."""
        column, mean = self.Sigma[:, j].copy(), self.mean[j]
        kappa = 1 / (column[j] - inverse)
        products = self._products(column)
        self.Sigma = self.Sigma - kappa * np.outer(column, column)
        self.mean = self.mean - np.multiply.outer(column, kappa * mean)
        self.S += kappa * products**2
        self.Q += np.multiply.outer(products, kappa * mean)
        self.alpha[self.J[j]] = alpha

    def _delete(self, m: int) -> None:
        j = self.J.index(m)
        self._change(j, 0.0, np.inf)
        self.Sigma = np.delete(np.delete(self.Sigma, j, axis=0), j, axis=1)
        self.mean = np.delete(self.mean, j, axis=0)
        del self.J[j]
