"""Save and load models: nothing in a model file can run, and nothing inconsistent is loaded.

A model file is a zip archive of ``model.json`` and arrays in NumPy's format ``.npy``. `load` builds the
estimator by its constructor, from a declaration of every field: its type, the shape of an array in terms of
sizes that all arrays have in common, and the range of its values. There is nothing else in a file.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lann._support.types import Indices

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from lann.reject import RejectOption

__all__ = [
    "CrossValidatedMethod",
    "ModelFile",
    "TableRecord",
    "load",
    "read_model_file",
    "read_model_info",
    "save",
]


@dataclass(frozen=True)
class CrossValidatedMethod:
    """The scores of a method in a cross-validation: means over the folds, and standard deviations.

    Attributes
    ----------
    method : str
        "LANN", "kNN" or "majority".
    n_folds : int
    random_state : int or None
        The seed of the folds; None if it is unknown.
    accuracy, balanced_accuracy, auc, log_loss : float or None
        Means over the folds; None if no fold has the score.
    accuracy_std, balanced_accuracy_std, auc_std, log_loss_std : float or None
        Standard deviations over the folds.

    Examples
    --------
    >>> from lann.persist import CrossValidatedMethod
    >>> scores = CrossValidatedMethod("LANN", 5, 0, 0.96, 0.02, 0.95, 0.02, 0.98, 0.01, 0.12, 0.03)
    >>> scores.accuracy, scores.accuracy_std, scores.log_loss
    (0.96, 0.02, 0.12)
    """

    method: str
    n_folds: int
    random_state: int | None
    accuracy: float | None
    accuracy_std: float | None
    balanced_accuracy: float | None
    balanced_accuracy_std: float | None
    auc: float | None
    auc_std: float | None
    log_loss: float | None
    log_loss_std: float | None


@dataclass(frozen=True, eq=False)
class TableRecord:
    """What is known about the table to which a model was fitted; it is saved with the model.

    Attributes
    ----------
    target : str
        Name of the column with the labels.
    id_column : str or None
        Name of the column with the names of the rows.
    sample_weight_column : str or None
        Name of the column with the weights of the rows.
    row_numbers : ndarray of shape (n_rows,)
        Positions of the training rows in the table.
    ignored : dict of str to str
        The columns that are not used, and why.
    columns : list of dict
        How each column was read, in values that JSON can express: None, bool, int, finite float, str, and
        lists and dictionaries with text as keys. It is loaded as it stands in the file.
    data_sha256 : str or None
        SHA-256 of the file with the table, as 64 hexadecimal digits; None if it is unknown.
    cross_validation : list of CrossValidatedMethod or None
        The scores of the methods in a cross-validation on the table; None if there was none.
    reject : RejectOption or None
        Learned from the held-out rows of the cross-validation; its `with_target` chooses thresholds for any
        target. None if there are no held-out rows.
    """

    target: str
    id_column: str | None
    sample_weight_column: str | None
    row_numbers: Indices
    ignored: dict[str, str]
    columns: list[dict[str, Any]]
    data_sha256: str | None = None
    cross_validation: list[CrossValidatedMethod] | None = None
    reject: RejectOption | None = None


def save(
    model: BaseEstimator,
    path: str | os.PathLike[str],
    *,
    table: TableRecord | None = None,
    progress: dict[str, Any] | None = None,
) -> None:
    """Save a fitted model; the file is complete or not written at all.

    The same model always gives the same bytes. Not saved are `n_jobs`, `verbose`, callbacks, settings of
    scikit-learn such as ``set_output``, and the state of a random number generator: a `random_state` that is
    not an integer comes back as None.

    Parameters
    ----------
    model : estimator
        A LANNClassifier or LANNRegressor, an estimator of `lann.baselines`, a RejectOption around one of
        these, a LANNEmbedding, NeighborEmbedding or DiscriminantPlane, or a classifier of `lann.streams`. A
        DaskLANN of `lann.distributed` becomes a folder with a model file for each shard.
    path : str or path-like
        The file, usually ``*.lann``, or the folder; an existing one is replaced, and keeps its mode and the
        symbolic links to it. A pipe or a device such as /dev/null takes the content and stays.
    table : TableRecord or None, default=None
        What is known about the table to which the model was fitted.
    progress : dict or None, default=None
        How far a run over a stream has come, for its checkpoint: whatever JSON can express, with finite
        numbers.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    ValueError
        If the model is something else, such as a pipeline, or has a part that cannot be saved.
    FileExistsError, OSError
        If the file cannot be written there, or something else than a model is there.

    See Also
    --------
    load : Load a model.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier, load, save
    >>> X, y = load_iris(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "iris.lann")
    ...     save(LANNClassifier(random_state=0).fit(X, y), file)
    ...     load(file).predict(X[:3])
    array([0, 0, 0])
    """
    from lann._support.files import check_writable, write_atomically
    from lann.persist._fields import InvalidModelFile
    from lann.persist._model_file import save_folder, to_bytes

    path = Path(path)
    try:
        if type(model).__module__ == "lann.distributed._classifier":  # told without an import of Dask
            if table is not None or progress is not None:
                raise ValueError("A model in shards is saved without table and progress.")
            save_folder(model, path)
            return
        check_writable(path)
        write_atomically(path, to_bytes(model, table, progress))
    except InvalidModelFile as error:
        raise ValueError(f"The model cannot be saved: {error}.") from error


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that `save` has written; it predicts and transforms the same, to the bit.

    Nothing in the file can run, and a file that is inconsistent in any way raises an error.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    model : estimator

    Raises
    ------
    OSError
        If there is no such file, or it is a folder, a pipe or a device.
    ValueError
        If the file is damaged, of another format, or contains anything but a model of lann.

    See Also
    --------
    read_model_file : Load a model with all that is known about its file and its table.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier, load, save
    >>> X, y = load_iris(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "iris.lann")
    ...     save(LANNClassifier(random_state=0).fit(X, y), file)
    ...     type(load(file)).__name__
    'LANNClassifier'
    """
    from lann.persist._model_file import MANIFEST, load_folder

    if (Path(path) / MANIFEST).is_file():
        return load_folder(Path(path))
    return read_model_file(path).model


