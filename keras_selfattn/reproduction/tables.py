"""The papers' tables and figures, as plain data.

Figures are percent, as published. Columns that the papers don't print (number
of words, years) are left out.
"""

import dataclasses

from keras_selfattn.models import get_preset


@dataclasses.dataclass(frozen=True)
class Column:
    """One accuracy that a table has of each row.

    Attributes:
        name: Its name in the table.
        corpus: The corpus that it is measured on.
        split: The texts that it is measured on: `"train"`, `"dev"`,
            `"mismatched"`, or `"test"`, for which dev stands in where there
            is none.
        label: The gold class that it is the accuracy of, or `None` for all.
    """

    name: str
    corpus: str
    split: str = "test"
    label: str | None = None


@dataclasses.dataclass(frozen=True)
class Row:
    """One row of a table.

    Attributes:
        name: Its name in the table.
        published: Published figures in percent, by the column's name.
        key: A short name without spaces, or `None` for a row that is not
            ours: the system of other authors, which is never run.
        presets: The names of the presets that it runs, by corpus.
        overrides: Arguments of the model that take the place of the presets'.
        is_baseline: Boolean, whether the rows that are no baselines are
            tested against it.
        parameters: Published numbers of weights, as printed, by the table's
            parts.
    """

    name: str
    published: dict
    key: str | None = None
    presets: dict = dataclasses.field(default_factory=dict)
    overrides: dict = dataclasses.field(default_factory=dict)
    is_baseline: bool = False
    parameters: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Table:
    """One table or figure of a paper.

    Attributes:
        paper: The name of the paper, as in the presets.
        name: `"table 1"` or `"figure 5"`, ...
        title: What it shows.
        columns: Tuple of each `Column`.
        rows: Tuple of each `Row`.
        compared: Tuple of the model arguments that the rows compare, which
            can't be set for all of them.
        parts: Tuple of the parts of the model whose weights are counted.
        notes: Tuple of sentences that a reader needs.
    """

    paper: str
    name: str
    title: str
    columns: tuple
    rows: tuple
    compared: tuple = ()
    parts: tuple = ()
    notes: tuple = ()

    @property
    def corpora(self):
        """The names of its corpora."""
        return tuple(dict.fromkeys(column.corpus for column in self.columns))

    @property
    def is_figure(self):
        return self.name.startswith("figure")


def _row(key, name, presets, published=None, is_baseline=False, **more):
    """A row of ours; its figures are the presets', unless others are given."""
    if published is None:
        published = {}
        for preset in presets.values():
            published.update(get_preset(preset).published)
    return Row(name, published, key, presets, is_baseline=is_baseline, **more)


def _others(column, rows):
    return tuple(Row(name, {column: figure}) for name, figure in rows)


def _for_corpora(pattern, corpora):
    return {corpus: pattern.format(corpus) for corpus in corpora}


YELP = Column("yelp", "yelp")
AGE = Column("age", "age")
SNLI = Column("snli", "snli")
SNLI_DEV = Column("snli", "snli", "dev")
MATCHED = Column("matched", "multinli")
MISMATCHED = Column("mismatched", "multinli", "mismatched")

_SENTENCES = ("yelp", "age")
_PENALTIES = ("parameter_penalty", "attention_penalty", "embedding_penalty")


