"""The application of a server, and running it."""

import contextlib
import ipaddress
import os
import socket

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.routing import Mount

from keras_selfattn.controls import one_line
from keras_selfattn.serving.server import page
from keras_selfattn.serving.server.batching import Batcher
from keras_selfattn.serving.server.rest import RestApi

# Older Starlettes end a name at its first colon.
_LOOPBACK = ["localhost", "127.0.0.1", "[::1]", "::1", "["]


def application(servables, hosts=None):
    """The ASGI application that answers with models.

    Args:
        servables: List of `Servable`, of different names or versions.
        hosts: The host names that requests may be for. Defaults to `None`,
            which is all.

    Returns:
        A `starlette.applications.Starlette`.

    Raises:
        ValueError: if two models have the same name and version.
    """
    served = {}
    for servable in servables:
        versions = served.setdefault(servable.name, {})
        if servable.version in versions:
            raise ValueError(
                "The folders of models must differ in name or version. "
                f"Received: {servable.name!r}, version {servable.version}, "
                "more than once"
            )
        versions[servable.version] = servable, Batcher(servable)
    middleware = []
    if hosts is not None:
        # Else a page of another site could ask by a name that leads here.
        middleware.append(
            Middleware(
                TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False
            )
        )
    return Starlette(
        routes=[*page.routes(served), Mount("/v1", RestApi(served))],
        middleware=middleware,
    )


def serve(servables, host="127.0.0.1", port=8501, started=print):
    """Answer with models until the process is told to end.

    Args:
        servables: As in `application`.
        host: String, the address to listen at. At one that is not of the
            loopback, other machines reach the server, by any name.
        port: Integer; 0 takes a free one.
        started: Function that is called with the URL when it answers.

    Raises:
        ValueError: if it can't listen there.
    """
    with listening(host, port) as sock:
        address, port = sock.getsockname()[:2]
        config = uvicorn.Config(
            application(servables, hosts_of(host, address)),
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="off",
            # Whoever ends the server waits no longer for slow clients.
            timeout_graceful_shutdown=5,
        )
        shown = f"[{address}]" if ":" in address else address
        started(f"http://{shown}:{port}/")
        uvicorn.Server(config).run(sockets=[sock])


def hosts_of(host, address):
    """The host names that requests may be for, or `None` for all.

    Args:
        host: String, what the server was told to listen at.
        address: String, its address.
    """
    if not ipaddress.ip_address(address).is_loopback:
        return None
    return [*_LOOPBACK, address, host.lower()]


@contextlib.contextmanager
def listening(host, port):
    """A socket that listens, or `ValueError` where none can."""
    # Some systems would take the rest of a division.
    if not 0 <= port < 1 << 16:
        raise ValueError(
            f"`port` must be an integer from 0 to 65535. Received: port={port}"
        )
    with contextlib.ExitStack() as stack:
        try:
            # Only of sockets that name TCP does asyncio send small parts at
            # once; the second part of an answer would wait for 40 ms.
            family, kind, protocol, _, address = socket.getaddrinfo(
                host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
            )[0]
            sock = stack.enter_context(socket.socket(family, kind, protocol))
            if os.name == "posix":
                # A server that has just ended leaves its port free.
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(address)
            sock.listen(1024)
        except OSError as error:
            raise ValueError(
                f"Nothing can listen at {host}:{port}: {one_line(error)}"
            ) from error
        yield sock
