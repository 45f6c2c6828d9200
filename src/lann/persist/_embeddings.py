"""What files have of embeddings: coordinates, neighbor lists, and the model or classifier behind them."""

from __future__ import annotations

from copy import copy
from typing import Any

from sklearn.frozen import FrozenEstimator

from lann._sizes import LARGEST_IMAGE, LARGEST_VALUE
from lann.embedding import DiscriminantPlane, LANNEmbedding, NeighborEmbedding
from lann.persist._baselines import WITH_NEIGHBORS
from lann.persist._classifier import CLASSIFIER, COMPLETE_MODEL, LARGEST_DISTANCE
from lann.persist._errors import InvalidModelFile
from lann.persist._kinds import Float, Floats, Indices, Int, Json, Kind, Maybe, Reader, Size, Texts, Writer
from lann.persist._records import AnyEstimator, Estimator, Record, Values, if_present

# Its square is not 0.
SMALLEST_SCALE = 1e-6
LARGEST_COORDINATE = 1e100
FITTED_CLASSIFIER = AnyEstimator(CLASSIFIER, *WITH_NEIGHBORS)
_FROZEN = "frozen"


class ClassifierParameter(Kind):
    """The parameter `classifier`: None, a classifier that is not fitted, or the fitted one, frozen."""

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        if isinstance(value, FrozenEstimator):
            return _FROZEN
        return None if value is None else FITTED_CLASSIFIER.write_parameters(value, name, writer)

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        if data is None:
            return None
        if data == _FROZEN:
            return FrozenEstimator(None)  # the fitted classifier follows
        return FITTED_CLASSIFIER.read_parameters(data, name, reader)


class EmbeddingByClassifier(Estimator):
    """A LANNEmbedding: a frozen classifier is its fitted one, and is saved once."""

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        given = value.classifier
        if isinstance(given, FrozenEstimator) and hasattr(value, "model_"):
            model = getattr(given.estimator, "model_", None)
            if model is not value.model_:
                raise InvalidModelFile("its frozen classifier has been fitted again since")
        return super().write(value, name, writer)

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        embedding = super().read(data, name, reader)
        if isinstance(embedding.classifier, FrozenEstimator):
            embedding.classifier = FrozenEstimator(copy(embedding.classifier_))
        return embedding


_LAYOUT: dict[str, Kind] = {
    "embedding_": Floats("n_rows", "n_components", low=-LARGEST_COORDINATE, high=LARGEST_COORDINATE),
    "neighbors_": Indices("n_rows", "n_listed", below="n_rows", low=-1),
    "distances_": Floats("n_rows", "n_listed", low=0.0, high=LARGEST_DISTANCE, infinite=True),
    "n_iter_": Int(0),
    "_n_features_out": Size("n_components"),
    "_scale": Float(SMALLEST_SCALE, LARGEST_COORDINATE),
}


def _attributes_by_classifier(**values: Any) -> Values:
    return values | {"model_": values["classifier_"].model_}


EUCLIDEAN = Estimator(
    NeighborEmbedding,
    Record(
        dict,
        {
            "n_features_in_": Size("n_features"),
            "feature_names_in_": Maybe(Texts("n_features")),
            "model_": COMPLETE_MODEL,
            **_LAYOUT,
        },
        sources={"feature_names_in_": if_present("feature_names_in_")},
        at_least={"n_rows": 1, "n_components": 1},
    ),
)

BY_CLASSIFIER = EmbeddingByClassifier(
    LANNEmbedding,
    Record(
        _attributes_by_classifier,
        {
            "n_features_in_": Size("n_features"),
            "feature_names_in_": Maybe(Texts("n_features")),
            "classifier_": FITTED_CLASSIFIER,
            **_LAYOUT,
        },
        sources={"feature_names_in_": if_present("feature_names_in_")},
        at_least={"n_rows": 1, "n_components": 1},
    ),
    parameters={"classifier": ClassifierParameter()},
)

PLANE = Estimator(
    DiscriminantPlane,
    Record(
        dict,
        {
            "n_features_in_": Size("n_features"),
            "feature_names_in_": Maybe(Texts("n_features")),
            # Their products, and the sums of these, are finite.
            "components_": Floats(
                "n_components", "n_features", any_order=True, low=-LARGEST_IMAGE, high=LARGEST_IMAGE
            ),
            "mean_": Floats("n_features", low=-LARGEST_VALUE, high=LARGEST_VALUE),
            "_n_features_out": Size("n_components"),
        },
        sources={"feature_names_in_": if_present("feature_names_in_")},
        at_least={"n_features": 1, "n_components": 2},
    ),
)
