// Searches the index of entities; the index is loaded when the field gets the focus for the first time.
"use strict";
(() => {
  const box = document.querySelector(".search");
  if (!box) return;
  const root = document.documentElement.dataset.root;
  const field = box.querySelector("input");
  const list = box.querySelector("ul");
  const MOST = 50;
  box.hidden = false;

  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const index = window.feedctlIndex || [];
    const found = words.length ? index.filter(([, , , text]) => words.every((word) => text.includes(word))) : [];
    list.replaceChildren(...found.slice(0, MOST).map(([kind, name, path]) => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = root + path;
      link.textContent = name;
      item.append(link, ` ${kind}`);
      return item;
    }));
    if (words.length && (!found.length || found.length > MOST)) {
      const item = document.createElement("li");
      item.textContent = found.length ? `and ${found.length - MOST} more` : "nothing found";
      list.append(item);
    }
    list.hidden = !words.length;
  };

  field.addEventListener("focus", () => {
    const script = document.createElement("script");
    script.src = `${root}search-index.js`;
    script.addEventListener("load", show);
    document.head.append(script);
  }, { once: true });
  field.addEventListener("input", show);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      field.value = "";
      show();
      field.focus();
    }
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !typing) {
      event.preventDefault();
      field.focus();
    }
  });
})();
