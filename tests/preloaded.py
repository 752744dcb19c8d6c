"""A `python` for the jobs of workflows that need torch: it forks one that has imported all packages already.

Most of a small job's time goes into importing torch. The project's own modules are not imported beforehand, for each
test has its own copy. Tests of killing, of clusters and of environments start every job as users do.
"""

import atexit
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path

PACKAGES = ("torch", "torchvision", "h5py", "nltk", "safetensors.torch", "tqdm", "PIL.Image")
# Others are over sooner than a process of that size is copied.
COMMANDS = ("extract", "train", "play", "intervene", "scripted")
ASK = """#!{python} -SE
import json, os, socket, sys
if sys.argv[1:3] != ["-m", "cooperation"] or sys.argv[3] not in {commands}:
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    job = json.dumps([sys.argv[2:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(job).to_bytes(8, "big")], [0, 1, 2])
    server.sendall(job)
    sys.exit(int(server.recv(9) or 1))
"""


@cache
def python():
    """The folder with that `python`, which lives as long as this process."""
    folder = tempfile.TemporaryDirectory()
    address = f"{folder.name}/server"
    # As the command sets it before NumPy is imported.
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    server = subprocess.Popen([sys.executable, __file__, address], stdout=subprocess.PIPE, env=environment)
    assert server.stdout.readline() == b"ready\n"
    atexit.register(folder.cleanup)
    atexit.register(server.kill)
    ask = Path(folder.name, "python")
    ask.write_text(ASK.format(python=sys.executable, commands=COMMANDS, address=address))
    ask.chmod(0o755)
    return folder.name


def serve(address):
    """Answer for ever: each job is a process of its own, watched by another."""
    for name in PACKAGES:
        import_module(name)
    # What is collected in vain is copied in vain.
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen(99)
        print("ready", flush=True)
        # Nobody waits for the watchers.
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while True:
            client, _ = server.accept()
            with client:
                if os.fork():
                    continue
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                watch(client)


def watch(client):
    """Run a client's job and tell it the exit code; the job ends with its client."""
    size, streams, _, _ = socket.recv_fds(client, 8, 3)
    with client.makefile("rb") as sent:
        words, folder, environment = json.loads(sent.read(int.from_bytes(size, "big")))
    job = os.fork()
    if job == 0:
        run(words, folder, environment, streams)
    end = os.pidfd_open(job)
    if end not in select.select([end, client], [], [])[0]:
        os.kill(job, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(job, 0)[1])
    with suppress(OSError):
        client.sendall(b"%d" % (code if code >= 0 else 128 - code))
    os._exit(0)


def run(words, folder, environment, streams):
    """What `python -m WORDS` does in that folder."""
    for stream, number in zip(streams, range(3), strict=True):
        os.dup2(stream, number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[0] = environment["PYTHONPATH"]
    import_module("torch").set_num_threads(int(environment.get("OMP_NUM_THREADS", 1)))
    sys.argv = words
    runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    sys.exit()


if __name__ == "__main__":
    serve(sys.argv[1])
