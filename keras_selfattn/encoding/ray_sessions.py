"""Ray, started on this machine alone or asked for a cluster.

Ray otherwise listens on the network's address, sends statistics of its use,
writes a token into the home folder, and takes the signals of the process.
"""

import contextlib
import importlib
import ipaddress
import logging
import os
import pathlib
import secrets
import signal
import socket
import tempfile
import threading
import time

from keras_selfattn.controls import one_line
from keras_selfattn.files import remove_folder
from keras_selfattn.first_use import import_extra
from keras_selfattn.leftovers import cleared
from keras_selfattn.locks import path_held

# Short, as sockets have it in their names.
_PREFIX = "selfattn_ray_"
# What the names of variables about tokens begin with.
_TOKENS = "RAY_AUTH_"
# Without clusters Ray listens on the loopback address.
_CLUSTERS = "ENABLE_RAY_CLUSTER"
_SECONDS = 10.0
_PAUSE = 0.1
# What workers hand on are counts; files they write themselves.
_OBJECT_BYTES = 80 << 20


@contextlib.contextmanager
def session(cores, address, variables):
    """Ray while the block runs.

    A session that the process has begun itself is used and left as it is.

    Args:
        cores: Integer, how many workers run at a time without an address, or
            `None` for as many as this machine has cores.
        address: Address of a cluster, or `None` for this machine alone.
        variables: Dictionary of environment variables of the workers.

    Yields:
        The module `ray`, and a dictionary of the options of workers.

    Raises:
        ImportError: if Ray is not installed.
        ValueError: if no cluster answers at the address, or Ray would listen
            on another address than the loopback.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(_settings(address is None, variables))
        ray = import_extra("ray", "Encoding by workers", "Ray", "cluster")
        # Importing it sets its logger up.
        stack.enter_context(_without_warnings())
        options = {"runtime_env": {"env_vars": variables}}
        if address is not None:
            with _on_a_cluster(ray, address):
                yield ray, options
        elif ray.is_initialized():
            yield ray, options
        else:
            # Its processes have the variables of this one, and those that Ray
            # has ready at its start will do.
            with _on_this_machine(ray, cores):
                yield ray, {}


@contextlib.contextmanager
def _on_this_machine(ray, cores):
    with (
        _temporary_folder() as folder,
        # What workers leave there when they are killed goes with it.
        _environment({"TMPDIR": str(folder)}),
        _alone(),
        _begun(
            ray,
            "local",
            num_cpus=cores,
            num_gpus=0,
            include_dashboard=False,
            object_store_memory=_OBJECT_BYTES,
            _node_ip_address="127.0.0.1",
            _temp_dir=str(folder),
        ),
    ):
        found = ray.util.get_node_ip_address()
        if not ipaddress.ip_address(found).is_loopback:
            raise ValueError(
                f"Ray would listen on {found}, and not on the loopback "
                "address alone: begin a session of your own with `ray.init`"
            )
        yield


@contextlib.contextmanager
def _alone():
    """Ray looks for no address outside, also where it was imported before."""
    constants = importlib.import_module("ray._private.ray_constants")
    before = getattr(constants, _CLUSTERS, True)
    setattr(constants, _CLUSTERS, False)
    try:
        yield
    finally:
        # The user's own sessions may be on clusters.
        setattr(constants, _CLUSTERS, before)


@contextlib.contextmanager
def _on_a_cluster(ray, address):
    with contextlib.ExitStack() as stack:
        try:
            host, _, port = address.rpartition("://")[2].rpartition(":")
            if port.isdecimal():
                # Ray itself would wait for minutes, and print each try.
                socket.create_connection((host, int(port)), _SECONDS).close()
            stack.enter_context(_begun(ray, address))
        except (OSError, RuntimeError, ValueError) as error:
            raise ValueError(
                f"There is no Ray cluster at {address}: {one_line(error)}"
            ) from error
        yield


@contextlib.contextmanager
def _begun(ray, address, **options):
    is_main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(
            address,
            configure_logging=False,
            log_to_driver=False,
            logging_level="ERROR",
            **options,
        )
        if is_main:
            signal.signal(signal.SIGTERM, handler)
        yield
    finally:
        ray.shutdown()
        if is_main:
            signal.signal(signal.SIGTERM, handler)


@contextlib.contextmanager
def _temporary_folder():
    """A folder in the system's temporary one; those of the dead are removed."""
    above = pathlib.Path(tempfile.gettempdir())
    _remove_left(above)
    folder = above / f"{_PREFIX}{secrets.token_hex(4)}"
    # Held before it is there, lest somebody take it for a dead one's.
    with path_held(folder), cleared(remove_folder, folder):
        folder.mkdir(mode=0o700)
        yield folder
    # Also where Ray's processes were still writing when it was removed.
    _remove_left(above)


def _remove_left(above):
    end = time.monotonic() + _SECONDS
    for path in above.glob(f"{_PREFIX}*"):
        # Of another user, or of a session that is running.
        with contextlib.suppress(ValueError, OSError), path_held(path):
            remove_folder(path)
            # Ray's processes outlive the one that began them for a while.
            while path.exists() and time.monotonic() < end:
                time.sleep(_PAUSE)
                remove_folder(path)


@contextlib.contextmanager
def _settings(is_local, variables):
    """Environment variables that Ray reads, and hands on to its processes."""
    settings = {**variables, "RAY_USAGE_STATS_ENABLED": "0"}
    if is_local:
        # The same in the processes that it starts.
        settings["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
        # Else it would write one into the home folder.
        token = f"{_TOKENS}TOKEN"
        settings[token] = os.environ.get(token, secrets.token_hex(32))
    with _environment(settings):
        yield


@contextlib.contextmanager
def _environment(variables):
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in [*os.environ]:
            is_ours = name in variables or name.startswith("RAY_")
            # It reads the token once a process, for all of its sessions.
            if is_ours and not name.startswith(_TOKENS):
                del os.environ[name]
        os.environ.update(before)


@contextlib.contextmanager
def _without_warnings():
    """Ray says nothing of tokens, which are the default."""
    logger = logging.getLogger("ray")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
