"""The explorer in a browser: what a person can do with it."""

from __future__ import annotations

import csv
import io
import json
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, confusion_matrix, log_loss, roc_auc_score

import lann
from lann import LANNClassifier
from lann.explorer import Options, build_explorer
from lann.tables import TableModel, TrainingTable

HOSTILE = "</script><img src=x onerror=\"document.title='changed'\">"
N = 240


def make_frame() -> pd.DataFrame:
    """Three classes that overlap, with gaps; names, columns, values and a label that are markup."""
    rng = np.random.default_rng(0)
    kind = np.arange(N) % 3
    frame = pd.DataFrame(
        {
            "name": [f"<b>p{row}" for row in range(N)],
            f"size {HOSTILE}": (kind + rng.normal(0, 0.7, N)).round(2),
            "color": np.where(rng.random(N) < 0.8, np.array(["red", HOSTILE, "=1+1"])[kind], "red"),
            "weight": rng.exponential(size=N).round(3),
            "open": rng.random(N) < 0.4,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, N), "D"),
            "group": np.array(["in", "out", HOSTILE])[kind],
        }
    )
    frame.loc[::9, "weight"] = np.nan
    frame.loc[kind == 1, f"size {HOSTILE}"] += 2
    frame.loc[3::30, "group"] = "out"  # wrong labels
    return frame


@pytest.fixture(scope="module")
def fitted():
    """A model, the rows that it was not fitted to, and the explorer of both."""
    frame = make_frame()
    training, rows = TrainingTable.from_frame(frame, "group", id="name").split(0.25)
    model = training.fit(LANNClassifier(15, random_state=0))
    explorer = build_explorer(
        model,
        model.new_rows(frame, rows),
        Options(method="pca", n_reasons=500, random_state=0),
        title=f"data {HOSTILE}",
    )
    return model, frame, rows, explorer


@pytest.fixture(scope="module")
def file(fitted, tmp_path_factory):
    path = tmp_path_factory.mktemp("explorer") / "explorer.html"
    fitted[3].save(path)
    return path


@pytest.fixture
def explorer(open_page, file):
    """Open the page at an address."""

    def explorer(fragment="", **options):
        page = open_page(file, fragment=fragment, **options)
        page.wait_for("document.documentElement.dataset.model === 'yes'")
        return page

    return explorer


def text(page, selector: str) -> str:
    return page.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")


def texts(page, selector: str) -> list[str]:
    return page.evaluate(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)")


def values_of(page, name: str) -> np.ndarray:
    """Return an array of the rows of the page, NaN for gaps."""
    found = f"Array.from(lannExplorer.rows.{name}, value => Number.isNaN(value) ? null : value)"
    return np.array(page.evaluate(found), float)


def show(page, tab: str, index: int = 4) -> None:
    """Show a tab, with a row and a group."""
    page.evaluate(
        f"lannExplorer.state.set({{row: lannExplorer.rows.key({index}), tab: {json.dumps(tab)}, "
        "group: {filters: [{flag: 'new'}]}})"
    )
    page.wait_for(f"document.getElementById('panel-{tab}').textContent.length > 100")
    page.settle()


def press_button(page, selector: str) -> None:
    page.evaluate(f"document.querySelector({json.dumps(selector)}).click()")
    page.settle()


def set_control(page, selector: str, value) -> None:
    """Set a control, with the events that a user causes."""
    name = "checked" if isinstance(value, bool) else "value"
    page.evaluate(
        f"(control => {{ control.{name} = {json.dumps(value)}; "
        "control.dispatchEvent(new Event('input')); control.dispatchEvent(new Event('change')); })"
        f"(document.querySelector({json.dumps(selector)}))"
    )
    page.settle()


def select_row(page, key: str, tab: str = "row") -> None:
    page.evaluate(f"lannExplorer.state.set({{row: {json.dumps(key)}, tab: {json.dumps(tab)}}})")
    shown = "#whatif-sentence" if tab == "whatif" else ".sentence"
    page.wait_for(f"document.querySelector('#panel-{tab} {shown}') !== null")
    page.settle()


def n_visible(page) -> int:
    return page.evaluate("lannExplorer.table.order.length")


def pixel_of(page, index: int) -> tuple[float, float]:
    """Return the pixel of a row on the map."""
    return page.evaluate(
        f"(({{points, box}}) => {{ const [x, y] = points.toScreen(points.x[{index}], points.y[{index}]); "
        "const {left, top} = box.getBoundingClientRect(); return [x + left, y + top]; })(lannExplorer.map)"
    )


