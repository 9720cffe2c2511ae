"""The command that shares a model: `push`."""

from keras_selfattn.cli import models
from keras_selfattn.cli.options import add_command


def add_commands(commands):
    parser = add_command(commands, push)
    models.add_model(parser)
    parser.add_argument("name", help="hf://user/name, made if there is none")
    parser.add_argument(
        "--private",
        action="store_true",
        default=None,
        help="let nobody else see a new repository",
    )


def push(options):
    """Upload a model to the Hugging Face Hub."""
    models.check_folder(options.model)
    from keras_selfattn.zoo import push_to_hub

    print(
        push_to_hub(
            options.model,
            options.name,
            private=options.private,
            verify=options.verify,
        )
    )
