"""A tour of keras_selfattn, cell by cell, on generated reviews.

Open it as a notebook where cells start with `# %%`, or run it at once:

    python examples/tour.py

`TOUR_ROWS` and `TOUR_EPOCHS` in the environment make it smaller.
"""

# %% [markdown]
# # 1. Data
# Reviews from 1 (worst) to 5 (best), and the words that decide the label.

# %%
import os
import pathlib
import tempfile

import keras
import numpy as np
import rich

import keras_selfattn as ks
from keras_selfattn.data.generated import generate_reviews

ROWS = int(os.environ.get("TOUR_ROWS", 4000))
EPOCHS = int(os.environ.get("TOUR_EPOCHS", 4))
folder = pathlib.Path(tempfile.mkdtemp(prefix="tour-"))
keras.utils.set_random_seed(0)

reviews = list(generate_reviews(ROWS))
train, dev = reviews[ROWS // 10 :], reviews[: ROWS // 10]
review = dev[0]
print(review.text)
print(review.label, [review.tokens[i] for i in review.deciding])

# %% [markdown]
# # 2. A model
# Words, a BiLSTM, attention with eight heads, a classifier: a Keras model.

# %%
words = ks.text.build_vocabulary([review.text for review in train])
model = ks.models.SentenceClassifier(
    vocabulary_size=len(words) + 2,
    num_classes=5,
    embedding_dim=64,
    units=64,
    attention_dim=64,
    num_heads=8,
    attention_penalty=0.01,
    hidden_units=256,
)
model.preprocessor = ks.text.TextPreprocessor(words)
model.labels = ["1", "2", "3", "4", "5"]
model.summary()

# %% [markdown]
# # 3. Training, with its attention in TensorBoard
# `tensorboard --logdir` with the folder printed below shows the pictures.

# %%
PROBE = ["The food was not bad at all, but the service was really awful."]


def inputs_and_targets(rows):
    stars = np.array([int(row.label) - 1 for row in rows])
    return model.preprocess([row.text for row in rows]), stars


logs = folder / "logs"
model.compile(
    ks.optimizers.Adam(2e-3),
    "sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
history = model.fit(
    *inputs_and_targets(train),
    validation_data=inputs_and_targets(dev),
    batch_size=32,
    epochs=EPOCHS,
    verbose=2,
    callbacks=[
        ks.callbacks.AttentionPictures(logs, PROBE),
        ks.callbacks.PenaltyCurves(logs, [row.text for row in dev[:64]]),
    ],
)
print(logs)

# %% [markdown]
# # 4. What it looked at
# In a notebook an explanation shows itself as well.

# %%
(explanation,) = ks.visualization.explain(model, PROBE)
rich.print(explanation)
explanation  # noqa: B018

# %%
page = ks.visualization.write_html(
    ks.visualization.explain(
        model, [row.text for row in dev], [row.label for row in dev]
    ),
    folder / "page.html",
)
print(page)

# %% [markdown]
# # 5. Whether to believe it
# What is lost without the most attended words, and how many of them decide.

# %%
measured = ks.faithfulness.measure(model, dev, shares=[0.2])
for method in ks.faithfulness.METHODS:
    print(method, measured.losses[method, 0.2], measured.agreement[method])
print(
    f"{measured.effective_heads:.1f} of {measured.num_heads} heads differ, "
    f"two of them share {measured.head_overlap:.0%} of their weight"
)

# %% [markdown]
# # 6. A vector for each sentence
# The reviews whose embeddings are nearest to that of the first.

# %%
rows = model.embedding_model()(model.preprocess([row.text for row in dev]))
vectors = keras.ops.convert_to_numpy(keras.ops.normalize(rows.numpy().mean(1)))
for row in np.argsort(-vectors @ vectors[0])[:3]:
    print(dev[row].label, dev[row].text)

# %% [markdown]
# # 7. Keeping it, and serving it
# A folder to load in Python, and a SavedModel that takes raw text.

# %%
model.save_to_preset(folder / "model")
again = ks.models.from_preset(folder / "model")
served = ks.serving.load_savedmodel(ks.serving.export(again, folder / "served"))
labels, probabilities = served.predict(PROBE)
print(labels, probabilities.round(2))
