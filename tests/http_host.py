"""A real HTTP server on the loopback interface that behaves as badly as a test asks it to."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Host:
    """Serves `content` under every path. `script` has one behaviour for each of the first requests, then all is well.

    head: status and headers that are answered where they alone are asked for. A behaviour is a function of the handler.
    requests: (method, path, headers) of each, in order.
    """

    def __init__(self, content: bytes):
        self.content = content
        self.ranges = True
        self.lengths = True
        self.etag = '"one"'
        self.head = None
        self.script = []
        self.requests = []

    @property
    def asked(self):
        """The Range of every request, None where it had none."""
        return [headers.get("Range") for _, _, headers in self.requests]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        host = self.server.host
        host.requests.append((self.command, self.path, dict(self.headers)))
        behave = host.script.pop(0) if host.script else well
        behave(self)

    def do_HEAD(self):
        host = self.server.host
        code, headers = host.head or (200, {"Content-Length": len(host.content)})
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()

    def do_CONNECT(self):
        self.do_GET()

    def log_message(self, *_):
        pass


def well(handler, cut=None, length=None):
    """Answer as a server should; send `cut` bytes only, or claim another length."""
    host, start = handler.server.host, 0
    asked = handler.headers.get("Range")
    current = handler.headers.get("If-Range") in (None, host.etag)
    if asked and host.ranges and current:
        start = int(asked.removeprefix("bytes=").removesuffix("-"))
        if start >= len(host.content):
            handler.send_response(416)
            handler.send_header("Content-Range", f"bytes */{len(host.content)}")
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        handler.send_response(206)
        handler.send_header("Content-Range", f"bytes {start}-{len(host.content) - 1}/{len(host.content)}")
    else:
        handler.send_response(200)
    if host.etag:
        handler.send_header("ETag", host.etag)
    body = host.content[start:]
    if host.lengths:
        handler.send_header("Content-Length", str(len(body) if length is None else length))
    handler.end_headers()
    handler.wfile.write(body[:cut])


def cut(count):
    """Break off after `count` bytes."""
    return lambda handler: well(handler, cut=count)


def lie(length):
    """Claim another length than that of what comes."""
    return lambda handler: well(handler, length=length)


def status(code, **headers):
    """Answer with a status and nothing else."""

    def behave(handler):
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return behave


def hold(event):
    """Send two thirds, then wait for the event."""

    def behave(handler):
        content = handler.server.host.content
        handler.send_response(200)
        handler.send_header("ETag", handler.server.host.etag)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content[: len(content) * 2 // 3])
        handler.wfile.flush()
        event.wait(30)

    return behave


@contextmanager
def serving(host: Host):
    """Serve until the block ends; the address of the server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.host = host
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
