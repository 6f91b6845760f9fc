"""docs/invariance.md names every exception, and no other."""

import re
from pathlib import Path

from metamorphic.exceptions import EXCEPTIONS

PAGE = Path(__file__).parents[2] / "docs" / "invariance.md"


def test_exceptions_are_documented():
    table = PAGE.read_text().split("<!-- exceptions -->")[1].split("<!-- end -->")[0]
    documented: dict[str, set[str]] = {}
    for line in table.strip().splitlines()[2:]:
        change, reason, models = (cell.strip() for cell in line.strip("|").split("|"))
        assert reason.endswith(".")
        documented.setdefault(change, set()).update(re.findall(r"`([^`]+)`", models))
    assert documented == {change: set(models) for change, models in EXCEPTIONS.items()}
