"""Finds, installs and drives a headless Chromium through its debugging pipe. Standard library only."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"]


def find():
    """A Chromium that is there already."""
    named = os.environ.get("PARTITA_CHROMIUM")
    if named:
        return named
    for name in NAMES:
        path = shutil.which(name)
        if path:
            return path
    cache = Path(os.environ.get("PARTITA_CACHE", ".cache")) / "chromium"
    for path in sorted(cache.glob("**/chrome-headless-shell")) + sorted(cache.glob("**/headless_shell")) + sorted(cache.glob("**/chrome")):
        if os.access(path, os.X_OK) and path.is_file():
            return str(path)
    return None


def install():
    """Debian's package when we are root, else the one that comes with playwright. Says what it does."""
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print("installing Chromium from the system's packages", flush=True)
        environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
        for update in (False, True):
            if update:
                run(["apt-get", "update", "-qq"], environment, 120)
            for package in ("chromium-headless-shell", "chromium"):
                if run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", package], environment, 300) and find():
                    return find()
    cache = Path(os.environ.get("PARTITA_CACHE", ".cache")).resolve() / "chromium"
    venv = cache / "venv"
    print("installing Chromium with playwright", flush=True)
    environment = dict(os.environ, PLAYWRIGHT_BROWSERS_PATH=str(cache))
    if run(["python3", "-m", "venv", str(venv)], environment, 60) and run([str(venv / "bin/pip"), "install", "-q", "playwright"], environment, 180):
        run([str(venv / "bin/playwright"), "install", "--only-shell", "chromium"], environment, 300)
    return find()


def run(command, environment, seconds):
    try:
        done = subprocess.run(command, env=environment, timeout=seconds, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"  {command[0]}: {error}", flush=True)
        return False
    if done.returncode != 0:
        print(f"  {' '.join(command)}: {done.stderr.decode(errors='replace').strip()[-300:]}", flush=True)
    return done.returncode == 0


class Browser:
    """One browser process; pages are driven one after the other."""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="partita-browser-")
        to_browser, self.out = os.pipe()
        self.back, from_browser = os.pipe()

        def connect():
            # The browser reads commands on 3 and answers on 4; move ours out of the way first.
            first, second = os.dup(to_browser), os.dup(from_browser)
            os.dup2(first, 3)
            os.dup2(second, 4)

        command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage", "--no-first-run",
                   "--remote-debugging-pipe", f"--user-data-dir={self.profile}"]
        self.process = subprocess.Popen(command, preexec_fn=connect, pass_fds=(3, 4), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.events, self.session = b"", 0, [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def receive(self, deadline):
        while b"\0" not in self.buffer:
            import select
            if not select.select([self.back], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self.back, 1 << 16)
            if not data:
                raise ConnectionError("the browser has ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        deadline = time.monotonic() + 60
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, url, width, scheme):
        """Loads a page; what it asked for and complained about is then in `events`."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + 60
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive(deadline))

    def evaluate(self, source, argument):
        answer = self.call("Runtime.evaluate", expression=f"({source})({json.dumps(argument)})", returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:500])
        return json.loads(answer["result"]["value"])

    def complaints(self, url):
        """Errors on the console, and requests for anything but the page itself."""
        found = []
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Network.requestWillBeSent" and params["request"]["url"] != url and not params["request"]["url"].startswith("data:"):
                found.append(f"asks for {params['request']['url']}")
            if method == "Runtime.exceptionThrown" or (method == "Runtime.consoleAPICalled" and params.get("type") == "error"):
                found.append(f"console: {json.dumps(params)[:200]}")
            if method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append(f"log: {params['entry']['text']}")
        return found

    def screenshot(self, path):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 16000), "scale": 1}
        image = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        Path(path).write_bytes(base64.b64decode(image["data"]))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (OSError, RuntimeError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)