def _lin_tables():
    yield Table(
        "lin2017",
        "table 1",
        "Models on Yelp and Age",
        (YELP, AGE),
        (
            _row(
                "bilstm-max",
                "BiLSTM + max pooling + MLP",
                _for_corpora("lin2017_bilstm_max_{}", _SENTENCES),
                is_baseline=True,
            ),
            _row(
                "cnn-max",
                "CNN + max pooling + MLP",
                _for_corpora("lin2017_cnn_max_{}", _SENTENCES),
                is_baseline=True,
            ),
            _row(
                "structured",
                "structured self-attention",
                _for_corpora("lin2017_{}", _SENTENCES),
            ),
        ),
        compared=("encoder", "pooling"),
    )
    yield Table(
        "lin2017",
        "table 2",
        "Sentence encoders on SNLI",
        (SNLI,),
        (
            *_others(
                "snli",
                (
                    ("300D LSTM (Bowman et al., 2016)", 80.6),
                    ("600D BiLSTM (Liu et al., 2016b)", 83.3),
                    ("300D tree-based CNN (Mou et al., 2015a)", 82.1),
                    ("300D SPINN-PI (Bowman et al., 2016)", 83.2),
                    ("300D NTI-SLSTM-LSTM (Munkhdalai & Yu, 2016a)", 83.4),
                    ("1024D GRU, SkipThoughts (Vendrov et al., 2015)", 81.4),
                    ("300D NSE (Munkhdalai & Yu, 2016b)", 84.6),
                ),
            ),
            _row(
                "structured",
                "structured self-attention",
                {"snli": "lin2017_snli"},
            ),
        ),
    )
    yield Table(
        "lin2017",
        "table 3",
        "The penalty on the attention",
        (YELP, AGE),
        (
            _row(
                "penalty-1",
                "penalty 1.0",
                _for_corpora("lin2017_{}", _SENTENCES),
                overrides={"attention_penalty": 1.0},
            ),
            _row(
                "penalty-0",
                "penalty 0.0",
                _for_corpora("lin2017_{}", _SENTENCES),
                published={"yelp": 61.74, "age": 79.27},
                overrides={"attention_penalty": 0.0},
                is_baseline=True,
            ),
        ),
        compared=("attention_penalty",),
    )
    parts = ("hidden layer", "softmax", "other parts", "total")

    def sizes(corpus, full, full_accuracy, pruned, **overrides):
        for key, preset, counts, published in (
            ("original", f"lin2017_{corpus}", full, full_accuracy),
            ("pruned", f"lin2017_{corpus}_pruned", pruned, None),
        ):
            yield _row(
                f"{corpus}-{key}",
                f"{corpus}, {key}",
                {corpus: preset},
                published=published and {corpus: published},
                is_baseline=key == "pruned",
                parameters=dict(zip(parts, counts, strict=True)),
                overrides=overrides if key == "original" else {},
            )

    yield Table(
        "lin2017",
        "table 4",
        "Sizes and accuracies before and after pruning",
        (YELP, AGE, SNLI),
        (
            *sizes(
                "yelp",
                ("54M", "15K", "1.3M", "55.3M"),
                64.21,
                ("2.7M", "52.5K", "1.3M", "4.1M"),
            ),
            # Of 2000 units in section 4.1, where the accuracy is the same.
            *sizes(
                "age",
                ("72M", "20K", "1.3M", "73.2M"),
                80.45,
                ("822K", "63.75K", "1.3M", "2.1M"),
                hidden_units=4000,
            ),
            *sizes(
                "snli",
                ("72M", "12K", "22.9M", "95.0M"),
                84.43,
                ("5.6M", "45K", "22.9M", "28.6M"),
            ),
        ),
        compared=("row_units", "column_units"),
        parts=parts,
        notes=(
            "The test asks whether the original beats the pruned model.",
            "The published hidden layer of the pruned Yelp model leaves out "
            "the units of the columns, which its softmax counts.",
        ),
    )
    yield Table(
        "lin2017",
        "figure 5",
        "The number of rows of the embedding",
        (AGE, SNLI),
        tuple(
            _row(
                f"r-{heads}",
                f"r = {heads}",
                _for_corpora("lin2017_{}", ("age", "snli")),
                published={},
                overrides={"num_heads": heads},
                is_baseline=heads == 1,
            )
            for heads in (1, 5, 10, 20, 30)
        ),
        compared=("num_heads",),
        notes=(
            "The paper draws the test accuracy of each epoch; here it is the "
            "dev accuracy, so that the test texts are read once.",
        ),
    )


def _chen_poolings(pattern, corpora):
    """Three baselines and generalized pooling."""
    for pooling in ("max", "mean", "last"):
        yield _row(
            pooling,
            f"BiLSTM, {pooling} pooling",
            _for_corpora(pattern + f"_{pooling}", corpora),
            is_baseline=True,
        )
    yield _row(
        "generalized",
        "BiLSTM, generalized pooling",
        _for_corpora(pattern, corpora),
    )


