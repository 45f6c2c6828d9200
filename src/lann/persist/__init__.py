"""Save and load models without pickle: nothing in a model file can run code.

A model file is a zip archive in the format of skops: ``schema.json``, a tree of nodes that each name a type,
the arrays that the nodes refer to, and ``lann.json`` with the version that wrote it. Before skops builds
anything, the type of every node is looked up in a fixed list, and the size of every array is checked against
its header.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from lann.classifier import LANNClassifier
    from lann.embedding import LANNEmbedding, NeighborEmbedding

__all__ = ["load", "save"]


def save(
    model: LANNClassifier | LANNEmbedding | NeighborEmbedding | Pipeline, path: str | os.PathLike[str]
) -> None:
    """Save a fitted model; the file is complete or not written at all.

    Parameters
    ----------
    model : LANNClassifier, LANNEmbedding, NeighborEmbedding, or a scikit-learn Pipeline that ends in one
        A pipeline may have scikit-learn's usual scalers, imputers, encoders and selectors.
    path : str or path-like
        The file, usually ``*.skops``; an existing file is replaced.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    ValueError
        If the model is something else, or has a part that `load` does not accept.
    FileNotFoundError, IsADirectoryError
        If the file cannot be written there.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier, load, save
    >>> X, y = load_iris(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "iris.skops")
    ...     save(LANNClassifier(random_state=0).fit(X, y), file)
    ...     load(file).predict(X[:3])
    array([0, 0, 0])
    """
    import skops.io
    from sklearn.exceptions import NotFittedError

    from lann._files import write_atomically
    from lann.persist._consistency import KINDS, check_model, fitted_part, without_callbacks
    from lann.persist._errors import reason
    from lann.persist._model_file import check_content, with_marker

    path = Path(path)
    part = fitted_part(model)
    if part is None:
        raise ValueError(f"save takes {KINDS}; got an object of type {type(model).__name__}.")
    if not hasattr(part, "model_"):
        raise NotFittedError("The model is not fitted yet; call fit before saving it.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} to save {path.name} in.")
    try:
        content = with_marker(skops.io.dumps(without_callbacks(model)))
        check_content(content)
        check_model(model)
    except Exception as error:
        raise ValueError(f"The model cannot be saved: {reason(error, 'skops cannot write it')}.") from error
    write_atomically(path, content)


def load(path: str | os.PathLike[str]) -> LANNClassifier | LANNEmbedding | NeighborEmbedding | Pipeline:
    """Load a model that `save` has written; it predicts and transforms the same, to the bit.

    Only types of a fixed list are built, and nothing in the file can run.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    model : estimator

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If there is no such file.
    ValueError
        If the file is damaged, of a later format, or contains anything but a model of lann.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier, load, save
    >>> X, y = load_iris(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "iris.skops")
    ...     save(LANNClassifier(random_state=0).fit(X, y), file)
    ...     type(load(file)).__name__
    'LANNClassifier'
    """
    import skops.io

    from lann.persist._allowed import allowed_types
    from lann.persist._consistency import check_model
    from lann.persist._errors import reason
    from lann.persist._model_file import check_content

    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a model file.")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    content = path.read_bytes()  # once, so that what is checked is what is loaded
    try:
        check_content(content)
        model = skops.io.load(io.BytesIO(content), trusted=sorted(set().union(*allowed_types().values())))
        check_model(model)
    except Exception as error:
        raise ValueError(f"{path} cannot be loaded: {reason(error, 'it is damaged')}.") from error
    return model