def isolated_row(page) -> int:
    """Return a row that has no other one near itself on the map."""
    pixels = np.array([pixel_of(page, index) for index in range(0, N, 3)])
    distances = np.linalg.norm(pixels[:, None] - pixels[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    order = np.argsort(-distances.min(axis=1))
    return int(order[0]) * 3


def downloaded(page, selector: str) -> list[list[str]]:
    """Press a button that downloads a table, and return its rows."""
    page.evaluate(
        "(make => { URL.createObjectURL = blob => { window.blob = blob; return make(blob); }; })"
        "(URL.createObjectURL.bind(URL))"
    )
    press_button(page, selector)
    return list(csv.reader(io.StringIO(page.result_of("blob.text()"), newline="")))


def test_the_page_opens_without_messages_and_loads_nothing(explorer, file):
    page = explorer()
    page.settle()
    assert page.evaluate("document.title") == f"data {HOSTILE}: explored by lann"
    messages = [m for m in page.messages() if m["params"].get("entry", {}).get("source") != "rendering"]
    assert messages == []
    assert {url for url in page.requests() if not url.startswith("blob:")} == {file.as_uri()}
    assert "180 training rows · 60 new rows" in text(page, "#subtitle")
    colors = (
        "new Set(new Uint32Array(document.getElementById('map-points').getContext('2d')"
        ".getImageData(0, 0, 600, 400).data.buffer)).size"
    )
    assert page.evaluate(colors) > 20


def test_scripts_of_others_are_blocked(explorer):
    page = explorer()
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<p onclick=\"document.title=1\" id=own>x</p>')"
    )
    press_button(page, "#own")
    assert page.evaluate("document.title") != "1"
    policy = page.evaluate("document.querySelector('meta[http-equiv]').content")
    scripts = policy.split("script-src")[1]
    assert "unsafe" not in scripts
    assert "http" not in scripts


@pytest.mark.parametrize("tab", ["row", "whatif", "group", "review", "model"])
def test_text_of_the_table_is_not_markup(explorer, tab):
    page = explorer()
    page.evaluate(
        "lannExplorer.state.set({row: 'new-' + lannExplorer.rows.rowNumbers[200], "
        f"group: {{filters: [{{flag: 'new'}}]}}, tab: {json.dumps(tab)}}})"
    )
    page.settle()
    if tab == "review":
        press_button(page, "#review-next")
    page.wait_for(f"document.getElementById('panel-{tab}').textContent.length > 100")
    for color in ("column:0", "column:1", "label", "relevance:1"):
        set_control(page, "#color-choice", color)
    page.settle()
    assert (
        page.evaluate(
            "document.querySelectorAll('img, b:not(#panel-row b, .panel b, #map-tooltip b)').length"
        )
        == 0
    )
    assert "changed" not in page.evaluate("document.title").replace(HOSTILE, "")
    assert HOSTILE in page.evaluate("document.body.innerText")


def test_a_click_on_the_map_shows_the_rows_that_decided(explorer, fitted):
    model, frame, _, _ = fitted
    page = explorer()
    index = isolated_row(page)
    name = page.evaluate(f"lannExplorer.rows.name({index})")
    x, y = pixel_of(page, index)
    page.move_to(x, y)
    assert name in text(page, "#map-tooltip")
    page.click(x, y)
    page.wait_for("document.querySelector('#panel-row .sentence') !== null")
    assert text(page, "#panel-row h2") == name
    row = int(page.evaluate(f"lannExplorer.rows.rowNumbers[{index}]"))
    explanation = model.explain(frame, [row])
    assert f"Predicted {explanation.predictions[0]}" in text(page, ".sentence")
    listed = texts(page, ".near-rows tbody tr:not(.own) th")
    assert len(listed) >= 5
    assert listed == explanation.neighbor_ids[0][: len(listed)].tolist()
    voted = explanation.neighbor_labels[0][explanation.vote_shares[0] > 0]
    n_same = (voted == explanation.predictions[0]).sum()
    assert f"{n_same} of {len(voted)} similar rows" in text(page, ".sentence")
    # The table and the address have it, too.
    assert text(page, ".rows tr.chosen th") == name
    page.wait_for("location.hash.includes('row=')")
    # Another neighbor is a click away.
    press_button(page, ".near-rows tbody tr:not(.own) button")
    page.wait_for(f"document.querySelector('#panel-row h2').textContent === {json.dumps(listed[0])}")


def test_reasons_and_relevances_are_those_of_python(explorer, fitted):
    model, frame, rows, _ = fitted
    page = explorer()
    row = int(rows[3])
    select_row(page, f"new-{row}")
    explanation = model.explain(frame, [row])
    predicted = explanation.classes.tolist().index(explanation.predictions[0])
    supports, errors = explanation.supports[0, predicted], explanation.support_errors[0, predicted]
    cells = page.evaluate(
        "[...document.querySelectorAll('#panel-row table[class=dense] tbody tr')].map("
        "line => [...line.children].map(cell => cell.textContent))"
    )
    found = {name: cells for name, _, *cells in cells}
    assert len(found) == 5
    for j, name in enumerate(model.feature_names):
        support, error, relevance = supports[j], errors[j], explanation.relevances[0, j]
        assert abs(float(found[name][0].replace("−", "-").strip("+%<")) / 100 - support) < 0.00101
        assert abs(float(found[name][1]) / 200 - error) < 0.00051
        assert abs(float(found[name][2].strip("%<")) / 100 - relevance) < 0.00101


def test_maps_and_colors_can_be_chosen(explorer):
    page = explorer()

    def picture():
        page.settle()
        return page.evaluate("document.getElementById('map-points').toDataURL()")

    colors = page.evaluate(
        "[...document.querySelectorAll('#color-choice option')].map(option => option.value)"
    )
    assert {"label", "confidence", "error", "decision", "column:1", "relevance:1"} <= set(colors)
    pictures = []
    for color in colors:
        set_control(page, "#color-choice", color)
        pictures.append(picture())
        assert page.evaluate("document.getElementById('map-legend').children.length") > 0
    assert len(set(pictures)) >= len(pictures) - 3  # columns of which nothing depends look alike
    page.evaluate("lannExplorer.state.set({color: 'label'})")
    assert page.evaluate("document.getElementById('color-choice').value") == "label"
    before = picture()
    set_control(page, "#map-choice", "plain")
    assert picture() != before
    set_control(page, "#map-choice", "xy")
    set_control(page, "#map-x", "0")
    set_control(page, "#map-y", "1")
    # The pixels are those of the values: larger numbers are farther to the right.
    sizes, pixels = page.evaluate(
        "[Array.from(lannExplorer.rows.columns[0].values), Array.from(lannExplorer.map.points.x)]"
    )
    assert np.corrcoef(sizes, pixels)[0, 1] > 0.999
    page.wait_for("location.hash.includes('map=xy')")


def test_the_map_is_moved_and_zoomed(explorer):
    page = explorer()
    left, top = page.evaluate(
        "(({left, top}) => [left, top])(document.getElementById('map-box').getBoundingClientRect())"
    )
    before = pixel_of(page, 5)
    page.drag((left + 200, top + 200), (left + 230, top + 210), (left + 250, top + 220))
    page.settle()
    after = pixel_of(page, 5)
    assert np.allclose(np.subtract(after, before), [50, 20], atol=1.5)
    page.move_to(*after, turn=-500)
    page.settle()
    assert np.allclose(pixel_of(page, 5), after, atol=2)  # under the pointer
    scale = page.evaluate("lannExplorer.map.points.view.scale / lannExplorer.map.points.least")
    assert scale > 1.5
    page.evaluate("document.getElementById('map-box').focus()")
    page.press("0", 48, "0")
    page.settle()
    assert np.allclose(pixel_of(page, 5), before, atol=1.5)


def test_rows_are_sorted_searched_and_filtered(explorer):
    page = explorer()
    weights = np.array(
        page.evaluate(
            "Array.from(lannExplorer.rows.columns[2].values, value => Number.isNaN(value) ? null : value)"
        ),
        float,
    )
    press_button(page, "th:nth-child(7) button")
    order = page.evaluate("lannExplorer.table.order")
    shown = weights[order]
    n_known = (~np.isnan(weights)).sum()
    assert (np.diff(shown[:n_known]) <= 0).all()
    assert np.isnan(shown[n_known:]).all()  # gaps come last
    assert (
        page.evaluate("document.querySelector('th:nth-child(7)').getAttribute('aria-sort')") == "descending"
    )
    press_button(page, "th:nth-child(7) button")
    assert (np.diff(weights[page.evaluate("lannExplorer.table.order")][:n_known]) >= 0).all()
    # A range, made with the form.
    press_button(page, "#add-filter")
    set_control(page, "#filter-field", "column:2")
    set_control(page, "#filter-editor input", "0.5")
    press_button(page, "#apply-filter")
    assert n_visible(page) == (weights >= 0.5).sum()
    assert "weight ≥ 0.5" in text(page, ".chip")
    # Categories, besides.
    press_button(page, "#add-filter")
    set_control(page, "#filter-field", "column:1")
    page.evaluate("document.querySelector('#filter-editor input').checked = true")
    press_button(page, "#apply-filter")
    codes = values_of(page, "columns[1].values")
    assert n_visible(page) == ((weights >= 0.5) & (codes == 0)).sum()
    found = downloaded(page, "#rows-csv")
    assert found[0][:2] == ["id", "group"]
    assert len(found) == 1 + n_visible(page)
    press_button(page, "#clear-filters")
    assert n_visible(page) == N
    # Flags.
    wrong = values_of(page, "labels") != page.evaluate("Array.from(lannExplorer.rows.predictions)")
    press_button(page, ".flag")
    assert n_visible(page) == wrong.sum() > 0
    press_button(page, ".flag")
    # An id, and a value.
    set_control(page, "#search", "p17")
    page.wait_for("lannExplorer.table.order.length < 20")
    assert {
        page.evaluate(f"lannExplorer.rows.name({i})") for i in page.evaluate("lannExplorer.table.order")
    } == {"<b>p17", *(f"<b>p17{digit}" for digit in range(10))}
    set_control(page, "#search", "red")
    page.wait_for(f"lannExplorer.table.order.length === {int((make_frame()['color'] == 'red').sum())}")


def test_cells_of_tables_that_spreadsheets_would_run_are_guarded(explorer):
    page = explorer()
    found = downloaded(page, "#rows-csv")
    column = found[0].index("color")
    assert {row[column] for row in found[1:]} == {"red", HOSTILE, "'=1+1"}


def test_the_table_is_used_by_keyboard(explorer):
    page = explorer()
    page.evaluate("document.getElementById('table-box').focus()")
    page.press("ArrowDown", 40)
    page.press("ArrowDown", 40)
    page.settle()
    second = page.evaluate("lannExplorer.rows.name(lannExplorer.table.order[1])")
    assert text(page, ".rows tr.chosen th") == second
    page.press("End", 35)
    page.settle()
    assert text(page, ".rows tr.chosen th") == page.evaluate(
        "lannExplorer.rows.name(lannExplorer.table.order.at(-1))"
    )
    # Only rows in sight are elements.
    assert page.evaluate("document.querySelectorAll('.rows tbody tr').length") < 100


def test_predictions_follow_values(explorer, fitted):
    model, frame, rows, _ = fitted
    page = explorer()
    row = next(row for row in rows.tolist() if frame["color"].iloc[row] == HOSTILE)
    select_row(page, f"new-{row}", "whatif")
    before = text(page, "#whatif-sentence")
    clf, changed = model.classifier, frame.iloc[[row]].copy()

    def check():
        page.wait_for("!lannExplorer.whatIf.isBusy")
        probabilities = clf.predict_proba(model.labeled_rows(changed).X)[0]
        found = texts(page, "#panel-whatif .result .amount")
        expected = sorted(probabilities, reverse=True)
        assert np.allclose([float(text.strip("<>%")) / 100 for text in found], expected, atol=0.0101)
        label = clf.classes_[probabilities.argmax()]
        assert label in text(page, "#whatif-sentence")

    check()
    size = frame.columns[1]
    for value in (2.5, -1.0):
        set_control(page, "#edit-0 input[type=range]", str(value))
        changed[size] = value
        check()
    assert text(page, "#whatif-sentence") != before
    set_control(
        page,
        "#edit-1 select",
        page.evaluate(
            "[...document.querySelectorAll('#edit-1 option')].find(o => o.textContent === 'red').value"
        ),
    )
    changed["color"] = "red"
    check()
    # What each of several changes does.
    page.wait_for("document.getElementById('edit-0').dataset.alone !== undefined")
    page.evaluate("document.querySelector('#edit-2 .gap input').click()")
    changed["weight"] = np.nan
    check()
    page.wait_for("location.hash.includes('edits=')")
    # The address restores the changes.
    again = explorer(page.evaluate("location.hash"))
    again.wait_for("document.querySelector('#whatif-sentence') !== null && !lannExplorer.whatIf.isBusy")
    assert text(again, "#whatif-sentence") == text(page, "#whatif-sentence")
    page.bring_to_front()
    # Back, one column and all.
    press_button(page, "#edit-2 .reset")
    changed["weight"] = frame["weight"].iloc[row]
    check()
    press_button(page, "#reset-all")
    page.wait_for("!lannExplorer.whatIf.isBusy")
    assert text(page, "#whatif-sentence") == before


def test_the_smallest_change_leads_to_another_prediction(explorer, fitted):
    model, frame, rows, _ = fitted
    page = explorer()
    n_found = 0
    for row in rows[:6].tolist():
        select_row(page, f"new-{row}", "whatif")
        press_button(page, "#find-change")
        page.wait_for("document.querySelector('#found-change').textContent !== 'Searching …'")
        if "No change" in text(page, "#found-change"):
            continue
        n_found += 1
        before = model.predict(frame.iloc[[row]])["prediction"].iloc[0]
        press_button(page, "#apply-change")
        page.wait_for("!lannExplorer.whatIf.isBusy")
        edits = page.evaluate("lannExplorer.state.get('edits')")
        values = model.new_rows(frame, [row]).X[0].copy()
        for column, value in edits.items():
            values[int(column)] = value
        after = model.classifier.model_.vote(*model.classifier.model_.voters(values[None])).probabilities[0]
        assert after.max() >= 0.6
        assert model.classifier.classes_[after.argmax()] != before
        assert 1 <= len(edits) <= 3
        # Columns that may not change do not.
        page.evaluate(f"document.querySelector('#edit-{next(iter(edits))} > input').click()")
        press_button(page, "#reset-all")
        press_button(page, "#find-change")
        page.wait_for("document.querySelector('#found-change').textContent !== 'Searching …'")
        if "No change" not in text(page, "#found-change"):
            press_button(page, "#apply-change")
            assert next(iter(edits)) not in page.evaluate("lannExplorer.state.get('edits')")
        page.evaluate("lannExplorer.state.set({frozen: [], edits: {}})")
    assert n_found >= 3


def test_a_group_is_drawn_and_described(explorer):
    page = explorer()
    press_button(page, "#tool-lasso")
    pixels = np.array([pixel_of(page, index) for index in range(N)])
    (left, top), (right, bottom) = np.quantile(pixels, [0.1, 0.6], axis=0).round().tolist()
    corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
    page.drag(*corners, corners[0])
    page.wait_for("document.querySelector('#panel-group h2').textContent.startsWith('Group of')")
    inside = ((pixels > corners[0]) & (pixels < corners[2])).all(axis=1)
    n_inside = int(text(page, "#panel-group h2").split()[2])
    assert 0 < n_inside < N
    assert abs(n_inside - inside.sum()) <= 2  # the outline is rounded
    # Labels and columns of the group, and of the others.
    labels = values_of(page, "labels").astype(int)
    members = np.array(page.evaluate("Array.from(lannExplorer.group('group'))"), bool)
    shares = texts(page, "#panel-group .shares .amount")
    expected = np.sort(np.bincount(labels[members], minlength=3) / members.sum())[::-1]
    assert np.allclose(
        [float(share.split("%")[0].strip("<>")) / 100 for share in shares], expected, atol=0.01
    )
    # The difference of numbers is that of Kolmogorov and Smirnov.
    from scipy.stats import ks_2samp

    size = values_of(page, "columns[0].values")
    shown = dict(
        page.evaluate(
            "[...document.querySelectorAll('#panel-group tbody tr')].map("
            "line => [line.children[0].textContent, line.children[1].textContent])"
        )
    )
    name = page.evaluate("lannExplorer.rows.columns[0].name")
    assert abs(float(shown[name]) - ks_2samp(size[members], size[~members]).statistic) < 0.006
    found = downloaded(page, "#group-csv")
    assert len(found) == 1 + n_inside
    # A second group, made of filtered rows.
    press_button(page, "#keep-second")
    press_button(page, ".flag")
    press_button(page, "#as-group")
    assert f"compared with {n_inside} rows" in text(page, "#panel-group")
    page.wait_for("location.hash.includes('other=')")
    again = explorer(page.evaluate("location.hash"))
    assert text(again, "#panel-group .row-head") == text(page, "#panel-group .row-head")
    page.bring_to_front()
    press_button(page, "#clear-group")
    assert page.evaluate("lannExplorer.group('group')") is None


def test_rows_are_reviewed_by_keyboard_and_marks_are_kept(explorer):
    page = explorer("#tab=review&queue=mistakes")
    page.evaluate("localStorage.clear(); lannExplorer.marks.values = {}")
    assert page.evaluate("lannExplorer.review.list.length") == page.evaluate(
        "Array.from(lannExplorer.rows.labels.keys()).filter(lannExplorer.rows.isMistake).length"
    )
    confidences = page.evaluate("lannExplorer.review.list.map(i => lannExplorer.rows.confidences[i])")
    assert confidences == sorted(confidences, reverse=True)
    page.press("j", 74, "j")
    page.settle()
    assert text(page, "#queue-position").startswith("1 of ")
    page.wait_for("document.querySelector('#panel-review .sentence') !== null")
    first = page.evaluate("lannExplorer.rows.key(lannExplorer.row())")
    page.press("2", 50, "2")  # wrong, and on to the next
    page.settle()
    assert text(page, "#queue-position").startswith("2 of ")
    page.press("1", 49, "1")
    page.press("k", 75, "k")
    page.press("k", 75, "k")
    page.settle()
    assert page.evaluate("lannExplorer.rows.key(lannExplorer.row())") == first
    assert page.evaluate("document.getElementById('verdict-wrong').getAttribute('aria-pressed')") == "true"
    set_control(page, "#note", "=looks odd")
    again = explorer("#tab=review&queue=mistakes")
    assert again.evaluate(f"lannExplorer.marks.values[{json.dumps(first)}]") == {
        "verdict": "wrong",
        "note": "=looks odd",
    }
    found = downloaded(again, "#export-marks")
    assert found[0][-2:] == ["mark", "note"]
    assert sorted(row[-2] for row in found[1:]) == ["right", "wrong"]
    assert "'=looks odd" in [row[-1] for row in found[1:]]


@pytest.mark.parametrize("queue", ["suspicious", "rejected"])
def test_other_queues_of_the_review(explorer, queue):
    page = explorer(f"#tab=review&queue={queue}")
    assert page.evaluate("lannExplorer.review.list.length") > 0
    press_button(page, "#review-next")
    page.wait_for("document.querySelector('#panel-review .sentence') !== null")
    # Another test has marked some rows.
    first = "lannExplorer.review.list.find((i) => !lannExplorer.marks.get(i).verdict)"
    page.wait_for(f"{first} === lannExplorer.row()")


def test_scores_confusions_and_the_decision(explorer, fitted):
    model, frame, rows, _ = fitted
    page = explorer("#tab=model")
    new = frame.iloc[rows]
    probabilities = model.classifier.predict_proba(model.labeled_rows(new).X)
    labels = new["group"].to_numpy()
    predictions = model.classifier.classes_[probabilities.argmax(axis=1)]
    names, shown = texts(page, "#panel-model .facts dt"), texts(page, "#panel-model .facts dd")
    facts = dict(zip(names, shown, strict=True))
    assert facts["accuracy"] == f"{accuracy_score(labels, predictions):.1%}"
    assert (
        abs(float(facts["log-loss"]) - log_loss(labels, probabilities, labels=model.classifier.classes_))
        < 0.001
    )
    counts = page.evaluate(
        "[...document.querySelectorAll('.confusion tbody tr')].map("
        "line => [...line.querySelectorAll('td')].map(cell => Number(cell.textContent) || 0))"
    )
    assert counts == confusion_matrix(labels, predictions, labels=model.classifier.classes_).tolist()
    press_button(page, ".confusion td button")
    assert n_visible(page) == next(count for line in counts for count in line if count)
    press_button(page, "#clear-filters")
    set_control(page, "#threshold", "0.8")
    accepted = probabilities.max(axis=1) >= 0.8
    outcome = text(page, "#threshold-outcome")
    assert f"{accepted.mean():.1%} accepted" in outcome
    assert f"{(predictions != labels)[accepted].mean():.1%} are wrong" in outcome
    press_button(page, "#show-rejected")
    far, confidences = (
        np.array(page.evaluate(f"Array.from(lannExplorer.rows.{name})")) for name in ("far", "confidences")
    )
    assert n_visible(page) == ((far == 1) | (confidences < 0.8)).sum()
    press_button(page, "#color-decision")
    assert "rejected as doubtful" in text(page, "#map-legend")
    set_control(page, "#judged", "training")
    assert "optimistic" in text(page, "#panel-model")
    # What was learned.
    page.wait_for("document.querySelectorAll('.curves figure').length > 0")
    assert "relevance" in text(page, "#panel-model")


def test_the_area_under_the_curve_is_that_of_scikit_learn(open_page, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)).round(1)
    y = X[:, 0] + rng.normal(size=200) > 0
    clf = LANNClassifier(5, random_state=0).fit(X[:150], y[:150])
    lann.explore(clf, X[150:], y[150:], method="pca", n_reasons=10).save(tmp_path / "e.html")
    page = open_page(tmp_path / "e.html", fragment="#tab=model")
    page.wait_for("document.querySelectorAll('#panel-model .facts dd').length === 5")
    shown = float(page.evaluate("document.querySelectorAll('#panel-model .facts dd')[3].textContent"))
    assert abs(shown - roc_auc_score(y[150:], clf.predict_proba(X[150:])[:, 1])) < 0.001


