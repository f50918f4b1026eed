"""A Chromium without a screen, and what the tests ask of it."""

import json
import time
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

PATIENCE = 20  # seconds until something that should appear is missed
# Without a sandbox, as that is not to be had for root or in a container; it sees our page alone.
SWITCHES = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars",
            "--disable-background-networking", "--disable-component-update", "--no-first-run"]

# Every piece of text that can be seen whose contrast is too low, as the standard computes it (WCAG 2.1,
# 1.4.3): [text, ratio]. Behind it is the nearest ground that is not transparent.
LOW_CONTRAST = """
const canvas = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
const rgba = (color) => {
  canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
};
const luminance = (color) => {
  const [r, g, b] = rgba(color).map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ratio = (a, b) => {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};
const groundOf = (node) => {
  for (; node; node = node.parentElement) {
    const ground = getComputedStyle(node).backgroundColor;
    if (rgba(ground)[3] === 255) return ground;
  }
};
const low = [];
const check = (text, ink, ground) => {
  if (ratio(ink, ground) < 4.5) low.push([text, ratio(ink, ground)]);
};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const text = walker.currentNode.data.trim(), parent = walker.currentNode.parentElement;
  if (text === "" || !parent.checkVisibility() || parent.closest(".copy")) continue;
  const style = getComputedStyle(parent);
  const inDrawing = parent.namespaceURI.endsWith("svg");
  if (inDrawing && parent.localName !== "text") continue;
  check(text, inDrawing ? style.fill : style.color, groundOf(parent));
}
const field = getComputedStyle(document.getElementById("text"));  // its marks lie on the copy behind it
for (const mark of document.querySelectorAll(".copy mark")) {
  check(mark.textContent, field.color, getComputedStyle(mark).backgroundColor);
}
return low;
"""


class Browser(webdriver.Chrome):
    def __init__(self):
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for switch in SWITCHES:
            options.add_argument(switch)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        super().__init__(options=options, service=Service("/usr/bin/chromedriver"))

    def one(self, selector):
        return self.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.find_elements(By.CSS_SELECTOR, selector)

    def texts(self, selector):
        """What stands in all that can be seen of what is selected."""
        return self.run("""
            return [...document.querySelectorAll(arguments[0])]
              .filter((node) => node.checkVisibility()).map((node) => node.textContent.trim());
            """, selector)

    def says(self, selector):
        return self.one(selector).text

    def run(self, script, *arguments):
        return self.execute_script(script, *arguments)

    def paste(self, selector, text):
        """Puts a text into a field at once."""
        self.run("""
            const field = document.querySelector(arguments[0]);
            field.value = arguments[1];
            field.dispatchEvent(new Event("input", {bubbles: true}));
            field.dispatchEvent(new Event("change", {bubbles: true}));""", selector, text)

    @property
    def active(self):
        return self.switch_to.active_element

    def until(self, condition, what):
        """Waits for the condition and returns what it gave."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            value = condition()
            if value:
                return value
            time.sleep(0.02)
        raise AssertionError(f"not in {PATIENCE} s: {what}")

    def press(self, *keys):
        for key in keys:
            self.active.send_keys(getattr(Keys, key, key))

    def look(self, width=1280, dark=False, motion=True):
        self.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
        self.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "no-preference" if motion else "reduce"}]})

    def errors(self):
        """What the console said since the last call."""
        return [entry["message"] for entry in self.get_log("browser")]

    def hosts(self):
        """The hosts that the page asked since the last call."""
        messages = [json.loads(entry["message"])["message"] for entry in self.get_log("performance")]
        addresses = [message["params"]["request"]["url"] for message in messages
                     if message["method"] == "Network.requestWillBeSent"]
        return {urlsplit(address).netloc for address in addresses if address.startswith("http")}
