"""Build the documentation site: `make docs` writes it to docs/_build/html, without a network."""

from __future__ import annotations

from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import lann

project = "lann"
author = copyright = "the lann developers"
version = release = lann.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "_build",
    "README.md",
    "gallery/*.ipynb",
    "gallery/*.py",
    "gallery/*.zip",
    "gallery/*.json",
]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]  # functions in sphinx_gallery_conf are not compared between builds

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc sections have the types
autodoc_default_options = {"members": True, "inherited-members": True}
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "ignore_pattern": r"^(?!.*plot_)",
    "subsection_order": [f"../examples/{folder}" for folder in ("explain", "decide", "maps", "data")],
    "within_subsection_order": "FileNameSortKey",
    "ignore_repr_types": r"lann\.plot",
    "capture_repr": ("_repr_html_", "__repr__"),
    "doc_module": ("lann",),
    "backreferences_dir": "api/examples",
    "min_reported_time": 20,
}

html_theme = "pydata_sphinx_theme"
html_title = "lann"
html_static_path = ["_static"]
# Files that are written below.
EXTRA = Path(__file__).parent / "_build" / "extra"
EXTRA.mkdir(parents=True, exist_ok=True)
html_extra_path = [str(EXTRA)]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
}
WITHOUT_SECTIONS = (
    "index",
    "getting_started",
    "which_method",
    "commands",
    "glossary",
    "deprecation",
    "research-log",
)
html_sidebars = {key: [] for key in WITHOUT_SECTIONS}


def _skip(app, what, name, member, skip, options):
    """Leave out methods that other packages document, such as `get_params`."""
    module = getattr(member, "__module__", None) or "lann"
    return True if not module.startswith("lann") and callable(member) else None


def _write_explorer(app):
    """Write the explorer of the landing page."""
    data = load_breast_cancer(as_frame=True)
    y = data.target_names[data.target]
    X_train, X_test, y_train, y_test = train_test_split(data.data, y, stratify=y, random_state=0)
    clf = lann.LANNClassifier(random_state=0).fit(X_train, y_train)
    lann.explore(clf, X_test, y_test, title="Breast cancer").save(EXTRA / "explorer.html")


def setup(app):
    """Connect what is done at the beginning, and for each member."""
    app.connect("builder-inited", _write_explorer)
    app.connect("autodoc-skip-member", _skip)
