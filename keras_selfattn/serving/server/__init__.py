"""The local server: TensorFlow Serving's REST API, and a page to type into."""
