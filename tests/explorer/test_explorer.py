"""The page for trying models: who is let in, what a choice means, and the page in a real browser."""

import base64
import http.client
import json
import socket
import sys
import threading
import time
from contextlib import closing

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sparsebayes import RelevanceVectorRegressor
from sparsebayes.explorer import Explorer
from sparsebayes.explorer.choices import Choice
from sparsebayes.explorer.fitting import _targets, explored

sys.path.insert(0, "tests")
from browser import browser, complaints, requests

pd = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")


def table(n=60):
    rng = np.random.default_rng(0)
    x, colour = rng.uniform(0, 5, n), rng.choice(["red", "green", "<b>blue</b>"], n)
    y = 2 * np.sin(x) + (colour == "red") + 0.1 * rng.standard_normal(n)
    return pd.DataFrame({"x": x, "colour": colour, "z": rng.standard_normal(n), "one": 1, "y": y})


@pytest.fixture(scope="module")
def explorer():
    """A server of the table, running."""
    explorer = Explorer(table())
    threading.Thread(target=explorer.run, daemon=True).start()
    yield explorer
    explorer.close()


def ask(explorer, method="POST", path="/fit", body=None, token=None, host=None, **headers):
    """One request: its status, its headers and its JSON value."""
    with closing(http.client.HTTPConnection("127.0.0.1", explorer.port, timeout=60)) as connection:
        return answered(connection, explorer, method, path, body, token, host, headers)


def answered(connection, explorer, method, path, body, token, host, headers):
    """What a connection answers to one request."""
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", host or f"127.0.0.1:{explorer.port}")
    connection.putheader("X-Token", explorer.token if token is None else token)
    content = b"" if body is None else json.dumps(body).encode()
    for name, value in {"Content-Length": str(len(content)), **headers}.items():
        connection.putheader(name, value)
    connection.endheaders(content)
    answer = connection.getresponse()
    content = answer.read()
    is_json = answer.headers.get("Content-Type") == "application/json"
    return answer.status, answer.headers, json.loads(content) if is_json else content.decode()


CHOICE = {
    "target": "y",
    "inputs": ["x", "colour"],
    "task": "regression",
    "kernel": "rbf",
    "gamma": "ard",
    "prior": "uniform",
}


def test_a_fit_is_that_of_python(explorer):
    status, _, answer = ask(explorer, body={**CHOICE, "inputs": ["x", "z"]})
    assert status == 200
    frame = table()
    model = RelevanceVectorRegressor(gamma="ard").fit(frame[["x", "z"]], frame["y"])
    assert_allclose(answer["figures"]["log evidence"], model.log_evidence_, rtol=1e-10)
    assert answer["figures"]["functions"] == len(model.relevance_)
    assert {"Residuals", "Effect of each input", "Evidence, move by move"} <= {
        each["title"] for each in answer["pictures"]
    }
    assert all(base64.b64decode(each["png"]).startswith(b"\x89PNG") for each in answer["pictures"])


@pytest.mark.parametrize("inputs", [["x"], ["x", "y"]])
def test_a_classification_of_several_classes(explorer, inputs):
    status, _, answer = ask(explorer, body={**CHOICE, "target": "colour", "task": "classification", "inputs": inputs})
    assert status == 200, answer
    assert "Probabilities" in {each["title"] for each in answer["pictures"]}
    assert "<b>" not in answer["summary"].replace("<body>", "")


@pytest.mark.parametrize(
    "request_",
    [
        {"token": ""},
        {"token": "0" * 43},
        {"token": "é"},
        {"host": "evil.example"},
        {"host": "evil.example:80"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"method": "GET", "path": "/"},
        {"method": "GET", "path": "/table"},
        {"method": "GET", "path": "/?token=wrong"},
    ],
)
def test_requests_without_the_token_or_from_elsewhere_are_refused(explorer, request_):
    headers = {name: value.encode() for name, value in request_.items() if name == "token"}
    status, _, answer = ask(explorer, **{"body": CHOICE, **request_, **headers})
    assert status == 403
    assert set(answer) == {"error"}


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        (["Host: {own}"], 200),
        (["Host: {own}", "Origin: http://{own}"], 200),
        (["Host: {own}", "Host: evil.example"], 403),
        (["Host: evil.example", "Host: {own}"], 403),
        (["Host: {own}", "Origin: http://{own}", "Origin: http://evil.example"], 403),
        (["Host: {own}", "Origin: {own}"], 403),
        (["Host: {own}", "Origin: https://{own}"], 403),
        ([], 403),
    ],
)
def test_a_request_names_this_server_alone(explorer, lines, status):
    own = f"127.0.0.1:{explorer.port}"
    head = [f"GET /table?token={explorer.token} HTTP/1.1", *(line.format(own=own) for line in lines), "", ""]
    with socket.create_connection(("127.0.0.1", explorer.port), timeout=10) as connection:
        connection.sendall("\r\n".join(head).encode())
        assert connection.recv(12).decode() == f"HTTP/1.1 {status}"


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_json_is_one_sentence(explorer, content):
    address, headers = f"127.0.0.1:{explorer.port}", {"X-Token": explorer.token}
    with closing(http.client.HTTPConnection(address, timeout=10)) as connection:
        connection.request("POST", "/fit", content, headers)
        answer = connection.getresponse()
        assert answer.status == 400
        assert json.loads(answer.read())["error"].startswith("a choice must be sent as JSON, got b")


