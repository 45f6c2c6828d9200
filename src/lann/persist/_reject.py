"""What files have of a reject option: its thresholds, the held-out rows, and the rows it compares with."""

from __future__ import annotations

from typing import Any

from lann._sizes import LARGEST_VALUE
from lann.encoding import Feature, TableSchema
from lann.persist._baselines import PROTOTYPES, WITH_NEIGHBORS
from lann.persist._classifier import CLASSIFIER, LARGEST_DISTANCE
from lann.persist._encoding import SCHEMA
from lann.persist._errors import InvalidModelFile, one_sentence
from lann.persist._kinds import (
    Floats,
    Indices,
    Json,
    Kind,
    Maybe,
    Names,
    Reader,
    Size,
    Texts,
    Writer,
    invalid,
)
from lann.persist._records import AnyEstimator, Estimator, Record, Values, if_present
from lann.reject import Coordinates, HeldOut, NoveltyScale, PlainRows, RejectOption, RejectState

# The square of a sum of many such numbers is finite.
LARGEST = 1e100
# Parts of the novelty are logarithms up to this, and held-out rows differ in them by more than that.
LARGEST_PART, SMALLEST_PART_SPREAD = 1e6, 1e-3
CLASSIFIERS = AnyEstimator(CLASSIFIER, *WITH_NEIGHBORS, *PROTOTYPES)
# Whose table can have held-out rows.
WITH_STATE = AnyEstimator(CLASSIFIER, *WITH_NEIGHBORS)
_FITTED = "fitted"
PREFIT = "prefit"
# Parts of the novelty: of the model, of plain rows, and of the range.
N_PARTS = 3


class EstimatorParameter(Kind):
    """The parameter `estimator`: None, a classifier that is not fitted, or the fitted one itself."""

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        return None if value is None else CLASSIFIERS.write_parameters(value, name, writer)

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        if data is None:
            return None
        # The fitted classifier follows; until then, any classifier satisfies the constraints.
        return CLASSIFIER.cls() if data == _FITTED else CLASSIFIERS.read_parameters(data, name, reader)


class Bools(Names):
    """An array of bools."""

    def _check(self, values: Any, name: str) -> None:
        if values.dtype != bool:
            invalid(name, values.dtype.name, "an array of bools")


COORDINATES = Record(
    Coordinates,
    {
        "means": Floats("n_features", low=-LARGEST_VALUE, high=LARGEST_VALUE),
        "scales": Floats("n_features", above=0.0),
        "feature": Indices("n_plain_coordinates", below="n_features", ascending=True),
        "code": Floats("n_plain_coordinates", low=0.0, nan=True, infinite=True),
        "shifts": Floats("n_plain_coordinates", low=0.0, high=1.0),
        "factors": Floats("n_plain_coordinates", above=0.0, high=LARGEST),
    },
)


def _axes_are_coordinates(values: Values) -> str | None:
    if values["whitening"] is not None:
        return None
    same = values["rows"].shape[1] == len(values["coordinates"].feature)
    return None if same else "the plain rows do not have the coordinates as axes"


PLAIN_ROWS = Record(
    PlainRows,
    {
        "schema": SCHEMA,
        "coordinates": COORDINATES,
        "whitening": Maybe(
            Floats("n_plain_coordinates", "n_plain_axes", low=-LARGEST, high=LARGEST, any_order=True)
        ),
        "rows": Floats("n_plain", "n_plain_axes", low=-LARGEST, high=LARGEST, any_order=True),
        "labels": Indices("n_plain", below="n_classes", low=-1),
        "spacing": Floats("n_plain", low=0.0, high=LARGEST_DISTANCE, infinite=True),
        "extremes": Floats(2, "n_features", low=-LARGEST_VALUE, high=LARGEST_VALUE, nan=True),
        "has_gaps": Bools("n_features"),
    },
    at_least={"n_plain": 1},
    rules=(_axes_are_coordinates,),
)

NOVELTY_SCALE = Record(
    NoveltyScale,
    {
        "usual": Floats("n_parts", low=-LARGEST_PART, high=LARGEST_PART),
        "spread": Floats("n_parts", low=SMALLEST_PART_SPREAD, high=2.0 * LARGEST_PART),
    },
    at_least={"n_parts": 1},
)

HELD_OUT = Record(
    HeldOut,
    {
        "y_true": Names("n_held_out"),
        "y_pred": Names("n_held_out"),
        "certainties": Floats("n_held_out", infinite=True),
        "novelties": Floats("n_held_out", low=0.0, nan=True, infinite=True),
        "groups": Indices("n_held_out", below="n_thresholds"),
        "rows": Indices("n_held_out", below=None, ascending=True),
    },
    at_least={"n_held_out": 1},
)


def _same_labels(values: Values) -> str | None:
    """Check that labels can be compared with each other."""
    is_text = [values["held_out"][i].dtype.kind in "UO" for i in range(2)]
    return None if is_text[0] == is_text[1] else "some labels of the held-out rows are text and some are not"


def _one_threshold_if_none_is_chosen(values: Values) -> str | None:
    several = values["thresholds"] is None and values["n_thresholds"] != 1
    return "there are several groups, but no thresholds" if several else None


def _parts_are_complete(values: Values) -> str | None:
    scale, plain = values["novelty_scale"], values["plain"]
    complete = scale is None or plain is not None
    return None if complete else "novelties have a scale, but there are no rows to compare with"


