"""A real server on loopback, and what asks it."""

import contextlib
import http.client
import json
import threading
import time
import urllib.parse


@contextlib.contextmanager
def running(servables, hosts=None):
    """The URL of a server with models, in a thread of this process."""
    import uvicorn

    from keras_selfattn.serving.server.application import application
    from keras_selfattn.serving.server.application import listening

    with listening("127.0.0.1", 0) as sock:
        config = uvicorn.Config(
            application(servables, hosts),
            log_level="warning",
            lifespan="off",
            timeout_graceful_shutdown=5,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=[[sock]])
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            yield f"http://127.0.0.1:{sock.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def ask(url, method, path, body=None, **headers):
    """The status code, the headers and the text of a response."""
    if body is not None and not isinstance(body, (str, bytes)):
        body = json.dumps(body)
    if isinstance(body, str):
        body = body.encode()
    address = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(address.netloc, timeout=60)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return response.status, response.headers, response.read().decode()
    finally:
        connection.close()
