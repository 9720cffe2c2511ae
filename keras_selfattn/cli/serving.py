"""The command that answers over HTTP: `serve`."""

from keras_selfattn.cli import models
from keras_selfattn.cli.options import add_command
from keras_selfattn.cli.starting import start_keras
from keras_selfattn.first_use import import_extra


def add_commands(commands):
    parser = add_command(commands, serve)
    parser.add_argument(
        "models",
        nargs="+",
        metavar="MODEL",
        help="folder of a run, of a model or of SavedModels, whose name is "
        "the model's, or a name as the other commands take",
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen at; with another than that of this machine "
        "alone (default: %(default)s) all who reach it can ask",
    )
    parser.add_argument("--port", type=int, default=8501)
    models.add_verify(parser)


def serve(options):
    """Answer over HTTP, and show a page to type into."""
    for package in ("starlette", "uvicorn"):
        import_extra(package, "`serve`", package, "app")
    for folder in options.models:
        models.check_folder(folder, or_saved_model=True)
    start_keras()
    from keras_selfattn.serving.server import application
    from keras_selfattn.serving.server import servables

    served = [
        servables.load(folder, options.verify) for folder in options.models
    ]
    for servable in served:
        servable.warm_up()
    names = ", ".join(
        f"{each.name} (version {each.version})" for each in served
    )
    application.serve(
        served,
        options.host,
        options.port,
        lambda url: print(f"{names} at {url}", flush=True),
    )
