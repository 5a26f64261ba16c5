"""The server of the page, without a browser: who looks, who controls, and what cannot stop it."""

import io
import json
import math
import random
import re
import socket
import time
import urllib.error
import urllib.request

import numpy as np
import pytest
from PIL import Image
from websockets.exceptions import ConnectionClosed, InvalidStatus

from societies.errors import ConfigError
from societies.view import listen, messages
from societies.view.listening import is_loopback
from societies.workload import Change, Choice, Frame, Slider
from tests.view.browser import until
from tests.view.serving import Viewer, served
from tests.view.slow import PreviewingView, SlowView


class Failing(SlowView):
    """State 13 has no frames, 14 no controls; event "zero" fails in state 15."""

    def frames(self, state):
        if state == 13:
            raise RuntimeError("the device\nis gone")
        return super().frames(state)

    def controls(self, state):
        return super().controls(state) if state != 14 else [1 / 0]

    def take(self, state, event):
        if state == 15 and not isinstance(event, Change):
            raise ValueError
        return super().take(state, event)


@pytest.fixture(scope="module")
def page():
    with served(Failing()) as page:
        yield page


@pytest.fixture
def viewer(page):
    """A viewer that controls; the state is 0, and nothing is wrong."""
    with Viewer(page) as viewer:
        until(lambda: viewer.news, "the controls")
        viewer.send(press="zero")
        viewer.send(change="state", value=1)
        viewer.send(press="zero")
        until(lambda: viewer.news[-1]["seq"] == viewer.seq, "the state 0")
        viewer.until_state(0)
        page.errors.clear()
        yield viewer
    until(lambda: not page.session._viewers, "the viewer to be gone")


