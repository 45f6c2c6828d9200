from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from lann import LANNClassifier
from lann.embedding import LANNEmbedding, NeighborEmbedding, paper_embeddings


def test_all_scale_first_and_share_the_layout():
    classifier = LANNClassifier(metric="full")
    made = paper_embeddings(classifier=classifier, n_neighbors=7, min_dist=0.4, random_state=3, n_jobs=2)
    for pipeline in made.values():
        assert isinstance(pipeline[0], StandardScaler)
        assert not hasattr(pipeline[-1], "n_features_in_")
        clone(pipeline)
    for name in ("UMAP", "LGMLVQ", "LANN"):
        layout = made[name][-1].get_params(deep=False)
        assert isinstance(made[name][-1], LANNEmbedding if name == "LANN" else NeighborEmbedding)
        assert (layout["n_neighbors"], layout["min_dist"], layout["random_state"]) == (7, 0.4, 3)
        assert layout["n_jobs"] == 2
    assert made["LANN"][-1].classifier is classifier
    assert made["GMLVQ"][-1].n_components == made["LMNN"][-1].n_components == 2
    assert made["LGMLVQ"][1].random_state == made["GMLVQ"][-1].random_state == 3


def test_two_classes_make_a_picture_too(wine):
    X, y = wine
    for name in ("PCA", "LDA", "GMLVQ", "LMNN"):
        assert paper_embeddings()[name].fit_transform(X, y > 0).shape == (len(X), 2)
