"""The service in processes of its own."""

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request

import pytest

pytest.importorskip("uvicorn")
from lann.service import serve


@pytest.fixture(scope="session")
def model_file(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "model.lann"
    model.save(path)
    return path


@pytest.fixture
def start(model_file):
    """Return a function that runs `lann serve`, and returns the process and its address."""
    started = []

    def start(*options, **environment):
        command = [sys.executable, "-c", "from lann.cli import main; main()", "serve", str(model_file)]
        process = subprocess.Popen(
            [*command, "--port", "0", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=os.environ | environment,
        )  # fmt: skip
        started.append(process)
        line = process.stdout.readline()
        assert "; stop with Ctrl-C" in line, process.stderr.read()
        return process, line.split(" at ")[1].split(";")[0]

    yield start
    for process in started:
        process.terminate()  # its processes, too
        process.communicate(timeout=60)


def ask(address, path, body=None, **headers):
    """Return the status and the answer; None as body is a GET."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address + path, data, {"content-type": "application/json"} | headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def wait_for(address, process):
    """Wait until a service listens."""
    while process.poll() is None:
        try:
            assert ask(address, "/health") == (200, {"status": "ok"})
            return
        except urllib.error.URLError:
            threading.Event().wait(0.1)
    pytest.fail(process.stderr.read())


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
@pytest.mark.parametrize(("sign", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_a_service_answers_what_has_begun_and_stops(start, rows, sign, code):
    process, address = start()
    wait_for(address, process)
    answers = []
    asking = threading.Thread(target=lambda: answers.append(ask(address, "/explain", {"rows": rows * 20})))
    asking.start()
    status, answer = ask(address, "/predict", {"rows": rows})
    assert (status, len(answer["rows"])) == (200, 4)
    process.send_signal(sign)
    asking.join()
    assert answers[0][0] == 200
    _, errors = process.communicate(timeout=60)
    assert errors == ""
    assert process.returncode == code


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_several_processes_and_a_token(start, rows):
    process, address = start("--workers", "2", LANN_TOKEN="0123456789abcdef")
    wait_for(address, process)
    assert ask(address, "/schema")[0] == 401
    authorization = {"authorization": "Bearer 0123456789abcdef"}
    assert ask(address, "/predict", {"rows": rows}, **authorization)[0] == 200
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)


def test_a_service_for_others_needs_a_token(model_file):
    with pytest.raises(ValueError, match=r"at 0\.0\.0\.0 needs a token"):
        serve(model_file, host="0.0.0.0")
    with pytest.raises(ValueError, match="16 or more"):
        serve(model_file, token="short")


def test_a_port_that_is_in_use(model_file):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        serve(model_file, port=taken.getsockname()[1])


def test_a_file_that_is_no_model(tmp_path):
    (tmp_path / "m.lann").write_text("no")
    with pytest.raises(ValueError, match="cannot be loaded"):
        serve(tmp_path / "m.lann")
