"""Letters of all languages in pictures: names of columns need not be those of Europe."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

# fonts of the usual systems that have letters which the default font of matplotlib does not have
WORLDWIDE = (
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "WenQuanYi Zen Hei",
    "Droid Sans Fallback", "IPAGothic", "Hiragino Sans", "Hiragino Sans GB", "PingFang SC", "Apple SD Gothic Neo",
    "Arial Unicode MS", "Yu Gothic", "MS Gothic", "Microsoft YaHei", "Malgun Gothic", "Noto Sans Arabic",
    "Noto Sans Hebrew", "Noto Sans Devanagari", "Noto Sans Thai", "Leelawadee UI", "Nirmala UI",
)  # fmt: skip


@contextmanager
def all_letters() -> Iterator[None]:
    """Within it text takes letters that its font lacks from other fonts; a box, and no warning, where none has them."""
    from matplotlib import rc_context, rcParams
    from matplotlib.font_manager import fontManager

    known = {font.name for font in fontManager.ttflist}
    family = [*rcParams["font.family"], *(name for name in WORLDWIDE if name in known)]
    with rc_context({"font.family": family}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        yield
