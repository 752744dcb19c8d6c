// Tables of class "sortable": a button in each column's head sorts the rows; without this script they stay as written.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  // A cell's own text, without the small print below it.
  const own = (cell) => (cell.firstChild?.textContent ?? "").trim() || cell.textContent.trim();
  const value = (row, column) => row.cells[column].dataset.value ?? own(row.cells[column]);
  // A minus may be typeset, thousands have commas, and bounds like "> 0" and "at least 15" count as their number.
  const number = (text) => Number.parseFloat(text.replace("\u2212", "-").replace(/[<>≤≥,]|at least|at most|above|below/g, ""));
  const compare = (a, b) => {
    const [x, y] = [number(a), number(b)];
    if (Number.isNaN(x) && Number.isNaN(y)) return a.localeCompare(b);
    // What is no number comes last.
    if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
    return x - y;
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const sign = head.ariaSort === "ascending" ? -1 : 1;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.ariaSort = sign > 0 ? "ascending" : "descending";
      const rows = [...body.rows].sort((a, b) => sign * compare(value(a, column), value(b, column)));
      body.append(...rows);
    });
  });
}
