"""Compares exported models in onnxruntime with the results that heed saved.

For each NAME.onnx of a folder there are inputs NAME_x0.npy, ... and results NAME_y0.npy, ..., and with a
second underscore those of other sizes. Prints what differs, and exits with 1 if anything does."""

import glob
import os
import sys

import numpy as np
import onnx
import onnxruntime

TOLERANCE = 1e-5  # relative to max(1, |value|)


def arrays(prefix):
    files = (f"{prefix}{i}.npy" for i in range(10))
    return [np.load(file) for file in files if os.path.exists(file)]


def difference(got, want):
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype} {got.shape}, expected {want.dtype} {want.shape}"
    a, b = got.astype(float), want.astype(float)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        worst = np.max(np.where(same, 0, np.abs(a - b) / np.maximum(1, np.abs(b))), initial=0)
    return "" if worst <= TOLERANCE else f"the difference is {worst:.2g}"


def check(base):
    onnx.checker.check_model(onnx.load(base + ".onnx"), full_check=True)
    session = onnxruntime.InferenceSession(base + ".onnx", providers=["CPUExecutionProvider"])
    known = {x.name for x in session.get_inputs()}
    for sizes in "_", "__":
        x, y = arrays(base + sizes + "x"), arrays(base + sizes + "y")
        names = ["x"] if len(x) == 1 else [f"x{i}" for i in range(len(x))]
        feed = {name: value for name, value in zip(names, x) if name in known}
        if not y:
            continue
        for got, want in zip(session.run(None, feed), y):
            if problem := difference(got, want):
                return problem
    return ""


onnxruntime.set_default_logger_severity(4)
failed = []
models = sorted(glob.glob(sys.argv[1] + "/*.onnx"))
for model in models:
    name = os.path.basename(model)[:-5]
    try:
        problem = check(model[:-5])
    except Exception as error:  # of the checker or of onnxruntime
        problem = f"{type(error).__name__}: {error}"[:400]
    if problem:
        failed.append(name)
        print(f"{name}: {problem}")
print(f"{len(models) - len(failed)} of {len(models)} models agree")
sys.exit(1 if failed or not models else 0)
