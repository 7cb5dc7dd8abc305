// The pictures of one run: a click tells operator, line, step and number.
"use strict";
(() => {
  const { heats, colours } = JSON.parse(document.getElementById("data").textContent);
  const levels = new Map(colours.map((colour, at) => [colour.join(), at]));

  // The number behind a pixel, in words: pictures keep a level of a logarithm.
  function told(image, x, y, heat) {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 1;
    const context = canvas.getContext("2d");
    context.drawImage(image, x, y, 1, 1, 0, 0, 1, 1);
    const level = levels.get([...context.getImageData(0, 0, 1, 1).data.slice(0, 3)].join());
    if (level === undefined) return "";
    if (level < 3) return ["not known", "0", "not finite"][level];
    const exponent = heat.low + (heat.high - heat.low) * (level - 3) / (colours.length - 4);
    return `about ${(10 ** exponent).toPrecision(2)}`;
  }

  // Row and column of the picture's own pixels.
  function place(image, event) {
    const box = image.getBoundingClientRect();
    const part = (at, start, size, count) => Math.min(count - 1, Math.max(0, Math.floor((at - start) / size * count)));
    return [
      part(event.clientX, box.left, box.width, image.naturalWidth),
      part(event.clientY, box.top, box.height, image.naturalHeight),
    ];
  }

  function say(figure, heat, row, text) {
    figure.querySelector("output").textContent = [heat.names[row], heat.sources[row], text].filter(Boolean).join("  ·  ");
  }

  function stepOf(heat, column, columns) {
    return heat.steps[Math.min(heat.steps.length - 1, Math.floor(column * heat.steps.length / columns))];
  }

  function mark(figure, heat, row) {
    const strip = figure.querySelectorAll(".strip")[row];
    figure.querySelectorAll(".chosen, .rows i").forEach((each) => each.matches("i") ? each.remove() : each.classList.remove("chosen"));
    if (strip) {
      strip.classList.add("chosen");
      strip.scrollIntoView({ block: "center" });
      return;
    }
    const rows = figure.querySelector(".rows");
    rows.closest("details").open = true;
    const line = document.createElement("i");
    line.style.top = `${(row + 0.5) / heat.names.length * 100}%`;
    rows.append(line);
    line.scrollIntoView({ block: "center" });
  }

  function pressed(figure, heat, event) {
    const image = event.target.closest("img[data-first]");
    if (!image) return;
    const [x, y] = place(image, event);
    if (image.dataset.first === "all") {
      const row = Math.min(heat.names.length - 1, Math.floor(y * heat.names.length / image.naturalHeight));
      mark(figure, heat, row);
      say(figure, heat, row, `step ${stepOf(heat, x, image.naturalWidth)}: ${told(image, x, y, heat)} at most near it`);
      return;
    }
    const row = Number(image.dataset.first) + y;
    say(figure, heat, row, `step ${stepOf(heat, x, image.naturalWidth)}: ${told(image, x, y, heat)}`);
  }

  function asked() {
    const found = /^#heat-(\d+)-(\d+)$/.exec(location.hash);
    const figure = found && document.querySelector(`figure[data-heat="${found[1]}"]`);
    if (!figure) return;
    mark(figure, heats[found[1]], Number(found[2]));
    say(figure, heats[found[1]], Number(found[2]), "");
  }

  document.querySelectorAll("figure[data-heat]").forEach((figure) => {
    const heat = heats[figure.dataset.heat];
    figure.addEventListener("click", (event) => pressed(figure, heat, event));
    figure.querySelector("input")?.addEventListener("change", (event) => {
      const row = heat.names.findIndex((name) => name.includes(event.target.value));
      if (row < 0) {
        figure.querySelector("output").textContent = "no operator has such a name";
        return;
      }
      mark(figure, heat, row);
      say(figure, heat, row, "");
    });
  });
  addEventListener("hashchange", asked);
  asked();
})();
