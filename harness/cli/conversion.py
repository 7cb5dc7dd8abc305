"""Arguments of ``msdump convert``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.parser import Action, app
from harness.cli.shared_options import AsJson, with_json

Source = Annotated[str | None, typer.Argument(help="a dump, a golden (PATH::RUN) or a log, to be written as TARGET")]
Target = Annotated[
    Path | None, typer.Argument(help="file to write: .npz, .safetensors, .json (Polygraphy); --to onnx: a directory")
]
TargetFormat = Annotated[
    str | None, typer.Option("--to", metavar="npz|safetensors|onnx|polygraphy", help="format of TARGET")
]
DumpFiles = Annotated[
    str | None, typer.Option("-d", "--dump_file", help="one file, several separated by commas, or a directory")
]


@app.command()
def convert(
    source: Source = None,
    target: Target = None,
    to: TargetFormat = None,
    dump: DumpFiles = None,
    output: Annotated[str, typer.Option("-out", "--output", help="directory of the results")] = ".",
    kind: Annotated[str, typer.Option("-t", "--type", metavar="npy|msnpy|bin", help="format of the results")] = "npy",
    format_name: Annotated[str | None, typer.Option("-f", "--format", help="format to convert tensors to")] = None,
    shape: Annotated[str | None, typer.Option("-s", "--shape", help="host shape, for FRACTAL_NZ: 1,3,224,224")] = None,
    input_tensor: Annotated[str | None, typer.Option("-i", "--input_tensor", help="only this input")] = None,
    output_tensor: Annotated[str | None, typer.Option("-o", "--output_tensor", help="only this output")] = None,
    as_json: AsJson = None,
) -> Action:
    """Write the values of SOURCE as TARGET; with -d, convert asynchronous dump files as msaccucmp does (its exit
    codes)."""
    if (dump is None) == (source is None or target is None):
        raise typer.BadParameter("give SOURCE and TARGET, or -d (--dump_file) with the dump files to convert")
    if dump is not None and as_json is not None:
        raise typer.BadParameter("--json tells what was written to TARGET; with -d there is none")

    def action() -> int:
        if source is not None and target is not None:
            from harness.cli.convert_values import convert_values

            return with_json(as_json, "convert", lambda keep: convert_values(source, target, to, keep))
        assert dump is not None
        from harness.cli.convert import convert as convert_dump

        return convert_dump(dump, output, kind, format_name, shape, input_tensor, output_tensor)

    return action
