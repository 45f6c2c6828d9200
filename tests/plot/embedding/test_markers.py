from lann.plot import EmbeddingDisplay


def test_markers_of_many_rows_are_smaller_and_more_transparent(make_clusters):
    few, many = (EmbeddingDisplay(*make_clusters(3, n)).plot().ax_.collections[0] for n in (20, 3000))
    assert few.get_sizes().max() > 3 * many.get_sizes().max()
    assert few.get_alpha() > many.get_alpha()
    assert many.get_rasterized()
    assert not few.get_rasterized()
