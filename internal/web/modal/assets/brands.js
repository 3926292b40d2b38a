// The logos of card schemes. Their drawings are in the frame's document.
import { schemes } from "./card.js";

const svg = "http://www.w3.org/2000/svg";

// brand returns a scheme's logo, with its name for screen readers.
export function brand({ name, label }) {
  const drawing = document.createElementNS(svg, "svg");
  const use = document.createElementNS(svg, "use");
  use.setAttribute("href", `#brand-${name}`);
  drawing.classList.add("brand");
  drawing.setAttribute("aria-hidden", "true");
  drawing.append(use);
  const words = document.createElement("span");
  words.className = "unseen";
  words.textContent = label;
  return [drawing, words];
}

// row lists the logos of these schemes.
export function row(names) {
  return names.flatMap((name) => {
    const scheme = schemes.find((known) => known.name === name);
    if (!scheme) return [];
    const item = document.createElement("li");
    item.dataset.scheme = name;
    item.append(...brand(scheme));
    return [item];
  });
}
