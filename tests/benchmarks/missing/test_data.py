from benchmarks.missing import tasks
from benchmarks.missing.data import PLANTED, VOTES, informative_sources, random_sources


def test_large_sets_are_cut(monkeypatch):
    monkeypatch.setattr(tasks, "MOST_TRAINING_ROWS", 30)
    monkeypatch.setattr(tasks, "MOST_TEST_ROWS", 40)
    (source,), skipped = random_sources(["digits"], gaps=True)
    assert skipped == {}
    task = source.make(0, 0)
    assert task.X_train.shape == (30, 64)
    assert task.X_test.shape == (40, 64)


def test_sources_of_informative_gaps(folder):
    (votes, planted), skipped = informative_sources([VOTES, PLANTED])
    assert skipped == {}
    assert (votes.name, planted.name) == (VOTES, PLANTED)
    task = votes.make(0, 0)
    assert votes.has_tables
    assert task.X_train.dtypes.astype(str).tolist() == ["category", "category"]
    assert task.X_train.isna().sum().sum() > 5
    assert not planted.has_tables
    first, second = (planted.make(0, number) for number in (0, 1))
    assert first.X_train.shape == first.X_test.shape == (1000, 5)
    assert (first.y_train != second.y_train).any()


def test_without_the_file_votes_are_skipped(monkeypatch):
    monkeypatch.delenv("LANN_DATA", raising=False)
    found, skipped = informative_sources([VOTES, PLANTED])
    assert [source.name for source in found] == [PLANTED]
    assert skipped[VOTES].startswith("needs mixed/house-votes-84.csv.gz")
