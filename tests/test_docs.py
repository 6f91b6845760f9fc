"""The Python in README.md and docs/ runs as it stands; pages, files and benchmarks that are named there exist."""

import ast
import importlib
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "sparsebayes"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
RESULTS = sorted((ROOT / "benchmarks" / "results").glob("*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!http)([^)#]*)#?([^)]*)\)")
FILE = re.compile(r"`([\w/-]+/[\w.-]+\.(?:py|md)|[\w-]+/)`")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)

# words of a private language, for which the papers and scikit-learn have others
PRIVATE = (
    r"asked for|dense (?:model|evidence)|contests?|visit(?:s|ed)?|idle|stages|rebuil[dt]s?|standing|promise[ds]?|"
    r"left[ -]out|rooms?|house|opening|charge[ds]?|offers?|MATH|one an? (?:row|iteration|candidate|level)|"
    r"as good as exactly|noise_shape=|noise_prior|fit_classes|first_noise_variance|multi_class"
)

# the packages that the programs of a page need, if they are not those of the tests
NEEDED = {
    "dynamical-systems": ["pysindy"],
    "force-constants": ["trainstation"],
    "polynomial-chaos": ["chaospy", "openturns"],
    "source-localisation": ["mne"],
    "small-devices": ["onnx", "onnxruntime", "skl2onnx"],
}
INTEGRATIONS = "sparsebayes.integrations."

FIRST_PAGES = ("README", "index", "start", "ten-minutes")
FIRST_AND_LATER_PAGES = [
    pytest.param(page, marks=() if page.stem in FIRST_PAGES else pytest.mark.slow, id=page.name) for page in PAGES
]
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def skip_without(packages):
    """Skip the test unless the packages are installed."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")


@pytest.mark.parametrize("page", FIRST_AND_LATER_PAGES)
def test_python_blocks_run(page, tmp_path):
    """The blocks of a page are one program, top to bottom, in a process of its own."""
    text = page.read_text(encoding="utf-8")
    blocks = {text.count("\n", 0, block.start(1)): block[1].splitlines() for block in BLOCK.finditer(text)}
    if not blocks:
        return
    skip_without(NEEDED.get(page.stem, []))
    lines = [""] * (text.count("\n") + 1)
    for start, block in blocks.items():
        lines[start : start + len(block)] = block  # at its place, so that an error names the line of the page
    program = tmp_path / f"{page.stem}.py"
    program.write_text("\n".join(lines), encoding="utf-8")
    command = [sys.executable, "-W", "error", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def anchors(page):
    """The anchors of the headings of a page, as they are made from its text."""
    headings = HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@every_page
def test_links_lead_somewhere(page):
    for target, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        other = page.parent / target if target else page
        assert other.exists(), target
        assert not anchor or anchor in anchors(other), f"{target}#{anchor}"


@every_page
def test_files_and_folders_that_are_named_exist(page):
    folders = [ROOT, ROOT / "src", PACKAGE, *(path.parent for path in PACKAGE.glob("*/__init__.py"))]
    for name in FILE.findall(page.read_text(encoding="utf-8")):
        assert any((folder / name).exists() for folder in folders), name


@every_page
def test_classes_and_fitted_attributes_that_are_named_exist(page):
    text = page.read_text(encoding="utf-8")
    prose, own = BLOCK.sub("", text), "".join(BLOCK.findall(text))  # a page may define classes of its own
    source = own + "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    for code in re.findall(r"`([^`\n]+)`", prose):
        for name in re.findall(r"\b(?:[A-Z][a-z]+[A-Z]\w*|[a-z]\w*_)(?=\W|$)", code):
            assert re.search(rf"\b{name}\b", source), name


@pytest.mark.parametrize("page", [*PAGES, *RESULTS], ids=lambda page: page.name)
def test_pages_speak_the_language_of_the_papers(page):
    found = re.findall(rf"\b(?:{PRIVATE})", page.read_text(encoding="utf-8"))
    assert not found


def test_the_pages_that_teach_have_something_to_run():
    for name in ("README.md", *(f"docs/adding-a-{what}.md" for what in ("prior", "basis", "likelihood"))):
        assert BLOCK.search((ROOT / name).read_text(encoding="utf-8")), name


def test_every_package_is_on_the_map():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = text.split("<!-- packages -->")[1].split("<!-- end -->")[0]
    listed = re.findall(r"^\| `([^`]+)`", table, re.MULTILINE)
    files = {path.name for path in PACKAGE.glob("*.py")} - {"__init__.py"}
    packages = files | {f"{path.parent.name}/" for path in PACKAGE.glob("*/__init__.py")}
    assert sorted(listed) == sorted(packages)


def test_the_core_is_on_the_reading_list():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+\.py)` \| (\d+) \|", text, re.MULTILINE)
    files = {path.name for path in (PACKAGE / "core").glob("*.py")} - {"__init__.py", "specification.py"}
    assert {name for name, _ in listed} == files
    assert sum(int(minutes) for _, minutes in listed) <= 60


def imported(script):
    """The names that a script imports from the library, as (module, name)."""
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "sparsebayes":
            yield from ((node.module, alias.name) for alias in node.names)


SCRIPTS = sorted([*(ROOT / "benchmarks").rglob("*.py"), *(ROOT / "examples").glob("*.py")])


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_scripts_import_names_that_exist(script):
    for module, name in imported(script):
        skip_without([module.removeprefix(INTEGRATIONS)] if module.startswith(INTEGRATIONS) else [])
        assert hasattr(importlib.import_module(module), name), f"{module}.{name}"
