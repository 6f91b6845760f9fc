"""The Python in README.md and docs/ runs as it stands, and the pages that it points to exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!http|#)([^)#]+)")

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


@every_page
def test_python_blocks_run(page, tmp_path):
    """The blocks of a page are one program, top to bottom, in a process of its own."""
    text = page.read_text(encoding="utf-8")
    blocks = {text.count("\n", 0, block.start(1)): block[1].splitlines() for block in BLOCK.finditer(text)}
    if not blocks:
        return
    lines = [""] * (text.count("\n") + 1)
    for start, block in blocks.items():
        lines[start : start + len(block)] = block  # at its place, so that an error names the line of the page
    program = tmp_path / f"{page.stem}.py"
    program.write_text("\n".join(lines), encoding="utf-8")
    command = [sys.executable, "-W", "error", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


@every_page
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_the_pages_that_teach_have_something_to_run():
    for name in ("README.md", *(f"docs/adding-a-{what}.md" for what in ("prior", "basis", "likelihood"))):
        assert BLOCK.search((ROOT / name).read_text(encoding="utf-8")), name


def test_every_room_is_on_the_map():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = text.split("<!-- rooms -->")[1].split("<!-- end -->")[0]
    listed = re.findall(r"^\| `([^`]+)`", table, re.MULTILINE)
    package = ROOT / "src" / "sparsebayes"
    files = {path.name for path in package.glob("*.py")} - {"__init__.py"}
    rooms = files | {f"{path.parent.name}/" for path in package.glob("*/__init__.py")}
    assert sorted(listed) == sorted(rooms)
