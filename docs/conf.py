"""Settings of the site: `make docs` builds it, with warnings as errors, into build/docs."""

import importlib
import inspect
import re
import warnings
from functools import cached_property
from importlib.metadata import version as installed
from pathlib import Path

DOCS = Path(__file__).parent.resolve()
GALLERY = ["regression", "classification", "columns", "signals", "fields"]

project = "sparsebayes"
author = "The sparsebayes developers"
copyright = author
release = version = installed("sparsebayes")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["gallery/**/*.ipynb", "sg_execution_times.rst"]
suppress_warnings = ["config.cache"]

html_theme = "pydata_sphinx_theme"
html_title = "sparsebayes"
html_theme_options = {"navigation_depth": 2, "show_toc_level": 2, "header_links_before_dropdown": 6}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
templates_path = ["_templates"]

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"

sphinx_gallery_conf = {
    "examples_dirs": str(DOCS.parent / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "abort_on_example_error": False,
    "only_warn_on_example_error": False,
    "show_memory": False,
    "download_all_examples": False,
    "plot_gallery": True,
    "capture_repr": (),  # what is printed is shown, not what the last line returns
    "subsection_order": [f"../examples/gallery/{name}" for name in GALLERY],
    "write_computation_times": False,  # a page that loads scripts from other hosts
}
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")


def own_members(fullname):
    """The public methods of a class that are written here, and its properties: (methods, properties)."""
    module, name = fullname.rsplit(".", 1)
    found = inspect.getmembers(getattr(importlib.import_module(module), name))
    public = [(each, value) for each, value in found if not each.startswith("_")]
    own = [(each, value) for each, value in public if str(getattr(value, "__module__", "")).startswith("sparsebayes")]
    methods = [each for each, value in own if inspect.isroutine(value)]
    cls = getattr(importlib.import_module(module), name)
    static = [(each, inspect.getattr_static(cls, each)) for each, _ in public]
    properties = [each for each, value in static if isinstance(value, property | cached_property) and value.__doc__]
    return methods, properties


autosummary_context = {"own_members": own_members}

LINK = re.compile(r"\[([^\]]*)\]\((\.\.?/[^)#\s]+)(#[^)]*)?\)")


def files_outside(app, docname, source):
    """Have links to files outside docs/ download them, and show links to folders as text."""
    folder = Path(app.env.doc2path(docname)).parent

    def replaced(link):
        path = (folder / link[2]).resolve()
        if path.is_relative_to(DOCS):
            return link[0]
        return f"[{link[1]}](path:{link[2]})" if path.is_file() else link[1]

    source[0] = LINK.sub(replaced, source[0])


ROLE = re.compile(r":(?:ref|term):`([^<`]+?)(?:\s*<[^>]*>)?`")
QUOTED = re.compile(r"(`+[^`]*`+)")


def escaped(line):
    """The line with | and a final _ of a name escaped where reStructuredText would read markup."""
    pieces = QUOTED.split(ROLE.sub(r"\1", line))
    return "".join(
        piece if piece.startswith("`") else re.sub(r"(?<=\w)_(?=\W|$)", r"\\_", piece.replace("|", r"\|"))
        for piece in pieces
    )


def plain_docstring(app, what, name, obj, options, lines):
    """Read formulas in docstrings as text, and references into the manual of scikit-learn as words."""
    lines[:] = [line if line.lstrip().startswith("..") else escaped(line) for line in lines]


def setup(app):
    """Connect the treatment of links that leave docs/, and of formulas in docstrings."""
    app.connect("source-read", files_outside)
    app.connect("autodoc-process-docstring", plain_docstring, priority=100)  # before numpydoc