STATE = Record(
    lambda n_thresholds, **values: RejectState(**values),
    {
        "n_thresholds": Size("n_thresholds"),
        "thresholds": Maybe(Floats("n_thresholds", infinite=True)),
        "held_out": HELD_OUT,
        "novelty_scale": Maybe(NOVELTY_SCALE),
        "plain": Maybe(PLAIN_ROWS),
        "spacing": Maybe(Floats("n_rows", low=0.0, high=LARGEST_DISTANCE, infinite=True)),
        "landmarks": Maybe(Indices("n_thresholds", below=None)),
    },
    sources={"n_thresholds": lambda state: 1 if state.thresholds is None else len(state.thresholds)},
    rules=(_one_threshold_if_none_is_chosen, _same_labels, _parts_are_complete),
    at_least={"n_thresholds": 1},
)


class RejectEstimator(Estimator):
    """A RejectOption: what it has learned is restored around its classifier, which is saved once."""

    def write(self, value: Any, name: str, writer: Writer) -> Json:
        if hasattr(value, "estimator_"):
            self._check_parts(value, value.estimator_, RejectState.of(value))
        return super().write(value, name, writer)

    def write_parameters(self, value: Any, name: str, writer: Writer) -> Json:
        written = super().write_parameters(value, name, writer)
        if value.cv == PREFIT and value.estimator is value.estimator_:
            written["estimator"] = _FITTED
        return written

    def read(self, data: Json, name: str, reader: Reader) -> Any:
        option = super().read(data, name, reader)
        estimator, state = option.estimator_, option.__dict__.pop(_STATE)
        self._check_parts(option, estimator, state)
        if data["parameters"]["estimator"] == _FITTED:
            option.estimator = estimator
        try:
            return state.restore(option, estimator)
        except ValueError as error:
            raise InvalidModelFile(f"its {self.name} is invalid: {one_sentence(error)}") from error

    def _check_parts(self, option: Any, estimator: Any, state: RejectState) -> None:
        """Raise InvalidModelFile unless the parts fit to the parameters and to the classifier."""
        wrong = (
            "there are no thresholds" if state.thresholds is None else _wrong_part(option, estimator, state)
        )
        if wrong is not None:
            raise InvalidModelFile(f"in its {self.name}, {wrong}")


def check_table_state(state: RejectState, estimator: Any) -> None:
    """Raise InvalidModelFile unless the state of a table fits to the classifier, and has no thresholds."""
    wrong = _wrong_part(RejectOption(), estimator, state)
    if state.thresholds is not None:
        wrong = "there are thresholds, which depend on a target"
    if wrong is not None:
        raise InvalidModelFile(f"in its table, {wrong}")


def _reads_the_same(plain: TableSchema, estimator: Any) -> bool:
    """Return whether a schema of plain rows reads what the classifier reads.

    It is inferred from the types of the columns, which the classifier can be told to read as categories.
    """
    schema = getattr(estimator, "schema_", None)
    if schema is None:
        return len(plain.features) == estimator.n_features_in_ and all(map(_has_numbers, plain.features))
    if plain.names != schema.names:
        return False
    return all(map(_can_be_read_as, schema.features, plain.features))


def _can_be_read_as(feature: Feature, plain: Feature) -> bool:
    """Return whether a feature of a classifier can be another one among plain rows."""
    if feature.kind == plain.kind:
        return feature.kind != "ordered" or feature.categories == plain.categories
    if feature.kind == "number":
        return plain.kind == "category" or _has_numbers(plain)
    if feature.kind != "category" or plain.kind == "date":
        return feature.kind == "category"
    if plain.kind == "number":
        return all(map(_is_number, feature.categories))
    return set(feature.categories) <= set(plain.categories or ("False", "True"))


def _has_numbers(plain: Feature) -> bool:
    """Return whether methods that take numbers only can read what is, by its type, another feature."""
    return plain.kind in ("number", "bool", "date") or all(map(_is_number, plain.categories))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _wrong_part(option: RejectOption, estimator: Any, state: RejectState) -> str | None:
    """Return which part does not fit to the parameters and to the classifier; None if all do."""
    model, n_classes = estimator.model_, len(estimator.classes_)
    n_regions = None if state.landmarks is None else len(state.landmarks)
    n_thresholds = 1 if state.thresholds is None else len(state.thresholds)
    if n_thresholds != {"global": 1, "class": n_classes, "local": n_regions}[option.by]:
        return "the number of thresholds is not that of the classes or regions"
    if state.landmarks is not None and (option.by != "local" or state.landmarks.max() >= len(model.X)):
        return "a region is not the neighborhood of a training row"
    needs = option.novelty_share > 0 or option.certainty == "novelty"
    if needs != (state.novelty_scale is not None):
        return "there is a scale of novelties that is not needed, or none"
    has_spacing = needs and model.has_training_rows and len(model.X) > 1
    if has_spacing != (state.spacing is not None):
        return "there are distances between training rows that are not needed, or none"
    if state.plain is not None and not _reads_the_same(state.plain.schema, estimator):
        return "the rows to compare with have other features than the classifier"
    if state.novelty_scale is not None and len(state.novelty_scale.usual) != N_PARTS:
        return "novelties do not have the parts of a model with neighbors"
    return None


_STATE = "_state"
REJECT_OPTION = RejectEstimator(
    RejectOption,
    Record(
        dict,
        {
            "n_features_in_": Size("n_features"),
            "feature_names_in_": Maybe(Texts("n_features")),
            "estimator_": CLASSIFIERS,
            _STATE: STATE,
        },
        sources={"feature_names_in_": if_present("feature_names_in_"), _STATE: RejectState.of},
    ),
    parameters={"estimator": EstimatorParameter()},
)
