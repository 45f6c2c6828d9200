"""One explained prediction, with its features in the order of their relevance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lann._format import class_text, percent, value_text
from lann._types import Floats, Indices
from lann.explain._context import percentile_text, rank_text
from lann.explain._decision import Decision

if TYPE_CHECKING:
    import pandas as pd

    from lann.explain._explanation import Explanation

# The least relevance of a feature that is worth mentioning: a hundredth of the vote.
LEAST_RELEVANCE = 0.01
# Labels that are named of the neighbors that are not listed.
MOST_LABELS = 3


def others_text(n_rows: int) -> str:
    """Return a number of other rows as text.

    >>> others_text(1), others_text(25)
    ('1 other', '25 others')
    """
    return "1 other" if n_rows == 1 else f"{n_rows} others"


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
        return others_text(self.n_rows)

    @property
    def label_text(self) -> str:
        """How many of them have each label, as text; the three most frequent ones."""
        text = ", ".join(f"{count} {label}" for label, count in self.labels[:MOST_LABELS])
        return text if len(self.labels) <= MOST_LABELS else f"{text}, …"


@dataclass(frozen=True, eq=False)
class ExplainedRow:
    """One explained prediction: the votes, the neighbors, and the features, most relevant first.

    `Explanation.row` and `Explanation.rows` return it.

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
    unseen, unmeasured : ndarray of shape (n_features,) or None
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

    row: int
    id: str | None
    prediction: Any
    runner_up: Any
    sentence: str
    classes: NDArray[Any]
    probabilities: Floats
    class_votes: Floats
    neighbors: Indices
    neighbor_ids: NDArray[Any] | None
    neighbor_labels: NDArray[Any]
    distances: Floats
    vote_shares: Floats
    n_listed: int
    feature_names: NDArray[Any]
    values: NDArray[Any]
    neighbor_values: NDArray[Any] | None
    relevances: Floats
    support: Floats | None
    separation: Floats | None
    contributions: Floats
    unseen: NDArray[np.bool_] | None = None
    unmeasured: NDArray[np.bool_] | None = None
    percentiles: Floats | None = None
    category_shares: Floats | None = None
    typical: NDArray[Any] | None = None
    typical_of_runner_up: NDArray[Any] | None = None
    is_far: bool = False
    outside: NDArray[np.bool_] | None = None
    left_out: int | None = None
    has_row_numbers: bool = True
    true_label: Any = None
    supports: Floats | None = None
    base_values: Floats | None = None
    decision: Decision | None = None

    @property
    def title(self) -> str:
        """How the row is named, such as "Row 3" or "Row 3: Jane"."""
        if self.id is None:
            return f"Row {self.row}"
        is_number = self.id.removeprefix("-").isdecimal()
        return f"Row {self.id}" if is_number and not self.has_row_numbers else f"Row {self.row}: {self.id}"

    @property
    def neighbors_by_id(self) -> bool:
        """Whether the neighbors are named by integer ids alone."""
        ids = self.neighbor_ids
        return ids is not None and ids.dtype.kind in "iu" and not self.has_row_numbers

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
        if self.unseen is not None and self.unseen[feature]:
            return "in no training row"
        if self.unmeasured is not None and self.unmeasured[feature]:
            return "not measured"
        return ""

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
        if self.percentiles is not None and not np.isnan(self.percentiles[feature]):
            among = percentile_text(self.percentiles[feature])
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
    def probability(self) -> float:
        """Probability of the prediction."""
        return float(self.probabilities[self.class_index(self.prediction)])

    @property
    def runner_up_probability(self) -> float:
        """Probability of the runner-up."""
        return float(self.probabilities[self.class_index(self.runner_up)])

    @property
    def others(self) -> Others | None:
        """The neighbors that voted and are not listed; None if all are."""
        voted = self.vote_shares[self.n_listed :] > 0
        if not voted.any():
            return None
        labels, counts = np.unique(self.neighbor_labels[self.n_listed :][voted], return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return Others(
            int(counts.sum()),
            float(self.vote_shares[self.n_listed :].sum()),
            tuple((labels[i], int(counts[i])) for i in order),
        )

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
        by_neighbor: dict[str, Any] = {
            "neighbor_row": self.neighbors,
            "neighbor_id": self.neighbor_ids,
            "neighbor_label": self.neighbor_labels,
            "distance": self.distances,
            "vote_share": self.vote_shares,
        }
        by_feature = {
            "column": self.feature_names,
            "relevance": self.relevances,
            "support": self.support,
            "separation": self.separation,
            "percentile": self.percentiles,
            "category_share": self.category_shares,
            "typical": self.typical,
        }
        table: dict[str, Any] = {"row": self.row}
        if self.id is not None:
            table["id"] = self.id
        if self.true_label is not None:
            table["true_label"] = self.true_label
        table |= {"prediction": self.prediction, "runner_up": self.runner_up}
        table |= {name: np.repeat(v, n_features) for name, v in by_neighbor.items() if v is not None}
        table |= {name: np.tile(v, k) for name, v in by_feature.items() if v is not None}
        # As text, because numbers and text share a column.
        table |= {
            "contribution": self.contributions.ravel(),
            "value": [value_text(value) for value in self.values] * k,
        }
        if self.neighbor_values is not None:
            table["neighbor_value"] = [value_text(value) for value in self.neighbor_values.ravel()]
        table |= {"is_far": self.is_far, "left_out": pd.array([self.left_out] * (k * n_features), "Int64")}
        if self.decision is not None:
            table["decision"] = self.decision.decision
        return pd.DataFrame(table)


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
    sentences, runner_up = explanation.in_words(), explanation.runner_up
    support = explanation.support if explanation.has_supports else None
    separation = explanation.separation if explanation.has_supports else None
    supports = explanation.supports if explanation.has_supports else None
    base_values = explanation.base_values
    numbers, ids = explanation.query_rows, explanation.query_ids
    values, neighbor_values = explanation.query_values, explanation.neighbor_values
    neighbor_ids = explanation.neighbor_ids
    unseen, unmeasured = explanation.unseen, explanation.unmeasured
    class_votes, n_listed = explanation.class_votes, explanation.n_listed
    percentiles, category_shares = explanation.percentiles, explanation.category_shares
    is_far, outside, left_out = explanation.is_far, explanation.outside, explanation.left_out
    typical: dict[Any, NDArray[Any] | None] = dict.fromkeys({*explanation.predictions, *runner_up})
    if explanation._distribution is not None:
        typical = {label: explanation.typical_texts(label) for label in typical}
    for i in range(len(explanation)):
        voted = explanation.vote_shares[i] > 0  # with sample weights, more rows vote on some queries
        order = np.argsort(-explanation.relevances[i], kind="stable")
        yield ExplainedRow(
            row=i if numbers is None else int(numbers[i]),
            id=None if ids is None else str(ids[i]),
            prediction=explanation.predictions[i],
            runner_up=runner_up[i],
            sentence=sentences[i],
            classes=explanation.classes,
            probabilities=explanation.probabilities[i],
            class_votes=class_votes[i],
            neighbors=explanation.neighbors[i, voted],
            neighbor_ids=None if neighbor_ids is None else neighbor_ids[i, voted],
            neighbor_labels=explanation.neighbor_labels[i, voted],
            distances=explanation.distances[i, voted],
            vote_shares=explanation.vote_shares[i, voted],
            n_listed=int(n_listed[i]),
            feature_names=explanation.feature_names[order],
            values=values[i, order],
            neighbor_values=None if neighbor_values is None else neighbor_values[i, voted][:, order],
            relevances=explanation.relevances[i, order],
            support=None if support is None else support[i, order],
            separation=None if separation is None else separation[i, order],
            contributions=explanation.contributions[i, voted][:, order],
            unseen=None if unseen is None else unseen[i, order],
            unmeasured=None if unmeasured is None else unmeasured[i, order],
            percentiles=None if percentiles is None else percentiles[i, order],
            category_shares=None if category_shares is None else category_shares[i, order],
            typical=_ordered(typical[explanation.predictions[i]], order),
            typical_of_runner_up=_ordered(typical[runner_up[i]], order),
            is_far=is_far is not None and bool(is_far[i]),
            outside=None if outside is None else outside[i, order],
            left_out=None if left_out is None or left_out[i] < 0 else int(left_out[i]),
            has_row_numbers=numbers is not None,
            supports=None if supports is None else supports[i][:, order],
            base_values=None if base_values is None else base_values[i],
            true_label=None if explanation.true_labels is None else explanation.true_labels[i],
            decision=None if explanation.decisions is None else explanation.decisions[i],
        )


def _ordered(values: NDArray[Any] | None, order: Indices) -> NDArray[Any] | None:
    return None if values is None else values[order]


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
    from dataclasses import replace

    found = next(rows(explanation[i]))
    return found if explanation.query_rows is not None else replace(found, row=int(i) % len(explanation))


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
