"""The two algorithms of the thesis chapter, as short as the chapter has them; docs/chapter4.md shows this file."""

import numpy as np


def posterior(Phi, y, alpha, noise):
    """Σ (4.13) and μ (4.14) of the weights."""
    Sigma = np.linalg.inv(Phi.T @ Phi / noise + np.diag(alpha))
    return Sigma, Sigma @ Phi.T @ y / noise


def algorithm_4_1(Phi, y, iterations=1000, huge=1e12):
    """The original algorithm: all α and σ² again and again, functions dropped when their α is huge."""
    active, alpha = np.arange(Phi.shape[1]), np.full(Phi.shape[1], 1.0)  # line 1
    noise = 0.1 * y.var()
    for _ in range(iterations):  # line 2
        Sigma, mu = posterior(Phi[:, active], y, alpha, noise)  # lines 3 to 5
        gamma = 1 - alpha * Sigma.diagonal()  # line 7, (4.18)
        alpha = np.maximum(gamma, 1e-300) / mu**2  # line 8, (4.16)
        residual = y - Phi[:, active] @ mu
        noise = residual @ residual / (len(y) - gamma.sum())  # line 10, (4.17)
        keep = alpha < huge  # α → ∞: the weight is zero
        active, alpha = active[keep], alpha[keep]
    return active, alpha, noise


def factors(Phi, y, active, alpha, noise):
    """s_j and q_j of every function: φ_jᵀ C₋ⱼ⁻¹ φ_j and φ_jᵀ C₋ⱼ⁻¹ y."""
    C = noise * np.eye(len(y)) + (Phi[:, active] / alpha) @ Phi[:, active].T  # (4.12)
    S = np.sum(Phi * np.linalg.solve(C, Phi), axis=0)
    Q = Phi.T @ np.linalg.solve(C, y)
    share = np.ones(Phi.shape[1])
    share[active] = alpha / (alpha - S[active])  # takes the function itself out of C
    return share * S, share * Q


def gain(alpha, s, q):
    """ℓ(α), what a function adds to the log marginal likelihood (4.19); 0 at α = ∞."""
    with np.errstate(invalid="ignore"):
        inside = 0.5 * (np.log(alpha / (alpha + s)) + q**2 / (alpha + s))
    return np.where(np.isfinite(alpha), inside, 0.0)


def algorithm_4_2_2(Phi, y, actions=2000, tol=1e-6):
    """The sequential algorithm: the one α whose best value gains most, until none gains anything."""
    noise = 0.1 * y.var()
    alpha = np.full(Phi.shape[1], np.inf)
    first = np.argmax((Phi.T @ y) ** 2 / np.sum(Phi**2, axis=0))
    alpha[first] = 1.0
    for step in range(actions):
        active = np.flatnonzero(np.isfinite(alpha))
        s, q = factors(Phi, y, active, alpha[active], noise)
        theta = q**2 - s
        best = np.where(theta > 0, s**2 / np.where(theta > 0, theta, 1.0), np.inf)  # (4.20)
        gains = gain(best, s, q) - gain(alpha, s, q)
        if len(active) == 1:
            gains[active] = np.where(np.isfinite(best[active]), gains[active], 0.0)  # the last one stays
        j = np.argmax(gains)
        settled = gains[j] < tol
        alpha[j] = best[j] if gains[j] > 0 else alpha[j]  # add, re-estimate, or delete
        active = np.flatnonzero(np.isfinite(alpha))
        Sigma, mu = posterior(Phi[:, active], y, alpha[active], noise)
        before = noise
        if settled or step % 5 == 4:
            residual, gamma = y - Phi[:, active] @ mu, 1 - alpha[active] * Sigma.diagonal()
            noise = residual @ residual / (len(y) - gamma.sum())  # (4.17)
        if settled and abs(np.log(noise / before)) < tol:
            break
    return active, alpha[active], noise