def _chen_tables():
    yield Table(
        "chen2018",
        "table 1",
        "Sentence encoders on SNLI",
        (SNLI,),
        (
            *_others(
                "snli",
                (
                    ("100D LSTM (Bowman et al., 2015)", 77.6),
                    ("300D LSTM (Bowman et al., 2016)", 80.6),
                    ("1024D GRU (Vendrov et al., 2015)", 81.4),
                    ("300D tree CNN (Mou et al., 2016)", 82.1),
                    ("600D SPINN-PI (Bowman et al., 2016)", 83.3),
                    ("600D BiLSTM (Liu et al., 2016)", 83.3),
                    ("300D NTI-SLSTM-LSTM (Yu & Munkhdalai, 2017b)", 83.4),
                    ("600D BiLSTM, intra-attention (Liu et al., 2016)", 84.2),
                    ("600D BiLSTM, self-attention (Lin et al., 2017)", 84.4),
                    ("4096D BiLSTM, max (Conneau et al., 2017)", 84.5),
                    ("300D NSE (Yu & Munkhdalai, 2017a)", 84.6),
                    ("600D BiLSTM, gated (Chen et al., 2017b)", 85.5),
                    ("300D DiSAN (Shen et al., 2017)", 85.6),
                    ("300D Gumbel TreeLSTM (Choi et al., 2017)", 85.6),
                    ("600D residual BiLSTM (Nie & Bansal, 2017)", 85.7),
                    ("300D CAFE (Tay et al., 2018)", 85.9),
                    ("600D Gumbel TreeLSTM (Choi et al., 2017)", 86.0),
                    ("1200D residual BiLSTM (Nie & Bansal, 2017)", 86.0),
                    ("300D ReSAN (Shen et al., 2018)", 86.3),
                ),
            ),
            *_chen_poolings("chen2018_{}", ("snli",)),
        ),
        compared=("pooling",),
    )
    yield Table(
        "chen2018",
        "table 2",
        "Sentence encoders on MultiNLI",
        (MATCHED, MISMATCHED),
        (
            *(
                Row(name, {"matched": matched, "mismatched": mismatched})
                for name, matched, mismatched in (
                    ("CBOW (Williams et al., 2017)", 64.8, 64.5),
                    ("BiLSTM (Williams et al., 2017)", 66.9, 66.9),
                    ("BiLSTM, gated (Chen et al., 2017b)", 73.5, 73.6),
                    ("Shortcut BiLSTM (Nie & Bansal, 2017)", 74.6, 73.6),
                )
            ),
            *_chen_poolings("chen2018_{}", ("multinli",)),
        ),
        compared=("pooling",),
    )
    yield Table(
        "chen2018",
        "table 3",
        "Models on Yelp and Age",
        (YELP, AGE),
        (
            *(
                Row(name, {"yelp": yelp, "age": age})
                for name, yelp, age in (
                    ("BiLSTM, max pooling (Lin et al., 2017)", 61.99, 77.30),
                    ("CNN, max pooling (Lin et al., 2017)", 62.05, 78.15),
                    ("BiLSTM, self-attention (Lin et al., 2017)", 64.21, 80.45),
                )
            ),
            *_chen_poolings("chen2018_{}", _SENTENCES),
        ),
        compared=("pooling",),
        notes=(
            "The rows of Lin et al. are those of lin2017, table 1.",
            "Generalized pooling has the penalty on parameters on Yelp and "
            "that on attention on Age, the best of table 4.",
        ),
    )
    corpora = ("snli", "multinli", "yelp", "age")
    figures = (
        (
            "parameter",
            "on parameters",
            (86.6, 73.8, 74.0, 66.55, 82.45),
        ),
        (
            "attention",
            "on attention",
            (86.2, 73.6, 73.8, 66.15, 82.63),
        ),
        ("embedding", "on embeddings", (86.1, 73.5, 73.6, 65.75, 82.15)),
        ("none", "none", (86.4, 73.7, 73.4, 65.25, 82.18)),
    )
    columns = (SNLI, MATCHED, MISMATCHED, YELP, AGE)
    yield Table(
        "chen2018",
        "table 4",
        "The penalties",
        columns,
        tuple(
            _row(
                key,
                f"penalty: {name}",
                _for_corpora("chen2018_{}", corpora),
                published={
                    column.name: figure
                    for column, figure in zip(columns, published, strict=True)
                },
                overrides={
                    penalty: 1e-2 if penalty == f"{key}_penalty" else 0.0
                    for penalty in _PENALTIES
                },
                is_baseline=key == "none",
            )
            for key, name, published in figures
        ),
        compared=_PENALTIES,
        notes=(
            "The paper chose each factor on dev from 1 to 1e-4 and prints "
            "none; here it is 1e-2, that of the authors' recipe for SNLI.",
        ),
    )
    published = {("vector", 9): 86.8, ("scalar", 7): 86.4}
    yield Table(
        "chen2018",
        "figure 1",
        "Heads, and attention by vectors or by scalars",
        (SNLI_DEV,),
        tuple(
            _row(
                f"{kind}-{heads}",
                f"{kind}, {heads} {'heads' if heads > 1 else 'head'}",
                {"snli": "chen2018_snli"},
                published=(
                    {"snli": published[kind, heads]}
                    if (kind, heads) in published
                    else {}
                ),
                overrides={
                    "pooling": pooling,
                    "num_heads": heads,
                    **dict.fromkeys(_PENALTIES, 0.0),
                },
                is_baseline=kind == "scalar",
            )
            # "Scalar" is Lin et al.'s self-attention, as the paper says.
            for kind, pooling in (
                ("vector", "generalized"),
                ("scalar", "structured"),
            )
            for heads in (1, 3, 5, 7, 9)
        ),
        compared=("pooling", "num_heads", *_PENALTIES),
        notes=("The paper prints only the best figure of either kind.",),
    )


