import pytest

from lann.datasets.file_sets import FILE_SETS

SIZES = {
    "gamma-telescope": (19020, 10, 2),
    "image-segmentation": (2310, 16, 7),
    "ionosphere": (351, 34, 2),
    "letter-recognition": (20000, 16, 26),
    "outdoor-objects": (4000, 21, 40),
    "pen-digits": (10992, 16, 10),
    "robot-navigation": (5456, 24, 4),
    "usps": (9298, 256, 10),
}


def test_sizes_are_those_of_the_paper():
    sizes = {
        name: (file_set.n_samples, len(file_set.kept), len(file_set.class_sizes))
        for name, file_set in FILE_SETS.items()
    }
    assert sizes == SIZES


def test_hashes_are_distinct_and_well_formed():
    hashes = {file_set.sha256 for file_set in FILE_SETS.values()}
    assert len(hashes) == len(FILE_SETS)
    assert all(len(sha256) == 64 and int(sha256, 16) for sha256 in hashes)


def test_image_segmentation_leaves_out_three_columns():
    segmentation = FILE_SETS["image-segmentation"]
    left_out = [segmentation.columns[column] for column in segmentation.dropped]
    assert left_out == ["region-pixel-count", "short-line-density-5", "short-line-density-2"]
    assert segmentation.kept[:3] == [0, 1, 5]


def test_only_outdoor_objects_is_not_on_openml():
    assert [name for name, file_set in FILE_SETS.items() if file_set.openml_id is None] == ["outdoor-objects"]


def test_check_accepts_the_data_set(tiny_set, tiny_frame):
    assert tiny_set.check(tiny_frame, "somewhere") is None


def test_check_names_foreign_columns(tiny_set, tiny_frame):
    with pytest.raises(ValueError, match=r"a drawer's copy does not hold 'ionosphere'.*found depth, width"):
        tiny_set.check(tiny_frame.rename(columns={"height": "depth"}), "a drawer's copy")


def test_check_names_missing_rows(tiny_set, tiny_frame):
    with pytest.raises(ValueError, match=r"expected 5 rows .* found 4 rows"):
        tiny_set.check(tiny_frame.head(4), "somewhere")
