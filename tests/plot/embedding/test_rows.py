import numpy as np
import pytest
from matplotlib.collections import LineCollection

from lann import LANNClassifier
from lann.plot import EmbeddingDisplay


def test_lines_end_at_the_neighbors(embedding, halves):
    X = halves[2]
    display = EmbeddingDisplay.from_estimator(embedding, X, lines_from=[3, 60])
    explanation = embedding.classifier_.explain(X.iloc[[3, 60]])
    lines = display.lines.reshape(2, -1, 2, 2)
    starts = np.tile(display.new_coordinates[0][[3, 60], None], (1, 5, 1))
    np.testing.assert_allclose(lines[:, :, 0], starts)
    np.testing.assert_array_equal(lines[:, :, 1], embedding.embedding_[explanation.neighbors])
    np.testing.assert_allclose(display.line_shares, explanation.vote_shares.ravel())


def test_lines_are_thin_and_explained(embedding, halves):
    display = EmbeddingDisplay.from_estimator(embedding, halves[2], lines_from=[3, 60])
    (lines,) = [artist for artist in display.ax_.collections if isinstance(artist, LineCollection)]
    visible = display.line_shares >= 0.02
    assert len(lines.get_segments()) == visible.sum()
    widths = np.asarray(lines.get_linewidths())
    assert widths.max() <= 1.5
    assert np.all(np.diff(widths[np.argsort(display.line_shares[visible])]) >= 0)
    note = " ".join(text.get_text() for text in display.ax_.texts)
    assert "pale: training rows; lines: from a row with a ring to its neighbors" in note
    rings = [artist for artist in display.ax_.collections if artist.get_zorder() == 5]
    assert [len(ring.get_offsets()) for ring in rings] == [2]


def test_training_row_is_not_its_own_neighbor(embedding, halves, leave_one_out_vote):
    display = EmbeddingDisplay.from_estimator(embedding, lines_from=7)
    X, y = halves[0].to_numpy(), halves[1].to_numpy()
    clf = LANNClassifier(max_iter=3, random_state=0).fit(X, y)
    neighbors, shares, _ = leave_one_out_vote(clf, X, y, 7)
    np.testing.assert_array_equal(display.lines[:, 1], embedding.embedding_[neighbors])
    np.testing.assert_allclose(display.line_shares, shares)


def test_lines_from_an_unknown_row_raise(embedding):
    with pytest.raises(
        ValueError, match="lines_from must be an integer of at least 0 and at most 74; got 75"
    ):
        EmbeddingDisplay.from_estimator(embedding, lines_from=[75])