@pytest.mark.parametrize(
    "fragment",
    [
        "#row=99999", "#row=__proto__&tab=constructor&map=xy:99:1&color=nothing", "#filters=[1,null,{}]",
        "#filters={", "#group={\"polygon\":[[1],[2],3]}&tab=group", "#edits={\"99\":1,\"x\":2}&tab=whatif",
        "#edits=null&frozen=3&sort=7&threshold=x&queue=toString&tab=review", f"#search={HOSTILE}",
        "#group={\"filters\":3}&other={\"filters\":[{\"field\":\"label\",\"values\":{}}]}&tab=group",
    ],
)  # fmt: skip
def test_addresses_that_say_something_else_are_harmless(explorer, fragment):
    page = explorer(fragment)
    select_row(page, page.evaluate("lannExplorer.rows.key(7)"))
    errors = [m for m in page.messages() if m["method"] == "Runtime.exceptionThrown"]
    assert errors == []
    assert page.evaluate("document.getElementById('failure').hidden")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(explorer, scheme):
    page = explorer(scheme=scheme)
    select_row(page, page.evaluate("lannExplorer.rows.key(3)"))
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    assert page.least_contrast() >= 4.5
    press_button(page, "#theme")
    assert (
        page.evaluate("document.documentElement.dataset.theme") == {"light": "dark", "dark": "light"}[scheme]
    )
    assert page.least_contrast() >= 4.5


