import hashlib
import os
from dataclasses import replace

import numpy as np
import pytest

from lann.datasets.csv_file import serialize
from lann.datasets.file_sets import FILE_SETS
from lann.datasets.paper_file import read

CLASS_ROWS = {
    "gamma-telescope": (6688, 12332),
    "image-segmentation": (330, 330),
    "ionosphere": (126, 225),
    "letter-recognition": (734, 813),
    "outdoor-objects": (100, 100),
    "pen-digits": (1055, 1144),
    "robot-navigation": (328, 2205),
    "usps": (708, 1553),
}


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "home" / "lann"


@pytest.fixture
def on_openml(openml, tiny_frame):
    openml.data, openml.target = tiny_frame[["height", "width"]], tiny_frame["target"]
    return openml


@pytest.fixture
def distributed(tiny_set, tiny_frame):
    """The tiny set as a file whose hash is known, and that file's content."""
    content = serialize(tiny_frame)
    return replace(tiny_set, sha256=hashlib.sha256(content).hexdigest()), content


@pytest.mark.parametrize("place", ["tables/paper", "tables", "home/lann"])
def test_a_distributed_file_is_found_in_each_place(distributed, tiny_frame, tmp_path, monkeypatch, place):
    file_set, content = distributed
    folder = tmp_path / place
    folder.mkdir(parents=True)
    (folder / "ionosphere.csv.gz").write_bytes(content)
    monkeypatch.setenv("LANN_DATA", str(tmp_path / "tables"))
    table = read(file_set)
    np.testing.assert_array_equal(table.data, tiny_frame[["height", "width"]])
    assert table.target.tolist() == tiny_frame["target"].tolist()
    assert table.target.dtype.kind == "U"
    assert table.target_names.tolist() == ["Bad", "good"]
    assert table.feature_names == ["height", "width"]


def test_the_users_folder_comes_before_the_cache(distributed, tmp_path, monkeypatch, cache):
    file_set, content = distributed
    cache.mkdir(parents=True)
    (cache / "ionosphere.csv.gz").write_bytes(b"never read")
    (tmp_path / "ionosphere.csv.gz").write_bytes(content)
    monkeypatch.setenv("LANN_DATA", str(tmp_path))
    assert read(file_set).data.shape == (5, 2)


def test_a_read_from_the_users_folder_creates_no_cache(distributed, tmp_path, monkeypatch):
    file_set, content = distributed
    (tmp_path / "ionosphere.csv.gz").write_bytes(content)
    monkeypatch.setenv("LANN_DATA", str(tmp_path))
    assert read(file_set).data.shape == (5, 2)
    assert os.listdir(tmp_path) == ["ionosphere.csv.gz"]


@pytest.mark.parametrize("spoil", [lambda content: content[:-9], lambda content: content + b" "])
def test_an_altered_file_in_the_users_folder_is_an_error(
    distributed, tmp_path, monkeypatch, on_openml, spoil
):
    file_set, content = distributed
    path = tmp_path / "ionosphere.csv.gz"
    path.write_bytes(spoil(content))
    monkeypatch.setenv("LANN_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=r"Put an unaltered copy in its place") as error:
        read(file_set)
    for part in (str(path), file_set.sha256, hashlib.sha256(spoil(content)).hexdigest()):
        assert part in str(error.value)
    assert on_openml.calls == []


def test_a_hash_beside_the_file_does_not_excuse_it_in_the_users_folder(
    tiny_set, distributed, tmp_path, monkeypatch
):
    content = distributed[1]
    (tmp_path / "ionosphere.csv.gz").write_bytes(content)
    (tmp_path / "ionosphere.csv.gz.sha256").write_text(hashlib.sha256(content).hexdigest())
    monkeypatch.setenv("LANN_DATA", str(tmp_path))
    with pytest.raises(ValueError, match="SHA-256"):
        read(tiny_set)


def test_a_download_is_kept_and_used_again(tiny_set, on_openml, cache):
    first = read(tiny_set)
    assert sorted(os.listdir(cache)) == ["ionosphere.csv.gz", "ionosphere.csv.gz.sha256"]
    recorded = (cache / "ionosphere.csv.gz.sha256").read_text().split()
    content = (cache / "ionosphere.csv.gz").read_bytes()
    assert recorded == [hashlib.sha256(content).hexdigest(), "ionosphere.csv.gz"]
    second = read(tiny_set, download_if_missing=False)
    assert len(on_openml.calls) == 1
    np.testing.assert_array_equal(second.data, first.data)
    np.testing.assert_array_equal(second.target, first.target)


def test_a_given_cache_is_used(tiny_set, on_openml, tmp_path, cache):
    assert read(tiny_set, data_home=tmp_path / "mine").data.shape == (5, 2)
    assert (tmp_path / "mine" / "ionosphere.csv.gz").is_file()
    assert not cache.exists()


def test_a_corrupted_cache_is_an_error_and_deleting_it_helps(tiny_set, on_openml, cache):
    read(tiny_set)
    path = cache / "ionosphere.csv.gz"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match="delete it") as error:
        read(tiny_set)
    assert str(path) in str(error.value)
    path.unlink()
    assert read(tiny_set).data.shape == (5, 2)
    assert len(on_openml.calls) == 2