def get(address, **headers):
    """Return the status, headers and body of an answer."""
    request = urllib.request.Request(address, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read()


# ------------------------------------------------------------------------------- what is shown


def test_a_viewer_gets_the_controls_and_every_sample(viewer):
    news = viewer.news[-1]
    assert news["controlling"] and news["viewers"] == 1 and news["title"] == "slow"
    assert [one["kind"] for one in news["controls"]] == ["mouse", "slider", "choice", "button"]
    header = viewer.until_state(0)
    assert (header["width"], header["height"], header["webp"]) == (3, 2, False)
    assert viewer.frames[-1][1] == bytes(2 * 3 * 4)


def test_numbers_of_frames_rise(viewer):
    for state in (5, 6, 900, 7):
        viewer.send(change="state", value=state)
    viewer.until_state(7)
    numbers = [header["number"] for header, _ in viewer.frames]
    assert numbers == sorted(set(numbers))


def test_mouse_and_controls_change_the_state(page, viewer):
    viewer.send(wheel=2)
    viewer.send(drag={"id": 1, "x": 1, "y": 1, "dx": 0, "dy": 0})
    viewer.send(drag={"id": 1, "x": 1, "y": 1, "dx": 40, "dy": 0})
    viewer.send(drag={"id": 1, "x": 1, "y": 1, "dx": 7, "dy": 1})  # from where the drag began
    viewer.until_state(2107)
    viewer.send(drag={"id": 2, "x": 1, "y": 1, "dx": 1, "dy": 0})
    viewer.send(change="parity", value="odd")
    viewer.until_state(2109)
    assert page.session.state == 2109
    viewer.send(change="state", value=12.6)
    until(lambda: page.session.state == 13, "the state 13")
    assert type(page.session.state) is int


def test_a_second_viewer_watches_until_the_first_is_gone(page):
    with Viewer(page) as first:
        until(lambda: first.news, "the controls")
        with Viewer(page) as second:
            until(lambda: second.news, "the controls")
            assert not second.news[-1]["controlling"]
            until(lambda: first.news[-1]["viewers"] == 2, "the second viewer")
            first.send(change="state", value=77)
            first.until_state(77)
            second.until_state(77)
            second.send(change="state", value=78)
            until(lambda: second.news[-1]["seq"] == second.seq, "an answer")
            assert page.session.state == 77
            first.socket.close()
            until(lambda: second.news[-1]["controlling"], "control")
            second.send(change="state", value=78)
            second.until_state(78)


def test_a_later_viewer_gets_the_state_as_it_is(page, viewer):
    viewer.send(change="state", value=55)
    viewer.until_state(55)
    with Viewer(page) as second:
        second.until_state(55)
        sliders = [one for one in second.news[-1]["controls"] if one["kind"] == "slider"]
        assert sliders[0]["value"] == 55


def test_without_viewers_nothing_is_rendered():
    view = SlowView(launches=[1] * 1000)
    with served(view) as page:
        until(lambda: view.launched, "the first frame")
        time.sleep(0.3)
        assert len(view.launched) == 1  # what the first viewer will see at once
        with Viewer(page) as viewer:
            until(lambda: len(viewer.frames) > 5, "frames")
        until(lambda: not page.session._viewers, "the viewer to be gone")
        launched = len(view.launched)
        time.sleep(0.3)
        assert len(view.launched) <= launched + 1


def test_who_draws_nothing_is_sent_one_frame_only():
    view = SlowView(launches=[1] * 1000)
    with served(view) as page, Viewer(page, acknowledge=False) as slow:
        until(lambda: slow.frames, "a frame")
        time.sleep(0.3)
        assert len(slow.frames) == 1
        assert len(view.launched) <= 2
        with Viewer(page) as fast:  # others are not held up by it
            until(lambda: len(fast.frames) > 20, "frames")
        assert len(slow.frames) == 1


def test_the_picture_and_the_page_are_files(page, viewer):
    viewer.send(change="state", value=200)
    viewer.until_state(200)
    status, headers, body = get(page.path("picture.png"))
    assert status == 200 and headers["content-disposition"] == 'attachment; filename="slow.png"'
    with Image.open(io.BytesIO(body)) as picture:
        assert picture.format == "PNG" and picture.mode == "RGB"
        assert np.array(picture).tolist() == np.full((2, 3, 3), 200).tolist()
    for name, kind in (("", "html"), ("page.js", "javascript"), ("page.css", "css")):
        status, headers, body = get(page.path(name))
        assert status == 200 and kind in headers["content-type"] and len(body) > 500
    assert get(page.path("nothing"))[0] == 404


def asked(port, line, *headers):
    """Return the status of an answer to a request as it is written here, 0 if there is none."""
    lines = [f"{line} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Connection: close", *headers]
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))
        with connection.makefile("rb") as answer:
            first = answer.readline().split()
            return int(first[1]) if first else 0


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_nothing_is_accepted_that_does_nothing(host):
    with served(SlowView(), host=host) as page:
        token = f"?token={page.listening.token}" if page.listening.token else ""
        more = f"{token}&" if token else "?"
        assert get(page.path("page.js"))[0] == 200
        for name in ("", "configuration.yaml", "picture.png", "socket", "page.js", "page.css"):
            for query in ("x=1", "Token=1", "token=wrong", "x", "%ff=", "a=%ud800", "token="):
                assert asked(page.port, f"GET /{name}{more}{query}") in (403, 404)
        assert asked(page.port, f"GET /{more}x=1") == 403
        if token:
            assert asked(page.port, f"GET /{token}&{token[1:]}") == 403
        for method in ("POST", "OPTIONS", "PUT", "DELETE", "TRACE", "PATCH"):
            assert asked(page.port, f"{method} /{token}") == 405
        assert asked(page.port, f"HEAD /{token}") == asked(page.port, f"GET /{token}") == 200
        for path in ("/%00", "/..%2fserver.py", "//page.js", "/%zz", "/page%2ejs%00"):
            assert asked(page.port, f"GET {path}{token}") == 404
        for headers in ([f"X: {'a' * 200_000}"], [f"X{i}: {'a' * 100}" for i in range(2000)]):
            assert asked(page.port, f"GET /{token}", *headers) in (0, 400, 431)
        socket_headers = (
            *("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"),
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        )
        assert asked(page.port, f"GET /socket{token}", *socket_headers) == 101
        asks_more = (*socket_headers, "Sec-WebSocket-Protocol: chat")
        assert asked(page.port, f"GET /socket{token}", *asks_more) == 403
        assert asked(page.port, f"GET /socket{more}x=1", *socket_headers) == 403


