"""A Hub on this machine: the requests that huggingface_hub makes of one."""

import base64
import contextlib
import hashlib
import http.server
import json
import re
import threading

_FILE = re.compile(r"/(\w+/[\w.-]+)/resolve/([\w.-]+)/(.+)")
_API = re.compile(r"/api/models/(\w+/[\w.-]+)/(\w+)/main")
_MODEL = re.compile(r"/api/models/(\w+/[\w.-]+)")


class Hub(http.server.ThreadingHTTPServer):
    """Repositories with their commits, served over HTTP.

    Attributes:
        commits: Dictionary by repository of a list of dictionaries, the
            files of each commit by name.
        private: Set of the repositories that nobody else may see.
        requests: List of the method and path of each request.
        cut: Dictionary by the name of a file of how many bytes of it are sent
            before the connection breaks, for each of its next downloads.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.commits = {}
        self.private = set()
        self.requests = []
        self.cut = {}

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def commit(self, repository, files):
        """Add a commit, and give its name."""
        self.commits.setdefault(repository, []).append(dict(files))
        return self.oid(repository, len(self.commits[repository]) - 1)

    def oid(self, repository, number):
        return hashlib.sha1(f"{repository} {number}".encode()).hexdigest()

    def find(self, repository, revision):
        """The name of a commit, and its files, or `None`."""
        commits = self.commits.get(repository, [])
        for number in reversed(range(len(commits))):
            oid = self.oid(repository, number)
            if revision in ("main", oid):
                return oid, commits[number]
        return None


@contextlib.contextmanager
def running():
    """A `Hub` that answers within the block."""
    with Hub() as hub:
        thread = threading.Thread(target=hub.serve_forever)
        thread.start()
        try:
            yield hub
        finally:
            hub.shutdown()
            thread.join()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        self.server.requests.append((self.command, self.path))

    def do_HEAD(self):
        self._file(with_content=False)

    def do_GET(self):
        path = self.path.partition("?")[0]
        found = _MODEL.fullmatch(path)
        if found is not None:
            is_private = found[1] in self.server.private
            self._json({"id": found[1], "private": is_private})
            return
        found = _API.fullmatch(path)
        if found is None:
            self._file(with_content=True)
            return
        _, files = self.server.find(found[1], "main") or (None, {})
        self._json(
            [
                {"type": "file", "path": name, "oid": "0", "size": len(content)}
                for name, content in files.items()
            ]
        )

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        path = self.path.partition("?")[0]
        if path == "/api/repos/create":
            given = json.loads(body)
            repository = f"{given['organization']}/{given['name']}"
            exists = repository in self.server.commits
            if not exists:
                self.server.commits[repository] = []
                if given.get("private") or given.get("visibility") == "private":
                    self.server.private.add(repository)
            url = f"{self.server.url}/{repository}"
            self._json({"url": url}, status=409 if exists else 200)
            return
        if path == "/api/validate-yaml":
            self._json({"errors": [], "warnings": []})
            return
        repository, what = _API.fullmatch(path).groups()
        if what == "preupload":
            self._json(
                {
                    "files": [
                        {
                            "path": each["path"],
                            "uploadMode": "regular",
                            "shouldIgnore": False,
                        }
                        for each in json.loads(body)["files"]
                    ]
                }
            )
            return
        assert what == "commit"
        lines = [json.loads(line) for line in body.splitlines()]
        found = self.server.find(repository, "main")
        files = dict(found[1]) if found else {}
        for line in lines:
            value = line["value"]
            if line["key"] == "deletedFile":
                del files[value["path"]]
            elif line["key"] == "file":
                content = base64.b64decode(value["content"])
                files[value["path"]] = content
        oid = self.server.commit(repository, files)
        url = f"{self.server.url}/{repository}/commit/{oid}"
        self._json({"commitUrl": url, "commitOid": oid})

    def _file(self, with_content):
        found = _FILE.fullmatch(self.path)
        if found is None:
            self._error("NotFound")
            return
        repository, revision, name = found.groups()
        if repository not in self.server.commits:
            self._error("RepoNotFound")
            return
        found = self.server.find(repository, revision)
        if found is None:
            self._error("RevisionNotFound")
            return
        oid, files = found
        if name not in files:
            self._error("EntryNotFound", ("X-Repo-Commit", oid))
            return
        content = files[name]
        start = 0
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if asked:
            start = int(asked[1])
        self.send_response(206 if asked else 200)
        if asked:
            last = len(content) - 1
            total = f"bytes {start}-{last}/{len(content)}"
            self.send_header("Content-Range", total)
        self.send_header("X-Repo-Commit", oid)
        self.send_header("ETag", f'"{hashlib.sha1(content).hexdigest()}"')
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        if not with_content:
            return
        cuts = self.server.cut.get(name)
        if cuts:
            self.wfile.write(content[start:][: cuts.pop(0)])
            self.close_connection = True
            return
        self.wfile.write(content[start:])

    def _error(self, code, *headers):
        self.send_response(404)
        for header in (("X-Error-Code", code), *headers):
            self.send_header(*header)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _json(self, value, status=200):
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
