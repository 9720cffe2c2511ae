"""A `map` over files: here, in several processes, or on a Ray cluster."""

import atexit
import concurrent.futures
import contextlib
import multiprocessing
import os

from keras_selfattn.first_use import OF_COMMAND
from keras_selfattn.first_use import import_tensorflow
from keras_selfattn.first_use import is_command_line

# So often a file may see its process die: it may be the one that kills it.
_DEATHS = 5
_DIED = (
    "A process of `prepare` was ended from outside, as where there is too "
    "little memory; with --resume (resume=True) the rest is prepared"
)


@contextlib.contextmanager
def mapping(processes, ray_address=None):
    """A function as `map`, which calls another one in several processes.

    Args:
        processes: Integer, how many there are on this machine. One is this
            process itself.
        ray_address: Address of a Ray cluster that has them instead, or
            `None`.

    Yields:
        The function. Errors are those of the function that is called, but
        for a `ChildProcessError` where a process has ended.
    """
    if ray_address is not None:
        with _on_ray(ray_address) as map_files:
            yield map_files
    elif processes == 1:
        yield map
    else:
        if is_command_line():
            # They ask before there is more to tell them by.
            os.environ[OF_COMMAND] = "1"
        # TensorFlow's threads don't live through a fork.
        pool = concurrent.futures.ProcessPoolExecutor(
            processes,
            multiprocessing.get_context("spawn"),
            _begin,
        )
        try:
            with _deaths_told(concurrent.futures.process.BrokenProcessPool):
                yield pool.map
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _begin():
    """What a process does before all else."""
    # Nothing is left to write then, and to take all modules apart takes a
    # second.
    atexit.register(os._exit, 0)
    import_tensorflow()


@contextlib.contextmanager
def _on_ray(address):
    from keras_selfattn.encoding import ray_sessions
    from keras_selfattn.encoding.workers import worker_variables

    session = ray_sessions.session(None, address, worker_variables())
    with session as (ray, options):
        call = ray.remote(_call).options(
            num_cpus=1, max_retries=_DEATHS, **options
        )

        def map_files(function, *columns):
            answers = [
                call.remote(function, *row)
                for row in zip(*columns, strict=True)
            ]
            for answer in answers:
                try:
                    yield ray.get(answer)
                except ray.exceptions.RayTaskError as error:
                    raise error.cause from None

        with _deaths_told(ray.exceptions.RayError):
            yield map_files


def _call(function, *arguments):
    return function(*arguments)


@contextlib.contextmanager
def _deaths_told(kind):
    try:
        yield
    except kind as error:
        raise ChildProcessError(_DIED) from error
