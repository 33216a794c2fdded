"""Work for another process, which imports little."""

import os
import time


def priority():
    return os.nice(0)


def broken():
    raise RuntimeError("secret")


def endless():
    while True:
        pass


def lost():
    os._exit(1)


def hungry():
    return bytearray(1 << 34)


def asleep():
    time.sleep(60)