@pytest.mark.parametrize("raw", [True, False])
def test_previews_have_fewer_pixels_and_are_never_saved(raw):
    view = PreviewingView(launch=0.03, launches=(4,), shape=(64, 80))
    with served(view, raw=raw) as page, Viewer(page) as viewer:
        until(lambda: viewer.frames, "the first frame")
        saved, previews, state = set(), [], 0
        while len(previews) < 5:
            state += 1
            viewer.send(change="state", value=state)
            time.sleep(0.01)
            previews = [header for header, _ in viewer.frames if not header["whole"]]
            if len(previews) in (2, 4):
                with Image.open(io.BytesIO(get(page.path("picture.png"))[2])) as picture:
                    saved.add(picture.size)
        for header in previews:
            assert header["size"] == [64, 80] and header["width"] * header["height"] <= 64 * 80 / 2
        assert saved == {(80, 64)}
        viewer.send(change="state", value=99)
        until(lambda: viewer.frames[-1][0]["whole"] and page.session.newest.state == 99, "state 99")
        header, data = viewer.frames[-1]
        assert (header["width"], header["height"], header["size"]) == (80, 64, [64, 80])
        assert not raw or data == bytes([99]) * (64 * 80 * 4)


def test_the_page_asks_no_one_else(page):
    """Without network the page is the same; no other site learns who looks."""
    for name in ("", "page.js", "page.css"):
        text = get(page.path(name))[2].decode()
        assert not re.search(r"https?://|//cdn|@import", text)


def test_others_are_sent_webp():
    with served(SlowView(), raw=False) as page, Viewer(page) as viewer:
        header = until(lambda: viewer.frames and viewer.frames[-1], "a frame")[0]
        assert header["webp"]
        viewer.send(change="state", value=99)
        until(lambda: viewer.frames[-1][0]["number"] > 3, "the frames of 99")
        with Image.open(io.BytesIO(viewer.frames[-1][1])) as picture:
            assert picture.format == "WEBP"
            assert np.abs(np.array(picture).astype(int) - 99).max() <= 3


# ------------------------------------------------------------------------------ who may look


def test_the_loopback_needs_no_token_and_others_do():
    with served(SlowView(), host="0.0.0.0") as page:
        token = page.listening.token
        assert len(token) >= 16 and page.listening.address.endswith(f"/?token={token}")
        with Viewer(page) as viewer:
            viewer.until_state(0)
        for query in ("", "?token=", f"?token={token}x", f"?token={token[:-1]}", "?token=%C3%A9"):
            address = page.address.partition("?")[0]
            for name in ("", "picture.png", "configuration.yaml"):
                status, _, body = get(f"{address}{name}{query}")
                assert status == 403 and body.startswith(b"wrong token")
            with pytest.raises(InvalidStatus, match="403"):
                Viewer(page, address=f"{address}socket{query}")
        assert not page.errors
    loopback = listen(port=0)
    loopback.socket.close()
    assert not loopback.token and loopback.address.startswith("http://127.0.0.1:")


def test_other_sites_cannot_look(page):
    host = f"127.0.0.1:{page.port}"
    with pytest.raises(InvalidStatus, match="403"):
        Viewer(page, additional_headers={"Origin": "http://elsewhere.example"})
    assert get(page.address, Origin="http://elsewhere.example")[0] == 403
    assert get(page.address, Origin=f"http://{host}")[0] == 200
    assert get(page.address, Host="elsewhere.example")[0] == 403  # a name that leads here
    assert get(page.address, Host=f"localhost:{page.port}")[0] == 200
    for none in ("[::1", "[", "[v1.x", "::1]", "a:b:c"):
        for path in ("", "picture.png", "configuration.yaml", "no-page/"):
            status, _, body = get(page.path(path), Host=none)
            assert status in (403, 404) and b"Error" not in body, (none, path)
        assert get(page.path("page.js"), Host=none)[0] == 200
        assert get(page.address, Origin=f"http://{none}")[0] == 403
    assert not page.errors


OWN = ("127.0.0.1", "127.9.9.9", "localhost", "LOCALHOST.", "::1", "::ffff:127.0.0.1")
OTHERS = ("0.0.0.0", "10.0.0.1", "::", "a.example", "localhost.example", "")


@pytest.mark.parametrize(
    ("host", "own"), [*((one, True) for one in OWN), *((one, False) for one in OTHERS)]
)
def test_loopback_addresses(host, own):
    assert is_loopback(host) == own