@pytest.mark.parametrize("width", [360, 800, 1400])
@pytest.mark.parametrize("tab", ["row", "whatif", "group", "review", "model"])
def test_the_page_is_not_wider_than_the_screen(explorer, width, tab):
    page = explorer(width=width)
    show(page, tab)
    page.settle()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.getElementById('map-box').clientHeight") > 150


def test_the_page_is_printed_with_the_map_and_the_details(explorer):
    page = explorer()
    select_row(page, page.evaluate("lannExplorer.rows.key(3)"))
    page.send("Emulation.setEmulatedMedia", media="print")
    page.settle()
    assert page.evaluate("getComputedStyle(document.querySelector('.list')).display") == "none"
    assert page.evaluate(
        "(panel => panel.scrollHeight <= panel.clientHeight)(document.querySelector('#panel-row'))"
    )
    assert len(page.send("Page.printToPDF")["data"]) > 10_000


def test_webgl_draws_the_same_points(open_page, file):
    """Where there is no GPU, the browser imitates one if it is asked to."""
    page = open_page(file, fragment="#renderer=webgl")
    page.wait_for("document.documentElement.dataset.ready === 'yes'")
    if page.evaluate("document.createElement('canvas').getContext('webgl2') === null"):
        pytest.skip("this browser has no WebGL2, not even an imitated one")
    other = open_page(file, fragment="#renderer=canvas")
    other.wait_for("document.documentElement.dataset.ready === 'yes'")
    names = [one.evaluate("lannExplorer.map.points.painter.name") for one in (page, other)]
    assert names == ["webgl", "image"]
    pictures = []
    for one in (page, other):
        one.bring_to_front()
        one.settle()
        one.settle()
        alpha = one.evaluate(
            "(own => { const copy = document.createElement('canvas'), context = copy.getContext('2d'); "
            "[copy.width, copy.height] = [own.width, own.height]; context.drawImage(own, 0, 0); "
            "const {data} = context.getImageData(0, 0, own.width, own.height); "
            "return Array.from({length: data.length / 4}, (_, k) => Number(data[4 * k + 3] > 100)).join(''); "
            "})(document.getElementById('map-points'))"
        )
        pictures.append(np.array(list(alpha)) == "1")
    both, either = np.logical_and(*pictures).sum(), np.logical_or(*pictures).sum()
    assert both > 500
    assert both / either > 0.75


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    """The checks of axe-core, installed for this test only."""
    folder = tmp_path_factory.mktemp("axe")
    try:
        subprocess.run(
            ["npm", "install", "--no-save", "--prefix", str(folder), "axe-core@4"],
            check=True, capture_output=True, timeout=120, cwd=folder,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"axe-core cannot be installed: {error}")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("tab", ["row", "whatif", "group", "review", "model"])
