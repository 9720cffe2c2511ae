"""The package, stock Keras and PyTorch on the same work, each by itself.

`workloads.py` says what the work is, `ours.py`, `stock_keras.py` and
`stock_torch.py` do it, each in a process of its own (`worker.py`), and
`measuring.py` has them take turns.
"""
