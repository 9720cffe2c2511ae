"""The benchmarks that need no data: `python -m benchmarks`."""

from benchmarks import bilstm
from benchmarks import faithfulness
from benchmarks import generated
from benchmarks import optimizers
from benchmarks import penalties

for benchmark in (penalties, bilstm, optimizers, generated, faithfulness):
    benchmark.main()
