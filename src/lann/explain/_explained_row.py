"""What is shown of explained predictions: one row in full, and many rows at a glance.

Pages, notebooks and the terminal print these views; what is shown of a row is decided here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lann._support.format import class_text, counted, percent, value_text
from lann._support.types import Floats
from lann._support.validation import Integer, validate
from lann.explain._distribution import rank_text
from lann.explain._fitted import frame_of
from lann.explain._words import AMBIGUOUS, DECISIONS

if TYPE_CHECKING:
    import pandas as pd

    from lann.explain._explanation import Explanation

# The least relevance of a feature that is worth mentioning: a hundredth of the vote.
LEAST_RELEVANCE = 0.01
# A reason that the overview names has at least this share of the largest one.
LEAST_SHARE = 0.1
# Labels that are named of the neighbors that are not listed.
MOST_LABELS = 3


# What an explained row has of the explanation: an entry of the query, one for each of its neighbors, or one
# for each feature, in the order of relevance. Other names there are given.
BY_QUERY = (
    "prediction", "runner_up", "probabilities", "class_votes", "base_values", "n_listed", "true_label",
    "decision", "sentence",
)  # fmt: skip
BY_NEIGHBOR = ("neighbors", "neighbor_ids", "neighbor_labels", "distances", "vote_shares")
BY_FEATURE = (
    "values", "relevances", "support", "separation", "supports", "unseen", "unmeasured", "outside",
    "percentiles", "category_shares",
)  # fmt: skip
SOURCES = {
    "prediction": "predictions", "true_label": "true_labels", "decision": "decisions",
    "sentence": "_sentences", "values": "query_values",
}  # fmt: skip


# Columns of a table of an explained row, and its attributes by neighbor or feature.
COLUMNS = {
    "neighbor_row": "neighbors", "neighbor_id": "neighbor_ids", "neighbor_label": "neighbor_labels",
    "distance": "distances", "vote_share": "vote_shares", "column": "feature_names",
    "relevance": "relevances", "support": "support", "separation": "separation",
    "percentile": "percentiles", "category_share": "category_shares", "typical": "typical",
}  # fmt: skip


class Others(NamedTuple):
    """The neighbors of a row that are not listed.

    Attributes
    ----------
    n_rows : int
    vote_share : float
        Their share of the vote.
    labels : tuple of (label, int)
        How many of them have each label, the most frequent first.
    """

    n_rows: int
    vote_share: float
    labels: tuple[tuple[Any, int], ...]

    @property
    def title(self) -> str:
        """Their number as text, such as "25 others"."""
        return counted(self.n_rows, "other")

    @property
    def label_text(self) -> str:
        """How many of them have each label, as text; the three most frequent ones."""
        text = ", ".join(f"{count} {label}" for label, count in self.labels[:MOST_LABELS])
        return text if len(self.labels) <= MOST_LABELS else f"{text}, …"


class ExplainedRow:
    """A view of one explained prediction: the votes, the neighbors, and the features, most relevant first.

    `Explanation.row` and `Explanation.rows` return it.

    Parameters
    ----------
    explanation : Explanation
    i : int
        Position of the query in the explanation.
    position : int or None, default=None
        The row number where the queries have none; None is `i`.

    Attributes
    ----------
    row : int
        Row number of the query.
    id : str or None
        Its name.
    prediction, runner_up : object
        The labels with the largest and the second largest probability.
    sentence : str
        The explanation in a sentence, as `Explanation.in_words` returns it.
    classes : ndarray of shape (n_classes,)
    probabilities : ndarray of shape (n_classes,)
    probability, runner_up_probability : float
        Probabilities of the prediction and of the runner-up.
    class_votes : ndarray of shape (n_classes,)
        Share of the vote of each class; the probabilities are these with the floor of the model.
    neighbors : ndarray of shape (k,)
        Row numbers of the training rows that voted, nearest first; k is their number.
    neighbor_ids : ndarray of shape (k,) or None
        Their names.
    neighbor_labels : ndarray of shape (k,)
    distances : ndarray of shape (k,)
    vote_shares : ndarray of shape (k,)
    n_listed : int
        How many of the neighbors are listed where there is little space: the nearest that hold 90% of the
        vote, five at least and ten at most.
    feature_names : ndarray of shape (n_features,)
        The most relevant feature first; this is the order of all arrays by feature.
    values : ndarray of shape (n_features,)
        Values of the query.
    neighbor_values : ndarray of shape (k, n_features) or None
        Values of the neighbors; None if they are unknown.
    relevances : ndarray of shape (n_features,)
    support, separation : ndarray of shape (n_features,) or None
        Support of the prediction, and how much more that is than the support of the runner-up; None if
        supports are unknown.
    supports : ndarray of shape (n_classes, n_features) or None
        Supports of all classes.
    base_values : ndarray of shape (n_classes,) or None
        The mean vote at the contrast rows: with the supports, it adds up to the probabilities.
    contributions : ndarray of shape (k, n_features)
        What each feature adds to each squared distance.
    unseen, unmeasured : ndarray of shape (n_features,)
        Whether the value is a category that no training row has, or a gap without which distances are
        measured.
    percentiles : ndarray of shape (n_features,) or None
        Percentiles of the numbers among the training rows, 0 to 100; NaN for other values.
    category_shares : ndarray of shape (n_features,) or None
        Shares of the training rows that have the categories; NaN for other values.
    typical, typical_of_runner_up : ndarray of shape (n_features,) or None
        What is typical of the prediction, and of the runner-up, as text: a range, or the most frequent
        categories.
    is_far : bool
        Whether nothing similar was seen in training.
    outside : ndarray of shape (n_features,) or None
        Whether a number is smaller than that of every training row, or larger.
    left_out : int or None
        Row number of the training row that is this row, and did not vote on itself; None if there is none.
    has_row_numbers : bool
        Whether `row` is the number of a row in the user's table, beside ids that it may have. Otherwise rows
        with integer ids, such as the index of a DataFrame, are named by these alone.
    true_label : object
        Label of the query; None if it is not known.
    decision : Decision or None
        Whether a reject option has accepted the prediction, and why not; None if there is none.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> row = LANNClassifier(random_state=0).fit(X, y).explain(X[:3]).row(0)
    >>> print(row.prediction, row.runner_up, row.neighbor_labels)
    0 1 [0 0 0 0 0 0 0]
    >>> row.feature_names[0], float(row.values[0])
    ('petal length (cm)', 1.4)
    """

    def __init__(self, explanation: Explanation, i: int, *, position: int | None = None) -> None:
        e = self._explanation = explanation
        self._i = i
        self._voted = e.vote_shares[i] > 0  # with sample weights, more rows vote on some queries
        self._order = np.argsort(-e.relevances[i], kind="stable")
        self.classes, self.feature_names = e.classes, e.feature_names[self._order]
        self.has_row_numbers = e.query_rows is not None
        self.row = (i if position is None else position) if e.query_rows is None else int(e.query_rows[i])
        self.id = None if e.query_ids is None else str(e.query_ids[i])
        self.probability = float(e.probabilities[i, e.predicted_class_indices[i]])
        self.runner_up_probability = float(e.probabilities[i, e.runner_up_class_indices[i]])
        self.is_far = e.is_far is not None and bool(e.is_far[i])
        self.left_out = None if e.left_out[i] < 0 else int(e.left_out[i])

    def __getattr__(self, name: str) -> Any:
        if name not in (*BY_QUERY, *BY_NEIGHBOR, *BY_FEATURE):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        is_known = self._explanation.has_supports or name not in ("support", "separation", "supports")
        values = getattr(self._explanation, SOURCES.get(name, name)) if is_known else None
        if values is None or name in BY_QUERY:
            return None if values is None else values[self._i]
        return values[self._i, self._voted] if name in BY_NEIGHBOR else values[self._i][..., self._order]

    @property
    def contributions(self) -> Floats:
        return self._explanation.contributions[self._i, self._voted][:, self._order]

    @property
    def neighbor_values(self) -> NDArray[Any] | None:
        training = self._explanation._training_values
        if training is None:
            return None
        return self._explanation._of_features(training[self.neighbors])[:, self._order]

    @cached_property
    def typical(self) -> NDArray[Any] | None:
        e = self._explanation
        return None if e._distribution is None else e.typical_texts(self.prediction)[self._order]

    @cached_property
    def typical_of_runner_up(self) -> NDArray[Any] | None:
        e = self._explanation
        return None if e._distribution is None else e.typical_texts(self.runner_up)[self._order]

    @property
    def title(self) -> str:
        """How the row is named, such as "Row 3" or "Row 3: Jane"."""
        return f"Row {self.name}: {self.id}" if self.has_id_beside_name else f"Row {self.name}"

    @property
    def name(self) -> str:
        """How the row is named in a column of rows: its number, or its integer id."""
        is_number = self.id is not None and self.id.removeprefix("-").isdecimal()
        return str(self.id) if is_number and not self.has_row_numbers else str(self.row)

    @property
    def has_id_beside_name(self) -> bool:
        """Whether the row has an id beside its number."""
        return self.id is not None and (self.has_row_numbers or self.name != self.id)

    @property
    def neighbors_by_id(self) -> bool:
        """Whether the neighbors are named by integer ids alone."""
        ids = self.neighbor_ids
        return ids is not None and ids.dtype.kind in "iu" and not self.has_row_numbers

    @property
    def is_accepted(self) -> bool:
        """Whether a reject option has accepted the prediction."""
        return self.decision is not None and not self.decision.is_rejected

    @property
    def is_rejected(self) -> bool:
        """Whether a reject option has rejected the prediction."""
        return self.decision is not None and self.decision.is_rejected

    @property
    def reasons(self) -> Floats:
        """Support of the prediction by feature, relevances where supports are unknown: (n_features,)."""
        return self.relevances if self.support is None else self.support

    def value_note(self, feature: int) -> str:
        """Return what there is to say about the value of a feature, or "".

        Parameters
        ----------
        feature : int
            Position in the arrays by feature.

        Returns
        -------
        note : str
        """
        if self.unseen[feature]:
            return "in no training row"
        return "not measured" if self.unmeasured[feature] else ""

    def percentile_text(self, feature: int) -> str:
        """Return where the value is among the training rows, such as "96th" or "34% of rows", or "".

        Parameters
        ----------
        feature : int
            Position in the arrays by feature.

        Returns
        -------
        text : str
            The percentile of a number; the share of the training rows that have a category.
        """
        if self.category_shares is not None and not np.isnan(self.category_shares[feature]):
            return f"{percent(self.category_shares[feature])} of rows"
        return "" if self.percentiles is None else rank_text(self.percentiles[feature])

    def value_in_context(self, feature: int) -> str:
        """Return the value with its percentile and what is typical of the prediction.

        Parameters
        ----------
        feature : int
            Position in the arrays by feature.

        Returns
        -------
        text : str
            Such as "25.4 (96th percentile; malignant rows: 16.2 to 27.7)".
        """
        value, among = value_text(self.values[feature]), self.percentile_text(feature)
        if self.percentiles is not None and 0 < self.percentiles[feature] < 100:
            among += " percentile"
        typical = "" if self.typical is None else self.typical[feature]
        typical = f"{class_text(self.prediction)} rows: {typical}" if typical else ""
        text = "; ".join(note for note in (self.value_note(feature), among, typical) if note)
        return f"{value} ({text})" if text else value

    def supported_class(self, feature: int) -> int | None:
        """Return the class index of the class that the value of a feature supports most.

        It is that of the prediction where the value supports it.

        Parameters
        ----------
        feature : int
            Position in the arrays by feature.

        Returns
        -------
        class_index : int or None
            None if supports are unknown.
        """
        if self.supports is None:
            return None
        by_class, predicted = self.supports[:, feature], self.class_index(self.prediction)
        return predicted if by_class[predicted] >= 0 else int(by_class.argmax())

    @property
    def others(self) -> Others | None:
        """The neighbors that voted and are not listed; None if all are."""
        shares = self.vote_shares[self.n_listed :]
        if not len(shares):
            return None
        labels, counts = np.unique(self.neighbor_labels[self.n_listed :], return_counts=True)
        order = np.argsort(-counts, kind="stable")
        by_label = tuple((labels[i], int(counts[i])) for i in order)
        return Others(len(shares), float(shares.sum()), by_label)

    @property
    def distance_shares(self) -> Floats:
        """Share of the squared distances that is due to each feature, averaged by vote: (n_features,)."""
        total = self.contributions.sum(axis=1, keepdims=True)
        shares = np.divide(self.contributions, total, out=np.zeros_like(self.contributions), where=total > 0)
        return self.vote_shares @ shares

    @property
    def has_relevant_feature(self) -> bool:
        """Whether some single feature changes at least 1% of the vote."""
        return bool(self.relevances.max() >= LEAST_RELEVANCE)

    def class_index(self, label: Any) -> int:
        """Return the position of a label in `classes`.

        Parameters
        ----------
        label : object
            One of `classes`.

        Returns
        -------
        index : int
        """
        return int(np.flatnonzero(self.classes == label)[0])

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row per neighbor and feature.

        Returns
        -------
        frame : DataFrame
            With the columns ``row``, ``id`` (if there is one), ``true_label`` (if it is known),
            ``prediction``, ``runner_up``, ``neighbor_row``, ``neighbor_id`` (if there are ids),
            ``neighbor_label``, ``distance``, ``vote_share``, ``column`` (the feature), ``relevance``,
            ``support`` and ``separation`` (if these are known), ``percentile``, ``category_share`` and
            ``typical`` (of the prediction; if these are known), ``contribution``, ``value`` and
            ``neighbor_value`` (if these are known), ``is_far`` and ``left_out`` (the row number of the
            training row that this row is), and ``decision`` ("accepted", "ambiguous" or "far", if there is a
            reject option). Values are text.
        """
        import pandas as pd

        k, n_features = self.contributions.shape
        table: dict[str, Any] = {"row": self.row, "id": self.id, "true_label": self.true_label}
        table |= {"prediction": self.prediction, "runner_up": self.runner_up}
        for name, attribute in COLUMNS.items():
            values = getattr(self, attribute)
            if values is not None:
                is_by_neighbor = attribute in BY_NEIGHBOR
                table[name] = np.repeat(values, n_features) if is_by_neighbor else np.tile(values, k)
        table["contribution"] = self.contributions.ravel()
        # As text, because numbers and text share a column.
        table["value"] = [value_text(value) for value in self.values] * k
        if self.neighbor_values is not None:
            table["neighbor_value"] = [value_text(value) for value in self.neighbor_values.ravel()]
        table |= {"is_far": self.is_far, "left_out": pd.array([self.left_out] * (k * n_features), "Int64")}
        table["decision"] = None if self.decision is None else self.decision.decision
        return frame_of(table)


