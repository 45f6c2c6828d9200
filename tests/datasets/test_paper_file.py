import hashlib
import os
from dataclasses import replace

import numpy as np
import pytest

from lann.datasets._csv_file import serialize
from lann.datasets._paper_file import read_paper_file
from lann.datasets._specs import SPECS

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
def distributed(tiny_spec, tiny_frame):
    """The tiny data set with the hash of its file, and the content of that file."""
    content = serialize(tiny_frame)
    return replace(tiny_spec, sha256=hashlib.sha256(content).hexdigest()), content


@pytest.mark.parametrize("folder", ["tables/paper", "tables", "home/lann"])
def test_file_is_found_in_every_folder(distributed, tiny_frame, tmp_path, monkeypatch, folder):
    spec, content = distributed
    folder = tmp_path / folder
    folder.mkdir(parents=True)
    (folder / "ionosphere.csv.gz").write_bytes(content)
    monkeypatch.setenv("LANN_DATA", str(tmp_path / "tables"))
    table = read_paper_file(spec)
    np.testing.assert_array_equal(table.data, tiny_frame[["height", "width"]])
    assert table.target.tolist() == tiny_frame["target"].tolist()
    assert table.target.dtype.kind == "U"
    assert table.target_names.tolist() == ["Bad", "good"]
    assert table.feature_names == ["height", "width"]


def test_user_folder_comes_before_the_cache(distributed, tmp_path, monkeypatch, cache):
    spec, content = distributed
    cache.mkdir(parents=True)
    (cache / "ionosphere.csv.gz").write_bytes(b"never read")
    (tmp_path / "ionosphere.csv.gz").write_bytes(content)
    monkeypatch.setenv("LANN_DATA", str(tmp_path))
    assert read_paper_file(spec).data.shape == (5, 2)


def test_reading_from_the_user_folder_creates_no_cache(distributed, tmp_path, monkeypatch):
    spec, content = distributed
    (tmp_path / "ionosphere.csv.gz").write_bytes(content)
    monkeypatch.setenv("LANN_DATA", str(tmp_path))
    assert read_paper_file(spec).data.shape == (5, 2)
    assert os.listdir(tmp_path) == ["ionosphere.csv.gz"]


@pytest.mark.parametrize("alter", [lambda content: content[:-9], lambda content: content + b" "])
def test_altered_file_in_the_user_folder_raises(distributed, tmp_path, monkeypatch, on_openml, alter):
    spec, content = distributed
    path = tmp_path / "ionosphere.csv.gz"
    path.write_bytes(alter(content))
    monkeypatch.setenv("LANN_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=r"Replace it with an unaltered copy") as error:
        read_paper_file(spec)
    for part in (str(path), spec.sha256, hashlib.sha256(alter(content)).hexdigest()):
        assert part in str(error.value)
    assert on_openml.calls == []


def test_recorded_hash_is_ignored_in_the_user_folder(tiny_spec, distributed, tmp_path, monkeypatch):
    content = distributed[1]
    (tmp_path / "ionosphere.csv.gz").write_bytes(content)
    (tmp_path / "ionosphere.csv.gz.sha256").write_text(hashlib.sha256(content).hexdigest())
    monkeypatch.setenv("LANN_DATA", str(tmp_path))
    with pytest.raises(ValueError, match="SHA-256"):
        read_paper_file(tiny_spec)


def test_download_is_cached_and_used_again(tiny_spec, on_openml, cache):
    first = read_paper_file(tiny_spec)
    assert sorted(os.listdir(cache)) == ["ionosphere.csv.gz", "ionosphere.csv.gz.sha256"]
    recorded = (cache / "ionosphere.csv.gz.sha256").read_text().split()
    content = (cache / "ionosphere.csv.gz").read_bytes()
    assert recorded == [hashlib.sha256(content).hexdigest(), "ionosphere.csv.gz"]
    second = read_paper_file(tiny_spec, download_if_missing=False)
    assert len(on_openml.calls) == 1
    np.testing.assert_array_equal(second.data, first.data)
    np.testing.assert_array_equal(second.target, first.target)


def test_given_cache_is_used(tiny_spec, on_openml, tmp_path, cache):
    assert read_paper_file(tiny_spec, data_home=tmp_path / "mine").data.shape == (5, 2)
    assert (tmp_path / "mine" / "ionosphere.csv.gz").is_file()
    assert not cache.exists()


def test_damaged_cache_raises_until_it_is_deleted(tiny_spec, on_openml, cache):
    read_paper_file(tiny_spec)
    path = cache / "ionosphere.csv.gz"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match="delete it") as error:
        read_paper_file(tiny_spec)
    assert str(path) in str(error.value)
    path.unlink()
    assert read_paper_file(tiny_spec).data.shape == (5, 2)
    assert len(on_openml.calls) == 2


@pytest.mark.parametrize("recorded", [None, "", "f" * 64])
def test_cached_file_without_a_matching_hash_raises(tiny_spec, distributed, cache, recorded):
    cache.mkdir(parents=True)
    (cache / "ionosphere.csv.gz").write_bytes(distributed[1])
    if recorded is not None:
        (cache / "ionosphere.csv.gz.sha256").write_text(recorded)
    with pytest.raises(ValueError, match=f"expected {tiny_spec.sha256}"):
        read_paper_file(tiny_spec)


