"""A headless Chromium that tests drive by its debugging pipe."""

import base64
import json
import os
import shutil
import subprocess

import pytest

PATH = shutil.which("chromium") or shutil.which("chromium-browser")
needs_chromium = pytest.mark.skipif(
    PATH is None, reason="no chromium on the path"
)
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36}
KEYS |= {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


class Chromium:
    """One tab of a browser with a profile of its own.

    Args:
        profile: Path of a new folder.
        width, height: Integers, the size of the page in pixels.
        dark: Boolean, whether the reader prefers dark pages.
        phone: Boolean, whether the device is one.

    Attributes:
        complaints: List of what the page wrote on its console.
        requests: List of the addresses that the page asked for.
    """

    def __init__(self, profile, width=800, height=600, dark=False, phone=False):
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()
        self._rest = b""
        self._number = 0
        self.complaints = []
        self.requests = []
        flags = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            "--remote-debugging-pipe",
            f"--user-data-dir={profile}",
        ]
        # The browser reads at 3 and writes at 4.
        joined = f'exec "$@" 3<&{to_read} 4>&{to_write}'
        self.process = subprocess.Popen(
            ["bash", "-c", joined, "chromium", PATH, *flags, "about:blank"],
            pass_fds=(to_read, to_write),
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_read)
        os.close(to_write)
        self._session = None
        while not self._session:
            targets = self.call("Target.getTargets")["targetInfos"]
            for target in targets:
                if target["type"] == "page":
                    self._session = self.call(
                        "Target.attachToTarget",
                        targetId=target["targetId"],
                        flatten=True,
                    )["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=phone,
        )
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        self.call("Emulation.setTouchEmulationEnabled", enabled=phone)
        self.call(
            "Emulation.setEmulatedMedia",
            features=[
                {
                    "name": "prefers-color-scheme",
                    "value": "dark" if dark else "light",
                }
            ],
        )

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._session = None
        self.call("Browser.close")
        self.process.wait(timeout=300)
        os.close(self._to)
        os.close(self._from)

    def _message(self):
        while b"\0" not in self._rest:
            part = os.read(self._from, 1 << 16)
            assert part, "Chromium is gone"
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        message = json.loads(message)
        parameters = message.get("params", {})
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])
            case "Runtime.exceptionThrown":
                self.complaints.append(parameters["exceptionDetails"])
            case "Runtime.consoleAPICalled" | "Log.entryAdded":
                self.complaints.append(parameters)
        return message

    def call(self, method, **parameters):
        """The result of a method of the debugging protocol."""
        self._number += 1
        message = {
            "id": self._number,
            "method": method,
            "params": parameters,
        }
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data) :]
        while True:
            answer = self._message()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def open(self, place):
        """Shows a file or an address, and returns when it is drawn."""
        url = place if isinstance(place, str) else place.as_uri()
        self.call("Page.navigate", url=url)
        while self._message().get("method") != "Page.loadEventFired":
            pass
        # What skips drawing out of sight has no text before a first frame.
        self.call("Page.captureScreenshot")
        return self

    def run(self, script):
        """What the body of an asynchronous function returns in the page."""
        answer = self.call(
            "Runtime.evaluate",
            expression=f"(async () => {{{script}}})()",
            awaitPromise=True,
            returnByValue=True,
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, *keys):
        """Presses keys one after the other, as a reader would."""
        for key in keys:
            shift = key.startswith("Shift+")
            key = key.removeprefix("Shift+")
            event = {
                "key": key,
                "code": "Space" if key == " " else key,
                "windowsVirtualKeyCode": KEYS[key],
                "modifiers": 8 * shift,
            }
            text = {"Enter": {"text": "\r"}, " ": {"text": " "}}.get(key, {})
            self.call("Input.dispatchKeyEvent", type="keyDown", **event, **text)
            self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def tap(self, x, y):
        """Touches the page at a point of the window."""
        for kind, points in (("Start", [{"x": x, "y": y}]), ("End", [])):
            self.call(
                "Input.dispatchTouchEvent",
                type=f"touch{kind}",
                touchPoints=points,
            )

    def screenshot(self, path):
        """Writes a PNG of the window."""
        shot = self.call("Page.captureScreenshot")
        path.write_bytes(base64.b64decode(shot["data"]))
