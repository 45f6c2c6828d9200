"""The service: its answers are those of the model, and what it does not take is one sentence."""

import asyncio
import json
import threading
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("fastapi")
from starlette.testclient import TestClient

from lann import LANNClassifier
from lann.service import Limits, create_app
from lann.tables import TableModel
from tests.service.conftest import HOSTILE

NUMBER = "rows[1]['size']: Input should be a valid number."
POSTS = ("/predict", "/explain", "/neighbors", "/counterfactual")


def sentence_of(response, status):
    """Return the sentence of an error."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert problem["status"] == status
    assert problem["detail"].endswith(".")
    assert "\n" not in problem["detail"]
    assert "Traceback" not in problem["detail"]
    return problem["detail"]


def test_rows_are_predicted_as_by_the_model(client, model, frame, rows):
    answer = client.post("/predict", json={"rows": rows}).json()["rows"]
    expected = model.predict(frame[:4])
    assert [row["id"] for row in answer] == expected["name"].tolist()
    assert [row["prediction"] for row in answer] == expected["prediction"].tolist()
    found = [[row["probabilities"][label] for label in ("big", "small")] for row in answer]
    np.testing.assert_allclose(found, expected.iloc[:, -2:], rtol=1e-12)
    assert all("true_label" not in row for row in answer)


def test_tables_are_answered_by_tables(client, model, frame):
    body = frame[:4].to_csv(index=False)
    headers = {"content-type": "text/csv", "accept": "text/csv"}
    response = client.post("/predict", content=body, headers=headers)
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    assert response.text == model.predict(frame[:4]).to_csv(index=False)
    as_json = client.post("/predict", content=body, headers={"content-type": "text/csv; charset=utf-8"})
    assert [row["true_label"] for row in as_json.json()["rows"]] == frame["kind"][:4].tolist()


def test_predictions_are_explained(client, model, frame, rows):
    (answer,) = client.post("/explain", json={"rows": rows[2:3]}).json()["rows"]
    explanation = model.explain(frame, [2], leave_out=None)
    expected = json.loads(json.dumps(explanation.to_dict()[0]))
    for name in ("prediction", "probabilities", "neighbors", "relevances", "reasons", "id"):
        assert answer[name] == expected[name], name
    table = client.post("/explain", json={"rows": rows[2:3]}, headers={"accept": "text/csv"})
    assert len(table.text.splitlines()) == 1 + 4


def test_neighbors_come_with_their_values(client, model, frame, rows):
    (answer,) = client.post("/neighbors?n_neighbors=3", json={"rows": rows[1:2]}).json()["rows"]
    found = model.kneighbors(frame[1:2], 3)
    assert [neighbor["row"] for neighbor in answer["neighbors"]] == found["neighbor_row"].tolist()
    np.testing.assert_allclose([neighbor["distance"] for neighbor in answer["neighbors"]], found["distance"])
    first = answer["neighbors"][0]
    assert (first["id"], first["label"]) == ("row 1", frame["kind"][1])
    assert first["values"][HOSTILE] == frame[HOSTILE][1]
    (usual,) = client.post("/neighbors", json={"rows": rows[:1]}).json()["rows"]
    assert len(usual["neighbors"]) == 5
    assert "nan" not in client.post("/neighbors", json={"rows": rows[:1]}).text.lower()


def test_smallest_changes_are_found(client, model, frame, rows):
    options = "?target=small&frozen=day&frozen=open&max_columns=2"
    answer = client.post(f"/counterfactual{options}", json={"rows": rows}).json()["rows"]
    assert len(answer) == 4
    assert all(row["becomes"] in ("small", None) for row in answer)
    changed = {change["column"] for row in answer for change in row["changes"]}
    assert changed
    assert changed <= {"size", HOSTILE}
    sentence = sentence_of(client.post("/counterfactual?target=no", json={"rows": rows}), 422)
    assert sentence == "There is no class 'no'; the classes are big, small."
    sentence = sentence_of(client.post("/counterfactual?frozen=no", json={"rows": rows}), 422)
    assert "'no'" in sentence


def test_the_columns_are_described(client):
    schema = client.get("/schema").json()
    assert schema["classes"] == ["big", "small"]
    assert schema["n_training_rows"] == 120
    assert [column["name"] for column in schema["columns"]] == ["size", HOSTILE, "open", "day"]
    assert [column["kind"] for column in schema["columns"]] == ["number", "category", "bool", "date"]
    assert schema["columns"][1]["categories"] == ["=1+1", "green", "red"]
    assert schema["columns"][0]["has_gaps"]
    assert schema["columns"][3]["range"] == ["2024-01-01", "2024-04-29"]
    assert schema["limits"]["max_rows"] == 20
    assert client.get("/health").json() == {"status": "ok"}


def test_the_request_model_has_the_columns(client):
    document = client.get("/openapi.json").json()
    assert set(document["paths"]) == {*POSTS, "/health", "/schema"}
    row = document["components"]["schemas"]["Row"]
    assert set(row["properties"]) == {"size", HOSTILE, "open", "day", "name"}
    assert set(row["required"]) == {"size", HOSTILE, "open", "day"}
    assert row["properties"][HOSTILE]["description"].startswith("One of: =1+1, green, red.")
    assert "31.05.2024" in row["properties"]["day"]["description"]
    references = {text.split('"')[0] for text in json.dumps(document).split("#/components/schemas/")[1:]}
    assert references <= set(document["components"]["schemas"])


def without(rows, name):
    return [{key: value for key, value in row.items() if key != name} for row in rows]


def changed(rows, **values):
    return [rows[0], rows[1] | values]


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda rows: {"rows": []}, "rows: List should have at least 1 item after validation, not 0."),
        (lambda rows: {"rows": [1]}, "rows[0]: Input should be an object."),
        (lambda rows: {"rows": without(rows, "size")}, "rows[0]['size']: Field required."),
        (
            lambda rows: {"rows": changed(rows, size="big")},
            NUMBER,
        ),
        (lambda rows: {"rows": changed(rows, size=True)}, NUMBER),
        (
            lambda rows: {"rows": changed(rows, size=10**400)},
            NUMBER.replace("valid", "finite"),
        ),
        (lambda rows: {"rows": changed(rows, open=2)}, "rows[1]['open']: Input should be a valid boolean."),
        (lambda rows: {"rows": changed(rows, day=[1])}, "rows[1]['day']: Input should be a valid string."),
        (lambda rows: {"rows": changed(rows, day="soon")}, "Column 'day' of the table must have dates"),
        (lambda rows: {"rows": rows, "more": 1}, "more: Extra inputs are not permitted."),
        (lambda rows: {"rows": rows * 6}, "rows: List should have at most 20 items"),
        (lambda rows: rows, "Input should be an object."),
    ],
)
def test_rows_of_another_kind_are_one_sentence(client, rows, path, change, expected):
    sentence = sentence_of(client.post(path, json=change(rows)), 422)
    assert sentence.startswith(expected), sentence


def test_more_rows_than_can_be_explained(client, rows, frame):
    assert client.post("/predict", json={"rows": rows * 2}).status_code == 200
    sentence = sentence_of(client.post("/explain", json={"rows": rows * 2}), 422)
    assert sentence == "A request may have 4 rows; this one has 8."
    table = frame[:21].to_csv(index=False)
    sentence = sentence_of(client.post("/predict", content=table, headers={"content-type": "text/csv"}), 422)
    assert sentence == "A request may have 20 rows; this one has 21."


@pytest.mark.parametrize(
    ("body", "media_type", "status"),
    [
        (b"", "application/json", 422),
        (b"{", "application/json", 422),
        (b'{"rows": [{"size": NaN}]}', "application/json", 422),
        (b"\xff\xfe\x00", "application/json", 422),
        (b'{"rows": [{"name": "\\ud800"}]}', "application/json", 422),
        (b"[" * 9_000 + b"]" * 9_000, "application/json", 422),
        (b'{"rows":' * 2_000, "application/json", 422),
        (b"x" * 20_001, "application/json", 413),
        (b"", "text/csv", 422),
        (b"size,open\n1,2,3\n", "text/csv", 422),
        (b"\x1f\x8b\x08\x00" + b"\x00" * 50, "text/csv", 415),
        (b"\x00\xff" * 500, "text/csv", 422),
        (b"rows=1", "application/x-www-form-urlencoded", 415),
        (b'{"rows": []}', "text/plain", 415),
    ],
)
def test_hostile_bodies_are_one_sentence(client, body, media_type, status):
    sentence_of(client.post("/predict", content=body, headers={"content-type": media_type}), status)


def test_cells_are_text_whatever_they_say(client, rows):
    row = rows[0] | {HOSTILE: "=cmd|' /C calc'!A0<script>alert(1)</script>", "name": "../../etc/passwd\x00"}
    response = client.post("/explain", json={"rows": [row]})
    assert response.status_code == 200
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["content-security-policy"].startswith("default-src 'none'")
    assert response.json()["rows"][0]["unseen"] == [HOSTILE]
    assert (
        "access-control-allow-origin"
        not in client.options("/predict", headers={"origin": "http://x"}).headers
    )


def test_paths_and_options_that_do_not_exist(client, rows):
    assert sentence_of(client.get("/no"), 404) == "Not Found."
    assert sentence_of(client.get("/predict"), 405) == "Method Not Allowed."
    assert sentence_of(client.post("/neighbors?n_neighbors=0", json={"rows": rows}), 422).startswith(
        "n_neighbors"
    )
    too_many = sentence_of(client.post("/neighbors?n_neighbors=999", json={"rows": rows}), 422)
    assert "120" in too_many


def test_a_chunked_body_is_limited_while_it_comes(client):
    sent = []

    def parts():
        for _ in range(100):
            sent.append(1)
            yield b"x" * 1000

    sentence_of(client.post("/predict", content=parts(), headers={"content-type": "application/json"}), 413)


def test_requests_need_the_token(model, rows):
    with TestClient(create_app(model, token="a" * 20)) as client:
        assert client.get("/health").status_code == 200
        for headers in ({}, {"authorization": "Bearer b"}, {"authorization": f"Basic {'a' * 20}"}):
            response = client.get("/schema", headers=headers)
            assert "token" in sentence_of(response, 401)
            assert response.headers["www-authenticate"] == "Bearer"
        assert client.get("/schema", headers={"authorization": f"Bearer {'a' * 20}"}).status_code == 200


def test_the_service_is_called_by_its_names_only(model):
    with TestClient(create_app(model, hosts=["localhost", "[::1]"])) as client:
        for host in ("localhost", "LOCALHOST:80", "[::1]:8000", "[::1]"):
            assert client.get("/health", headers={"host": host}).status_code == 200
        for host in ("evil.example", "localhost.evil.example", "localhost:80:80", ""):
            sentence_of(client.get("/health", headers={"host": host}), 400)


def test_requests_end_in_time(model, rows, monkeypatch):
    from lann.service import _answers

    released = threading.Event()
    monkeypatch.setattr(_answers, "predict", lambda *_: released.wait(30))
    with TestClient(create_app(model, limits=Limits(max_seconds=0.2))) as client:
        assert "0.2 seconds" in sentence_of(client.post("/predict", json={"rows": rows}), 503)
        released.set()
        assert client.get("/health").status_code == 200


def test_requests_wait_up_to_a_number(model, rows, monkeypatch):
    from lann.service import _answers

    released, predict = threading.Event(), _answers.predict

    def slow(*arguments):
        assert released.wait(30)
        return predict(*arguments)

    monkeypatch.setattr(_answers, "predict", slow)
    app = create_app(model, limits=Limits(max_requests=4))

    async def ask_many():
        import httpx

        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://lann") as client:
            waiting = [asyncio.create_task(client.post("/predict", json={"rows": rows})) for _ in range(4)]
            await asyncio.sleep(0)
            while (response := await client.get("/health")).status_code == 200:
                await asyncio.sleep(0)
            released.set()
            return response, await asyncio.gather(*waiting), await client.get("/health")

    rejected, answered, later = asyncio.run(ask_many())
    assert sentence_of(rejected, 503) == "The service has too many requests; try again later."
    assert rejected.headers["retry-after"] == "1"
    assert [response.status_code for response in answered] == [200] * 4
    assert later.status_code == 200


def test_an_error_of_the_service_says_nothing_of_its_inside(model, rows, monkeypatch):
    from lann.service import _answers

    def fail(*_):
        raise RuntimeError("a secret")

    monkeypatch.setattr(_answers, "predict", fail)
    with TestClient(create_app(model), raise_server_exceptions=False) as client:
        sentence = sentence_of(client.post("/predict", json={"rows": rows}), 500)
    assert sentence == "The service failed; its log says why."


def test_a_model_without_column_names_is_served():
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = TableModel(LANNClassifier(3, random_state=0).fit(X, (X[:, 0] > 0).astype(int)))
    with TestClient(create_app(model)) as client:
        row = dict(zip(model.feature_names, X[0].tolist(), strict=True))
        (answer,) = client.post("/predict", json={"rows": [row]}).json()["rows"]
    assert answer["prediction"] == int(X[0, 0] > 0)


@pytest.mark.parametrize("name", [field.name for field in fields(Limits)])
def test_limits_are_positive(name):
    with pytest.raises(ValueError, match=name):
        Limits(**{name: 0})


def test_dates_in_tables_of_pandas_are_described():
    frame = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=40), "y": ["a", "b"] * 20})
    model = TableModel.fit(frame, "y")
    with TestClient(create_app(model)) as client:
        answer = client.post("/predict", json={"rows": [{"when": "2024-01-05"}, {"when": None}]})
    assert answer.status_code in (200, 422), answer.text
