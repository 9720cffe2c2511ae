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
texts, stars = [row.text for row in train], [row.label for row in train]
dev_texts, dev_stars = [row.text for row in dev], [row.label for row in dev]
preprocessor = ks.text.TextPreprocessor()
preprocessor.adapt(texts)
model = ks.models.SentenceClassifier(
    preprocessor=preprocessor,
    labels=["1", "2", "3", "4", "5"],
    embedding_dim=64,
    units=64,
    attention_dim=64,
    num_heads=8,
    attention_penalty=0.01,
    hidden_units=256,
)
model.summary()

# %% [markdown]
# # 3. Training, with its attention in TensorBoard
# `tensorboard --logdir` with the folder printed below shows the pictures.

# %%
PROBE = ["The food was not bad at all, but the service was really awful."]
logs = folder / "logs"
model.compile(
    ks.optimizers.Adam(2e-3),
    "sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
history = model.fit(
    texts,
    stars,
    validation_data=(dev_texts, dev_stars),
    batch_size=32,
    epochs=EPOCHS,
    verbose=2,
    callbacks=[
        ks.callbacks.AttentionPictures(logs, PROBE),
        ks.callbacks.PenaltyCurves(logs, dev_texts[:64]),
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
    ks.visualization.explain(model, dev_texts, dev_stars),
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
vectors = model.encode(dev_texts, normalize=True)
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
