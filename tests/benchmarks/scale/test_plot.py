import pytest

from benchmarks.scale.plot import PANELS, YARDSTICK, draw, read_series

pytest.importorskip("matplotlib")


def record(method, n_rows, n_features, **more):
    scores = {
        "n_rows": n_rows, "n_features": n_features, "fit_seconds": n_rows / 1000, "rows_per_second": 5000.0,
        "above_gb": n_rows / 1e6,
    } | more  # fmt: skip
    return {
        "kind": "figure", "part": "rows", "method": method,
        "scores": {name: {"mean": value, "std": 0.0} for name, value in scores.items()},
    }  # fmt: skip


@pytest.fixture
def records():
    shapes = [(n_rows, n_features) for n_rows in (31_600, 10_000) for n_features in (20, 50)]
    return [
        {"kind": "run"},
        *(record("lann", *shape) for shape in shapes),
        *(record("faiss-hnsw", *shape, list_seconds=7.0) for shape in shapes),
    ]


def test_series_are_those_of_the_records(records):
    fit, predict, memory = read_series(records).values()
    assert fit["lann", 50] == {10_000: 10.0, 31_600: 31.6}
    assert list(fit["lann", 20]) == [10_000, 31_600]
    assert fit[YARDSTICK, 20] == {10_000: 17.0, 31_600: 38.6}
    assert predict["lann", 50][10_000] == 2.0
    assert memory["lann", 50][31_600] == pytest.approx(0.0316)


def test_a_picture_is_drawn(records, tmp_path):
    image = tmp_path / "scale.png"
    draw(records, image)
    assert image.read_bytes().startswith(b"\x89PNG")
    assert image.stat().st_size > 10_000
    assert len(PANELS) == 3
