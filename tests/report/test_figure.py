import os

import pytest
from PIL import Image
from sklearn.datasets import load_wine

from lann import LANNClassifier, LANNEmbedding
from lann.plot import EmbeddingDisplay
from lann.report import save_embedding_figure
from lann.tables import TrainingTable


@pytest.fixture(scope="module")
def embedded():
    frame = load_wine(as_frame=True).frame
    layout = LANNEmbedding(max_iter=20, random_state=0)
    training, rows = TrainingTable.from_frame(frame, "target").split(0.3)
    return training.fit(LANNClassifier(max_iter=0)).embed(frame, rows, embedding=layout)


def test_figures(embedded, tmp_path):
    save_embedding_figure(tmp_path / "e.png", embedded)
    save_embedding_figure(tmp_path / "e.svg", embedded, title="Wine")
    assert (tmp_path / "e.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "e.svg").read_text(encoding="utf-8")


def test_figures_have_a_high_resolution_and_are_files_of_all_formats(embedded, tmp_path):
    save_embedding_figure(tmp_path / "e.png", embedded, title="Wine")
    with Image.open(tmp_path / "e.png") as image:
        assert min(image.size) >= 900
        assert image.info["dpi"] == pytest.approx((200, 200), abs=0.1)
    save_embedding_figure(tmp_path / "e.pdf", embedded)
    assert (tmp_path / "e.pdf").read_bytes().startswith(b"%PDF")


def test_title_has_the_number_of_rows(embedded, tmp_path, monkeypatch):
    titles = []
    plot = EmbeddingDisplay.plot
    monkeypatch.setattr(
        EmbeddingDisplay, "plot", lambda self, *args: titles.append(self.title) or plot(self, *args)
    )
    save_embedding_figure(tmp_path / "e.png", embedded, title="Wine")
    assert titles == [f"Wine\n{embedded.n_new} new rows among {embedded.n_train} training rows"]


def test_invalid_files(embedded, tmp_path):
    with pytest.raises(ValueError, match=r"ends in \.png, \.svg or \.pdf"):
        save_embedding_figure(tmp_path / "e.gif", embedded)
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        save_embedding_figure(tmp_path / "none" / "e.png", embedded)
    assert os.listdir(tmp_path) == []
