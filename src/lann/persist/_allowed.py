"""The fixed list of types that a model file may contain."""

from __future__ import annotations

from functools import cache
from importlib import import_module

PARTS: dict[str, tuple[str, ...]] = {
    "lann.classifier": ("LANNClassifier",),
    "lann.embedding": ("LANNEmbedding", "NeighborEmbedding"),
    "lann.model": ("LocalModel",),
    "lann.metrics": ("Levels",),
    "lann.encoding": ("FeatureCurves",),
    "lann.vote": ("VoteChoice", "VoteRule"),
    "lann.explain": ("Landmarks", "Readings"),
    "sklearn.frozen": ("FrozenEstimator",),
    "sklearn.pipeline": ("Pipeline", "FeatureUnion"),
    "sklearn.compose": ("ColumnTransformer", "make_column_selector"),
    "sklearn.preprocessing": (
        "Binarizer", "FunctionTransformer", "KBinsDiscretizer", "MaxAbsScaler", "MinMaxScaler", "Normalizer",
        "OneHotEncoder", "OrdinalEncoder", "PolynomialFeatures", "PowerTransformer", "QuantileTransformer",
        "RobustScaler", "StandardScaler", "TargetEncoder",
    ),
    "sklearn.impute": ("KNNImputer", "MissingIndicator", "SimpleImputer"),
    "sklearn.decomposition": ("PCA", "TruncatedSVD"),
    "sklearn.feature_selection": ("SelectKBest", "SelectPercentile", "VarianceThreshold"),
}  # fmt: skip
"""The parts of a model, by the module that exports them."""

FUNCTIONS: dict[str, tuple[str, ...]] = {
    "sklearn.feature_selection": ("chi2", "f_classif", "mutual_info_classif")
}
"""Functions that a part may have as an attribute; loading calls none of them."""

# A FunctionTransformer without functions is what ColumnTransformer makes of "passthrough"; one with functions
# would run them. A Pipeline's memory is a folder of pickles.
MUST_BE_NONE = {"FunctionTransformer": ("func", "inverse_func"), "Pipeline": ("memory",)}
"""Attributes of parts that have to be None."""

_SCALARS = frozenset(
    f"numpy.{name}"
    for name in (
        "bool", "bool_", "str_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
        "float16", "float32", "float64",
    )
)  # fmt: skip
_PLAIN = frozenset(f"builtins.{name}" for name in ("str", "int", "float", "bool", "object"))


@cache
def allowed_types() -> dict[str, frozenset[str]]:
    """Return the full names of the types that each kind of node may build."""
    return {
        "ObjectNode": _defined(PARTS),
        "FunctionNode": _defined(FUNCTIONS),
        "DictNode": frozenset({"builtins.dict"}),
        "ListNode": frozenset({"builtins.list"}),
        "TupleNode": frozenset({"builtins.tuple"}),
        "SetNode": frozenset({"builtins.set"}),
        "SliceNode": frozenset({"builtins.slice"}),
        "JsonNode": frozenset({"builtins.str"}),
        "NdArrayNode": _SCALARS | {"numpy.ndarray"},
        "DTypeNode": frozenset({"numpy.dtype"}),
        "TypeNode": _PLAIN | _SCALARS | {"numpy.number"},
    }


def _defined(names: dict[str, tuple[str, ...]]) -> frozenset[str]:
    """Return the names under which objects are defined, in private modules of scikit-learn."""
    objects = [getattr(import_module(module), name) for module, some in names.items() for name in some]
    return frozenset(f"{defined.__module__}.{defined.__name__}" for defined in objects)
