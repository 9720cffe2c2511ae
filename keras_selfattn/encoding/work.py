"""One file of texts, encoded into one Parquet file."""

import dataclasses

from keras_selfattn.data.bad_rows import BadRows
from keras_selfattn.data.formats import open_corpus
from keras_selfattn.data.text_lines import NoRecords
from keras_selfattn.encoding.tables import new_parquet
from keras_selfattn.encoding.tables import read_kept
from keras_selfattn.files import replaced_file
from keras_selfattn.streams import chunks

# Held at a time, and sorted by length.
ROWS = 2048


@dataclasses.dataclass(frozen=True)
class Work:
    """What is done with each file; it goes to other processes.

    Attributes:
        model: Path of the model, as a string.
        model_sha256: String that tells the model from others.
        give: Tuple of what is written.
        verify: Boolean, whether the model's files must be those that were
            written.
        reading: Dictionary of the arguments of
            `keras_selfattn.data.open_corpus` but for the path.
    """

    model: str
    model_sha256: str
    give: tuple
    verify: bool
    reading: dict

    def encoder(self):
        """The encoder of the model; it imports TensorFlow."""
        from keras_selfattn.encoding.encoders import load_encoder

        return load_encoder(self.model, self.give, self.verify)

    def open(self, shard):
        """The corpus of a shard's texts."""
        return open_corpus(shard.source, labelled=False, **self.reading)

    def done(self, shard):
        """What is known of a shard that was written before, or `None`.

        Returns:
            A dictionary of `"rows"`, `"bad"` and `"first"`.

        Raises:
            ValueError: if there is a file that was written for another work.
        """
        try:
            kept = read_kept(shard.output)
        except FileNotFoundError:
            return None
        expected = self._facts(shard)
        for name, fact in expected.items():
            if kept is None or kept.get(name) != fact:
                raise ValueError(
                    f"{shard.output} is there, and was written for another "
                    f"{name}: remove it, or write to another folder"
                )
        return kept["found"]

    def run(self, shard, encoder, on_rows):
        """Encode the texts of a shard.

        The file has its name when it is complete, and then holds one row for
        each row of the texts, in their order.

        Args:
            shard: A `Shard`.
            encoder: What `encoder` returns.
            on_rows: Function that is told the number of rows of each chunk.

        Returns:
            As `done`.
        """
        bad = BadRows()
        with (
            replaced_file(shard.output) as beside,
            new_parquet(beside, encoder.labels) as (write, keep),
        ):
            facts = self._facts(shard)
            try:
                for chunk in chunks(bad.texts(self.open(shard)), ROWS):
                    write(encoder(chunk))
                    on_rows(len(chunk))
            except NoRecords:
                # A file of no rows has all columns, too.
                write(_no_rows(encoder))
            first = None if bad.first is None else str(bad.first)
            found = {"rows": bad.rows, "bad": bad.bad, "first": first}
            keep({**facts, "found": found})
        return found

    def _facts(self, shard):
        return {
            "text": shard.made_of(),
            "model": self.model_sha256,
            "choice of columns": {
                "give": sorted(self.give),
                **self.reading,
            },
        }


def _no_rows(encoder):
    return {name: rows[:0] for name, rows in encoder([ValueError()]).items()}