def rows(explanation: Explanation) -> Iterator[ExplainedRow]:
    """Iterate over the explained predictions, one at a time.

    Parameters
    ----------
    explanation : Explanation

    Yields
    ------
    row : ExplainedRow

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> explanation = LANNClassifier(random_state=0).fit(X, y).explain(X[::50])
    >>> for row in explanation.rows():
    ...     print(row.prediction, f"{row.probability:.0%}")
    0 99%
    1 99%
    2 99%
    """
    for i in range(len(explanation)):
        yield ExplainedRow(explanation, i)


def row(explanation: Explanation, i: int) -> ExplainedRow:
    """Return one explained prediction.

    Parameters
    ----------
    explanation : Explanation
    i : int
        Position of the query in the explanation.

    Returns
    -------
    row : ExplainedRow

    Raises
    ------
    IndexError
        If there is no such query.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> explanation = LANNClassifier(random_state=0).fit(X[3:], y[3:]).explain(X[:3])
    >>> explanation.row(0).sentence
    'class 0, because it is similar to rows 24, 14 and 25 in x2 and x3.'
    """
    return ExplainedRow(explanation[i], 0, position=int(i) % max(len(explanation), 1))


def to_long_frame(explanation: Explanation) -> pd.DataFrame:
    """Return a table with a row per query, neighbor and feature, which has everything that is explained.

    Parameters
    ----------
    explanation : Explanation
        Of at least one row.

    Returns
    -------
    frame : DataFrame
        With the columns of `ExplainedRow.to_frame`.

    Raises
    ------
    ValueError
        If no row is explained.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> explanation = LANNClassifier(random_state=0).fit(X, y).explain(X[:3])
    >>> explanation.to_long_frame().shape  # 3 queries, 7 neighbors, 4 features
    (84, 19)
    """
    import pandas as pd

    if len(explanation) == 0:
        raise ValueError("There are no explained rows to show.")
    return pd.concat([row.to_frame() for row in rows(explanation)], ignore_index=True)