def test_there_is_no_violation_of_accessibility(explorer, axe, tab, scheme):
    page = explorer(scheme=scheme)
    show(page, tab)
    press_button(page, "#add-filter")
    page.settle()
    page.send("Runtime.evaluate", expression=axe)
    found = json.loads(
        page.result_of(
            "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']})"
            ".then(({violations}) => JSON.stringify("
            "violations.map(v => [v.id, v.help, v.nodes.map(n => n.html.slice(0, 200))])))"
        )
    )
    assert found == []


def test_a_model_that_the_page_does_not_know_is_shown_without_what_if(open_page, tmp_path):
    from tests.explorer.cases import WITHOUT_MODEL

    clf, queries = WITHOUT_MODEL["DANN"]()
    lann.explore(clf, queries, method="pca", n_reasons=5).save(tmp_path / "e.html")
    page = open_page(tmp_path / "e.html", fragment="#row=new-3&tab=row")
    page.wait_for("document.querySelectorAll('.near-rows tbody tr').length > 2")
    neighbors, _ = clf.model_.voters(queries[3:4])
    listed = texts(page, ".near-rows tbody tr:not(.own) th")
    assert listed == [f"row {j}" for j in neighbors[0][: len(listed)]]
    page.evaluate("lannExplorer.state.set({tab: 'whatif'})")
    assert "no what-if" in text(page, "#panel-whatif")


