import json
import os
import pathlib
import socket
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from keras_selfattn.training.workers import Workers
from tests.backend import tensorflow_only
from tests.training.small import final_weights
from tests.training.small import train

pytestmark = tensorflow_only

# Run by each of two workers, and by a process alone. Batches of 16 leave one
# row of 81, and ten of 90.
PROGRAM = """
import json, os, sys
import keras
import tensorflow as tf
tf.config.threading.set_inter_op_parallelism_threads(4)
tf.get_logger().setLevel("ERROR")
from keras_selfattn import training
from tests.training.small import SMALL, reviews
from tests.tiny_classifier import tiny_classifier

strategy = None
if "TF_CONFIG" in os.environ:
    strategy = tf.distribute.MultiWorkerMirroredStrategy()

class Stop(keras.callbacks.Callback):
    # As where the processes are killed.

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        if (self.epoch, batch) == (1, 3):
            raise KeyboardInterrupt

def run(folder, rows, dropout, more={}, **values):
    training.train(
        "lin2017_yelp", reviews(rows, 1), reviews(41, 2),
        os.path.join(sys.argv[1], folder),
        model_overrides={
            **SMALL, "dropout": dropout, "attention_penalty": 0.5,
            "ngram_buckets": 64
        },
        training_overrides={"epochs": 2, "batch_size": 16, **values},
        verbose=0, strategy=strategy, **more)

def sgd(**more):
    run("sgd", 81, 0.0, more, optimizer="sgd", global_clipnorm=0.05,
        monitor="macro_f1")

if strategy is None:
    sgd()
else:
    try:
        # Each batch has a checkpoint.
        sgd(callbacks=[Stop()], checkpoint_minutes=1e-9)
    except KeyboardInterrupt:
        sgd(resume=True)
run("adagrad", 90, 0.0, optimizer="adagrad", global_clipnorm=None,
    clipnorm=0.01, ema_momentum=0.9, class_weight="balanced", decay_epochs=3)
if strategy is not None:
    # Of other texts in one worker.
    rows = 60 + strategy.cluster_resolver.task_id
    try:
        run("other", rows, 0.5)
    except ValueError as error:
        print(error)
    with strategy.scope():
        model = tiny_classifier()
        model.compile("sgd", "sparse_categorical_crossentropy")
    try:
        model.fit(["good"], ["1"])
    except ValueError as error:
        print(error)
"""


def free_addresses(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return [f"127.0.0.1:{port}" for port in ports]


def start(program, folder, addresses=(), number=0):
    environment = dict(os.environ)
    if addresses:
        environment["TF_CONFIG"] = json.dumps(
            {
                "cluster": {"worker": addresses},
                "task": {"type": "worker", "index": number},
            }
        )
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", program, str(folder)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_two_workers_are_one_process(tmp_path):
    addresses = free_addresses(2)
    processes = [
        start(PROGRAM, tmp_path / f"worker{number}", addresses, number)
        for number in range(2)
    ]
    processes.append(start(PROGRAM, tmp_path / "alone"))
    said = []
    try:
        for process in processes:
            out, error = process.communicate(timeout=300)
            assert process.returncode == 0, error
            said.append(out)
    finally:
        for process in processes:
            process.kill()
    # The chief alone writes.
    assert not (tmp_path / "worker1").exists()
    for name in ("sgd", "adagrad"):
        together, alone = tmp_path / "worker0" / name, tmp_path / "alone" / name
        for one, other in zip(
            final_weights(together), final_weights(alone), strict=True
        ):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-6)
        np.testing.assert_allclose(
            history(together), history(alone), rtol=0, atol=1e-5
        )
        # What binds is compared, not what does nothing.
        assert np.ptp(history(alone)[:, 2]) > 0
    for out in said[:2]:
        texts, fit = out.splitlines()
        assert "same texts and settings" in texts
        assert f"worker 1 ({addresses[1]})" in texts
        assert "keras_selfattn.training.train" in fit


def history(folder):
    path = pathlib.Path(folder, "history.csv")
    return np.loadtxt(path, delimiter=",", skiprows=1)


@pytest.mark.slow
def test_the_loop_of_workers_is_fit(run, tmp_path):
    # One worker, as no address is named.
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    train(tmp_path / "run", strategy=strategy)
    for one, other in zip(
        final_weights(tmp_path / "run"), final_weights(run[0]), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-6)
    np.testing.assert_allclose(
        history(tmp_path / "run"), history(run[0]), rtol=0, atol=1e-5
    )


def test_another_strategy(tmp_path):
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    with pytest.raises(ValueError, match="`strategy` must be a tf.distr.*fit"):
        train(tmp_path / "run", strategy=strategy)
    assert not (tmp_path / "run").exists()


def test_who_is_lost():
    workers = Workers()
    workers.count = 3
    workers._tasks = [("chief", 0), ("worker", 0), ("worker", 1)]
    workers._addresses = ["one:1", "two:2", "three:3"]
    message = (
        "aborted by /job:chief/replica:0/task:0 as "
        "/job:worker/replica:0/task:1 stopped sending heartbeats"
    )
    with (
        pytest.raises(
            ConnectionError, match=r"^worker 2 \(three:3\) has ended"
        ),
        workers.losses_named(),
    ):
        raise tf.errors.UnavailableError(None, None, message)
    with (
        pytest.raises(ConnectionError, match="^Another worker has ended"),
        workers.losses_named(),
    ):
        raise tf.errors.UnavailableError(None, None, "no name")
