"""A classifier in scikit-learn's cross-validation and grid search.

    pip install ".[sklearn]"
    python examples/scikit_learn.py

The extra `sklearn` brings scikit-learn.
"""

import keras
from sklearn.model_selection import GridSearchCV
from sklearn.model_selection import cross_val_score

import keras_selfattn as ks
from keras_selfattn.data.generated import generate_reviews
from keras_selfattn.wrappers import SKLearnTextClassifier


def make_model(units=32, **arguments):
    keras.utils.set_random_seed(0)
    model = ks.models.SentenceClassifier(
        embedding_dim=32,
        encoder="cnn",
        units=units,
        attention_dim=16,
        num_heads=4,
        attention_penalty=0.01,
        hidden_units=32,
        **arguments,
    )
    model.compile(ks.optimizers.Adam(2e-3), "sparse_categorical_crossentropy")
    return model


def main(size=1500):
    reviews = list(generate_reviews(size, seed=0))
    texts = [review.text for review in reviews]
    stars = [review.label for review in reviews]

    classifier = SKLearnTextClassifier(
        make_model, fit_kwargs={"epochs": 6, "verbose": 0}
    )
    scores = cross_val_score(classifier, texts, stars, cv=3)
    print("accuracy of each fold:", scores.round(3))

    search = GridSearchCV(
        classifier, {"model_kwargs": [{"units": 16}, {"units": 64}]}, cv=2
    )
    search.fit(texts, stars)
    print("best:", search.best_params_, round(search.best_score_, 3))
    print(search.predict(["The food was awful.", "Great service!"]))


if __name__ == "__main__":
    main()