def test_the_page_is_alive_in_a_notebook(open_page, fitted, tmp_path):
    _, _, _, explorer = fitted
    file = tmp_path / "notebook.html"
    listen = "<script>window.told = []; addEventListener('message', event => told.push(event.data))</script>"
    file.write_text(f"<!doctype html><meta charset=utf-8>{listen}{explorer._repr_html_()}", "utf-8")
    page = open_page(file)
    page.wait_for("document.querySelector('iframe').contentDocument.documentElement.dataset.model === 'yes'")
    page.evaluate("document.querySelector('iframe').contentWindow.lannExplorer.state.set({row: '7'})")
    page.wait_for("told.length > 0")
    assert page.evaluate("told.at(-1).lannSelected") == ["<b>p7"]
    inside = "document.querySelector('iframe').contentDocument.querySelector('#panel-row .sentence') !== null"
    page.wait_for(inside)


def test_prototypes_are_shown_with_the_rows_they_decide_on(open_page, tmp_path):
    from tests.explorer.cases import CASES

    clf, queries = CASES["GMLVQ"]()
    lann.explore(clf, queries, clf.predict(queries), method="pca", n_reasons=5).save(tmp_path / "e.html")
    page = open_page(tmp_path / "e.html", fragment="#row=new-3")
    page.wait_for("document.querySelectorAll('.near-rows tbody tr').length > 2")
    assert "prototype" in text(page, ".near-rows")
    assert "100.0% of the new rows" in text(page, "#subtitle")


def test_a_table_model_shows_values_as_the_table_writes_them(open_page, tmp_path):
    frame = pd.DataFrame(
        {
            "price": [f"{n},50 €" for n in range(1000, 1040)],
            "day": [f"{n % 28 + 1}.05.2024" for n in range(40)],
        }
    )
    frame["sold"] = ["yes" if n % 40 < 20 else "no" for n in range(40)]
    model = TableModel.fit(frame, "sold", classifier=LANNClassifier(5, random_state=0))
    lann.explore(model, method="pca").save(tmp_path / "e.html")
    page = open_page(tmp_path / "e.html", fragment="#row=3&tab=whatif")
    page.wait_for("document.querySelectorAll('.slider').length === 2")
    cells = texts(page, ".rows tr.chosen td")
    assert cells[-2:] == ["1003,50 €", model.columns[1].format("2024-05-04")] == ["1003,50 €", "4.5.2024"]
    assert page.evaluate("document.querySelector('#edit-1 .date').textContent") == "4.5.2024"
