"""What a device is: its name, its memory bandwidth and its matrix products."""

import platform
import shutil
import subprocess
from importlib.metadata import version
from statistics import median
from time import perf_counter

import torch

from specviz.measure.processor import machine

from .lines import Setting


def about(lines, setting: Setting):
    """The machine, its memory bandwidth and its matrix products."""
    lines.check("machine", describe, setting)
    lines.check("copy", copy_speed, setting)
    lines.check("product", product_speed, setting)


def wait(setting):
    """Wait until the device has done what it was given."""
    if not setting.on_cpu:
        torch.cuda.synchronize()


def name_of(setting):
    """What the device is called."""
    if setting.on_cpu:
        return str(machine()[1])
    return torch.cuda.get_device_name(setting.device)


def describe(setting):
    facts = {
        "name": name_of(setting),
        "processor": machine()[1],
        "cores": machine()[2],
        "python": platform.python_version(),
        "float32": torch.get_float32_matmul_precision(),
        "ok": torch.get_float32_matmul_precision() == "highest",
    }
    for package in ("torch", "transformers", "numpy"):
        facts[package] = version(package)
    if not setting.on_cpu:
        properties = torch.cuda.get_device_properties(setting.device)
        facts["memory_gib"] = round(properties.total_memory / 2**30, 1)
        facts["capability"] = f"{properties.major}.{properties.minor}"
        facts["multiprocessors"] = properties.multi_processor_count
        facts["cuda"] = torch.version.cuda
        facts["cudnn"] = torch.backends.cudnn.version()
        if shutil.which("nvidia-smi"):
            query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
            facts["driver"] = subprocess.run(query, capture_output=True, text=True).stdout.strip()
    return facts


def seconds_of(setting, work, repeats=5):
    """The median time of some work on the device, in seconds, after an untimed first one."""
    work()
    times = []
    for _ in range(repeats):
        wait(setting)
        began = perf_counter()
        work()
        wait(setting)
        times.append(perf_counter() - began)
    return median(times)


def copy_speed(setting):
    """Bytes read and written a second by a copy within the device's memory."""
    size = 1 << (20 if setting.tiny else 32)
    source = torch.ones(size, dtype=torch.uint8, device=setting.device)
    other = torch.empty_like(source)
    return {"gb_per_s": 2e-9 * size / seconds_of(setting, lambda: other.copy_(source))}


def product_speed(setting):
    """Arithmetic a second of a matrix product in bfloat16."""
    width = 64 if setting.tiny else 8192
    a, b = (torch.randn(width, width, device=setting.device).bfloat16() for _ in range(2))
    return {"tflop_per_s": 2e-12 * width**3 / seconds_of(setting, lambda: a @ b, 10)}
