"""Explanatory texts for users that the terminal and several pages share."""

from __future__ import annotations

REASONS = (
    "What the value of the column adds to the probability, or takes away, from that of a row of which "
    "nothing is known, whose columns have the values of any training rows. The numbers add up to the "
    "probability; ± is two standard errors."
)
VALUE_REASONS = (
    "What the value of the column adds to the prediction, or takes away, from that of a row of which "
    "nothing is known, whose columns have the values of any training rows. The numbers add up to the "
    "prediction; ± is two standard errors."
)
VALUE_NEIGHBORS = (
    "The prediction is the mean of the nearest training rows, in which nearer rows count more, and every "
    "training row measures distances with its own metric. Before, each number is adjusted to this row by "
    "local slopes, as far as held-out rows confirm these. Of many rows, the nearest are listed."
)
RELEVANCE = (
    "How much the vote depends on the column, for rows like this one: the share that changes when its value "
    "is replaced, alone or together with others, on average."
)
NO_RELEVANT_COLUMN = "No column is decisive: none of them changes 1% of the vote, for rows like this one."
PLAIN_KNN = "kNN: 5 neighbors, weighted by distance, behind scaling, one-hot encoding and imputation."
INTERVALS = (
    "Intervals have 95% confidence: by Wilson's formula for accuracies, precisions and recalls, otherwise "
    "from random resamples of the test rows."
)
TYPICAL = (
    "Percentile: the percentage of the training rows with a smaller value; of a category, the share that has "
    "it. Typical: the range of the middle 80% of the training rows of the class, or its most frequent "
    "categories."
)
ROW_NUMBERS = "Row numbers start at 0, below the header."
ROW_INDEX = "Rows are named by the index of their table."
OPTIMISTIC = (
    "Accuracies on training rows are optimistic, although no row votes on itself, because the metrics were "
    "learned from these rows."
)
ACCURACIES = (
    "By vote: the nearest training rows vote, as for a prediction. In embedding: the majority of the 5 "
    "nearest training rows in the embedding. No training row votes on itself."
)
