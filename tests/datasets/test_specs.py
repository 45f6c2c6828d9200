import pytest

from lann.datasets._specs import SPECS

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
    sizes = {name: (spec.n_samples, len(spec.kept), len(spec.class_sizes)) for name, spec in SPECS.items()}
    assert sizes == SIZES


def test_hashes_are_distinct_and_well_formed():
    hashes = {spec.sha256 for spec in SPECS.values()}
    assert len(hashes) == len(SPECS)
    assert all(len(sha256) == 64 and int(sha256, 16) for sha256 in hashes)


def test_image_segmentation_drops_three_columns():
    segmentation = SPECS["image-segmentation"]
    dropped = [segmentation.columns[column] for column in segmentation.dropped]
    assert dropped == ["region-pixel-count", "short-line-density-5", "short-line-density-2"]
    assert segmentation.kept[:3] == [0, 1, 5]


def test_only_outdoor_objects_is_not_on_openml():
    assert [name for name, spec in SPECS.items() if spec.openml_id is None] == ["outdoor-objects"]


def test_check_accepts_the_data_set(tiny_spec, tiny_frame):
    assert tiny_spec.check(tiny_frame, "the file") is None


def test_check_names_unexpected_columns(tiny_spec, tiny_frame):
    with pytest.raises(ValueError, match=r"the file does not contain 'ionosphere'.*found depth, width"):
        tiny_spec.check(tiny_frame.rename(columns={"height": "depth"}), "the file")


def test_check_counts_the_rows(tiny_spec, tiny_frame):
    with pytest.raises(ValueError, match=r"expected 5 rows .* found 4 rows"):
        tiny_spec.check(tiny_frame.head(4), "the file")
