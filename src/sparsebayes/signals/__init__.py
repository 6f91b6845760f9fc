"""Signals on fast orthonormal transforms: their bases, a fit in closed form, and denoising.

Read `transforms` and `wavelet_transform` first (the operators), `sampled` (bases over the rows of X),
`closed_form` and `path` (a regression on orthonormal functions). The denoiser is `denoise`, which shrinks
coefficients by `shrinkage` with the noise by `noise` and constants by `risk`; `mixture` has the expected error of each
coefficient, `pointwise` that of each sample, and `boundary` pads and shifts a signal.
"""

from sparsebayes.signals.closed_form import Orthonormal
from sparsebayes.signals.denoise import SignalDenoiser
from sparsebayes.signals.path import OrthonormalPath
from sparsebayes.signals.sampled import DCT, SampledBasis, Spike, Wavelet
from sparsebayes.signals.settings import DenoisingSettings, RiskSettings, SpectrumSettings
from sparsebayes.signals.transforms import DCTOperator, SpikeOperator, TransformOperator
from sparsebayes.signals.wavelet_transform import Band, WaveletOperator