def test_user_file_in_the_cache_is_accepted_with_its_hash(tiny_spec, distributed, cache):
    cache.mkdir(parents=True)
    (cache / "ionosphere.csv.gz").write_bytes(distributed[1])
    (cache / "ionosphere.csv.gz.sha256").write_text(hashlib.sha256(distributed[1]).hexdigest())
    assert read_paper_file(tiny_spec).data.shape == (5, 2)


def test_user_file_in_the_cache_must_contain_the_data_set(tiny_spec, tiny_frame, cache):
    content = serialize(tiny_frame.head(4))
    cache.mkdir(parents=True)
    (cache / "ionosphere.csv.gz").write_bytes(content)
    (cache / "ionosphere.csv.gz.sha256").write_text(hashlib.sha256(content).hexdigest())
    with pytest.raises(ValueError, match="does not contain 'ionosphere'"):
        read_paper_file(tiny_spec)


def test_unexpected_download_is_not_cached(tiny_spec, on_openml, cache):
    on_openml.data = on_openml.data[["height"]]
    with pytest.raises(ValueError, match="OpenML data set 59 does not contain 'ionosphere'"):
        read_paper_file(tiny_spec)
    assert not cache.exists()


def test_download_is_repeated_after_a_failed_write(tiny_spec, on_openml, cache, monkeypatch):
    replace_file = os.replace

    def fail_on_data(source, path):
        if str(path).endswith(".csv.gz"):
            raise OSError("disk full")
        replace_file(source, path)

    monkeypatch.setattr(os, "replace", fail_on_data)
    with pytest.raises(OSError, match="disk full"):
        read_paper_file(tiny_spec)
    assert os.listdir(cache) == ["ionosphere.csv.gz.sha256"]
    monkeypatch.setattr(os, "replace", replace_file)
    assert read_paper_file(tiny_spec).data.shape == (5, 2)


def test_error_lists_every_source_that_was_searched(tiny_spec, cache):
    with pytest.raises(FileNotFoundError, match="'ionosphere' was not found") as error:
        read_paper_file(tiny_spec)
    for part in ("LANN_DATA: not set", f"{cache}: no ionosphere.csv.gz", "59", "no network", "a test"):
        assert part in str(error.value)


def test_download_if_missing_false_raises(tiny_spec, on_openml):
    with pytest.raises(FileNotFoundError, match="download_if_missing=False"):
        read_paper_file(tiny_spec, download_if_missing=False)
    assert on_openml.calls == []


def test_error_for_outdoor_objects_names_its_source(openml, monkeypatch, tmp_path):
    monkeypatch.setenv("LANN_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match=r"vlosing/driftDatasets \(realWorld/outdoor") as error:
        read_paper_file(SPECS["outdoor-objects"])
    assert str(tmp_path / "nowhere" / "paper") in str(error.value)
    assert openml.calls == []


def test_image_segmentation_drops_columns_after_reading(serve, cache):
    spec = SPECS["image-segmentation"]
    service = serve(spec, str.lower)
    for table in (read_paper_file(spec), read_paper_file(spec)):
        np.testing.assert_array_equal(table.data, service.data.drop(columns=["V3", "V4", "V5"]))
        assert table.feature_names[:3] == ["region-centroid-col", "region-centroid-row", "vedge-mean"]
        assert set(table.target) == set(spec.class_sizes)
    assert len(service.calls) == 1
    assert "region-pixel-count" in table.description


def test_description_has_size_source_and_citation(tiny_spec, on_openml):
    description = read_paper_file(tiny_spec).description
    for part in ("5 rows, 2 features, 2 classes", "a test", "Author 1900"):
        assert part in description


@pytest.mark.data
@pytest.mark.parametrize("name", SPECS)
def test_real_files_have_the_sizes_of_the_paper(paper_files, name):
    spec = SPECS[name]
    table = read_paper_file(spec, download_if_missing=False)
    assert table.data.shape == (spec.n_samples, len(spec.kept))
    assert np.isfinite(table.data).all()
    labels, rows = np.unique(table.target, return_counts=True)
    assert (rows.min(), rows.max()) == CLASS_ROWS[name]
    np.testing.assert_array_equal(labels, table.target_names)


@pytest.mark.data
def test_image_segmentation_has_no_constant_feature(paper_files):
    table = read_paper_file(SPECS["image-segmentation"], download_if_missing=False)
    assert table.data.shape[1] == 16
    assert (table.data.std(axis=0) > 0).all()


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices of POSIX")
@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_special_files_of_the_user_folder_are_one_sentence(kind, distributed, tmp_path, monkeypatch):
    path = tmp_path / "ionosphere.csv.gz"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    monkeypatch.setenv("LANN_DATA", str(tmp_path))
    with pytest.raises(OSError, match=rf"ionosphere\.csv\.gz is a {kind}, not a file"):
        read_paper_file(distributed[0], download_if_missing=False)


def test_a_file_as_the_user_folder_is_searched_in_vain(distributed, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LANN_DATA", str(tmp_path / "file"))
    with pytest.raises(FileNotFoundError, match=r"was not found. Searched:\n  - .*file"):
        read_paper_file(distributed[0], data_home=tmp_path, download_if_missing=False)
