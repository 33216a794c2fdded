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


def described(target, draft):
    """A pair whose models are not looked at."""
    from app.service.sizes import Description

    return Description("It fits.", True)
