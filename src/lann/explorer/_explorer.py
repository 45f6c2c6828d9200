"""Build an explorer from a fitted model, save it, and show it in a notebook."""

from __future__ import annotations

import html
import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from lann._markup import check_page_path, save_page
from lann.explorer._document import Document, Options, build_document
from lann.explorer._page import explorer_page
from lann.explorer._source import check_model, read_given_rows, source_of
from lann.explorer._widget import make_widget

if TYPE_CHECKING:
    from lann.tables import NewRows

# The frame of a notebook.
FRAME = '<iframe title="{title}" srcdoc="{page}" style="width:100%;height:{height}px;border:0"></iframe>'
HEIGHT = 820


class Explorer:
    """A page in which a person can question a fitted model; `explore` returns it.

    Parameters
    ----------
    document : Document
        What the page shows.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    notes : tuple of str
        What the page leaves out or rounds.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self.n_rows, self.notes = document.n_rows, document.notes

    def __repr__(self) -> str:
        return f"<Explorer of {self.n_rows} rows: {self._document.title}>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the page as one file, which needs no server, no kernel and no network.

        Parameters
        ----------
        path : str or path-like
            A file whose name ends in ``.html``; an existing one is replaced.

        Raises
        ------
        ValueError
            If the name has another ending.
        OSError
            If the file cannot be written.
        """
        check_page_path(path)
        save_page(path, self.to_html())

    def to_html(self) -> str:
        """Return the page as text.

        Returns
        -------
        page : str
        """
        return explorer_page(self._document)

    def _repr_html_(self) -> str:
        """Return a frame with the page, which is alive without a kernel."""
        page, title = (html.escape(text) for text in (self.to_html(), self._document.title))
        return FRAME.format(title=title, page=page, height=HEIGHT)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """Return what a notebook shows: a widget if anywidget is installed, otherwise a frame."""
        if self._widget is not None:
            return self._widget._repr_mimebundle_(include=include, exclude=exclude)
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    @property
    def selected(self) -> list[Any]:
        """Names of the rows that are selected in the notebook, or their row numbers.

        New rows without names are "new 0", "new 1" and so on.

        Raises
        ------
        ImportError
            If anywidget is not installed.
        """
        if self._widget is None:
            raise ImportError("The selection of a notebook needs anywidget: pip install 'lann[notebook]'.")
        return list(self._widget.selected)

    @cached_property
    def _widget(self) -> Any:
        """The widget of a notebook; None if anywidget is not installed."""
        return make_widget(self.to_html(), HEIGHT)


def explore(
    model: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    ids: ArrayLike | None = None,
    title: str | None = None,
    method: str = "auto",
    n_reasons: int = 400,
    random_state: Any = 0,
) -> Explorer:
    """Build a page in which a person can question a fitted model.

    The page has the training rows, each with the prediction of the others, and new rows. A click on a row
    shows the rows that decided; values can be changed, and the page predicts again, exactly as the model
    does, without a server or a network.

    Parameters
    ----------
    model : estimator or TableModel
        A fitted LANNClassifier, a baseline, or a `TableModel`, which knows how a table writes its values.
    X : array-like or table of shape (n_rows, n_features) or None, default=None
        Rows to show beside the training rows, such as test rows; rows that are training rows are not shown
        twice. None is the training rows alone.
    y : array-like of shape (n_rows,) or None, default=None
        Labels of X.
    ids : array-like of shape (n_rows,) or None, default=None
        Names of the rows of X, or of the training rows if X is None; None is those that the model knows.
    title : str or None, default=None
        Title of the page; None is the name of the target, or of the model.
    method : {"auto", "umap", "densmap", "tsne", "pca"}, default="auto"
        Layout of the two maps, under the learned metric and of the standardized data; "auto" is "umap" if
        umap-learn is installed, otherwise principal components.
    n_reasons : int, default=400
        Number of rows whose reasons are computed, which takes some milliseconds for each: those that are
        wrong or doubtful first.
    random_state : int, RandomState instance or None, default=0
        Determines the layout of the maps.

    Returns
    -------
    explorer : Explorer

    Raises
    ------
    ValueError
        If a parameter is invalid, or the model has no neighbors.
    NotFittedError
        If the model is not fitted.
    ImportError
        If the layout needs umap-learn, which is not installed.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> import lann
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = lann.LANNClassifier(random_state=0).fit(X[::2], y[::2])
    >>> explorer = lann.explore(clf, X[1::2], y[1::2], method="pca")
    >>> explorer
    <Explorer of 150 rows: LANNClassifier>
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     explorer.save(os.path.join(folder, "iris.html"))
    ...     os.listdir(folder)
    ['iris.html']
    """
    options = Options(method, n_reasons, random_state)
    options.check()
    check_model(model)
    new, names = read_given_rows(model, X, y, ids)
    return build_explorer(model, new, options, title=title, ids=names)


def build_explorer(
    model: Any, new: NewRows | None, options: Options, *, title: str | None = None, **others: Any
) -> Explorer:
    """Return the explorer of a model and of rows that have been read; others are `ids` and `step`."""
    source = source_of(model, new, others.pop("ids", None))
    title = title or source.target or type(source.classifier).__name__
    return Explorer(build_document(source, options, title, **others))