@dataclass(frozen=True, eq=False)
class Overview:
    """Explained rows at a glance.

    `Explanation.overview` returns it; `Overview.joined` puts several together.

    Attributes
    ----------
    rows : DataFrame
        A line per query, with the columns ``row`` (the row number), ``id`` (if there are ids),
        ``true_label`` (if labels are known), ``prediction``, ``probability``, ``runner_up``,
        ``runner_up_probability``, ``doubtful`` (whether the prediction leads the runner-up by less than 20
        points), ``far`` (whether nothing similar is among the training rows, if this is known), ``decision``
        ("accepted", "ambiguous" or "far", if there is a reject option) and ``reasons``: the features whose
        values support the prediction most, with their values.
    feature_names : ndarray of shape (n_features,)
    mean_relevances : ndarray of shape (n_features,)
        Means over the queries.
    classes : ndarray of shape (n_classes,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> overview = LANNClassifier(random_state=0).fit(X, y).explain(X[40:60]).overview()
    >>> overview.class_counts
    {0: 10, 1: 10, 2: 0}
    >>> len(overview), overview.rows.columns.tolist()[:4]
    (20, ['row', 'prediction', 'probability', 'runner_up'])
    """

    rows: pd.DataFrame
    feature_names: NDArray[Any]
    mean_relevances: Floats
    classes: NDArray[Any]

    def __repr__(self) -> str:
        return f"<Overview of {len(self)} explained rows>"

    def __len__(self) -> int:
        return len(self.rows)

    def _column(self, name: str, default: Any) -> NDArray[Any]:
        return self.rows[name].to_numpy() if name in self.rows else np.full(len(self), default)

    @property
    def class_counts(self) -> dict[Any, int]:
        """Number of predictions of each class."""
        found = self.rows["prediction"].to_numpy()
        return {label: int((found == label).sum()) for label in self.classes.tolist()}

    @property
    def has_label(self) -> NDArray[np.bool_]:
        """Which queries have a known label: (n_queries,)."""
        import pandas as pd

        return pd.notna(self._column("true_label", None))

    @property
    def n_labels(self) -> int:
        """Number of queries whose label is known."""
        return int(self.has_label.sum())

    @property
    def mistakes(self) -> NDArray[np.bool_]:
        """Which queries have a label that is not the prediction: (n_queries,)."""
        labels, predictions = self._column("true_label", None), self.rows["prediction"]
        return self.has_label & np.array([str(a) != str(b) for a, b in zip(labels, predictions, strict=True)])

    @property
    def marks(self) -> dict[str, NDArray[np.bool_]]:
        """Which queries are a "mistake", "doubtful" and "far": (n_queries,) each.

        With a reject option, "ambiguous" takes the place of "doubtful".
        """
        doubt = {"doubtful": self.rows["doubtful"].to_numpy()}
        if "decision" in self.rows:
            doubt = {AMBIGUOUS: self.rows["decision"].to_numpy() == AMBIGUOUS}
        return {"mistake": self.mistakes, **doubt, "far": self._column("far", False)}

    @property
    def n_doubtful(self) -> int:
        """Number of queries whose vote is close."""
        return int(self.rows["doubtful"].sum())

    @property
    def n_far(self) -> int | None:
        """Number of queries to which no training row is similar; None if this is unknown."""
        return int(self.rows["far"].sum()) if "far" in self.rows else None

    @property
    def decision_counts(self) -> dict[str, int] | None:
        """Number of queries that are accepted, ambiguous and far; None if there is no reject option."""
        if "decision" not in self.rows:
            return None
        return {decision: int((self.rows["decision"] == decision).sum()) for decision in DECISIONS}

    @property
    def accuracy(self) -> float | None:
        """Share of the queries with a label whose prediction is correct; None if there are none."""
        return 1.0 - float(self.mistakes.sum()) / self.n_labels if self.n_labels else None

    @property
    def relevant_features(self) -> list[tuple[str, float]]:
        """The features and their mean relevances, the largest first."""
        order = np.argsort(-self.mean_relevances, kind="stable")
        return [(str(self.feature_names[j]), float(self.mean_relevances[j])) for j in order]

    @classmethod
    def joined(cls, parts: Sequence[Overview]) -> Overview:
        """Return the overview of the queries of several ones, which have the same features and classes.

        Parameters
        ----------
        parts : sequence of Overview
            At least one.

        Returns
        -------
        overview : Overview
        """
        import pandas as pd

        sizes = [len(part) for part in parts]
        means = np.average([part.mean_relevances for part in parts], axis=0, weights=sizes)
        lines = pd.concat([part.rows for part in parts], ignore_index=True)
        return cls(lines, parts[0].feature_names, means, parts[0].classes)


