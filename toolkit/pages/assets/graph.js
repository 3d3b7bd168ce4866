// Makes drawings of graphs live: pan, zoom, mark the lineage of a box, hide and expand neighbours. Without it they are complete.
"use strict";
for (const figure of document.querySelectorAll("figure.graph")) {
  const FOLDED_FROM = 40; // boxes: a larger drawing about one vertex begins with its neighbours
  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const frame = figure.querySelector(".graph-frame");
  const svg = frame.querySelector("svg");
  const cards = new Map([...svg.querySelectorAll(".vertex")].map((each) => [each.dataset.id, each.closest(".card")]));
  const all = new Set(cards.values());
  const lines = [...svg.querySelectorAll(".edge")].map((path) => ({ path, from: path.dataset.from, to: path.dataset.to }));
  const near = new Map([...all].map((card) => [card, new Set([card])]));
  const along = { from: new Map(), to: new Map() }; // id of a vertex -> lines from it, and to it
  for (const line of lines) {
    near.get(cards.get(line.from)).add(cards.get(line.to));
    near.get(cards.get(line.to)).add(cards.get(line.from));
    for (const end of ["from", "to"]) along[end].set(line[end], [...(along[end].get(line[end]) || []), line]);
  }
  let shown, view, drag;

  const add = (parent, name, attributes, text = "") => {
    const made = parent.appendChild(document.createElementNS(parent.namespaceURI, name));
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text) made.textContent = text;
    return made;
  };
  const look = (x, y, width) => {
    view = { x, y, width, height: (width * frame.clientHeight) / frame.clientWidth };
    svg.setAttribute("viewBox", `${x} ${y} ${width} ${view.height}`);
  };
  const zoom = (factor, x = view.x + view.width / 2, y = view.y + view.height / 2) => {
    const width = Math.min(Math.max(view.width * factor, 100), 400000);
    look(x - ((x - view.x) * width) / view.width, y - ((y - view.y) * width) / view.width, width);
  };
  const fit = (smallest = 0) => { // shows all, at a scale of at most 1 and at least the smallest
    const [box, centre] = [svg.getBBox(), (cards.get(svg.dataset.focus) || svg).getBBox()];
    frame.style.height = `${Math.min(innerHeight * 0.7, Math.max(box.height + 48, 180))}px`;
    const scale = Math.max(Math.min(1, frame.clientWidth / (box.width + 32), frame.clientHeight / (box.height + 32)), smallest);
    const place = (start, size, window, middle) => size <= window ? start + (size - window) / 2
      : Math.min(Math.max(middle - window / 2, start - 16), start + size + 16 - window);
    const [width, height] = [frame.clientWidth / scale, frame.clientHeight / scale];
    look(place(box.x, box.width, width, centre.x + centre.width / 2), place(box.y, box.height, height, centre.y + centre.height / 2), width);
  };
  const show = (visible) => {
    shown = visible;
    for (const each of svg.querySelectorAll(".more")) each.remove();
    for (const card of all) card.classList.toggle("folded", !shown.has(card));
    for (const { path, from, to } of lines) path.classList.toggle("folded", !shown.has(cards.get(from)) || !shown.has(cards.get(to)));
    for (const card of shown) {
      const hidden = [...near.get(card)].filter((other) => !shown.has(other)).length;
      if (!hidden) continue;
      const { x, y, width } = card.querySelector("rect").getBBox();
      const name = `+${hidden} neighbours of ${card.querySelector("text").textContent}`;
      const more = add(card, "g", { class: "more", role: "button", tabindex: 0, "aria-label": name, transform: `translate(${x + width} ${y})` });
      add(more, "circle", { r: 10 });
      add(more, "text", { y: 4 }, `+${hidden}`);
    }
    whole.hidden = shown.size === all.size;
  };
  const expand = (card) => {
    show(new Set([...shown, ...near.get(card)]));
    (card.querySelector("a") || frame).focus({ preventScroll: true }); // the button that was pressed is gone
  };
  const mark = (id) => { // what the data of this vertex comes from and goes to; no id: nothing is marked
    for (const each of svg.querySelectorAll(".lit")) each.classList.remove("lit");
    svg.classList.toggle("marked", Boolean(id));
    for (const [end, other] of id ? [["from", "to"], ["to", "from"]] : []) {
      const seen = new Set([id]);
      for (const here of seen) {
        cards.get(here).classList.add("lit");
        for (const line of along[end].get(here) || []) {
          line.path.classList.add("lit");
          seen.add(line[other]);
        }
      }
    }
    only.hidden = !id;
    only.value = id || "";
  };

  const buttons = add(figure, "div", { class: "graph-buttons", role: "group", "aria-label": "Graph" });
  figure.prepend(buttons);
  const button = (text, title, act) => {
    const made = add(buttons, "button", { type: "button", title, ...(text.length === 1 && { "aria-label": title }) }, text);
    made.addEventListener("click", act);
    return made;
  };
  const only = button("Neighbours", "Show the marked box and its neighbours only", () => {
    show(near.get(cards.get(only.value)));
    mark("");
    fit();
  });
  const whole = button("All", "Show the whole graph", () => { show(all); fit(); });
  button("+", "Zoom in", () => zoom(0.8));
  button("−", "Zoom out", () => zoom(1.25));
  button("Fit", "Fit the graph into the frame", () => fit());

  const idAt = (element) => element.closest(".vertex")?.dataset.id;
  frame.classList.add("live");
  frame.addEventListener("dragstart", (event) => event.preventDefault());
  frame.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, y: event.clientY, view, moved: false }; });
  addEventListener("pointermove", (event) => {
    if (!drag || !event.buttons) return;
    const [x, y, scale] = [event.clientX - drag.x, event.clientY - drag.y, drag.view.width / frame.clientWidth];
    drag.moved ||= Math.hypot(x, y) > 4;
    if (drag.moved) look(drag.view.x - x * scale, drag.view.y - y * scale, drag.view.width);
  });
  addEventListener("pointerup", () => setTimeout(() => { drag = undefined; })); // after the click that ends it
  frame.addEventListener("click", (event) => {
    if (drag?.moved) event.preventDefault();
    else if (event.target.closest(".more")) expand(event.target.closest(".card"));
    else mark(idAt(event.target));
  });
  frame.addEventListener("wheel", (event) => { // without Ctrl the page scrolls, unless the reader is in the graph
    if (!event.ctrlKey && !frame.contains(document.activeElement)) return;
    event.preventDefault();
    const [box, scale] = [frame.getBoundingClientRect(), view.width / frame.clientWidth];
    zoom(event.deltaY > 0 ? 1.15 : 0.87, view.x + (event.clientX - box.left) * scale, view.y + (event.clientY - box.top) * scale);
  }, { passive: false });
  frame.addEventListener("focusin", (event) => event.target.matches(":focus-visible") && idAt(event.target) && mark(idAt(event.target)));
  frame.addEventListener("keydown", (event) => {
    const [arrow, card] = [ARROWS[event.key], event.target.closest(".card")];
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (arrow) look(view.x + (arrow[0] * view.width) / 8, view.y + (arrow[1] * view.width) / 8, view.width);
    else if (event.key === "+") zoom(0.8);
    else if (event.key === "-") zoom(1.25);
    else if (event.key === "0") fit();
    else if (event.key === "Escape") mark("");
    else if (card && (event.key === "e" || (event.target.matches(".more") && [" ", "Enter"].includes(event.key)))) expand(card);
    else return;
    event.preventDefault();
  });
  addEventListener("resize", () => fit(0.5));

  const start = cards.get(svg.dataset.focus);
  show(start && all.size > FOLDED_FROM ? near.get(start) : all);
  mark("");
  fit(0.5);
}
