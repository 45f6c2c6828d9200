"""Take the pictures of docs/guide/explore.md: the explorer of the breast cancer data in a browser.

`python -m docs.tour_pictures` writes them into docs/img; run it after a change of what the page shows.
"""

import io
import tempfile
from pathlib import Path

from PIL import Image
from sklearn.datasets import load_breast_cancer

import lann
from lann.tables import TrainingTable
from tests.browser.chromium import Browser, Page, find_program

# Name of the picture, color scheme, width, and what is done before.
PICTURES = [
    ("tour_row", "light", 1280, "state.set({row: mistake, tab: 'row'})"),
    (
        "tour_whatif", "light", 1280,
        "state.set({row: mistake, tab: 'whatif'}); state.set({edits: {20: 20, 7: 0.09}})",
    ),
    (
        "tour_group", "dark", 1280,
        "const filters = [{field: 'confidence', range: [0, 0.9]}];"
        "state.set({row: null, tab: 'group', color: 'confidence', group: {filters}})",
    ),
    ("tour_model", "light", 1280, "state.set({tab: 'model', color: 'relevance:23'})"),
    ("tour_narrow", "light", 400, "state.set({row: mistake, tab: 'row'})"),
]  # fmt: skip
MISTAKE = """
const {rows, state} = lannExplorer;
const sure = (i) => (rows.isMistake(i) && rows.isNew(i) ? rows.confidences[i] : -1);
const mistake = rows.key(rows.shown.reduce((top, i) => (sure(i) > sure(top) ? i : top), rows.shown[0]));
"""


def write_page(path):
    """Write the explorer of the breast cancer data, a part of them held out."""
    data = load_breast_cancer(as_frame=True)
    frame = data.data.assign(diagnosis=data.target_names[data.target])
    table, held_out = TrainingTable.from_frame(frame, "diagnosis").split(0.3)
    model = table.fit()
    new = model.new_rows(frame, held_out)
    rows = frame.iloc[held_out].drop(columns="diagnosis")
    lann.explore(model, rows, new.labels, title="Breast cancer").save(path)


def main():
    folder = Path(__file__).parent / "img"
    with tempfile.TemporaryDirectory() as name:
        file = Path(name, "explorer.html")
        write_page(file)
        browser = Browser(find_program(), Path(name))
        for picture, scheme, width, action in PICTURES:
            page = Page(browser, file.as_uri(), width, scheme)
            page.wait_for("document.documentElement.dataset.model === 'yes'")
            page.evaluate(f"(() => {{ {MISTAKE} {action} }})()")
            page.result_of("new Promise(done => setTimeout(done, 1500))")
            page.settle()
            image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            image.quantize(128).save(folder / f"{picture}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
