// Interactive parts of the documentation: search as you type, highlight the section in view, copy samples. Without
// JavaScript the pages still work: the search is a form.

const find = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// The contents are open next to the text, or collapsed above it on a narrow screen.
const contents = find(".contents");
const wide = matchMedia("(min-width: 62rem)");
const fold = () => { if (contents) contents.open = wide.matches; };
fold();
wide.addEventListener("change", fold);

// A link to a row of a collapsed table opens the table.
const unfold = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  for (let d = target.closest("details"); d; d = d.parentElement.closest("details")) d.open = true;
  target.scrollIntoView();
};
addEventListener("hashchange", unfold);
unfold();

// Highlight the operation in view in the contents.
const marks = new Map(all(".side ul ul a").map((a) => [a.hash.slice(1), a]));
const parts = [...marks.keys()].map((id) => document.getElementById(id)).filter(Boolean);
let marked;
const mark = () => {
  const line = innerHeight / 3;
  const above = parts.filter((p) => p.getBoundingClientRect().top <= line);
  const end = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
  const now = marks.get((end ? parts.at(-1) : above.at(-1))?.id);
  if (now === marked) return;
  marked?.removeAttribute("aria-current");
  now?.setAttribute("aria-current", "true");
  if (now && wide.matches) now.scrollIntoView({ block: "nearest" });
  marked = now;
};
if (parts.length) {
  addEventListener("scroll", mark, { passive: true });
  addEventListener("resize", mark);
  mark();
}

// Each request gets a copy button.
for (const pre of all(".curl")) {
  const button = Object.assign(document.createElement("button"), { type: "button", className: "copy", textContent: "Copy" });
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(pre.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(pre);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  pre.before(button);
}

// The dropdown shows the results of the search page.
const box = find("#q");
const hits = find("#hits");
let asked = 0, waiting;
const close = () => {
  clearTimeout(waiting);
  asked++; // an answer under way does not open it again
  hits.hidden = true;
};
const search = async () => {
  const query = box.value.trim();
  const mine = ++asked;
  if (!query) return close();
  try {
    const answer = await fetch(`/docs/search?q=${encodeURIComponent(query)}`, { signal: AbortSignal.timeout(5000) });
    const results = find("#results", new DOMParser().parseFromString(await answer.text(), "text/html"));
    if (mine !== asked || !results) return;
    hits.replaceChildren(...results.childNodes);
    hits.hidden = false;
  } catch {
    close(); // Enter still opens the search page
  }
};
box.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(search, 120);
});
const step = (by) => {
  const list = all("a", hits);
  const next = list.indexOf(document.activeElement) + by;
  (next < 0 ? box : list[Math.min(next, list.length - 1)])?.focus();
};
box.form.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    if (!hits.hidden) event.preventDefault(); // the first press closes the list, the next clears the field
    close();
    box.focus();
  } else if (!hits.hidden && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    event.preventDefault();
    step(event.key === "ArrowDown" ? 1 : -1);
  }
});
box.form.addEventListener("focusout", (event) => { if (!box.form.contains(event.relatedTarget)) close(); });
hits.addEventListener("mousedown", (event) => event.preventDefault()); // keep the focus, so that the list stays open
hits.addEventListener("click", (event) => { if (event.target.closest("a")) close(); });
addEventListener("keydown", (event) => {
  const writing = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key === "/" && !writing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    box.focus();
  }
});
