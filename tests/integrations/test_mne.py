"""The inverse solver for MNE-Python, on a sphere model."""

import inspect
import warnings

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    mne = pytest.importorskip("mne", reason="MNE-Python is not installed", exc_type=ImportError)

from sparsebayes.integrations.mne import sparse_bayes

NOISE = 1e-6  # V
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def head():
    mne.set_log_level("ERROR")
    montage = mne.channels.make_standard_montage("biosemi32")
    info = mne.create_info(montage.ch_names, 100.0, "eeg").set_montage(montage)
    sphere = mne.make_sphere_model(r0="auto", head_radius="auto", info=info)
    positions = mne.setup_volume_source_space(pos=20.0, sphere=sphere, mindist=5.0)
    return info, mne.make_forward_solution(info, trans=None, src=positions, bem=sphere, meg=False, eeg=True)


@pytest.fixture(scope="module")
def measurement(head):
    """One oscillating dipole at the position number 100, and noise."""
    info, forward = head
    rng = np.random.default_rng(0)
    field = forward["sol"]["data"].reshape(32, -1, 3)[:, 100] @ [1.0, 2.0, 0.0]
    course = np.sin(np.linspace(0, 6, 30))
    field -= field.mean()
    data = 3 * NOISE * np.outer(field / field.std(), course) + NOISE * rng.standard_normal((32, 30))
    evoked = mne.EvokedArray(data, info, tmin=0.1).set_eeg_reference(projection=True)
    return evoked, forward, mne.make_ad_hoc_cov(info, std={"eeg": NOISE})


def test_the_source_is_found(measurement):
    stc = sparse_bayes(*measurement)
    strongest = stc.vertices[0][np.argmax((stc.data**2).sum(axis=1))]
    assert strongest == measurement[1]["src"][0]["vertno"][100]
    assert stc.data.shape == (len(stc.vertices[0]), 30)
    assert len(stc.vertices[0]) <= 5
    assert stc.tmin == pytest.approx(0.1)


def test_the_residual_is_noise(measurement):
    stc, residual = sparse_bayes(*measurement, return_residual=True)
    assert residual.data.std() == pytest.approx(NOISE, rel=0.15)
    assert isinstance(stc, mne.VolSourceEstimate)


def test_the_direction_of_the_source(measurement):
    stc = sparse_bayes(*measurement, pick_ori="vector")
    strongest = np.argmax((stc.data**2).sum(axis=(1, 2)))
    moment = stc.data[strongest] @ np.sin(np.linspace(0, 6, 30))
    assert abs(moment @ [1, 2, 0]) / np.linalg.norm(moment) / np.sqrt(5) > 0.9


def test_dipoles(measurement):
    dipoles = sparse_bayes(*measurement, return_as_dipoles=True)
    best = max(dipoles, key=lambda dipole: dipole.gof.mean())
    np.testing.assert_allclose(best.pos[0], measurement[1]["source_rr"][100])


@pytest.mark.parametrize("options", [{"depth": None}, {"xyz_same_gamma": False}, {"alpha": None}, {"pca": False}])
def test_options_of_gamma_map(measurement, options):
    stc = sparse_bayes(*measurement, **options)
    strongest = stc.vertices[0][np.argmax((stc.data**2).sum(axis=1))]
    places = measurement[1]["src"][0]["rr"]
    true = measurement[1]["source_rr"][100]
    assert np.linalg.norm(places[strongest] - true) < 0.021  # one step of the grid


def test_the_arguments_of_gamma_map_come_first_and_in_its_order():
    theirs, ours = (list(inspect.signature(each).parameters) for each in (mne.inverse_sparse.gamma_map, sparse_bayes))
    assert ours[:9] == theirs[:9]
    assert set(theirs) - set(ours) == {"update_mode", "gammas"}  # those of its algorithm


def test_a_missing_reference_is_named(head):
    info, forward = head
    evoked = mne.EvokedArray(np.ones((32, 5)), info)
    with pytest.raises(ValueError, match="evoked must have an average EEG reference"):
        sparse_bayes(evoked, forward, mne.make_ad_hoc_cov(info))
