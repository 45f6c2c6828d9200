"""The language in which the content of model files is declared: kinds of values, and their checks.

A kind writes a value into a file, and reads it back from the declaration alone: it knows the type, the dtype
and the bounds of the value, and the shape in terms of named sizes. The first array with a size determines it,
and all others have to agree::

    Record(
        Levels,
        {
            "X": Floats("n_rows", "n_features"),
            "class_log_weights": Floats("n_classes", "n_axes", high=300.0),
            "labels": Indices("n_rows", below="n_classes"),
            "components": Maybe(Floats("n_axes", "n_features", any_order=True)),
        },
    )

An element of a shape is a number, the name of a size, or a name with an offset, as in "n_bins-1". `_records`
has records of several fields, and estimators.

Kinds check values when they are written, too, so that `save` raises where `load` would.
"""

from lann.persist._kinds.arrays import Flags, FloatList, Floats, Indices, Names, Ragged, Texts
from lann.persist._kinds.base import Json, Kind, Reader, Writer, invalid
from lann.persist._kinds.values import (
    Bool,
    Float,
    Groups,
    Int,
    ListOf,
    Maybe,
    PlainDict,
    PlainDicts,
    Size,
    Text,
    TextDict,
    TextList,
    TextTuple,
    Votes,
)

__all__ = [
    "Bool",
    "Flags",
    "Float",
    "FloatList",
    "Floats",
    "Groups",
    "Indices",
    "Int",
    "Json",
    "Kind",
    "ListOf",
    "Maybe",
    "Names",
    "PlainDict",
    "PlainDicts",
    "Ragged",
    "Reader",
    "Size",
    "Text",
    "TextDict",
    "TextList",
    "TextTuple",
    "Texts",
    "Votes",
    "Writer",
    "invalid",
]
