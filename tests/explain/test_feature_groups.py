"""Groups of features: sums over them, and duplicates found together."""

import numpy as np
import pytest

from lann import LANNClassifier
from lann.datasets import make_local_relevance
from lann.explain import correlated_groups, group_features


def test_sums_over_the_features_of_a_group(two_rows):
    grouped = two_rows.group_features({"size": ["width", "area"]})
    assert grouped.feature_names.tolist() == ["size", "texture", "depth"]
    for name in ("contributions", "relevances", "feature_weights", "supports", "support", "separation"):
        whole, found = getattr(two_rows, name), getattr(grouped, name)
        expected = [whole[..., 0] + whole[..., 3], whole[..., 1], whole[..., 2]]
        np.testing.assert_allclose(found, np.stack(expected, axis=-1))
    np.testing.assert_allclose(grouped.contributions.sum(axis=2), grouped.distances**2)
    np.testing.assert_array_equal(grouped.queries, [[np.nan, 1, 2], [np.nan, 5, 6]])
    for name in ("predictions", "probabilities", "runner_up", "neighbors"):
        np.testing.assert_array_equal(getattr(grouped, name), getattr(two_rows, name))


def test_a_group_for_each_feature_is_the_same(two_rows):
    one = two_rows.group_features(["size", "texture", "depth", "size"])
    two = group_features(two_rows, {"size": ["area", "width"]})
    assert one.feature_names.tolist() == two.feature_names.tolist()
    np.testing.assert_array_equal(one.supports, two.supports)


def test_a_grouped_explanation_has_all_methods(two_rows, made):
    grouped = two_rows.group_features({"size": ["width", "area"]})
    assert grouped.in_words()[0].startswith(
        "benign, because it is similar to rows 10, 20 and 30 in size and texture"
    )
    assert grouped[1:].to_dict()[0]["values"] == {"size": None, "texture": 5.0, "depth": 6.0}
    assert grouped.summarize()["feature"].tolist() == ["size", "texture", "depth"]
    assert "size" in grouped._repr_html_()
    unknown = made([[0.5, 0.3, 0.2]], [["benign"] * 3]).group_features({"size": ["width", "area"]})
    np.testing.assert_allclose(unknown.relevances, [[0.4, 0.3, 0.2]])


def test_correlated_features_of_one_group_are_no_longer_listed(two_rows, made):
    def correlated(groups):
        explanation = made([[0.5, 0.3, 0.2]], [["benign"] * 3], _correlated=groups)
        return explanation.group_features({"size": ["width", "area"]}).correlated

    assert correlated(((0, 3),)) == {}
    assert correlated(((1, 2),)) == {"texture + depth": ["texture", "depth"]}
    assert correlated(((0, 1), (2, 3))) == {"size + texture + depth": ["size", "texture", "depth"]}


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        (["a", "b"], "mapping must name a group for each of the 4 features; got 2 names"),
        ({"a": ["red"]}, "mapping names 'red', which is not one of the features 'area', 'texture', .*"),
        ({"a": ["area"], "b": ["area"]}, "mapping has 'area' in 'a' and in 'b'"),
        ({"a": "area"}, "mapping must have a list of features for 'a'; got 'area'"),
        ({"area": ["depth"]}, "mapping has a group 'area', which is the name of a feature outside it"),
    ],
)
def test_invalid_mappings_raise(two_rows, mapping, message):
    with pytest.raises(ValueError, match=message):
        two_rows.group_features(mapping)


def test_one_hot_columns_are_one_feature():
    """The label depends on color and size: with the columns grouped, these two are most relevant."""
    rng = np.random.default_rng(0)
    color, shape = rng.integers(0, 4, 600), rng.integers(0, 4, 600)
    size, noise = rng.normal(size=(2, 600))
    y = (color % 2 == 0) ^ (size > 0)
    X = np.column_stack([size, noise, np.eye(4)[color], np.eye(4)[shape]])
    explanation = LANNClassifier(random_state=0).fit(X[:400], y[:400]).explain(X[400:])
    grouped = explanation.group_features(["size", "noise", *["color"] * 4, *["shape"] * 4])
    means = grouped.summarize().set_index("feature")["mean"]
    assert means["color"] > 0.3
    assert means["size"] > 0.3
    assert means[["noise", "shape"]].max() < 0.05


def test_duplicates_are_found_together():
    """Where a duplicated feature decides, the pair is more relevant than all noise, and than elsewhere."""
    X, y, mask = make_local_relevance(1200, 12, n_duplicates=2, random_state=0)
    clf = LANNClassifier(random_state=0).fit(X[:800], y[:800])
    explanation, decides = clf.explain(X[800:]), mask[800:]
    pairs = correlated_groups(X)
    assert explanation.correlated == pairs
    assert sorted(len(pair) for pair in pairs.values()) == [2, 2]
    grouped = explanation.group_features(pairs)
    names, new_names = explanation.feature_names.tolist(), grouped.feature_names.tolist()
    sums = []
    for pair, members in pairs.items():
        features, feature = [names.index(name) for name in members], new_names.index(pair)
        rows = decides[:, features[0]]
        joint = grouped.relevances[:, feature]
        noise = np.where(decides, 0.0, explanation.relevances)[rows, 1:]  # the gate is relevant everywhere
        assert np.mean(joint[rows] > noise.max(axis=1)) > 0.98
        assert joint[rows].mean() > 2 * joint[~rows].mean()
        sums.append(joint[rows].mean())
    assert max(sums) < 1.5 * min(sums)
