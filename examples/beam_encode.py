"""Texts of many files encoded on Apache Beam, by a SavedModel.

    pip install . apache-beam
    keras-selfattn export runs/reviews served/reviews
    python examples/beam_encode.py served/reviews 'texts/part-*' encoded/part

reads files with a text a line, and writes JSON Lines with the text, its label
and its sentence embedding. It runs on this machine unless Beam is told another
runner behind these arguments, such as `--runner=FlinkRunner`; the workers of
that one need both packages, and all paths must be those of a file system that
they see. The two packages may want other versions of protobuf or pyarrow than
what else is installed: an environment of their own has no trouble.

Beam gives rows back in any order, and its files are not those that were read:
`keras-selfattn encode` keeps both, and needs no runner.
"""

import argparse
import json

import apache_beam as beam
from apache_beam.io import ReadFromText
from apache_beam.io import WriteToText
from apache_beam.ml.inference.base import ModelHandler
from apache_beam.ml.inference.base import PredictionResult
from apache_beam.ml.inference.base import RunInference
from apache_beam.options.pipeline_options import PipelineOptions


class SavedModelHandler(ModelHandler):
    """Asks a SavedModel for labels and sentence embeddings.

    Args:
        folder: Path of a version of an export, or of the folder of versions.
    """

    def __init__(self, folder):
        super().__init__(min_batch_size=32, max_batch_size=256)
        self._folder = folder

    def load_model(self):
        # A worker imports TensorFlow when it needs it.
        from keras_selfattn.serving import load_savedmodel

        return load_savedmodel(self._folder)

    def run_inference(self, batch, model, inference_args=None):
        found = model.run_together(["serving_default", "embed"], batch)
        for row, text in enumerate(batch):
            embedding = found["embedding"][row].ravel()
            answer = found["label"][row].decode(), embedding.tolist()
            yield PredictionResult(text, answer)

    def get_metrics_namespace(self):
        return "keras_selfattn"


def as_json(result):
    label, embedding = result.inference
    row = {"text": result.example, "label": label, "embedding": embedding}
    return json.dumps(row, ensure_ascii=False)


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("model", help="the folder of an export")
    parser.add_argument("texts", help="a pattern of files, in quotes")
    parser.add_argument("output", help="what the names of files begin with")
    options, of_beam = parser.parse_known_args(arguments)
    with beam.Pipeline(options=PipelineOptions(of_beam)) as pipeline:
        _ = (
            pipeline
            | "Read" >> ReadFromText(options.texts)
            # An empty line is no text.
            | "Keep texts" >> beam.Filter(str.strip)
            | "Encode" >> RunInference(SavedModelHandler(options.model))
            | "As JSON" >> beam.Map(as_json)
            | "Write" >> WriteToText(options.output, ".jsonl")
        )


if __name__ == "__main__":
    main()
