"use strict";
(() => {
  const table = document.getElementById("table");
  if (!table) return;
  const rows = [...table.tBodies];
  const search = document.getElementById("search");
  const wrong = document.getElementById("wrong");
  const kind = document.getElementById("kind");
  const texts = new Map(rows.map((row) => [row, row.rows[0].textContent.toLowerCase()]));

  const more = document.getElementById("more");
  const STEP = 50;
  let limit = STEP;

  // Long lists are shown a part at a time; filters look at all of it.
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let fitting = 0;
    for (const row of table.tBodies) {
      const fits =
        words.every((word) => texts.get(row).includes(word)) &&
        (!wrong.value || row.dataset.wrong.split(" ").includes(wrong.value)) &&
        (!kind.value || row.dataset.kind === kind.value);
      fitting += fits;
      row.hidden = !fits || fitting > limit;
    }
    document.getElementById("shown").textContent = `${fitting} of ${rows.length}`;
    document.getElementById("none").hidden = fitting > 0;
    more.hidden = fitting <= limit;
    more.textContent = `Show ${Math.min(STEP, fitting - limit)} more of ${fitting - limit}`;
  };

  const refilter = () => {
    limit = STEP;
    filter();
  };

  const order = new Intl.Collator(undefined, { numeric: true });
  const sort = (heading) => {
    const down = heading.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const column = heading.cellIndex;
    const text = (row) => row.rows[0].cells[column].textContent.trim();
    const sorted = [...rows].sort((a, b) => order.compare(text(a), text(b)) * (down ? -1 : 1));
    table.append(...sorted);
    filter();
  };

  const toggle = (button) => {
    const detail = button.closest("tbody").rows[1];
    detail.hidden = !detail.hidden;
    button.setAttribute("aria-expanded", String(!detail.hidden));
  };

  document.getElementById("filters").addEventListener("input", refilter);
  document.getElementById("filters").addEventListener("submit", (event) => event.preventDefault());
  table.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.classList.contains("more")) toggle(button);
    else sort(button.closest("th"));
  });
  more.addEventListener("click", () => {
    limit += STEP;
    filter();
  });
  filter();
})();