def test_the_page_is_for_one_origin_and_loads_nothing_from_elsewhere(explorer):
    status, headers, text = ask(explorer, "GET", f"/?token={explorer.token}")
    assert status == 200
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "Access-Control-Allow-Origin" not in headers
    assert "http://" not in text.replace("http://127.0.0.1", "")
    assert "https://" not in text


def test_only_this_machine_can_connect(explorer):
    assert explorer.server.server_address[0] == "127.0.0.1"
    own = [info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
    for address in set(own) - {"127.0.0.1"}:
        if not address.startswith("127."):
            with pytest.raises(OSError):  # noqa: PT011 - refused or unreachable
                socket.create_connection((address, explorer.port), timeout=2).close()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"inputs": []}, "pick at least one column"),
        ({"inputs": ["q"]}, "no column 'q'"),
        ({"inputs": ["y"]}, "cannot be predicted from itself"),
        ({"inputs": "x"}, "pick at least one column"),
        ({"target": "colour"}, "colour"),
        ({"target": ["y"]}, "target"),
        ({"target": "one"}, "'one' has one value only"),
        ({"target": "one", "task": "classification"}, "'one' has one value only"),
        ({"kernel": "wide"}, "kernel must be one of"),
        ({"kernel": ["rbf"]}, "kernel must be one of"),
        ({"gamma": -1}, "gamma must be a positive number"),
        ({"gamma": True}, "gamma must be a positive number"),
        ({"gamma": [1]}, "gamma must be a positive number"),
        ({"gamma": 10**400}, "gamma must be a positive number or one of"),
        ({"prior": "narrow"}, "prior must be one of"),
        ({"task": "guess"}, "task must be one of"),
        ({"max_vectors": 0}, "max_vectors must be a whole number"),
        ({"max_vectors": 1.5}, "max_vectors must be a whole number"),
        ({"task": "classification"}, "more than the 10 classes"),
        ({"code": "1"}, "a choice must have the keys"),
    ],
)
def test_choices_that_make_no_sense_are_refused_in_one_sentence(explorer, change, sentence):
    status, _, answer = ask(explorer, body={**CHOICE, "inputs": ["x"], **change})
    assert status == 400
    assert sentence in answer["error"]


@pytest.mark.parametrize("body", [None, [], "fit", 3])
def test_bodies_that_are_no_choice_are_refused(explorer, body):
    assert ask(explorer, body=body)[0] == 400


@pytest.mark.parametrize("length", ["-1", "many", str(1 << 40)])
def test_requests_of_no_or_too_large_a_length_are_refused(explorer, length):
    assert ask(explorer, **{"Content-Length": length})[0] == 400


def test_addresses_that_are_not_there(explorer):
    assert ask(explorer, path="/../etc")[0] == 404
    assert ask(explorer, "GET", f"/page.html?token={explorer.token}")[0] == 404
    assert ask(explorer, "PUT")[0] == 501


def test_a_later_choice_ends_an_earlier_one(explorer):
    answers = []
    first = threading.Thread(
        target=lambda: answers.append(ask(explorer, body={**CHOICE, "inputs": ["x", "z", "colour"]})[0])
    )
    with explorer.fitting:  # nothing is fitted meanwhile
        first.start()
        while explorer.latest == 0 or not first.is_alive():
            time.sleep(0.01)
        time.sleep(0.2)
        before = explorer.latest
        second = threading.Thread(target=lambda: answers.append(ask(explorer, body={**CHOICE, "inputs": ["x"]})[0]))
        second.start()
        while explorer.latest == before:
            time.sleep(0.01)
    first.join()
    second.join()
    assert sorted(answers) == [200, 409]


def test_a_large_table_is_drawn_from():
    explorer = Explorer(pd.DataFrame({"x": np.arange(5000.0), "y": np.arange(5000.0)}))
    assert explorer.table()["rows"] == 5000
    assert explorer.table()["used"] == len(explorer.frame) == 2000
    explorer.server.server_close()


