"""Chromium, controlled through a pipe by its DevTools protocol, without any further package."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

# Seconds without an answer after which the browser has failed.
TIMEOUT = 120
# The browser reads commands from file descriptor 3 and answers on 4; a zero byte ends each message. The pipes
# are duplicated first, as one of them may be 3 or 4 already.
START = """
import os, sys
reads, writes = (os.dup(os.dup(os.dup(int(fd)))) for fd in sys.argv[1:3])
os.dup2(reads, 3), os.dup2(writes, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""

# The least contrast, as WCAG defines it, of any text with its background.
LEAST_CONTRAST = """
(() => {
  const numbers = color => color.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const linear = c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
    const [x, y, z] = [r, g, b].map(c => linear(c / 255));
    return .2126 * x + .7152 * y + .0722 * z;
  };
  const behind = part => {
    for (let at = part; at; at = at.parentElement) {
      const color = numbers(getComputedStyle(at).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
  };
  const parts = [...document.body.querySelectorAll('*')].filter(
    part => [...part.childNodes].some(node => node.nodeType === 3 && node.data.trim()));
  if (parts.length < 50) throw new Error('too little text');
  return Math.min(...parts.map(part => {
    const pair = [light(numbers(getComputedStyle(part).color)), light(behind(part))].sort((a, b) => b - a);
    return (pair[0] + .05) / (pair[1] + .05);
  }));
})()
"""


class Browser:
    """A headless browser."""

    def __init__(self, program: str, folder: Path) -> None:
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        options = [
            "--headless=new",
            "--remote-debugging-pipe",
            "--no-sandbox",  # not available to root, as in containers
            "--disable-dev-shm-usage",
            "--disable-gpu",
            "--no-first-run",
            f"--user-data-dir={folder}",
        ]
        with open(folder / "stderr.txt", "wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-c", START, str(commands), str(answers), program, *options],
                pass_fds=(commands, answers),
                stdout=errors,
                stderr=errors,
            )
        self._errors = folder / "stderr.txt"
        os.close(commands)
        os.close(answers)
        self._unread, self._count = b"", 0
        self.events: list[dict[str, Any]] = []

    def send(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """Run a command and return its result; events in the meantime are kept in `events`."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._count:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method: str, session: str) -> None:
        """Wait for an event."""
        while not any(e["method"] == method and e.get("sessionId") == session for e in self.events):
            self.events.append(self._next())

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._answers], [], [], TIMEOUT)
            assert ready, f"the browser does not answer: {self._errors.read_text()[-2000:]}"
            part = os.read(self._answers, 2**16)
            assert part, f"the browser has ended: {self._errors.read_text()[-2000:]}"
            self._unread += part
        message, _, self._unread = self._unread.partition(b"\0")
        return json.loads(message)

    def close(self) -> None:
        self.send("Browser.close")
        self._process.wait()
        os.close(self._commands)
        os.close(self._answers)


class Page:
    """A page in the browser."""

    def __init__(self, browser: Browser, url: str, width: int, scheme: str) -> None:
        self.browser = browser
        target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False
        )
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.send("Page.navigate", url=url)
        browser.wait_for("Page.loadEventFired", self.session)

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        return self.browser.send(method, self.session, **params)

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def result_of(self, expression: str) -> Any:
        """Return what a promise of the page resolves to."""
        answer = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait_for(self, condition: str) -> None:
        """Wait until a condition holds in the page."""
        poll = f"""
            new Promise((done, fail) => {{
              const end = performance.now() + {500 * TIMEOUT};
              const look = () => {{
                if ({condition}) done(true);
                else if (performance.now() > end) fail(new Error({json.dumps(condition)}));
                else setTimeout(look, 10);
              }};
              look();
            }})
        """
        assert self.result_of(poll)

    def press(self, key: str, code: int, text: str = "") -> None:
        for kind in ("keyDown", "keyUp"):
            parts = {"text": text} if text and kind == "keyDown" else {}
            self.send("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **parts)

    def events(self, *methods: str) -> list[dict[str, Any]]:
        self.evaluate("1")  # all events before it have been read then
        own = (event for event in self.browser.events if event.get("sessionId") == self.session)
        return [event for event in own if event["method"] in methods]

    def settle(self) -> None:
        """Wait until all changes have been drawn."""
        drawn = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        self.send("Runtime.evaluate", expression=drawn, awaitPromise=True)

    def bring_to_front(self) -> None:
        """Show the page again, after another one: only the page in front is drawn."""
        self.send("Page.bringToFront")

    def move_to(self, x: float, y: float, *, turn: float = 0) -> None:
        """Move the mouse, or turn its wheel."""
        kind = {"type": "mouseWheel", "deltaX": 0, "deltaY": turn} if turn else {"type": "mouseMoved"}
        self.send("Input.dispatchMouseEvent", x=x, y=y, **kind)

    def drag(self, *pixels: tuple[float, float]) -> None:
        """Press the mouse at the first pixel, move it along the others, and release it at the last."""
        kinds = ["mousePressed", *["mouseMoved"] * (len(pixels) - 1), "mouseReleased"]
        for kind, (x, y) in zip(kinds, [*pixels, pixels[-1]], strict=True):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)

    def click(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def least_contrast(self) -> float:
        return self.evaluate(LEAST_CONTRAST)

    def messages(self) -> list[dict[str, Any]]:
        """Return exceptions and messages of the console."""
        return self.events("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")

    def requests(self) -> set[str]:
        """Return the addresses that the page has requested."""
        urls = (event["params"]["request"]["url"] for event in self.events("Network.requestWillBeSent"))
        return {url for url in urls if not url.startswith("data:")}

    def screenshot(self) -> bytes:
        return base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])


def find_program() -> str | None:
    """Return the browser that is installed, or that LANN_CHROMIUM names; None if there is none."""
    return os.environ.get("LANN_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
