"""The benchmarks that need no data: `python -m benchmarks`."""

from benchmarks import bilstm
from benchmarks import dropout
from benchmarks import faithfulness
from benchmarks import generated
from benchmarks import local_server
from benchmarks import optimizers
from benchmarks import penalties
from benchmarks import serving
from benchmarks import speed

for benchmark in (
    penalties,
    bilstm,
    dropout,
    optimizers,
    serving,
    local_server,
    generated,
    faithfulness,
):
    benchmark.main()
for what in ("works", "latency", "backends", "scaling"):
    speed.main([what])
