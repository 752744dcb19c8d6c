// Tables of class "sortable": a button in each column's head sorts the rows; without this script they stay as written.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const value = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
  const compare = (a, b) => {
    const [x, y] = [Number.parseFloat(a), Number.parseFloat(b)];
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
