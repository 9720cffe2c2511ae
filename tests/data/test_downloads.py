import gc
import hashlib
import http.server
import os
import threading

import pytest

from keras_selfattn.data import downloads
from keras_selfattn.data.downloads import Published
from keras_selfattn.data.downloads import download

# Python's own client leaves the socket of an answer such as 404 to the
# garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

CONTENT = bytes(range(256)) * 400
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        if self.path == "/none.zip":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        # The connection is closed behind what is sent.
        size = 50_000 if self.path == "/cut.zip" else len(CONTENT)
        self.wfile.write(CONTENT[:size])

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(monkeypatch):
    """A server on this machine, which publishes four files."""
    monkeypatch.setenv("no_proxy", "*")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.asked = []
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        url = f"http://127.0.0.1:{server.server_port}"
        published = {
            f"{name}.zip": Published(f"{url}/{name}.zip", SHA256)
            for name in ("good", "cut", "none")
        }
        published["other.zip"] = Published(f"{url}/other.zip", "0" * 64)
        monkeypatch.setattr(downloads, "PUBLISHED", published)
        try:
            yield server
        finally:
            server.shutdown()
            gc.collect()


def test_download(server, tmp_path):
    path = tmp_path / "a" / "good.zip"
    assert download(str(path)) == path
    assert path.read_bytes() == CONTENT
    assert os.listdir(path.parent) == ["good.zip"]
    assert download(path) == path
    assert server.asked == ["/good.zip"]


@pytest.mark.parametrize(
    "name,error,message",
    [
        ("other.zip", ValueError, f"expected the SHA-256 {'0' * 64}"),
        ("cut.zip", OSError, "only 50000 out of 102400 bytes"),
        ("none.zip", OSError, "404"),
    ],
)
def test_nothing_is_kept_of_a_failed_download(
    server, tmp_path, name, error, message
):
    with pytest.raises(error, match=message) as raised:
        download(tmp_path / name)
    assert f"/{name}" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert server.asked == [f"/{name}"]
    assert os.listdir(tmp_path) == []


def test_nobody_answers(server, tmp_path, monkeypatch):
    url = "http://127.0.0.1:9/good.zip"
    monkeypatch.setitem(downloads.PUBLISHED, "good.zip", Published(url, SHA256))
    with pytest.raises(OSError, match=f"Can't download {url}"):
        download(tmp_path / "good.zip")
    assert os.listdir(tmp_path) == []


def test_an_interrupt_leaves_nothing(server, tmp_path, monkeypatch):
    import keras

    original = keras.utils.get_file

    def interrupted(*arguments, **options):
        original(*arguments, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(keras.utils, "get_file", interrupted)
    with pytest.raises(KeyboardInterrupt):
        download(tmp_path / "good.zip")
    assert os.listdir(tmp_path) == []


def test_another_file_of_that_name_is_not_replaced(server, tmp_path):
    path = tmp_path / "good.zip"
    path.write_bytes(b"mine")
    with pytest.raises(ValueError, match="good.zip: expected the SHA-256"):
        download(path)
    assert path.read_bytes() == b"mine"
    assert server.asked == []


def test_an_unpublished_name(tmp_path):
    with pytest.raises(ValueError, match="snli_1.0.zip or multinli_1.0.zip"):
        download(tmp_path / "yelp.zip")
    assert os.listdir(tmp_path) == []


def test_what_is_published():
    for name, published in downloads.PUBLISHED.items():
        assert published.url.startswith("https://")
        assert published.url.endswith(f"/{name}")
        assert len(bytes.fromhex(published.sha256)) == 32
