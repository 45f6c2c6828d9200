"""Tables and models that are legal but unusual."""

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann import LANNClassifier, save


def test_a_column_twice_in_the_header_is_refused(fails, tmp_path):
    file = tmp_path / "twice.csv"
    file.write_text("a,a,y\n1,2,x\n3,4,z\n")
    assert "more than one column 'a'" in fails("fit", file, "--target", "y", "-o", tmp_path / "m.skops")


def test_huge_identifiers_of_a_parquet_table(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"ref": 1e20 * np.arange(1, 41), "a": rng.normal(size=40), "y": np.arange(40) % 2})
    frame["a"] += 3 * frame["y"]
    frame.to_parquet(tmp_path / "table.parquet")
    run(
        "fit",
        tmp_path / "table.parquet",
        "--target",
        "y",
        "--id",
        "ref",
        "-o",
        tmp_path / "m.skops",
        "--no-cv",
    )
    assert (tmp_path / "m.skops").exists()


def test_a_pipeline_that_makes_other_columns_is_explained(run, tmp_path):
    X, y = load_wine(return_X_y=True)
    model = make_pipeline(StandardScaler(), PCA(2), LANNClassifier(max_iter=1, random_state=0)).fit(X, y)
    save(model, tmp_path / "m.skops")
    pd.DataFrame(X).to_csv(tmp_path / "rows.csv", index=False)
    assert "Predicted" in run("explain", tmp_path / "m.skops", tmp_path / "rows.csv", "--row", "3")
