"""Brute force: every formula of the model the slow way, O(N³), straight from its definition."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import block_diag
from scipy.optimize import minimize, root
from scipy.special import expit, log_expit, log_softmax, softmax
from scipy.stats import gennorm

from sparsebayes.core.noise import GaussianNoise
from sparsebayes.core.posterior import Problem
from sparsebayes.core.quadratic import DenseQuadratic, Products
from sparsebayes.priors import Automatic, Gamma, Inclusion, Laplace, NumericPrior, PerPart, Prior, Smoothness, Uniform


def covariance(Phi: np.ndarray, alpha: np.ndarray, beta: float) -> np.ndarray:
    """C = I/β + ΦA⁻¹Φᵀ."""
    return np.eye(len(Phi)) / beta + (Phi / alpha) @ Phi.T


def log_evidence(Phi: np.ndarray, t: np.ndarray, alpha: np.ndarray, beta: float) -> float:
    """log N(t | 0, C)."""
    C = covariance(Phi, alpha, beta)
    sign, logdet = np.linalg.slogdet(C)
    assert sign > 0
    return -0.5 * (len(t) * np.log(2 * np.pi) + logdet + t @ np.linalg.solve(C, t))


def random_problem(seed: int, N: int, M: int, active: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Unit-norm columns, a target made of `active` of them plus noise, scaled to unit mean square."""
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((N, M))
    Phi /= np.linalg.norm(Phi, axis=0)
    J = np.sort(rng.choice(M, active, replace=False))
    t = Phi[:, J] @ (5 * rng.standard_normal(active)) + 0.3 * rng.standard_normal(N)
    return Phi, t / np.sqrt(np.mean(t**2)), J


@dataclass(frozen=True)
class Rows(Products):
    """Residuals from the rows Φ (N, M) and t (N,) themselves."""

    Phi: np.ndarray
    t: np.ndarray

    def residual(self, J, weights) -> float:
        """‖t − Φ_J w‖²."""
        return float(np.sum((self.t - self.Phi[:, J] @ np.asarray(weights)) ** 2))


def problem_of(
    Phi: np.ndarray, t: np.ndarray, prior: Prior | None = None, noise: GaussianNoise | None = None, xp=np
) -> Problem:
    """The problem a solver would be handed for unit-norm Φ and t, in any array namespace."""
    h, G = xp.asarray(Phi.T @ t), xp.asarray(Phi.T @ Phi)
    quadratic = DenseQuadratic(float(len(t)), float(t @ t), h, G, products=Rows(Phi, t))
    prior = (prior or Uniform()).resolve(len(t))
    unit = prior.units(xp.ones(Phi.shape[1]), np.arange(Phi.shape[1]))
    return Problem(quadratic, prior, noise or GaussianNoise(10.0, beta_max=1e10), unit)


