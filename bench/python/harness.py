"""What the Python sides of the benchmarks share: the command line of Google Benchmark, the timing, the comparison with
heed's values (bench/values.h), and the data that a workload's definition fixes."""
import functools
import json
import os
import re
import sys
import time
from typing import NamedTuple

import numpy as np

COMPARING = "HEED_BENCH_VALUES" in os.environ
THREADS = int(os.environ.get("OMP_NUM_THREADS", os.cpu_count()))
BEGIN = 1  # the word before the first
DECODE_STEPS = 32
NANOSECONDS = {"us": 1e3, "ms": 1e6}


class Translator(NamedTuple):
    """An encoder and a decoder of `layers` layers each."""
    layers: int
    width: int
    heads: int
    feedforward: int
    words: int
    length: int


SMALL, LARGE = Translator(2, 128, 4, 512, 200, 16), Translator(4, 256, 4, 1024, 100, 20)
HEADS = {"64x32x128h4": (64, 32, 128, 4), "32x64x256h8": (32, 64, 256, 8), "8x256x512h8": (8, 256, 512, 8)}
LENGTHS = (512, 1024, 2048, 4096, 8192)

rng = np.random.default_rng(5)  # w of kernel_regression_step does not go to 0 for these data


@functools.cache
def values_file():
    return open(os.environ["HEED_BENCH_VALUES"], "rb")


def heeds(like):
    """Reads the next values of heed's side into arrays of these shapes and dtypes."""
    header = values_file().read(8)
    if len(header) < 8 or int.from_bytes(header, sys.byteorder) != sum(x.nbytes for x in like):
        raise RuntimeError("heed's side has other shapes, or ran other workloads")
    return [np.frombuffer(values_file().read(x.nbytes), x.dtype).reshape(x.shape).copy() for x in like]


def given(arrays):
    """Returns heed's values instead of these while comparing."""
    return heeds(arrays) if COMPARING else arrays


def normal(*shape):
    return rng.standard_normal(shape, dtype=np.float32)


def uniform(high, *shape):
    return rng.random(shape, dtype=np.float32) * np.float32(high)


def ids(low, high, *shape):
    return given([rng.integers(low, high, shape)])[0]


def sinusoids(length, width):
    """Positions [length, width]: PE[p, 2i] = sin(p / 10000^(2i/width)), PE[p, 2i + 1] = cos of the same."""
    angle = np.arange(length)[:, None] * 10000.0 ** (-np.arange(0, width, 2) / width)
    return np.stack([np.sin(angle), np.cos(angle)], -1).reshape(length, width).astype(np.float32)


class Batch:
    """Sentences of at most `length` words and at least half of that; the rest is padding, word 0."""

    def __init__(self, size, length, words):
        lengths = ids(length // 2, length + 1, size)
        self.valid = np.arange(length) < lengths[:, None]  # [B, T]
        self.source = ids(4, words, size, length) * self.valid
        self.labels = ids(4, words, size, length) * self.valid
        self.input = np.concatenate([np.full((size, 1), BEGIN), self.labels[:, :-1]], 1)


class State:
    """One run of a workload: its times, and how far its results are from heed's."""

    def __init__(self, min_time, repetitions):
        self.min_time, self.repetitions = min_time, repetitions
        self.label = self.error = ""

    def difference(self, arrays):
        """The largest distance from what heed found, divided by the array's norm. A norm below a hundredth of the
        largest counts as that: the array may be 0 but for rounding."""
        arrays = [np.asarray(x) for x in arrays]
        values = heeds(arrays)
        norms = [np.linalg.norm(x.astype(np.float64)) for x in values]
        floor = max(norms, default=0) / 100
        distances = [np.linalg.norm(x.astype(np.float64) - y) for x, y in zip(arrays, values)]
        return max((d / max(n, floor) for d, n in zip(distances, norms)), default=0)

    def found(self, result, gradients):
        """Compares a result and the gradients with heed's."""
        if not COMPARING:
            return
        of_result, of_gradients = self.difference([result]), self.difference(gradients)
        self.label = f"differs by {of_result:.1e}, gradients by {of_gradients:.1e}"
        if not (of_result < 1e-4 and of_gradients < 1e-4):
            self.error = self.label

    def require(self, condition, message):
        if not condition:
            self.error = self.error or message

    def time(self, step):
        """Times `step` after one first call, in repetitions of the same number of steps."""
        def run(iterations):
            start = time.perf_counter_ns()
            for _ in range(iterations):
                step()
            return time.perf_counter_ns() - start

        self.first_call = run(1)
        self.iterations = 1
        while (total := run(self.iterations)) < self.min_time * 1e9:
            growth = min(10, 1.4 * self.min_time * 1e9 / max(total, 1))
            self.iterations = max(self.iterations + 1, int(self.iterations * growth))
        totals = [total] + [run(self.iterations) for _ in range(self.repetitions - 1)]
        self.times = [t / self.iterations for t in totals]


workloads = {}  # name: (unit, function of a State)


def workload(name, unit="ms", *arguments):
    """Decorates a function f(state, *arguments) as the workload of this name."""
    def register(f):
        workloads[name] = (unit, lambda state: f(state, *arguments))
        return f
    return register


def rows_of(name, unit, state):
    """The repetitions as Google Benchmark reports them in JSON."""
    for index, ns in enumerate(state.times):
        yield {"name": name, "run_name": name, "run_type": "iteration", "repetitions": state.repetitions,
               "repetition_index": index, "threads": 1, "iterations": state.iterations,
               "real_time": ns / NANOSECONDS[unit], "time_unit": unit, "label": state.label,
               "first_call_ns": state.first_call}


def main(about, arguments):
    """Runs the workloads that Google Benchmark's options choose."""
    options = {"filter": ".", "min_time": "0.5", "repetitions": "1", "format": "console", "list_tests": "false"}
    for argument in arguments:
        match = re.fullmatch(r"--benchmark_(\w+)=(.*)", argument)
        if argument == "--version":
            print(about)
            return 0
        if not match or match[1] not in options:
            print(f"{sys.argv[0]}: no such option: {argument}", file=sys.stderr)
            return 2
        options[match[1]] = match[2]
    names = {f"{name}/real_time": name for name in workloads if re.search(options["filter"], f"{name}/real_time")}
    if options["list_tests"] == "true":
        print("\n".join(names))
        return 0

    rows = []
    for shown, name in names.items():
        unit, function = workloads[name]
        state = State(float(options["min_time"].rstrip("s")), int(options["repetitions"]))
        try:
            function(state)
        except Exception as error:  # the next workload runs all the same, as in Google Benchmark
            state.error = state.error or f"{type(error).__name__}: {error}"
        if state.error:
            print(f"{shown} ERROR: {state.error}", file=sys.stderr)
            rows.append({"name": shown, "run_type": "iteration", "error_occurred": True, "error_message": state.error})
        else:
            rows.extend(rows_of(shown, unit, state))
    if options["format"] == "json":
        print(json.dumps({"context": {"side": about}, "benchmarks": rows}, indent=1))
    else:
        separator = "," if options["format"] == "csv" else "  "
        for row in rows:
            if "error_occurred" not in row:
                keys = ("name", "iterations", "real_time", "time_unit", "label")
                print(separator.join(json.dumps(row[key]) if separator == "," else str(row[key]) for key in keys))
    return 1 if any("error_occurred" in row for row in rows) else 0
