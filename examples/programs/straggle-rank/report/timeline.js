// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Draws the decisions over time: nodes as rows, windows as columns. Foreign strings only ever go through .text(),
// attributes and the canvas.
"use strict";

const timelineView = (() => {
  const rowHeight = 28, heat = {top: 4, height: 14}, band = {top: 19, height: 6};
  const words = {avoided: "avoided", on_probation: "on trial", spared: "weak, but spared", in_service: "in service"};
  const dark = matchMedia("(prefers-color-scheme: dark)"), isDark = () => dark.matches && !pictures.onPaper();

  // ---- time ----
  // Times since 1990 are dates; others are seconds of a clock of their own.
  const isDate = (ms) => ms >= 631152e6 && ms < 7258118400e3;
  const day = d3.time.format.utc("%e %b %Y");
  const clock = (ms, slide) => d3.time.format.utc(slide % 60000 ? "%H:%M:%S" : "%H:%M")(new Date(ms));
  const seconds = (ms) => `${+(ms / 1000).toPrecision(9)} s`;
  const moment = (ms, slide) => isDate(ms) ? `${day(new Date(ms)).trim()}, ${clock(ms, slide)}` : seconds(ms);
  function lengthOf(ms) {
    const units = [["d", 864e5], ["h", 36e5], ["min", 6e4], ["s", 1e3]];
    const [name, unit] = units.find((u) => ms >= u[1]) || ["ms", 1];
    return `${+(ms / unit).toPrecision(2)} ${name}`;
  }

  // ---- columns: idle time is folded, so that ten days with nine busy hours can be read ----
  // Places are in columns; `at` goes from the number of a column, with fractions, to its place.
  function layout(columns) {
    let gaps = 0, wide = columns.length;
    const missing = columns.map((c, i) => i ? c - columns[i - 1] - 1 : 0);
    missing.forEach((m) => { if (m > 3) ++gaps; else wide += m; });
    const fold = gaps ? Math.max(.4, Math.min(wide * .03, wide * .35 / gaps)) : 0;
    const place = [], domain = [], range = [], folded = [];
    let next = 0;
    columns.forEach((c, i) => {
      if (missing[i] > 3) folded.push({from: next, to: next + fold, columns: missing[i]});
      next += missing[i] > 3 ? fold : missing[i];
      place.push(next);
      if (!i || missing[i]) { domain.push(c); range.push(next); }
      next += 1;
      if (i + 1 === columns.length || missing[i + 1]) { domain.push(c + 1); range.push(next); }
    });
    return {place, folded, size: next, at: d3.scale.linear().domain(domain).range(range).clamp(true)};
  }

  // ---- colors ----
  function palette(forDark, limit) {
    const ends = forDark ? ["#4fb0d3", "#2b3039", "#ff8059"] : ["#2f7f9f", "#f2ede4", "#b3311c"];
    const scale = d3.scale.linear().domain([-1, 0, 1]).range(ends).interpolate(d3.interpolateLab);
    const steps = d3.range(-32, 33).map((i) => scale(i / 32));
    return (v) => steps[32 + Math.round(32 * Math.max(-1, Math.min(1, v / limit)))];
  }
  const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function drawBand(g, where, x, y, width) {
    g.fillStyle = g.strokeStyle = where === "avoided" ? variable("--weak") : variable("--spared");
    if (where === "avoided") {
      g.fillRect(x, y, width, band.height);
    } else if (where === "on_probation") {
      const step = Math.min(6, width);
      for (let at = x; at < x + width; at += step) g.fillRect(at, y, Math.min(step * .55, x + width - at), band.height);
    } else {
      g.lineWidth = 1.4;
      g.strokeRect(x + .7, y + .7, Math.max(.5, width - 1.4), band.height - 1.4);
    }
  }

  function hatch(g, x, y, width, height) {
    g.save();
    g.beginPath();
    g.rect(x, y, width, height);
    g.clip();
    g.strokeStyle = variable("--line");
    g.lineWidth = 1;
    for (let at = x - height; at < x + width; at += 6) {
      g.beginPath();
      g.moveTo(at, y + height);
      g.lineTo(at + height, y);
      g.stroke();
    }
    g.restore();
  }

  // page: {plural, signed, usual, visible}
  function show(data, page) {
    const byId = (id) => d3.select(document.getElementById(id));
    const per = data.windows_per_column, slides = Math.round(data.window_ms / data.slide_ms);
    const lay = layout(data.columns);
    const beginOf = (window) => (window - slides + 1) * data.slide_ms, endOf = (window) => (window + 1) * data.slide_ms;
    const means = d3.merge(data.rows.map((r) => r.cells.map((c) => Math.abs(c[2] - page.usual)))).sort(d3.ascending);
    const limit = Math.max(.5, d3.quantile(means, .97) || 0);
    data.rows.forEach((r) => { r.cellAt = new Map(r.cells.map((c) => [c[0], c])); });
    const view = {from: 0, to: lay.size};
    let x, canvas, width, cursor = null, names;

    function writeText() {
      const slide = data.slide === data.window ? "" : `, every ${data.slide}`;
      byId("timeline-text").text(`Windows of ${data.window}${slide}: the end of each decides which nodes to avoid, ` +
        `and for how long. This is a recording, so no decision was obeyed: a node that would have been avoided kept working, ` +
        `and still has evidence here. Color: the mean score of a node; bar below: its state.`);
      const rest = data.fleet - data.rows.length;
      const weakLeft = Math.max(0, data.once_weak - data.rows.length);
      byId("timeline-rest").text(rest <= 0 ? "" : `Left out: ${page.plural(rest, "node")}` +
        (weakLeft ? `, ${page.plural(weakLeft, "node")} of them weak for a shorter time than those shown.`
          : data.rows.length > data.once_weak ? ", never weak, and faster than those shown." : ", never weak."));
      if (per > 1) byId("timeline-rest").text(`Each column stands for ${per} windows. ` +
        document.getElementById("timeline-rest").textContent);
    }

    function writeKey() {
      const key = byId("timeline-key");
      key.selectAll("*").remove();
      const scale = key.append("span").attr("class", "scale");
      scale.append("span").text(`faster ${page.signed(page.usual - limit)}`);
      const color = palette(isDark(), 1);
      scale.append("i").style("background", `linear-gradient(90deg, ${d3.range(-4, 5).map((i) => color(i / 4)).join(",")})`);
      scale.append("span").text(`${page.signed(page.usual + limit)} slower`);
      ["avoided", "on_probation", "spared"].forEach((where) => {
        const item = key.append("span").attr("class", "state");
        const c = item.append("canvas").attr({width: 52, height: band.height * 2}).style({width: "26px", height: `${band.height}px`}).node();
        const g = c.getContext("2d");
        g.scale(2, 2);
        drawBand(g, where, 0, 0, 26);
        item.append("span").text(words[where]);
      });
    }

    function drawAxis(element) {
      const svg = element.append("svg").attr({class: "timeline-axis", width, height: 34, "aria-hidden": true});
      const wanted = Math.max(1, Math.floor(width / 88));
      let lastDay = "", lastX = -Infinity;
      lay.folded.forEach((f) => {
        const middle = x((f.from + f.to) / 2), label = lengthOf(f.columns * per * data.slide_ms);
        if (x(f.to) - x(f.from) > label.length * 5 && middle > 0 && middle < width)
          svg.append("text").attr({class: "fold", x: middle, y: 32, "text-anchor": "middle"}).text(label);
      });
      const step = Math.max(1, Math.ceil((view.to - view.from) / wanted));
      for (let p = view.from; p < view.to; p += step) {
        const i = Math.min(lay.place.length - 1, d3.bisectLeft(lay.place, p - 1e-6)), at = x(lay.place[i]);
        if (at < lastX + 86 || at > width - 40 || at < -1) continue;
        lastX = at;
        const ms = endOf(data.columns[i] * per - 1);
        svg.append("line").attr({class: "tick", x1: at, x2: at, y1: 28, y2: 34});
        const today = isDate(ms) ? day(new Date(ms)).trim() : "";
        svg.append("text").attr({x: Math.max(0, at), y: 25}).text(isDate(ms) ? clock(ms, data.slide_ms) : seconds(ms));
        if (today !== lastDay) svg.append("text").attr({class: "day", x: Math.max(0, at), y: 11}).text(today);
        lastDay = today;
      }
    }

    function drawCells(g, row, y) {
      const color = palette(isDark(), limit), unit = x(1) - x(0);
      if (unit >= 2) {
        row.cells.forEach(([i, , mean]) => {
          const from = Math.round(x(lay.place[i])), to = Math.round(x(lay.place[i] + 1));
          if (to < 0 || from > width) return;
          g.fillStyle = color(mean - page.usual);
          g.fillRect(from, y + heat.top, to - from - (unit > 5 ? 1 : 0), heat.height);
        });
        return;
      }
      // Several columns share a pixel: their mean, weighted by scores.
      const n = new Float64Array(width + 1), sum = new Float64Array(width + 1);
      row.cells.forEach(([i, count, mean]) => {
        const at = Math.floor(x(lay.place[i]));
        if (at < 0 || at >= width) return;
        n[at] += count;
        sum[at] += count * mean;
      });
      for (let at = 0; at < width; ++at) {
        if (!n[at]) continue;
        g.fillStyle = color(sum[at] / n[at] - page.usual);
        g.fillRect(at, y + heat.top, Math.ceil(unit), heat.height);
      }
    }

    function paint() {
      const element = canvas.node(), height = rowHeight * data.rows.length;
      const dense = Math.max(1, Math.min(devicePixelRatio || 1, Math.sqrt(12e6 / (width * height))));
      element.width = width * dense;
      element.height = height * dense;
      const g = element.getContext("2d");
      g.scale(dense, dense);
      lay.folded.forEach((f) => hatch(g, x(f.from), 0, x(f.to) - x(f.from), height));
      data.rows.forEach((row, r) => {
        const y = r * rowHeight;
        g.fillStyle = variable("--grid");
        g.fillRect(0, y + rowHeight - 1, width, 1);
        drawCells(g, row, y);
        // The worst is drawn last where several share a pixel.
        ["spared", "on_probation", "avoided"].forEach((where) => row.stays.forEach((s) => {
          if (s.where !== where) return;
          const from = x(lay.at(s.first / per)), to = x(lay.at((s.last + 1) / per));
          if (to > 0 && from < width && to - from > 0) drawBand(g, where, Math.max(-8, from), y + band.top, Math.max(1, Math.min(width + 8, to) - Math.max(-8, from)));
        }));
      });
      if (cursor) {
        const p = lay.place[cursor.column];
        g.strokeStyle = variable("--ink");
        g.lineWidth = 1.5;
        g.strokeRect(x(p) - 1, cursor.row * rowHeight + 1.5, Math.max(3, x(p + 1) - x(p)) + 1, rowHeight - 3);
      }
    }

    function tip(row, column, event) {
      const element = document.getElementById("tip");
      element.hidden = column === null;
      if (column === null) return;
      const first = data.columns[column] * per, last = first + per - 1;
      const cell = row.cellAt.get(column);
      const box = d3.select(element);
      box.selectAll("*").remove();
      box.append("b").text(row.node);
      const list = box.append("dl");
      const pair = (name, value) => { list.append("dt").text(name); list.append("dd").text(value); };
      pair(per > 1 ? `${per} windows from` : "window from", moment(beginOf(first), data.slide_ms));
      pair("to", moment(endOf(last), data.slide_ms));
      if (cell) {
        if (per === 1 || slides === 1) pair("scores", d3.format(",")(cell[1]));
        pair("mean", page.signed(cell[2]));
        if (cell.length > 3) pair("interval", `${page.signed(cell[3])} to ${page.signed(cell[4])}`);
      } else pair("scores", "none");
      const here = row.stays.filter((s) => s.first <= last && s.last >= first);
      const stay = ["avoided", "on_probation", "spared"].map((w) => here.find((s) => s.where === w)).find(Boolean);
      pair("decision", stay ? words[stay.where] : words.in_service);
      if (stay && stay.strikes) pair("strikes", stay.strikes);
      if (stay && stay.where === "avoided") pair("at least until", moment(endOf(stay.until), data.slide_ms));
      if (stay) box.append("p").text(`${stay.why}${stay.because ? `; kept, since ${stay.because}` : ""}.`);
      tips.place(element, event);
    }

    function hit() {
      const [px, py] = d3.mouse(canvas.node());
      const p = x.invert(px), r = Math.floor(py / rowHeight), i = d3.bisectRight(lay.place, p) - 1;
      if (r < 0 || r >= data.rows.length || i < 0 || p >= lay.place[i] + 1) return null;
      return {row: r, column: i};
    }

    function zoom(from, to) {
      const least = Math.min(lay.size, 6), size = Math.max(least, Math.min(lay.size, to - from));
      view.from = Math.max(0, Math.min(lay.size - size, from));
      view.to = view.from + size;
      draw();
    }

    function draw() {
      writeKey();
      const plot = byId("timeline-plot");
      plot.selectAll("*").remove();
      plot.append("div");
      const axis = plot.append("div");
      names = plot.append("ul").attr("class", "names");
      names.selectAll("li").data(data.rows).enter().append("li").style("height", `${rowHeight}px`)
        .classed("weak", (d) => d.avoided + d.on_probation > 0).attr("title", (d) => d.node).text((d) => d.node);
      const surface = plot.append("div").attr("class", "surface");
      width = Math.max(80, Math.floor(surface.node().clientWidth));
      x = d3.scale.linear().domain([view.from, view.to]).range([0, width]);
      drawAxis(axis);
      canvas = surface.append("canvas").style({width: `${width}px`, height: `${rowHeight * data.rows.length}px`})
        .attr({tabindex: 0, role: "img", "aria-label": `Decisions on ${page.plural(data.rows.length, "node")} over time. ` +
               "The arrow keys go from window to window; the table below has the sums."});
      const selection = surface.append("i").attr("class", "selection").style("display", "none");
      canvas.on("mousemove", () => {
        const at = hit();
        tip(at && data.rows[at.row], at ? at.column : null, d3.event);
      }).on("mouseleave", () => tip(null, null)).on("keydown", key).on("blur", () => { cursor = null; tip(null, null); paint(); })
        .on("dblclick", () => zoom(0, lay.size)).on("mousedown", () => select(selection));
      paint();
      const all = view.to - view.from > lay.size - 1e-9;
      ["timeline-all", "timeline-out", "timeline-left", "timeline-right"].forEach((id) => { document.getElementById(id).disabled = all; });
      document.getElementById("timeline-in").disabled = view.to - view.from <= Math.min(lay.size, 6);
    }

    // Dragging with a mouse chooses a part of the time.
    function select(selection) {
      const start = d3.mouse(canvas.node())[0], surface = canvas.node();
      const clamp = (px) => Math.max(0, Math.min(width, px));
      let end = start;
      d3.event.preventDefault();
      surface.focus({preventScroll: true});
      d3.select(window).on("mousemove.timeline", () => {
        end = clamp(d3.mouse(surface)[0]);
        selection.style({display: "block", left: `${Math.min(start, end)}px`, width: `${Math.abs(end - start)}px`});
      }).on("mouseup.timeline", () => {
        d3.select(window).on("mousemove.timeline", null).on("mouseup.timeline", null);
        selection.style("display", "none");
        if (Math.abs(end - start) > 5) zoom(x.invert(Math.min(start, end)), x.invert(Math.max(start, end)));
      });
    }

    function key() {
      const moves = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}, move = moves[d3.event.key];
      if (d3.event.key === "Escape") { cursor = null; tip(null, null); paint(); return; }
      if (!move) return;
      d3.event.preventDefault();
      const bound = (v, n) => Math.max(0, Math.min(n - 1, v));
      const start = {row: 0, column: bound(d3.bisectLeft(lay.place, view.from), lay.place.length)};
      cursor = cursor ? {row: bound(cursor.row + move[0], data.rows.length), column: bound(cursor.column + move[1], lay.place.length)} : start;
      const p = lay.place[cursor.column], half = (view.to - view.from) / 2;
      if (p < view.from || p + 1 > view.to) {
        const kept = cursor;
        zoom(p - half, p + half);
        canvas.node().focus();
        cursor = kept;
      }
      paint();
      const box = canvas.node().getBoundingClientRect();
      tip(data.rows[cursor.row], cursor.column, {clientX: box.left + x(p + 1), clientY: box.top + (cursor.row + 1) * rowHeight - 12});
    }

    function listen() {
      const by = (f) => () => { const size = view.to - view.from, middle = view.from + size / 2; f(size, middle); };
      byId("timeline-all").on("click", () => zoom(0, lay.size));
      byId("timeline-in").on("click", by((size, middle) => zoom(middle - size / 4, middle + size / 4)));
      byId("timeline-out").on("click", by((size, middle) => zoom(middle - size, middle + size)));
      byId("timeline-left").on("click", by((size) => zoom(view.from - size / 2, view.to - size / 2)));
      byId("timeline-right").on("click", by((size) => zoom(view.from + size / 2, view.to + size / 2)));
      if (dark.addEventListener) dark.addEventListener("change", draw);
    }

    function writeTable() {
      const columns = [["Node", (r) => r.node], ["Windows with tasks", (r) => r.windows], ["Exclusions", (r) => r.exclusions],
        ["Avoided", (r) => r.avoided], ["On trial", (r) => r.on_probation], ["Spared", (r) => r.spared],
        ["Strikes", (r) => r.strikes], ["At the end", (r) => words[r.now]]];
      const once = data.rows.filter((r) => r.avoided + r.on_probation + r.spared > 0), table = byId("timeline-table");
      document.getElementById("timeline-sums").hidden = !once.length;
      table.append("thead").append("tr").selectAll("th").data(columns).enter().append("th").attr("scope", "col").text((c) => c[0]);
      table.append("tbody").selectAll("tr").data(once).enter().append("tr").selectAll("td")
        .data((r) => columns.map((c) => c[1](r))).enter().append("td").text((v) => typeof v === "number" ? d3.format(",")(v) : v);
    }

    // The reasons in words: on paper and on a phone there is nothing to point with.
    function writeReasons() {
      const all = d3.merge(data.rows.map((r) => r.stays.map((s) => [r, s]))).sort((a, b) => a[1].first - b[1].first);
      const most = 300, table = byId("timeline-why-table");
      ["timeline-why-title", "timeline-why-text", "timeline-why"].forEach((id) => { document.getElementById(id).hidden = !all.length; });
      byId("timeline-why-text").text(all.length > most ? `The first ${most} of ${d3.format(",")(all.length)}.` : "");
      const columns = [["Node", ([r]) => r.node], ["State", ([, s]) => words[s.where]], ["From", ([, s]) => moment(endOf(s.first), data.slide_ms)],
        ["To", ([, s]) => moment(endOf(s.last), data.slide_ms)], ["Why", ([, s]) => s.why + (s.because ? `; kept, since ${s.because}` : "")]];
      const look = (name) => ({State: "words", Why: "words why"})[name] || null;
      table.append("thead").append("tr").selectAll("th").data(columns).enter().append("th")
        .attr({scope: "col", class: (c) => look(c[0])}).text((c) => c[0]);
      table.append("tbody").selectAll("tr").data(all.slice(0, most)).enter().append("tr").selectAll("td")
        .data((d) => columns.map((c) => [c[0], c[1](d)])).enter().append("td")
        .attr("class", (d) => look(d[0])).text((d) => d[1]);
    }

    document.getElementById("timeline").hidden = false;
    writeText();
    writeTable();
    writeReasons();
    listen();
    return {draw};
  }

  return {show};
})();