@dataclass(frozen=True)
class LaplaceModel:
    """Two classes (K = 1 output) or a softmax over K, dense and over weights and intercepts jointly.

    Phi : (N, M).  y : (N, K) of 0s and 1s.  function, output : those of each weight (C,).  counts : (N,).
    With `center` every output has an intercept with a flat prior; for K > 1 that of the first is pinned to 0.
    """

    Phi: np.ndarray
    y: np.ndarray
    function: np.ndarray
    output: np.ndarray
    alpha: np.ndarray
    counts: np.ndarray
    center: bool

    @property
    def intercepts(self) -> int:
        """How many intercepts are free."""
        K = self.y.shape[1]
        return (1 if K == 1 else K - 1) if self.center else 0

    def slopes(self, Phi: np.ndarray, function: np.ndarray, output: np.ndarray) -> np.ndarray:
        """∂f/∂w of candidates on rows Φ, (n, K, C)."""
        T = np.zeros((len(Phi), self.y.shape[1], len(function)))
        T[:, output, np.arange(len(function))] = Phi[:, function]
        return T

    def design(self, Phi: np.ndarray | None = None) -> np.ndarray:
        """T = ∂f/∂(w, b) on rows Φ, (n, K, C + r)."""
        Phi = self.Phi if Phi is None else Phi
        b = np.eye(self.y.shape[1])[:, self.y.shape[1] - self.intercepts :]
        b = np.broadcast_to(b, (len(Phi), *b.shape))
        return np.concatenate([self.slopes(Phi, self.function, self.output), b], axis=2)

    @property
    def penalty(self) -> np.ndarray:
        """α, and 0 for the intercepts."""
        return np.append(self.alpha, np.zeros(self.intercepts))

    def mean(self, f: np.ndarray) -> np.ndarray:
        """The probabilities."""
        return expit(f) if f.shape[1] == 1 else softmax(f, axis=1)

    def log_posterior(self, theta: np.ndarray) -> float:
        """log p(y|θ) − ½ wᵀAw."""
        return self.log_likelihood(self.design() @ theta) - 0.5 * float(self.penalty @ theta**2)

    def log_likelihood(self, f: np.ndarray) -> float:
        """log p(y|f)."""
        if f.shape[1] == 1:
            return float(self.counts @ log_expit(f[:, 0] * (2 * self.y[:, 0] - 1)))
        return float(self.counts @ np.sum(self.y * log_softmax(f, axis=1), axis=1))

    def gradient(self, theta: np.ndarray) -> np.ndarray:
        """Of the log posterior."""
        T = self.design()
        return np.einsum("nkc,nk->c", T, self.residual(T @ theta)) - self.penalty * theta

    def residual(self, f: np.ndarray) -> np.ndarray:
        """∂ log p/∂f, (N, K)."""
        return self.counts[:, None] * (self.y - self.mean(f))

    def curvature(self, f: np.ndarray) -> np.ndarray:
        """B = −∂² log p/∂f² of every row, (N, K, K)."""
        p = self.mean(f)
        if p.shape[1] == 1:
            return (self.counts[:, None] * p * (1 - p))[:, :, None]
        return self.counts[:, None, None] * (p[:, :, None] * np.eye(p.shape[1]) - p[:, :, None] * p[:, None, :])

    def curvature_slope(self, f: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """The derivative of `curvature` when f moves along `direction` (N, K)."""
        p = self.mean(f)
        if p.shape[1] == 1:
            return (self.counts[:, None] * p * (1 - p) * (1 - 2 * p) * direction)[:, :, None]
        dp = p * (direction - np.sum(p * direction, axis=1)[:, None])
        dB = dp[:, :, None] * np.eye(p.shape[1]) - dp[:, :, None] * p[:, None, :] - p[:, :, None] * dp[:, None, :]
        return self.counts[:, None, None] * dB

    def hessian(self, theta: np.ndarray) -> np.ndarray:
        """H = TᵀBT + A, through the dense (N·K)×(N·K) matrix B."""
        T = self.design()
        N, K, size = T.shape
        flat = T.reshape(N * K, size)
        B = block_diag(*self.curvature(T @ theta))
        return flat.T @ B @ flat + np.diag(self.penalty)

    def mode(self) -> np.ndarray:
        """(w, b) where the log posterior is highest: a general optimiser, then a general root finder."""
        start = np.zeros(len(self.penalty))
        options = {"gtol": 1e-6, "maxiter": 2000}
        near = minimize(lambda t: -self.log_posterior(t), start, jac=lambda t: -self.gradient(t), options=options).x
        found = root(self.gradient, near, jac=lambda t: -self.hessian(t), tol=1e-14).x
        assert np.abs(self.gradient(found)).max() < 1e-9 * (1 + self.counts.sum())
        return found

    def log_evidence(self, theta: np.ndarray | None = None) -> float:
        """log p(y|w) − ½wᵀAw + ½Σ log α + ½ r log 2π − ½ log|H| at the mode: Laplace, r intercepts in it."""
        theta = self.mode() if theta is None else theta
        sign, logdet = np.linalg.slogdet(self.hessian(theta))
        assert sign > 0
        constant = 0.5 * (self.intercepts * np.log(2 * np.pi) + np.log(self.alpha).sum())
        return self.log_posterior(theta) + constant - 0.5 * logdet

    def scores(self, theta: np.ndarray, function: np.ndarray, output: np.ndarray) -> tuple:
        """S = φᵀ(B − BTH⁻¹TᵀB)φ and Q = φᵀ(t − y) of candidates; their own weight, where it is in, counts."""
        T = self.design()
        N, K, size = T.shape
        f = T @ theta
        B = block_diag(*self.curvature(f))
        flat = T.reshape(N * K, size)
        inverse = B - B @ flat @ np.linalg.solve(self.hessian(theta), flat.T @ B)  # C⁻¹, B being singular
        phi = self.slopes(self.Phi, function, output)
        Q = np.einsum("nkc,nk->c", phi, self.residual(f))
        phi = phi.reshape(N * K, -1)
        return np.einsum("ic,ij,jc->c", phi, inverse, phi), Q

    def output_covariance(self, theta: np.ndarray, Phi: np.ndarray) -> np.ndarray:
        """Posterior covariance of the outputs at rows Φ, (n, K, K), weights and intercepts together."""
        T = self.design(Phi)
        return np.einsum("nkc,cd,nld->nkl", T, np.linalg.inv(self.hessian(theta)), T)

    def evidence_gradient(self, theta: np.ndarray) -> np.ndarray:
        """∂(Laplace evidence)/∂ log α, the mode moving with α.

        ½(1 − αΣ_ii − αw_i²) − ½ Σ_n tr(V_n ∂B_n), V_n the covariance of the outputs in row n, ∂B_n what B_n
        does when θ moves by ∂θ/∂ log α_i = −α_i w_i Σ_·i. For one output: + ½α_i w_i Σ_n h_n b'_n (TΣ)_ni.
        """
        T, w = self.design(), theta[: len(self.alpha)]
        Sigma = np.linalg.inv(self.hessian(theta))
        V = self.output_covariance(theta, self.Phi)
        slope = 0.5 * (1 - self.alpha * Sigma.diagonal()[: len(w)] - self.alpha * w**2)
        for i in range(len(w)):
            direction = -self.alpha[i] * w[i] * (T @ Sigma[:, i])
            slope[i] -= 0.5 * np.einsum("nkl,nlk->", V, self.curvature_slope(T @ theta, direction))
        return slope

    def every(self) -> tuple[np.ndarray, np.ndarray]:
        """Functions and outputs of all candidates, output by output."""
        every = np.arange(self.Phi.shape[1] * self.y.shape[1])
        return every % self.Phi.shape[1], every // self.Phi.shape[1]

    def metric(self, theta: np.ndarray) -> np.ndarray:
        """φᵀB̃φ of every candidate, the intercepts projected out; a solver's columns have it equal to 1."""
        f = self.design() @ theta
        phi = self.slopes(self.Phi, *self.every()).reshape(f.size, -1)
        B = block_diag(*self.curvature(f))
        ones = self.design()[:, :, len(self.alpha) :].reshape(f.size, -1)
        side = ones.T @ B @ phi
        return np.einsum("ic,ij,jc->c", phi, B, phi) - np.einsum(
            "ic,ic->c", side, np.linalg.solve(ones.T @ B @ ones, side)
        )

    def extended(self, candidate: int, alpha: float) -> LaplaceModel:
        """The model with one more candidate (numbered as in `every`) at precision α, as its last weight."""
        function, output = (x[candidate] for x in self.every())
        return replace(
            self,
            function=np.append(self.function, function),
            output=np.append(self.output, output),
            alpha=np.append(self.alpha, alpha),
        )

    def entry_slope(self, theta: np.ndarray, candidate: int) -> float:
        """∂(Laplace evidence)/∂(1/α) where a candidate enters, at α = ∞, the mode moving.

        ½(Q² − S) − ½ Q Σ_n tr(V_n ∂B_n), ∂B_n along e = φ − TΣTᵀBφ; for K = 1: ½(Q² − S − QΣ_n h_n b'_n e_n).
        """
        T = self.design()
        f = T @ theta
        function, output = (x[[candidate]] for x in self.every())
        (S,), (Q,) = self.scores(theta, function, output)
        phi = self.slopes(self.Phi, function, output)[:, :, 0]
        side = np.einsum("nkc,nkl,nl->c", T, self.curvature(f), phi)
        e = phi - T @ np.linalg.solve(self.hessian(theta), side)
        V = self.output_covariance(theta, self.Phi)
        return 0.5 * (Q**2 - S - Q * np.einsum("nkl,nlk->", V, self.curvature_slope(f, e)))


@dataclass(frozen=True)
class ShapedModel(LaplaceModel):
    """The same under noise p(ε) ∝ exp(−|ε/s|^p); y : (N, 1) of numbers."""

    shape: float = 2.0
    scale: float = 1.0

    def log_likelihood(self, f: np.ndarray) -> float:
        """log p(y|f)."""
        return float(self.counts @ gennorm(self.shape, scale=self.scale).logpdf(self.y - f)[:, 0])

    def residual(self, f: np.ndarray) -> np.ndarray:
        """∂ log p/∂f, (N, 1)."""
        r = (self.y - f) / self.scale
        return self.counts[:, None] * self.shape / self.scale * r * np.abs(r) ** (self.shape - 2)

    def curvature(self, f: np.ndarray) -> np.ndarray:
        """B = −∂² log p/∂f² of every row, (N, 1, 1)."""
        r, p = np.abs((self.y - f) / self.scale), self.shape
        return (self.counts[:, None] * p * (p - 1) / self.scale**2 * r ** (p - 2))[:, :, None]


def random_classes(seed: int, N: int, M: int, K: int) -> tuple[np.ndarray, np.ndarray]:
    """Φ (N, M) and labels 0 … K−1 that depend on its first columns, every class there twice at least."""
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((N, M)) + rng.standard_normal(M)
    f = 1.5 * (Phi - Phi.mean(axis=0)) @ np.where(np.arange(M)[:, None] < 3, rng.standard_normal((M, K)), 0)
    labels = np.argmax(f + rng.gumbel(size=(N, K)), axis=1)
    labels[: 2 * K] = np.arange(2 * K) % K
    return Phi, labels


def codes(labels: np.ndarray, K: int) -> np.ndarray:
    """y (N, K) of 0s and 1s; for two classes the second column alone."""
    return np.eye(K)[labels][:, 1:] if K == 2 else np.eye(K)[labels]


@dataclass
class ByDifferences(NumericPrior):
    """Smoothness(c) written in two methods, its derivatives by finite differences."""

    c: float = 0.5
    depends_on_noise = True

    def maximise(self, s, q, beta, unit):
        """The best α under the smoothness prior."""
        return Smoothness(self.c).maximise(s, q, beta, unit)

    def log_density(self, alpha, beta, unit):
        """−c/(1+α/β)."""
        return Smoothness(self.c).log_density(alpha, beta, unit)


PRIORS = {
    "uniform": Uniform(),
    "gamma": Gamma(0.2, 0.1),
    "gamma-flat": Gamma(0.0, 0.05),
    "aic": Smoothness("aic"),
    "smoothness": Smoothness(0.3),
    "laplace": Laplace(2.0),
    "inclusion": Inclusion(0.4),
}
COMPOSED_PRIORS = {
    "per-part": PerPart([Gamma(0.2, 0.1), Smoothness("aic")], [5, 1_000_000]),
    "by-differences": ByDifferences(0.5),
    "automatic": Automatic(1),
}
EVERY_PRIOR = {**PRIORS, **COMPOSED_PRIORS}
