"use strict";
const byId = (id) => document.getElementById(id);

// Charts: drawn in the page's own colours, again when these change.
const drawings = JSON.parse(byId("drawings").textContent);
const config = { responsive: true, displayModeBar: false };

const dark = matchMedia("(prefers-color-scheme: dark)");
const narrow = matchMedia("(max-width: 40rem)");
const onDark = { "#0072b2": "#56b4e9", "#56b4e9": "#f0e442" };  // blue is dim there; yellow takes the light blue's place

let printing = false;  // on white paper, also from a dark screen

function own(name, onPaper) {
  return printing ? onPaper : getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function paint(colour) {
  return (dark.matches && !printing && onDark[colour]) || colour;
}

function painted(trace) {
  const { marker, line, error_x: spread } = trace;
  const copy = Object.assign({}, trace);
  if (marker && Array.isArray(marker.color)) {  // one end of any scale is near the ground: an outline shows it
    copy.marker = Object.assign({}, marker, { line: { color: own("--soft", "#444"), width: 0.6 } });
  } else if (marker) copy.marker = Object.assign({}, marker, { color: paint(marker.color) });
  if (line) copy.line = Object.assign({}, line, { color: paint(line.color) });
  if (trace.type === "heatmap") {
    copy.hovertext = trace.meta.map((given) => trace.meta.map((taken) => given + " is " + taken));
    if (narrow.matches && trace.meta.length > 6) delete copy.texttemplate;  // numbers would overprint each other
  }
  if (spread) {  // plotly draws null as a whisker of no length, NaN not at all
    const array = spread.array.map((length) => length ?? NaN);
    copy.error_x = Object.assign({}, spread, { array, color: own("--ink", "#000") });
  }
  return copy;
}

function themed(layout) {
  const line = own("--line", "#bbb"), ink = own("--ink", "#000");
  const axis = (given) => Object.assign({ gridcolor: line, linecolor: line, zerolinecolor: line, automargin: true }, given);
  return Object.assign({ height: 340, margin: { l: 50, r: 14, t: 10, b: 58 } }, layout, {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: ink, family: "system-ui, sans-serif", size: 12 },
    legend: { orientation: "h", y: -0.3, yanchor: "top" },
    xaxis: axis(layout.xaxis), yaxis: axis(layout.yaxis),
  });
}

function draw() {
  for (const [key, drawing] of Object.entries(drawings)) {
    const place = byId("chart-" + key);
    if (place) Plotly.react(place, drawing.data.map(painted), themed(drawing.layout), config);
  }
}
draw();
for (const change of [dark, narrow]) change.addEventListener("change", draw);
addEventListener("beforeprint", () => { printing = true; draw(); });
addEventListener("afterprint", () => { printing = false; draw(); });

// Suspicious samples: filter, sort, download what is shown.
const list = byId("suspects");
const cards = list ? Array.from(list.children) : [];

function cellsOf(card, tag = "dd") {  // by the number of the column: each card has its most telling ones first
  const cells = card.querySelectorAll("[data-column]");
  return new Map(Array.from(cells, (cell) => [Number(cell.dataset.column), cell.querySelector(tag).textContent]));
}

function chosen(id, own) {  // sentence pairs have no labels to choose among
  return !byId(id) || !byId(id).value || byId(id).value === own;
}

function wanted(card) {
  const { id, name, given, suggested } = card.dataset;
  const text = byId("search").value.trim().toLowerCase();
  return chosen("given", given) && chosen("suggested", suggested)
    && (!text || id === text || [name, ...cellsOf(card).values()].some((own) => own.toLowerCase().includes(text)));
}

function compared(a, b) {
  const key = byId("sort").value;
  if (key === "given") return a.dataset.given.localeCompare(b.dataset.given) || a.dataset.quality - b.dataset.quality;
  return a.dataset[key] - b.dataset[key];
}

function arrange() {
  for (const card of cards) card.hidden = !wanted(card);
  list.append(...cards.slice().sort(compared));
  byId("count").textContent = cards.filter((card) => !card.hidden).length + " shown";
}

function cell(text) {
  const bare = text.replace(/^'+/, "");  // as data/table_file.py has it: no formula for a spreadsheet
  const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(bare);
  const inert = !number && /^[=+\-@\t\r\n]/.test(bare) ? "'" + text : text;
  return '"' + inert.replaceAll('"', '""') + '"';
}

function download() {
  const names = list.dataset.fields.split(" ");
  const known = list.dataset.columns.split(" ");  // as in audit.csv
  const columns = Array.from(new Map(cards.flatMap((card) => Array.from(cellsOf(card, "dt"))))).sort(([a], [b]) => a - b);
  const head = [...known, ...columns.map(([, name]) => (known.includes(name) ? "column " + name : name))].map(cell).join(",");
  const row = (card, own = cellsOf(card)) => [...names.map((name) => card.dataset[name]), ...columns.map(([column]) => own.get(column) ?? "")];
  const rows = Array.from(list.children).filter((card) => !card.hidden).map((card) => row(card).map(cell).join(","));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([[head, ...rows].join("\n") + "\n"], { type: "text/csv" }));
  link.download = "suspicious.csv";
  link.click();
  URL.revokeObjectURL(link.href);
}

if (list) {
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  for (const choice of byId("controls").querySelectorAll("select")) choice.addEventListener("change", arrange);
  byId("search").addEventListener("input", arrange);
  byId("download").addEventListener("click", download);
  arrange();
}

// How to do it again: closed on a screen, open on paper.
let unfolded = [];
addEventListener("beforeprint", () => {
  unfolded = Array.from(document.querySelectorAll("#reproduce details:not([open])"));
  for (const part of unfolded) part.open = true;
});
addEventListener("afterprint", () => { for (const part of unfolded) part.open = false; });