def test_a_port_in_use_is_one_line(page):
    with pytest.raises(ConfigError, match=f"port={page.port}: the port is in use; choose another"):
        listen(port=page.port)
    with pytest.raises(ConfigError, match="ports are 0 to 65535"):
        listen(port=65536)
    with pytest.raises(ConfigError, match="there is no such address"):
        listen("no.such.host.invalid")
    with pytest.raises(ConfigError, match="this machine has no such address"):
        listen("192.0.2.1")


# --------------------------------------------------------------------- what cannot stop it

GARBAGE = [
    "",
    "{",
    "null",
    "[]",
    "{}",
    '"drag"',
    "[" * 60000,
    '{"seq": 1}',
    '{"seq": "1", "wheel": 1}',
    '{"seq": 1, "wheel": 1, "press": "zero"}',
    '{"seq": 1, "wheel": "1"}',
    '{"seq": 1, "wheel": NaN}',
    '{"seq": 1, "wheel": 1e999}',
    '{"seq": 1, "wheel": ' + "9" * 400 + "}",
    '{"seq": 1, "wheel": ' + "9" * 5000 + "}",
    '{"seq": 1, "drag": 1}',
    '{"seq": 1, "drag": {"id": 1}}',
    '{"seq": 1, "drag": {"id": 1, "x": 0, "y": 0, "dx": null, "dy": 0}}',
    '{"seq": 1, "drag": {"x": 0, "y": 0, "dx": 0, "dy": 0}}',
    '{"seq": 1, "change": "state", "value": "5"}',
    '{"seq": 1, "change": "state"}',
    '{"shown": "1"}',
    '{"shown": 1.5}',
    b"\x00\xff",
]


@pytest.mark.parametrize("text", GARBAGE, ids=range(len(GARBAGE)))
def test_garbage_closes_its_own_connection_only(page, text):
    with Viewer(page) as viewer:
        viewer.socket.send(text)
        until(lambda: viewer.socket.close_code, "the connection to be closed")
        assert viewer.socket.close_code == 1003
        assert viewer.socket.close_reason.startswith("the server was sent")
        assert "\n" not in page.errors[-1] and page.errors[-1].startswith("a connection was closed")
    with Viewer(page) as viewer:
        until(lambda: viewer.news and viewer.frames, "the page")


REFUSED = [
    {"press": "parity"},
    {"press": "x"},
    {"press": [1]},
    {"change": "zero", "value": 1},
    {"change": "parity", "value": "both"},
    {"change": "parity", "value": []},
    {"change": {}, "value": 1},
]


@pytest.mark.parametrize("message", REFUSED, ids=range(len(REFUSED)))
def test_what_no_control_asks_for_is_refused(page, viewer, message):
    viewer.send(**message)
    until(lambda: viewer.news[-1]["error"], "an error")
    assert page.session.state == 0 and not page.errors
    viewer.send(change="state", value=3)
    until(lambda: not viewer.news[-1]["error"], "no error")


def test_a_message_that_is_too_long_closes_its_connection(page):
    with Viewer(page) as viewer:
        viewer.socket.send(" " * (1 << 17))
        until(lambda: viewer.socket.close_code, "the connection to be closed")
        # The server ends the connection while the rest is on its way: its reason may get lost.
        assert viewer.socket.close_code in (1006, 1009)
    with Viewer(page) as viewer:
        until(lambda: viewer.news and viewer.frames, "the page")


def upgrade(page):
    """Return the bytes with which a browser asks for a WebSocket."""
    return (
        f"GET /socket HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        "Sec-WebSocket-Version: 13\r\n\r\n"
    ).encode()


@pytest.mark.thorough
def test_who_does_not_answer_loses_control(page):
    page.errors.clear()
    with socket.create_connection(("127.0.0.1", page.port)) as silent:
        silent.sendall(upgrade(page))
        until(lambda: page.session._viewers, "the silent viewer")
        with Viewer(page) as viewer:
            until(lambda: viewer.news and not viewer.news[-1]["controlling"], "the controls")
            until(lambda: viewer.news[-1]["controlling"], "control", seconds=40)
    assert not page.errors


