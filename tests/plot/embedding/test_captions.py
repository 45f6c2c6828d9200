from lann.plot import EmbeddingDisplay


def test_long_note_is_wrapped(make_clusters):
    note = (
        "leave-one-out accuracy .98 on the training rows, and .96 on rows that were held out of the training"
    )
    display = EmbeddingDisplay(*make_clusters(3), names=["mine"], notes=[note]).plot()
    display.figure_.canvas.draw()
    lines = [text.get_text() for text in display.ax_.texts if text.get_text() not in ("0", "1", "2")]
    assert len(lines) == 3
    assert " ".join(lines[1:]) == note
    edge = display.figure_.bbox
    boxes = [text.get_window_extent() for text in display.ax_.texts]
    assert all(edge.x0 <= box.x0 and box.x1 <= edge.x1 for box in boxes)