@pytest.mark.parametrize("recorded", [None, "", "f" * 64])
def test_an_unknown_file_in_the_cache_is_an_error(tiny_set, distributed, cache, recorded):
    cache.mkdir(parents=True)
    (cache / "ionosphere.csv.gz").write_bytes(distributed[1])
    if recorded is not None:
        (cache / "ionosphere.csv.gz.sha256").write_text(recorded)
    with pytest.raises(ValueError, match=f"expected {tiny_set.sha256}"):
        read(tiny_set)


def test_a_file_of_ones_own_is_accepted_with_its_hash(tiny_set, distributed, cache):
    cache.mkdir(parents=True)
    (cache / "ionosphere.csv.gz").write_bytes(distributed[1])
    (cache / "ionosphere.csv.gz.sha256").write_text(hashlib.sha256(distributed[1]).hexdigest())
    assert read(tiny_set).data.shape == (5, 2)


def test_a_file_of_ones_own_must_still_be_that_data_set(tiny_set, tiny_frame, cache):
    content = serialize(tiny_frame.head(4))
    cache.mkdir(parents=True)
    (cache / "ionosphere.csv.gz").write_bytes(content)
    (cache / "ionosphere.csv.gz.sha256").write_text(hashlib.sha256(content).hexdigest())
    with pytest.raises(ValueError, match="does not hold 'ionosphere'"):
        read(tiny_set)


def test_a_wrong_delivery_is_not_kept(tiny_set, on_openml, cache):
    on_openml.data = on_openml.data[["height"]]
    with pytest.raises(ValueError, match="OpenML data set 59 does not hold 'ionosphere'"):
        read(tiny_set)
    assert not cache.exists()


def test_a_download_cut_short_while_writing_is_repeated(tiny_set, on_openml, cache, monkeypatch):
    replace_file = os.replace

    def fail_on_data(source, path):
        if str(path).endswith(".csv.gz"):
            raise OSError("disk full")
        replace_file(source, path)

    monkeypatch.setattr(os, "replace", fail_on_data)
    with pytest.raises(OSError, match="disk full"):
        read(tiny_set)
    assert os.listdir(cache) == ["ionosphere.csv.gz.sha256"]
    monkeypatch.setattr(os, "replace", replace_file)
    assert read(tiny_set).data.shape == (5, 2)


def test_without_file_and_network_the_error_lists_every_place(tiny_set, cache):
    with pytest.raises(FileNotFoundError, match="'ionosphere' was not found") as error:
        read(tiny_set)
    for part in ("LANN_DATA: not set", f"{cache}: no ionosphere.csv.gz", "59", "no network", "a drawer"):
        assert part in str(error.value)


def test_downloads_can_be_forbidden(tiny_set, on_openml):
    with pytest.raises(FileNotFoundError, match="download_if_missing=False"):
        read(tiny_set, download_if_missing=False)
    assert on_openml.calls == []


def test_outdoor_objects_error_says_who_publishes_it(openml, monkeypatch, tmp_path):
    monkeypatch.setenv("LANN_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match=r"vlosing/driftDatasets \(realWorld/outdoor") as error:
        read(FILE_SETS["outdoor-objects"])
    assert str(tmp_path / "nowhere" / "paper") in str(error.value)
    assert openml.calls == []


def test_image_segmentation_drops_its_columns_but_keeps_them_in_the_file(deliver, cache):
    file_set = FILE_SETS["image-segmentation"]
    service = deliver(file_set, str.lower)
    for table in (read(file_set), read(file_set)):
        np.testing.assert_array_equal(table.data, service.data.drop(columns=["V3", "V4", "V5"]))
        assert table.feature_names[:3] == ["region-centroid-col", "region-centroid-row", "vedge-mean"]
        assert set(table.target) == set(file_set.class_sizes)
    assert len(service.calls) == 1
    assert "region-pixel-count" in table.description


def test_the_description_gives_size_source_and_citation(tiny_set, on_openml):
    description = read(tiny_set).description
    for part in ("5 rows, 2 features, 2 classes", "a drawer", "Nobody 1900"):
        assert part in description


@pytest.mark.data
@pytest.mark.parametrize("name", FILE_SETS)
def test_the_real_files_have_the_sizes_of_the_paper(paper_files, name):
    file_set = FILE_SETS[name]
    table = read(file_set, download_if_missing=False)
    assert table.data.shape == (file_set.n_samples, len(file_set.kept))
    assert np.isfinite(table.data).all()
    labels, rows = np.unique(table.target, return_counts=True)
    assert (rows.min(), rows.max()) == CLASS_ROWS[name]
    np.testing.assert_array_equal(labels, table.target_names)


@pytest.mark.data
def test_image_segmentation_without_the_three_columns_has_no_constant(paper_files):
    table = read(FILE_SETS["image-segmentation"], download_if_missing=False)
    assert table.data.shape[1] == 16
    assert (table.data.std(axis=0) > 0).all()
