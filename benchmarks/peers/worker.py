"""A process that does one peer's work when told to.

    python -m benchmarks.peers.worker '{"peer": "ours", "job": "Steps", ...}'

prints one line of JSON when it is ready, and then reads lines such as
`train 3`: do so three times, and answer with the seconds, the processor's
seconds, the memory at its highest and what the work returned.
"""

import importlib
import json
import os
import pathlib
import resource
import sys
import time

from benchmarks.peers.workloads import Work


def _peak_mib():
    status = pathlib.Path("/proc/self/status")
    if status.exists():
        # `ru_maxrss` starts from what the parent process used.
        (line,) = (x for x in status.read_text().splitlines() if "VmHWM" in x)
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    # Libraries may print; answers go where they were to go.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    spec = json.loads(sys.argv[1])
    peer = importlib.import_module(f"benchmarks.peers.{spec.pop('peer')}")
    if "work" in spec:
        spec["work"] = Work(**spec["work"])
    job = getattr(peer, spec.pop("job"))(**spec)
    print(json.dumps(job.facts), file=answers)
    for line in sys.stdin:
        name, count = line.split()
        started = time.perf_counter(), time.process_time()
        result = getattr(job, name)(int(count))
        ended = time.perf_counter(), time.process_time()
        answer = {
            "seconds": ended[0] - started[0],
            "processor": ended[1] - started[1],
            "peak_mib": _peak_mib(),
            "result": result,
        }
        print(json.dumps(answer), file=answers)


if __name__ == "__main__":
    main()