def _parikh_tables():
    presets = (
        ("vanilla", "vanilla", "parikh2016_snli"),
        ("intra", "intra-sentence", "parikh2016_snli_intra"),
    )

    def ours(figures, columns, sizes=None):
        for (key, name, preset), published in zip(
            presets, figures, strict=True
        ):
            yield _row(
                key,
                f"decomposable attention, {name}",
                {"snli": preset},
                published=dict(zip(columns, published, strict=True)),
                is_baseline=key == "vanilla",
                parameters={"total": sizes[key]} if sizes else {},
            )

    names = ("train", "snli")
    yield Table(
        "parikh2016",
        "table 1",
        "Accuracies and sizes on SNLI",
        (Column("train", "snli", "train"), SNLI),
        (
            *(
                Row(
                    name,
                    {"train": train, "snli": test},
                    parameters={"total": total} if total else {},
                )
                for name, train, test, total in (
                    ("lexicalized (Bowman et al., 2015)", 99.7, 78.2, None),
                    ("300D LSTM (Bowman et al., 2016)", 83.9, 80.6, "3.0M"),
                    ("1024D GRU (Vendrov et al., 2015)", 98.8, 81.4, "15.0M"),
                    ("300D tree CNN (Mou et al., 2016)", 83.3, 82.1, "3.5M"),
                    ("300D SPINN-PI (Bowman et al., 2016)", 89.2, 83.2, "3.7M"),
                    (
                        "100D LSTM, attention (Rocktäschel et al., 2016)",
                        85.3,
                        83.5,
                        "252K",
                    ),
                    ("300D mLSTM (Wang & Jiang, 2016)", 92.0, 86.1, "1.9M"),
                    ("450D LSTMN (Cheng et al., 2016)", 88.5, 86.3, "3.4M"),
                )
            ),
            *ours(
                ((89.5, 86.3), (90.5, 86.8)),
                names,
                {"vanilla": "382K", "intra": "582K"},
            ),
        ),
        compared=("intra_sentence",),
        parts=("total",),
    )
    classes = ("neutral", "entailment", "contradiction")
    yield Table(
        "parikh2016",
        "table 2",
        "Dev accuracy by gold class",
        tuple(Column(label, "snli", "dev", label) for label in classes),
        (
            *(
                Row(name, dict(zip(classes, figures, strict=True)))
                for name, figures in (
                    ("300D SPINN-PI (Bowman et al., 2016)", (80.6, 88.2, 85.5)),
                    ("300D mLSTM (Wang & Jiang, 2016)", (81.6, 91.6, 87.4)),
                )
            ),
            *ours(((83.6, 91.3, 85.8), (83.7, 92.1, 86.7)), classes),
        ),
        compared=("intra_sentence",),
    )


TABLES = {
    (table.paper, table.name): table
    for tables in (_lin_tables(), _chen_tables(), _parikh_tables())
    for table in tables
}


def get_table(paper, name):
    """The table or figure of a paper.

    Args:
        paper: `"lin2017"`, `"chen2018"` or `"parikh2016"`.
        name: Such as `"table 1"` or `"figure 5"`.

    Raises:
        ValueError: if there is none.
    """
    if (paper, name) not in TABLES:
        known = ", ".join(" ".join(key) for key in TABLES)
        raise ValueError(
            f"Expected one of: {known}. Received: {f'{paper} {name}'!r}"
        )
    return TABLES[paper, name]