def test_bytes_that_are_no_protocol_are_one_line_at_most(page):
    page.errors.clear()
    generator = random.Random(1)
    for first in (b"", b"GET / HTTP/9\r\n\r\n", b"GET /socket HTTP/1.1\r\n", upgrade(page)):
        with socket.create_connection(("127.0.0.1", page.port), timeout=5) as one:
            one.sendall(first + generator.randbytes(500))
            one.settimeout(0.2)
            try:
                while one.recv(65536):
                    pass
            except OSError:
                pass
    until(lambda: not page.session._viewers, "the connections to be closed")
    assert all("\n" not in error for error in page.errors)
    with Viewer(page) as viewer:
        until(lambda: viewer.news and viewer.frames, "the page")


def test_a_browser_that_is_gone_is_no_error(page):
    page.errors.clear()
    for _ in range(5):
        with Viewer(page) as viewer:
            until(lambda viewer=viewer: viewer.frames, "a frame")
            viewer.send(change="state", value=8)
            viewer.socket.socket.close()
    until(lambda: not page.session._viewers, "the viewers to be gone")
    assert not page.errors


def test_errors_of_the_workload_are_one_line_and_the_page_continues(page, viewer):
    viewer.send(change="state", value=13)
    until(lambda: viewer.news[-1]["error"] == "the device is gone", "the error")
    viewer.send(change="state", value=14)
    until(lambda: viewer.news[-1]["error"] == "division by zero", "the error")
    viewer.send(change="state", value=15)
    viewer.until_state(15)
    assert viewer.news[-1]["error"] == ""
    viewer.send(press="zero")
    until(lambda: viewer.news[-1]["error"] == "ValueError", "the error")
    assert page.errors == ["the device is gone", "division by zero", "ValueError"]
    status, _, body = get(page.path("configuration.yaml"))
    assert (status, body) == (500, b"NotImplementedError\n")
    viewer.send(change="state", value=16)
    viewer.until_state(16)


def test_ten_thousand_events_a_second_end_with_the_last(page, viewer):
    before = len(viewer.frames)
    texts = [json.dumps({"seq": 9, "change": "state", "value": 100 + n}) for n in range(10_000)]
    for text in texts:
        viewer.socket.send(text)
    sent = time.monotonic()
    viewer.until_state(10_099)
    assert time.monotonic() - sent < 20
    assert len(viewer.frames) - before < 5000
    assert not page.errors


def test_the_server_ends_while_someone_looks():
    with served(SlowView(launches=[1] * 100_000)) as page:
        viewer = Viewer(page)
        until(lambda: viewer.frames, "a frame")
        began = time.monotonic()
        page.end()
        assert time.monotonic() - began < 8
        with pytest.raises(ConnectionClosed):
            for _ in range(100):
                viewer.send(wheel=1)
                time.sleep(0.05)
        viewer.__exit__()


# ------------------------------------------------------------------------------ small things


SCALES = [
    (0.1234, -30.0, 30.0, 0.001, 0.123),
    (99, -30.0, 30.0, 0.001, 30.0),
    (2.6, 1, 9, 1, 3),
    (-5, 1, 9, 2, 1),
    (8.2, 1, 9, 2, 9),
    (1e300, 0.0, 1.0, 0.3, 0.9),
    (0, 0.5, 4.0, 0.5, 0.5),
]


@pytest.mark.parametrize(("given", "least", "most", "step", "value"), SCALES)
def test_sliders_have_their_steps(given, least, most, step, value):
    slider = Slider("s", "S", least, least, most, step)
    message = messages.read(json.dumps({"seq": 1, "change": "s", "value": given}))
    event = messages.event(message, [slider], None)
    assert event == Change("s", value)
    assert type(event.value) is type(value) and math.isfinite(event.value)


def test_a_frame_has_a_header_that_keeps_its_pixels_aligned():
    for caption in ("", "a", "ab", "abc", "ä ✓"):
        one = messages.Numbered(
            3, Frame(np.arange(24, dtype=np.uint8).reshape(2, 3, 4), caption), 0, 0
        )
        data = messages.frame(one, raw=True)
        length = int.from_bytes(data[:4], "little")
        assert length % 4 == 0 and json.loads(data[4 : 4 + length])["caption"] == caption
        assert data[4 + length :] == bytes(range(24))


def test_a_choice_may_have_its_words_only():
    controls = [Choice("c", "C", "a", ("a", "b"))]
    message = messages.read('{"seq": 1, "change": "c", "value": "b"}')
    assert messages.event(message, controls, None) == Change("c", "b")
