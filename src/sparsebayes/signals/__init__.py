"""Signals on fast orthonormal transforms: their bases, a fit in closed form, and denoising.

Read `transforms` and `wavelet_transform` first (the operators), `sampled` (bases over the rows of X),
`closed_form` and `path` (a regression on orthonormal functions). The denoiser is `denoise`, which shrinks
coefficients by `shrinkage` with constants by `risk`; `boundary` pads and shifts a signal, `pointwise` has the
variance of each sample.
"""

from sparsebayes.signals.closed_form import Orthonormal
from sparsebayes.signals.denoise import SignalDenoiser
from sparsebayes.signals.path import OrthonormalPath
from sparsebayes.signals.sampled import DCT, SampledBasis, Spike, Wavelet
from sparsebayes.signals.settings import DenoisingSettings, RiskSettings
from sparsebayes.signals.transforms import DCTOperator, SpikeOperator, TransformOperator
from sparsebayes.signals.wavelet_transform import Band, WaveletOperator
