import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from keras_selfattn import evaluation
from keras_selfattn import models
from tests.tuning.test_searching import arguments
from tests.tuning.test_searching import read_csv
from tests.tuning.texts import rows

# A worker is given up sooner than a user's.
COMMAND = """
import sys
from keras_selfattn.tuning import oracles
oracles.HEARTBEAT, oracles.WORKER_TIMEOUT = 1, 20
from keras_selfattn.cli import main
sys.exit(main(sys.argv[1:]))
"""


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return str(sock.getsockname()[1])


@pytest.mark.slow
def test_a_killed_worker_costs_its_trial_alone(tmp_path):
    for name, size in (("train", 40), ("dev", 12)):
        (tmp_path / f"{name}.jsonl").write_text(
            "".join(
                json.dumps({"text": text, "label": label}) + "\n"
                for text, label in rows(size)
            )
        )
    folder = tmp_path / "search"
    port = free_port()

    def start(name):
        environment = {
            **os.environ,
            "KERASTUNER_TUNER_ID": name,
            "KERASTUNER_ORACLE_IP": "127.0.0.1",
            "KERASTUNER_ORACLE_PORT": port,
        }
        given = arguments(
            tmp_path,
            folder,
            "--search=learning_rate=[0.01,0.02,0.03,0.04]",
            '--search=pooling=["max","structured"]',
            "--search=num_heads=[2,3]",
            "--tuner=random",
            "--trials=4",
            "--epochs=2",
        )
        given = [a for a in given if not a.startswith("--set=pooling=")]
        with open(tmp_path / f"{name}.out", "w") as out:
            return subprocess.Popen(
                [sys.executable, "-c", COMMAND, *given],
                env=environment,
                stdout=out,
                stderr=subprocess.DEVNULL,
            )

    def said(name):
        return (tmp_path / f"{name}.out").read_text()

    processes = {"chief": start("chief"), "doomed": start("doomed")}
    try:
        while "trial 1 of 4" not in said("doomed"):
            assert all(p.poll() is None for p in processes.values())
            time.sleep(0.2)
        processes["doomed"].send_signal(signal.SIGKILL)
        processes["doomed"].wait()
        processes["other"] = start("other")
        assert processes["other"].wait(600) == 0, said("other")
        assert processes["chief"].wait(120) == 0, said("chief")
    finally:
        for process in processes.values():
            process.kill()
            process.wait()
    found = read_csv(folder)
    assert [row["status"] for row in found] == ["failed"] + 3 * ["completed"]
    assert found[0]["reason"] == "the worker doomed was lost"
    model = models.from_preset(folder)
    best = max(float(row["dev_accuracy"]) for row in found[1:])
    assert model.training_record["dev_accuracy"] == pytest.approx(best)
    assert evaluation.evaluate(model, rows(12)).accuracy == pytest.approx(best)
    # What KerasTuner prints of conditions stays out.
    assert all(line.startswith("trial") for line in said("other").splitlines())
    assert "the model is in" in said("chief")
