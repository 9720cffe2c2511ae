"""Package metadata; build system and tool settings are in pyproject.toml."""

import pathlib

from setuptools import find_packages
from setuptools import setup

HERE = pathlib.Path(__file__).parent

extras = {
    "tuning": ["matplotlib>=3.8", "scikit-learn>=1.4"],
    "reproduction": ["matplotlib>=3.8"],
    "sklearn": ["scikit-learn>=1.4"],
    "viz": ["matplotlib>=3.8"],
    "parquet": ["pyarrow>=17"],
    "zstd": ["zstandard>=0.22"],
    "serving": ["tensorflow-serving-api>=2.18"],
    "cluster": ["pyarrow>=17", "ray>=2.40"],
    "hub": ["huggingface_hub>=2"],
    "app": ["starlette>=0.40", "uvicorn>=0.30"],
    "formats": [
        "ai-edge-litert>=2.3",
        "onnx>=1.14",
        "onnxruntime>=1.17",
        "openvino>=2026.4",
        "tf2onnx>=1.17",
    ],
    "benchmarks": [
        # It has wheels for Linux alone.
        "fasttext-numpy2>=0.10; sys_platform == 'linux'",
        "matplotlib>=3.8",
        "scikit-learn>=1.4",
    ],
    "docs": [
        "mkdocs>=1.6,<2",
        "mkdocs-material>=9.7",
        "mkdocstrings-python>=2",
    ],
    "dev": [
        "build>=1",
        "hypothesis>=6",
        "jax",
        "mypy>=1.11",
        "pandas",
        "polars",
        "pyarrow>=17",
        "pytest>=8",
        "pytest-cov>=5",
        "pytest-xdist>=3.5",
        "ruff>=0.6",
        "scikit-learn>=1.4",
        "torch==2.13.0",
    ],
}
extras["all"] = sorted({name for names in extras.values() for name in names})

setup(
    name="keras_selfattn",
    version="0.1.0",
    description=(
        "Small, fast, explainable text and text-pair classifiers in Keras: "
        "structured self-attention, generalized pooling, decomposable "
        "attention"
    ),
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    packages=find_packages(include=["keras_selfattn", "keras_selfattn.*"]),
    package_data={
        "": ["*.pyi", "py.typed"],
        "keras_selfattn.data": ["*.json"],
        "keras_selfattn.models": ["*.json"],
        "keras_selfattn.reproduction": ["*.json"],
        "keras_selfattn.serving.server": ["*.css", "*.html", "*.js"],
        "keras_selfattn.visualization": ["*.css", "*.html", "*.js"],
        "keras_selfattn.zoo": ["*.json", "trained/*/*", "trained/*/*/*"],
    },
    python_requires=">=3.10",
    install_requires=[
        "keras>=3.11,<4",
        "keras-tuner>=1.4.7",
        "numpy>=1.26",
        "rich>=13",
        "scipy>=1.11.1",
        "tensorboard>=2.19",
        "tensorflow>=2.19",
        # It has wheels for these alone; core TensorFlow does as well.
        "tensorflow-text>=2.19; sys_platform == 'linux' or "
        "(sys_platform == 'darwin' and platform_machine == 'arm64')",
    ],
    extras_require=extras,
    entry_points={
        "console_scripts": ["keras-selfattn = keras_selfattn.cli:main"]
    },
    classifiers=[
        "License :: OSI Approved :: Apache Software License",
        "Programming Language :: Python :: 3",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
    ],
)
