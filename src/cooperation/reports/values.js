// Figures tell the value and interval of a point under the pointer, and by keyboard: one stop a figure, arrows within it.
for (const figure of document.querySelectorAll("figure")) {
  const points = [...figure.querySelectorAll("svg .value")];
  const told = figure.querySelector("output.told");
  points.forEach((point, at) => {
    const tell = () => { told.textContent = point.getAttribute("aria-label"); };
    point.setAttribute("tabindex", at ? "-1" : "0");
    point.addEventListener("mouseenter", tell);
    point.addEventListener("focus", tell);
    point.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = points[(at + step + points.length) % points.length];
      point.setAttribute("tabindex", "-1");
      next.setAttribute("tabindex", "0");
      next.focus();
    });
  });
}
