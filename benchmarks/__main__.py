"""The benchmarks that need no data: `python -m benchmarks`."""

from benchmarks import generated
from benchmarks import penalties

penalties.main()
generated.main()