def overview(explanation: Explanation, *, n_features: int = 2) -> Overview:
    """Return the explained rows at a glance: a line for each, and counts over all.

    Parameters
    ----------
    explanation : Explanation
        Of at least one row.
    n_features : int, default=2
        Number of features to name for each row, at most.

    Returns
    -------
    overview : Overview

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> overview = LANNClassifier(random_state=0).fit(X, y).explain(X[:3]).overview(n_features=1)
    >>> overview.rows["reasons"].tolist()
    ['petal width (cm) 0.2', 'petal length (cm) 1.4', 'petal length (cm) 1.3']
    """
    validate("n_features", n_features, Integer(1))
    e, every = explanation, np.arange(len(explanation))
    decisions = None if e.decisions is None else [decision.decision for decision in e.decisions]
    reasons = []
    for row, shares in enumerate(e.support if e.has_supports else e.relevances):
        order = np.argsort(-shares, kind="stable")[:n_features]
        chosen = [j for j in order if shares[j] > 0 and shares[j] >= LEAST_SHARE * shares[order[0]]]
        texts = [f"{e.feature_names[j]} {value_text(e.query_values[row, j])}" for j in chosen]
        reasons.append(", ".join(texts))
    columns = {
        "row": every if e.query_rows is None else e.query_rows,
        "id": e.query_ids,
        "true_label": e.true_labels,
        "prediction": e.predictions,
        "probability": e.probabilities[every, e.predicted_class_indices],
        "runner_up": e.runner_up,
        "runner_up_probability": e.probabilities[every, e.runner_up_class_indices],
        "doubtful": e.is_doubtful,
        "far": e.is_far,
        "decision": decisions,
        "reasons": reasons,
    }
    return Overview(frame_of(columns), e.feature_names, e.relevances.mean(axis=0), e.classes)
