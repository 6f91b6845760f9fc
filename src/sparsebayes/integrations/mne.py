"""Sparse source localisation with MNE-Python: sources selected by the evidence, jointly over all time points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mne
import numpy as np
from mne.forward import is_fixed_orient

# what MNE's own sparse solvers are made of, and what its example of a custom inverse solver uses
from mne.inverse_sparse.mxne_inverse import (
    _check_ori,
    _compute_residual,
    _make_dipoles_sparse,
    _make_sparse_stc,
    _prepare_gain,
)

from sparsebayes import Smoothness, fit


def sparse_bayes(
    evoked: Any,
    forward: Any,
    noise_cov: Any,
    alpha: float | None = 1.0,
    loose: Any = "auto",
    depth: Any = 0.8,
    xyz_same_gamma: bool = True,
    maxit: int = 10000,
    tol: float = 1e-6,
    *,
    prior: Any = None,
    pca: bool = True,
    return_residual: bool = False,
    return_as_dipoles: bool = False,
    rank: Any = None,
    pick_ori: str | None = None,
    verbose: Any = None,
    **options: Any,
) -> Any:
    """Sparse source localisation of evoked data, called as `mne.inverse_sparse.gamma_map`.

    The model is that of `gamma_map`: every source has one prior variance for all time points and, with free
    orientation, for its three components. Sources are added to an empty model while the evidence rises, where
    `gamma_map` shrinks the variances of all of them.

    Parameters
    ----------
    evoked : mne.Evoked
        The data.
    forward : mne.Forward
        The forward solution.
    noise_cov : mne.Covariance
        The noise covariance; data and lead field are whitened with it.
    alpha : float, optional
        The noise variance of the whitened data: 1 if `noise_cov` is that of the evoked data, None to estimate it.
    loose, depth, pca, rank, pick_ori
        As in `gamma_map`: orientation, depth weighting, whitening and what is returned of the orientation.
    xyz_same_gamma : bool
        Whether the three components of a source are selected together; for free orientation.
    maxit, tol : int, float
        Iterations allowed, and what a move must gain in the log evidence.
    prior : Prior or str, optional
        Prior on the precisions of the sources, as in `sparsebayes.fit`. None is a smoothness prior that penalises
        a source by up to log n nats, for the choice among n sources: with the uniform prior, noise at many time points
        looks like a few weak sources.
    return_residual : bool
        Whether the residual is returned as well.
    return_as_dipoles : bool
        Whether the sources are returned as a list of `mne.Dipole`, not as a source estimate.
    verbose : bool, str, int or None
        The logging level of MNE.
    **options
        Further arguments of `sparsebayes.fit`, such as effort="high".

    Returns
    -------
    stc : mne.SourceEstimate, mne.VolSourceEstimate, … or list of mne.Dipole
        The time courses of the selected sources.
    residual : mne.Evoked
        What they do not explain; only with `return_residual`.
    """
    with mne.use_log_level(verbose):
        _check_reference(evoked, forward)
        problem = _Problem.of(evoked, forward, noise_cov, loose, depth, pca, rank)
        _check_ori(pick_ori, problem.forward)
        settings = {"noise_variance": alpha, "max_iter": maxit, "tol": tol, **options}
        active, courses = problem.solve(xyz_same_gamma, prior, settings)
        tmin, tstep = evoked.times[0], 1.0 / evoked.info["sfreq"]
        if return_as_dipoles:
            gain = problem.gain[:, active] / problem.weighting[active]
            data = problem.data
            found = _make_dipoles_sparse(courses, active, problem.forward, tmin, tstep, data, gain, active_is_idx=True)
        else:
            found = _make_sparse_stc(
                courses, active, problem.forward, tmin, tstep, active_is_idx=True, pick_ori=pick_ori
            )
        if not return_residual:
            return found
        return found, _compute_residual(problem.forward, evoked, courses, active, problem.info)


def _check_reference(evoked: Any, forward: Any) -> None:
    """Raise ValueError if there are EEG channels without an average reference, as the forward solution assumes it."""
    eeg = mne.pick_types(evoked.info, meg=False, eeg=True)
    projected = any(proj["desc"].startswith("Average EEG reference") for proj in evoked.info["projs"])
    if len(eeg) and not projected and not evoked.info["custom_ref_applied"]:
        raise ValueError(
            "evoked must have an average EEG reference, got none: call evoked.set_eeg_reference(projection=True)."
        )


@dataclass(frozen=True, eq=False)
class _Problem:
    """The whitened data (N, T) and lead field (N, M), and what MNE needs to describe the solution.

    weighting : the depth weight of each column, (M,), by which the lead field has been multiplied.
    """

    data: np.ndarray
    gain: np.ndarray
    weighting: np.ndarray
    forward: Any
    info: Any

    @classmethod
    def of(cls, evoked: Any, forward: Any, noise_cov: Any, loose: Any, depth: Any, pca: bool, rank: Any) -> _Problem:
        """The problem that MNE's own functions make of the measurement."""
        forward, gain, info, whitener, weighting, _ = _prepare_gain(
            forward, evoked.info, noise_cov, pca, depth, loose, rank
        )
        rows = [evoked.ch_names.index(name) for name in info["ch_names"]]
        weighting = np.where(weighting == 0, 1.0, weighting)
        return cls(whitener @ evoked.data[rows], gain, weighting, forward, info)

    def solve(self, xyz_same_gamma: bool, prior: Any, settings: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        """The selected columns, all components of a source among them, and their time courses (S, T)."""
        size = 1 if is_fixed_orient(self.forward) else 3
        together = size if xyz_same_gamma else 1
        labels = np.arange(self.gain.shape[1]) // together
        if prior is None:
            prior = Smoothness(np.log(labels[-1] + 1) / (together * self.data.shape[1]))  # nats for each weight
        result = fit(self.gain, self.data, prior=prior, joint=True, shared_noise=True, groups=labels, **settings)
        sources = np.unique(result.active // size)
        active = (sources[:, None] * size + np.arange(size)).ravel()
        courses = np.zeros((len(active), self.data.shape[1]))
        courses[np.searchsorted(active, result.active)] = result.mean
        return active, courses * self.weighting[active][:, None]
