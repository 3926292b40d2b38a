// Progressive enhancement. Every page works without JavaScript.
document.documentElement.classList.add("js");

const side = document.querySelector(".side");
const burger = document.querySelector(".burger");
burger?.addEventListener("click", () => burger.setAttribute("aria-expanded", side.classList.toggle("open")));

// On a phone the tabs scroll horizontally.
document.querySelector(".tabs [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });

// Keyboard shortcuts: / searches, g and a letter go to a page, Escape closes or goes back.
let went = 0;
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const open = document.querySelector("details.columns[open]");
  if (event.key === "Escape") {
    if (open) { open.open = false; open.querySelector("summary").focus(); return; }
    if (side?.classList.contains("open")) { burger.click(); burger.focus(); return; }
    if (event.target.matches?.("input, textarea, select")) { event.target.blur(); return; }
    document.querySelector("[data-escape]")?.click();
    return;
  }
  if (event.target.matches?.("input, textarea, select, [contenteditable]")) return;
  if (event.key === "/") {
    const field = document.querySelector("main [data-slash]") ?? document.querySelector("[data-slash]");
    if (field && !field.offsetParent) burger?.click(); // it is in the menu, which a narrow window keeps closed
    if (field) { event.preventDefault(); field.focus(); field.select(); }
  } else if (event.key === "g") {
    went = event.timeStamp;
  } else if (went && event.timeStamp - went < 1500) {
    went = 0;
    document.querySelector(`[data-letter="${CSS.escape(event.key)}"]`)?.click();
  }
});

// A form with data-live submits as you type, and shows the response in #results.
for (const form of document.querySelectorAll("form[data-live]")) {
  const results = document.querySelector("#results");
  let wait, asking;
  const ask = async () => {
    const values = new URLSearchParams(new FormData(form));
    for (const [name, value] of [...values]) if (!value) values.delete(name);
    const address = form.action.split("?")[0] + (values.size ? "?" + values : "");
    asking?.abort();
    asking = new AbortController();
    try {
      const answer = await fetch(address, { headers: { "X-Part": "results" }, signal: asking.signal });
      if (answer.redirected) { location.replace(answer.url); return; } // to sign in, or away from a card number
      if (!answer.ok) { form.submit(); return; }
      results.innerHTML = await answer.text();
      history.replaceState(null, "", address);
    } catch (stopped) {
      if (stopped.name !== "AbortError") form.submit();
    }
  };
  form.addEventListener("input", (event) => {
    clearTimeout(wait);
    wait = setTimeout(ask, event.target.matches("select, [type=checkbox], [type=date]") ? 0 : 180);
  });
  form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(wait); ask(); });
}

// While something runs, the page refreshes itself. Screen readers announce the changes.
const running = document.querySelector("main[data-refresh]");
if (running) {
  const again = async () => {
    try {
      const answer = await fetch(location.href);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const next = page.querySelector("main");
      if (!answer.ok || !next) return;
      if (!next.hasAttribute("data-refresh")) { location.reload(); return; }
      running.innerHTML = next.innerHTML;
    } catch { /* retry next time */ }
    setTimeout(again, 2000);
  };
  running.setAttribute("aria-live", "polite");
  setTimeout(again, 2000);
}

// Copy buttons.
addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(document.querySelector(button.dataset.copy).textContent.trim());
  const said = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = said; }, 1500);
});

// Prevent double submission.
addEventListener("submit", (event) => {
  if (event.defaultPrevented || event.target.method !== "post") return;
  const button = event.submitter ?? event.target.querySelector("button");
  setTimeout(() => { if (button) button.disabled = true; });
});
addEventListener("pageshow", () => { for (const button of document.querySelectorAll("button[disabled]")) button.disabled = false; });