@dataclass(frozen=True, eq=False)
class ModelFile:
    """What a model file has, and the file itself.

    Attributes
    ----------
    model : estimator
    table : TableRecord or None
        What is known about the table to which the model was fitted.
    format : int
        Number of the file format.
    version : str
        The version of lann that has written the file.
    n_bytes : int
        Size of the file.
    sha256 : str
        Hash of the file: two files with the same hash have the same content.
    progress : dict or None
        How far a run over a stream had come, as it was given to `save`. Nothing is known of its content but
        that it is of JSON: whoever uses it has to check it.
    """

    model: Any
    table: TableRecord | None
    format: int
    version: str
    n_bytes: int
    sha256: str
    progress: dict[str, Any] | None


def read_model_file(path: str | os.PathLike[str]) -> ModelFile:
    """Load a model, with what there is to know about its file.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    file : ModelFile

    Raises
    ------
    OSError
        If there is no such file, or it is a folder, a pipe or a device.
    ValueError
        If the file is damaged, of another format, or contains anything but a model of lann.

    See Also
    --------
    load : Load the model alone.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier, save
    >>> from lann.persist import read_model_file
    >>> X, y = load_iris(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     name = os.path.join(folder, "iris.lann")
    ...     save(LANNClassifier(random_state=0).fit(X, y), name)
    ...     file = read_model_file(name)
    >>> file.format, len(file.sha256), file.table is None
    (1, 64, True)
    """
    from lann._support.files import read_content
    from lann.persist._fields import InvalidModelFile
    from lann.persist._model_file import from_bytes

    try:
        return from_bytes(read_content(path, "model file"))
    except InvalidModelFile as error:
        raise ValueError(f"{path} cannot be loaded: {error}.") from error


def read_model_info(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what is in a model file, as `lann info` prints it, without loading the model.

    It was written with the model: the version, estimator, parameters that are not the defaults, classes and
    columns with their numbers of training rows, vote, scores, and the size and hash of the file.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    info : dict
        In the types of JSON.

    Raises
    ------
    OSError
        If there is no such file, or it is a folder, a pipe or a device.
    ValueError
        If the file is damaged or of another format.

    See Also
    --------
    load : Load the model.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_wine
    >>> from lann.persist import read_model_info
    >>> from lann.tables import TableModel
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "wine.lann")
    ...     TableModel.fit(load_wine(as_frame=True).frame, "target").save(file)
    ...     info = read_model_info(file)
    >>> info["estimator"], info["target"], info["n_rows"], info["classes"][0]
    ('LANNClassifier', 'target', 178, {'label': 0, 'n_rows': 59})
    >>> info["columns"][0]["name"], info["columns"][0]["low"], info["columns"][0]["high"]
    ('alcohol', 11.03, 14.83)
    """
    from lann._support.files import read_content
    from lann.persist._fields import InvalidModelFile
    from lann.persist._info import read_info

    try:
        content = read_content(path, "model file")
        size = {"n_bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        return read_info(content) | size
    except InvalidModelFile as error:
        raise ValueError(f"{path} cannot be loaded: {error}.") from error
