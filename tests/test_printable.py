"""Objects, messages and sentences show control characters of a user's names escaped."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

import lann
from lann import LANNClassifier
from lann._support.format import printable
from lann.baselines import GLML
from lann.report import evaluate
from lann.streams import SAMKNN
from lann.tables import LabeledRows, ModelInfo, Reading, TableModel, TrainingTable

# A color, a tab, two kinds of line breaks, NUL, DEL, C1, reversed text, a separator of lines, and no width.
HOSTILE = "\x1b[31m\t\r\n\x00\x7f\x9b\u202e\u2066\u2028\u200b"
SHOWN = r"\x1b[31m\t\r\n\x00\x7f\x9b\u202e\u2066\u2028\u200b"
RAW = re.compile(f"[{re.escape(HOSTILE.replace('[31m', ''))}]")
TARGET, ID, NUMBER, CATEGORY = (f"{name}{HOSTILE}" for name in ("target", "id", "number", "category"))


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    number = rng.normal(size=40).round(2)
    return pd.DataFrame(
        {
            ID: [f"row {row}{HOSTILE}" for row in range(40)],
            NUMBER: number,
            CATEGORY: rng.choice([f"a{HOSTILE}", f"b{HOSTILE}"], 40),
            TARGET: np.where(number > 0, f"yes{HOSTILE}", f"no{HOSTILE}"),
        }
    )


@pytest.fixture(scope="module")
def model(frame):
    return TableModel.fit(frame, TARGET, id=ID)


def test_which_characters_are_escaped():
    assert printable(HOSTILE) == SHOWN
    assert printable("\ufeff\xad\u2029\u061c\udcff\U000e0041") == r"\ufeff\xad\u2029\u061c\udcff\U000e0041"
    # Spaces, accents, other scripts with their joiners, emoji of several characters, and backslashes stay.
    plain = "naïve e\u0301 1\xa0000\u202f€ नक्\u200dष می\u200cخواهم 👩\u200d🔬 C:\\new [kg]"
    assert printable(plain) == plain
    assert printable(printable(HOSTILE)) == SHOWN


def test_results_are_shown_escaped(frame, model, tmp_path):
    explanation = model.explain(frame.head(3))
    model.save(tmp_path / "model.lann")
    frame.to_parquet(tmp_path / "rows.parquet")
    table = TrainingTable.from_frame(frame, TARGET, id=ID)
    found = [
        model,
        model.classifier,
        table,
        table.columns,
        explanation,
        explanation.overview(),
        explanation.row(0),
        model.counterfactuals(frame, [0]),
        model.suspicious_rows(),
        model.labeled_rows(frame),
        evaluate(model, frame),
        ModelInfo.from_file(tmp_path / "model.lann"),
        Reading.from_file(tmp_path / "rows.parquet"),
    ]
    for result in found:
        for text in (str(result), repr(result)):
            assert all(RAW.search(line) is None for line in text.split("\n")), type(result)
    assert repr(table) == f"<TrainingTable of {TARGET!r}: 40 rows, 2 columns in use>"
    assert [type(result) for result in found].count(LabeledRows) == 1


def test_sentences_are_one_line_of_visible_text(frame, model):
    for sentence in model.explain(frame.head(8)).in_words():
        assert f"{SHOWN}" in sentence
        assert RAW.search(sentence) is None
    # The values themselves are as they were given.
    assert model.explain(frame.head(1)).predictions[0] in set(frame[TARGET])


def test_an_explanation_of_a_stream_is_shown_escaped(frame):
    X = frame[[NUMBER]]
    explanation = SAMKNN(random_state=0).partial_fit(X, frame[TARGET]).explain_one(X.iloc[0])
    for text in (explanation.sentence, repr(explanation), *str(explanation).split("\n")):
        assert SHOWN in text or "vote" in text
        assert RAW.search(text) is None


def test_verbose_output_is_escaped(frame, capsys):
    X = frame[[NUMBER]].to_numpy()
    GLML(verbose=1).fit(X, frame[TARGET])
    LANNClassifier(verbose=1, max_iter=1, random_state=0).fit(frame[[NUMBER, CATEGORY]], frame[TARGET])
    printed = capsys.readouterr().out
    assert f"class yes{SHOWN}" in printed
    assert RAW.search(printed.replace("\n", "")) is None


def test_messages_show_names_escaped(frame, model):
    other = f"other{HOSTILE}"
    calls = [
        lambda: TableModel.fit(frame, other),
        lambda: TableModel.fit(frame, TARGET, kinds={CATEGORY: "number"}),
        lambda: model.predict(frame.drop(columns=CATEGORY)),
        lambda: model.predict(frame.assign(**{NUMBER: f"text{HOSTILE}"})),
        lambda: model.counterfactuals(frame, [0], target=other),
        lambda: model.counterfactuals(frame, [0], frozen=[other]),
        lambda: evaluate(model, frame.assign(**{TARGET: other})),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=re.escape(SHOWN)) as caught:
            call()
        assert RAW.search(str(caught.value)) is None
    correlated = frame[[NUMBER]].assign(**{other: frame[NUMBER]})
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        TableModel.fit(frame.assign(**{f"constant{HOSTILE}": HOSTILE}), TARGET, id=ID)
        clf = LANNClassifier(max_iter=1, random_state=0).fit(correlated, frame[TARGET])
        clf.explain(correlated).summarize()
    messages = [str(note.message) for note in notes]
    assert any(f"constant{SHOWN}" in message for message in messages)
    assert any(f"(number{SHOWN} + other{SHOWN})" in message for message in messages)
    assert not any(RAW.search(message) for message in messages)


def test_files_keep_the_text(frame, model, tmp_path):
    model.save(tmp_path / "model.lann")
    assert lann.load(tmp_path / "model.lann").classes_.tolist() == [f"no{HOSTILE}", f"yes{HOSTILE}"]
