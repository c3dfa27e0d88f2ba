"""Runs ONNX's tests of operators and models from PyTorch through run_cases: check_import.py PROGRAM FOLDER.

Exits with 1 if an output is wrong, or a test that is listed below passes. Prints why tests were refused."""

import collections
import logging
import os
import re
import subprocess
import sys
import warnings

import numpy as np
import onnx
from onnx.backend.test.case.node import collect_testcases

# Tests that are loaded and do not give the expected values, and why.
LISTED = {
    "test_(convtranspose_3d|col2im_5d)": "images of three dimensions throw",
    "test_reduce_(max|min)_empty_set.*": "a largest element of none throws",
    "test_training_dropout(_default)?(_mask)?": "random numbers differ",
}


def write_case(folder, model, inputs, outputs, rtol, atol):
    os.makedirs(folder)
    onnx.save(model, folder + "/model.onnx")
    for kind, arrays in ("input", inputs), ("output", outputs):
        for i, x in enumerate(arrays):
            if isinstance(x, onnx.TensorProto):
                x = onnx.numpy_helper.to_array(x)
            if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "biuf":
                np.save(f"{folder}/{kind}_{i}.npy", np.asarray(x))
    with open(folder + "/tolerance", "w") as file:
        file.write(f"{rtol} {atol}")


def write_node_cases(folder):
    for case in collect_testcases(None):
        for i, (inputs, outputs) in enumerate(case.data_sets):
            write_case(f"{folder}/{case.name}{i or ''}", case.model, inputs, outputs, case.rtol, case.atol)


def write_models(folder):
    import torch
    from torch_models import models

    for name, model, inputs in models():
        model.eval()
        expected = model(*inputs)
        outputs = [y.detach().numpy() for y in (expected if isinstance(expected, tuple) else (expected,))]
        sizes = tuple({0: torch.export.Dim.AUTO} for _ in inputs)
        exporters = {
            "torchscript": {"dynamo": False, "opset_version": 20},
            "dynamo_20": {"dynamo": True, "opset_version": 20, "verbose": False},
            "dynamo_23": {"dynamo": True, "opset_version": 23, "verbose": False},
            "dynamo_open": {"dynamo": True, "opset_version": 20, "verbose": False, "dynamic_shapes": sizes},
        }
        for exporter, options in exporters.items():
            file = f"{folder}/exported.onnx"
            try:
                torch.onnx.export(model, inputs, file, **options)
            except torch.onnx.errors.UnsupportedOperatorError as error:
                print(f"{exporter} does not export {name}: {error}")
                continue
            x = [tensor.numpy() for tensor in inputs]
            write_case(f"{folder}/model_{name}_{exporter}", onnx.load(file), x, outputs, 1e-5, 1e-5)
            os.remove(file)


def main():
    program, folder = sys.argv[1:]
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    write_node_cases(folder)
    try:
        import onnxscript  # noqa: F401
        import torch  # noqa: F401

        write_models(folder)
    except ImportError as error:
        print(f"models from PyTorch: skipped, {error}")
    run = subprocess.run([program, folder], capture_output=True, text=True)
    counts, reasons, wrong = collections.Counter(), collections.Counter(), []
    for line in run.stdout.splitlines():
        kind, name, *rest = re.match(r"(passed|refused|wrong) ([^:]*)(?:: (.*))?$", line).groups()
        listed = any(re.fullmatch(pattern, name) for pattern in LISTED)
        if (kind == "wrong" and not listed) or (kind == "passed" and listed) or (kind != "passed" and "model_" in name):
            wrong.append(line)
        counts["listed" if kind == "wrong" and listed else kind] += 1
        if kind == "refused":
            reason = re.sub(r'.*model.onnx: |node "[^"]*" |"[^"]*" ', "", rest[0])
            reasons[re.sub(r"\((\w+)\): the operator is unknown.*", r"unknown: \1", reason)] += 1
    for reason, count in sorted(reasons.items()):
        print(f"{count:5} refused: {reason}")
    for pattern, reason in LISTED.items():
        print(f"      listed: {pattern}: {reason}")
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())), *wrong, sep="\n")
    sys.exit(1 if wrong or run.returncode not in (0, 1) or counts["passed"] < 900 else 0)


main()
