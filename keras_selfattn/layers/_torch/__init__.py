"""PyTorch's own LSTM, for batches with padding."""
