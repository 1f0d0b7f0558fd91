// Filters the units by a text and opens or closes them. The page shows everything without this script.
"use strict";
(() => {
  const tools = document.getElementById("tools");
  const words = document.getElementById("words");
  const told = document.getElementById("told");
  const pieces = [...document.querySelectorAll("[data-piece]")];
  const entries = [...document.querySelectorAll("[data-entry]")];
  const texts = new Map();
  const textOf = (piece) => {
    if (!texts.has(piece)) texts.set(piece, piece.textContent.toLowerCase());
    return texts.get(piece);
  };
  const filter = () => {
    const wanted = words.value.trim().toLowerCase();
    const found = new Set();
    for (const piece of pieces) {
      const hit = !wanted || textOf(piece).includes(wanted);
      piece.classList.toggle("unmatched", !hit);
      if (hit && piece.dataset.piece) found.add(piece.dataset.piece);
    }
    for (const entry of entries.toReversed()) {
      const below = [...entry.querySelectorAll("[data-entry]")].some((each) => !each.classList.contains("unmatched"));
      entry.classList.toggle("unmatched", !below && !found.has(entry.dataset.entry));
    }
    told.textContent = wanted ? `${found.size} of ${entries.length} units` : "";
  };
  let waiting = 0;
  words.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 150);
  });
  const setAll = (open, which = "main details") => {
    for (const each of document.querySelectorAll(which)) each.open = open;
  };
  document.getElementById("open-all").addEventListener("click", () => setAll(true));
  document.getElementById("close-all").addEventListener("click", () => setAll(false));
  addEventListener("beforeprint", () => setAll(true, "details.paper"));
  tools.hidden = false;
})();