def test_every_kernel_and_prior_can_be_picked():
    frame = table()
    for kernel in ("rbf", "matern", "linear-spline", "none"):
        choice = Choice.of({**CHOICE, "kernel": kernel, "inputs": ["x"], "prior": "bic"}, frame)
        assert choice.pipeline().fit(frame[["x"]], frame["y"])[-1].log_evidence_ < 0


def test_the_page_fits_in_a_real_browser(explorer):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select, WebDriverWait

    with browser() as page:
        page.get(explorer.address)
        wait = WebDriverWait(page, 60)
        wait.until(lambda page: page.find_element(By.ID, "state").text.startswith("Fitted"))
        shown = page.find_elements(By.CSS_SELECTOR, "#pictures img")
        assert len(shown) >= 5
        assert all(page.execute_script("return arguments[0].naturalWidth > 100", image) for image in shown)
        assert "colour=<b>blue</b>" in page.find_element(By.TAG_NAME, "body").text or "colour" in page.page_source
        assert page.find_element(By.ID, "width").is_displayed()
        Select(page.find_element(By.ID, "kernel")).select_by_value("none")
        assert not page.find_element(By.ID, "width").is_displayed()
        wait.until(lambda page: len(page.find_elements(By.CSS_SELECTOR, "#history tr")) == 2)
        for box in page.find_elements(By.CSS_SELECTOR, "#inputs input:checked"):
            box.click()
        wait.until(lambda page: "pick at least one column" in page.find_element(By.ID, "state").text)
        assert [each for each in complaints(page) if "400" not in each] == []
        assert {
            address.split("?")[0].removeprefix(f"http://127.0.0.1:{explorer.port}")
            for address in requests(page)
            if not address.startswith("data:")
        } <= {"/", "/table", "/fit"}


def test_nothing_is_wider_than_a_phone(explorer):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    with browser(390, 900) as page:
        page.get(explorer.address)
        WebDriverWait(page, 60).until(lambda page: page.find_element(By.ID, "state").text.startswith("Fitted"))
        assert page.execute_script("return document.documentElement.scrollWidth") == 390


def raw(explorer, request, leave=False):
    """What the server answers to bytes; with leave nobody waits for the answer, and the connection is reset."""
    with socket.create_connection(("127.0.0.1", explorer.port), timeout=60) as connection:
        connection.sendall(request)
        if leave:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, bytes([1, 0, 0, 0, 0, 0, 0, 0]))
            return b""
        return connection.recv(100)


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        ("GET http://[/ HTTP/1.1\r\nHost: {host}\r\n\r\n", b"HTTP/1.1 403"),
        ("POST http://[/ HTTP/1.1\r\nHost: {host}\r\nX-Token: {token}\r\n\r\n", b"HTTP/1.1 404"),
        (
            "POST /fit HTTP/1.1\r\nHost: {host}\r\nX-Token: {token}\r\nContent-Length: " + "9" * 5000 + "\r\n\r\n",
            b"HTTP/1.1 400",
        ),
    ],
)
def test_requests_that_cannot_be_parsed_are_answered_without_a_traceback(explorer, capfd, request_, answer):
    request_ = request_.format(host=f"127.0.0.1:{explorer.port}", token=explorer.token)
    assert raw(explorer, request_.encode()).startswith(answer)
    assert capfd.readouterr().err == ""


def test_a_browser_that_leaves_during_a_fit_causes_no_traceback(explorer, capfd):
    body = json.dumps(CHOICE)
    head = f"POST /fit HTTP/1.1\r\nHost: 127.0.0.1:{explorer.port}\r\nX-Token: {explorer.token}\r\n"
    raw(explorer, f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode(), leave=True)
    assert ask(explorer, body=CHOICE)[0] == 200  # which waits for the fit before it
    assert capfd.readouterr().err == ""


def test_a_silent_connection_is_closed(explorer, monkeypatch):
    monkeypatch.setattr(explorer.server.RequestHandlerClass, "timeout", 0.2)
    head = f"POST /fit HTTP/1.1\r\nHost: 127.0.0.1:{explorer.port}\r\nX-Token: {explorer.token}\r\n"
    assert raw(explorer, f"{head}Content-Length: 100\r\n\r\nabc".encode()) == b""


def test_pictures_name_the_target():
    frame = table().rename(columns={"y": "height"})
    choice = Choice.of({**CHOICE, "target": "height"}, frame)
    assert _targets(choice, frame["height"]).name == "height"


def test_names_in_any_letters_are_drawn_without_a_warning():
    frame = table().rename(columns={"x": "日本", "z": "\ue000"})  # the second is in no font
    choice = Choice.of({**CHOICE, "inputs": ["日本", "\ue000"]}, frame)
    assert len(explored(choice, frame, lambda progress: False, 60.0)["pictures"]) > 3
