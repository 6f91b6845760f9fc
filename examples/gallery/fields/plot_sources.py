"""
Sources of an electroencephalogram
==================================

Two dipoles in a spherical head, 64 electrodes, two thousand candidate positions of free orientation. One
precision governs the three components of a position at all times, so that a position is selected as a whole.
MNE-Python makes the lead field.
"""

import matplotlib.pyplot as plt
import mne
import numpy as np

from sparsebayes.integrations.mne import sparse_bayes

mne.set_log_level("ERROR")
montage = mne.channels.make_standard_montage("biosemi64")
info = mne.create_info(montage.ch_names, 200.0, "eeg").set_montage(montage)
sphere = mne.make_sphere_model(r0="auto", head_radius="auto", info=info)
positions = mne.setup_volume_source_space(pos=10.0, sphere=sphere, mindist=5.0)
forward = mne.make_forward_solution(info, trans=None, src=positions, bem=sphere, meg=False, eeg=True)
places = 1e3 * forward["source_rr"]

# %%
# Two sources that oscillate at 6 and 9 Hz, and noise in every channel.

rng = np.random.default_rng(1)
noise, time = 1e-6, np.arange(50) / 200
lead = forward["sol"]["data"].reshape(64, -1, 3)
true = [int(np.argmin(np.linalg.norm(places - place, axis=1))) for place in ([-40, 10, 60], [45, -25, 50])]
data = noise * rng.standard_normal((64, 50))
for place, frequency in zip(true, (6, 9), strict=True):
    field = lead[:, place] @ [0.3, 0.4, 1.0]
    data += 2 * noise * np.outer(field / field.std(), np.sin(2 * np.pi * frequency * time))
evoked = mne.EvokedArray(data, info).set_eeg_reference(projection=True)
estimate = sparse_bayes(evoked, forward, mne.make_ad_hoc_cov(info, std={"eeg": noise}))

# %%
# Where the selected sources are, and how they move in time.

found = 1e3 * forward["src"][0]["rr"][estimate.vertices[0]]
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.plot(*places[:, :2].T, ".", color="0.9", ms=4)
left.plot(*places[true][:, :2].T, "k+", ms=14, mew=2, label="true")
left.plot(*found[:, :2].T, "C1o", mfc="none", ms=11, mew=2, label="selected")
left.set(xlabel="x (mm)", ylabel="y (mm)", aspect="equal", title=f"{len(found)} of {len(places)} positions")
left.legend()
for place, row in zip(found, estimate.data, strict=True):
    right.plot(1e3 * time, 1e9 * row, label=f"at x = {place[0]:.0f} mm")
right.legend(fontsize="small")
right.set_ylim(0, 1.25e9 * estimate.data.max())
right.set(xlabel="time (ms)", ylabel="amplitude (nAm)", title="size of the selected sources")
