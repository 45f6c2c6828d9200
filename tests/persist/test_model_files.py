"""Files of every format so far are loaded, and predict what they predicted when they were written."""

import json

import numpy as np
import pytest

from lann.persist import load_with_table
from lann.persist._model_file import FORMAT
from tests.model_files.make import FOLDER, TABLE, predictions


def test_there_is_a_file_of_every_format():
    assert sorted(path.stem for path in FOLDER.glob("*.lann")) == sorted(
        f"format-{number}" for number in range(1, FORMAT + 1)
    )


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.lann")), ids=lambda path: path.stem)
def test_files_of_earlier_versions_predict_the_same(path):
    model, table = load_with_table(path)
    expected, found = json.loads(path.with_suffix(".json").read_text()), predictions(model)
    assert len(expected["labels"]) == 75
    assert found["labels"] == expected["labels"]
    assert found["neighbors"] == expected["neighbors"]
    # The last bits depend on the processor and its BLAS.
    np.testing.assert_allclose(found["probabilities"], expected["probabilities"], rtol=1e-9)
    np.testing.assert_allclose(found["distances"], expected["distances"], rtol=1e-9)
    assert (table.target, table.ignored, table.columns) == (TABLE.target, TABLE.ignored, TABLE.columns)
    # Fields that were added later are unknown.
    assert (table.data_sha256, table.cross_validation) == (None, None)
