// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Draws the plane of precision and recall, and the latencies. Foreign strings only ever go through .text() and
// attributes.
"use strict";

const figures = (() => {
  const clear = (element) => element.selectAll("*").remove();
  const share = (x) => `${Math.round(x * 100)} %`;

  let ruler;
  function widthOf(text) {
    if (!ruler) {
      ruler = document.createElement("canvas").getContext("2d");
      ruler.font = `700 12px ${getComputedStyle(document.body).fontFamily}`;
    }
    return ruler.measureText(text).width;
  }

  const overlap = (a, b, gap) => Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left) + gap) *
    Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) + gap);
  const around = (m, r) => ({left: m.x - r, right: m.x + r, top: m.y - r, bottom: m.y + r});
  const nearest = (m, box) => ({x: Math.max(box.left, Math.min(box.right, m.x)), y: Math.max(box.top, Math.min(box.bottom, m.y))});
  // Whether a line enters a box: tried in steps, which is good enough for a picture.
  function enters(from, to, box) {
    for (let t = .08; t < 1; t += .08) {
      const x = from.x + (to.x - from.x) * t, y = from.y + (to.y - from.y) * t;
      if (x > box.left && x < box.right && y > box.top && y < box.bottom) return true;
    }
    return false;
  }

  const radius = 8;
  // Places for a label all around its mark, the near ones first.
  function candidates(m, height, bounds) {
    const list = [];
    for (const distance of [4, 10, 18, 28, 42, 60, 82, 108, 140, 180])
      for (let i = 0; i < 16; ++i) {
        const angle = i * Math.PI / 8, x = m.x + Math.cos(angle) * (radius + distance), y = m.y + Math.sin(angle) * (radius + distance);
        const left = Math.cos(angle) > .3 ? x : Math.cos(angle) < -.3 ? x - m.width : x - m.width / 2;
        const top = y - height / 2 + Math.sin(angle) * height / 2;
        const box = {left, right: left + m.width, top, bottom: top + height, cost: distance + (i % 8 ? 2 : 0)};
        if (overlap(box, bounds, 0) > .999 * m.width * height) list.push(box);
      }
    return list;
  }

  // Gives each mark a box for its label, clear of marks, of other labels and of the lines that lead to them. In rounds,
  // since where one can go depends on where the others are.
  function placeLabels(marks, bounds, height) {
    const boxes = marks.map(() => null), choices = marks.map((m) => candidates(m, height, bounds));
    const cost = (i, box) => {
      const me = marks[i], end = nearest(me, box);
      let sum = box.cost;
      marks.forEach((m, k) => {
        sum += 20 * overlap(box, around(m, radius), 0);
        if (k === i) return;
        // Nearer to another mark than to its own, it would be read as the other's.
        const there = nearest(m, box);
        if (Math.hypot(there.x - m.x, there.y - m.y) <= Math.hypot(end.x - me.x, end.y - me.y)) sum += 60;
        if (Math.hypot(m.x - me.x, m.y - me.y) > radius && enters(me, end, around(m, 6))) sum += 150;
        if (!boxes[k]) return;
        sum += 50 * overlap(box, boxes[k], 3);
        if (enters(me, end, boxes[k])) sum += 200;
        if (enters(m, nearest(m, boxes[k]), box)) sum += 200;
      });
      return sum;
    };
    for (let round = 0; round < 6; ++round)
      marks.forEach((m, i) => {
        let least = Infinity;
        for (const box of choices[i]) {
          const c = cost(i, box);
          if (c < least) [boxes[i], least] = [box, c];
        }
      });
    return boxes.map((box, i) => box && Object.assign({end: nearest(marks[i], box)}, box));
  }

  function frame(svg, x, y, room) {
    const [left, right] = x.range(), [bottom, top] = y.range();
    const line = d3.svg.line().x((p) => x(p[0])).y((p) => y(p[1]));
    // Where F1 = 2 p r / (p + r) is the same.
    [.2, .4, .6, .8].forEach((f) => {
      const least = f / (2 - f), curve = d3.range(0, 1.001, .01).map((t) => least + (1 - least) * t).map((r) => [r, f * r / (2 * r - f)]);
      svg.append("path").attr({class: "isoline", d: line(curve)});
      svg.append("text").attr({class: "isoline-label", x: x(least), y: y(1) - 20, "text-anchor": "middle"}).text(room ? `F1 ${share(f)}` : share(f));
    });
    svg.append("rect").attr({class: "frame", x: left, y: top, width: right - left, height: bottom - top});
    [0, .25, .5, .75, 1].forEach((t) => {
      svg.append("text").attr({x: x(t), y: bottom + 18, "text-anchor": t === 1 ? "end" : "middle"}).text(share(t));
      svg.append("text").attr({x: left - 8, y: y(t) + 4, "text-anchor": "end"}).text(share(t));
    });
    svg.append("text").attr({class: "axis-name", x: (left + right) / 2, y: bottom + 36, "text-anchor": "middle"}).text("Recall");
    svg.append("text").attr({class: "axis-name", x: 0, y: 12}).text("Precision");
  }

  // `detectors` have number, name, x and y (shares) and best; `tip(detector, event)` shows more of one.
  function plane(element, key, detectors, tip) {
    clear(element);
    clear(key);
    const width = Math.min(element.node().clientWidth, 900), height = Math.min(width, 580);
    const margin = {left: 52, right: 12, top: 40, bottom: 44};
    const x = d3.scale.linear().range([margin.left + 12, width - margin.right - 12]);
    const y = d3.scale.linear().range([height - margin.bottom - 12, margin.top + 12]);
    const svg = element.append("svg").attr({width, height, class: "plane", role: "img",
      "aria-label": "Precision and recall of each detector; the table below has the numbers."});
    // Names where there is room for them, else numbers and a list.
    const numbered = width < 560 || detectors.length > 24;
    frame(svg, x, y, !numbered);
    const text = (d) => numbered ? String(d.number) : d.name;
    const marks = detectors.map((d) => ({x: x(d.x), y: y(d.y), width: widthOf(text(d)) + 2}));
    const boxes = placeLabels(marks, {left: margin.left - 4, right: width - 1, top: margin.top - 8, bottom: height - margin.bottom + 2}, 15);
    // A line to the mark where the label is far off, or as near to another mark.
    const strays = (m, box) => Math.hypot(box.end.x - m.x, box.end.y - m.y) > 15 ||
      marks.some((other) => other !== m && overlap(box, around(other, 14), 0) > 0);
    marks.forEach((m, i) => {
      const g = svg.append("g").attr("class", detectors[i].best ? "best" : null), box = boxes[i];
      if (!box) return;
      if (strays(m, box)) g.append("line").attr({class: "leader", x1: m.x, y1: m.y, x2: box.end.x, y2: box.end.y});
      g.append("text").attr({class: "name", x: box.left + 1, y: box.bottom - 3}).text(text(detectors[i]));
    });
    // The best on top.
    svg.append("g").selectAll("circle").data(detectors.map((d, i) => [d, marks[i]]).reverse()).enter().append("circle")
      .attr({class: ([d]) => d.best ? "mark best" : "mark", r: 6, cx: ([, m]) => m.x, cy: ([, m]) => m.y})
      .on("mousemove", ([d]) => tip(d, d3.event)).on("mouseleave", () => tip(null));
    if (numbered) key.selectAll("li").data(detectors).enter().append("li").attr("value", (d) => d.number).text((d) => d.name);
  }

  // One row each: a dot where stragglers were named, a ring where the missed ones ended.
  function latencies(element, detectors, tip) {
    clear(element);
    const most = d3.max(detectors, (d) => Math.max(d.latency || 0, d.undetected_time || 0)) || 1;
    const grid = element.append("div").attr("class", "bars");
    const axis = grid.append("div").attr("class", "axis");
    const cells = detectors.map((d) => {
      grid.append("div").attr("class", d.best ? "name best" : "name").text(d.name);
      return grid.append("div").attr("class", d.best ? "best" : null);
    });
    const width = Math.max(120, axis.node().clientWidth);
    const x = d3.scale.linear().domain([0, most]).nice().range([8, width - 10]);
    const ticks = x.ticks(width < 400 ? 4 : 8), number = d3.format(".2f");
    const head = axis.append("svg").attr({width, height: 26, "aria-hidden": true});
    ticks.forEach((t) => head.append("text").attr({x: x(t), y: 16, "text-anchor": "middle"}).text(x.tickFormat(8)(t)));
    detectors.forEach((d, i) => {
      const kind = d.best ? " best" : "";
      const said = [d.latency === null ? "named no straggler" : `named stragglers after ${number(d.latency)} usual times`,
        d.undetected_time === null ? "missed none" : `those it missed took ${number(d.undetected_time)}`];
      const svg = cells[i].append("svg").attr({width, height: 28, role: "img", "aria-label": `${d.name}: ${said.join(", ")}`});
      ticks.forEach((t) => svg.append("line").attr({class: "grid", x1: x(t), x2: x(t), y1: 0, y2: 28}));
      if (d.latency !== null) svg.append("line").attr({class: "stem", x1: x(0), x2: x(d.latency), y1: 14, y2: 14});
      else svg.append("text").attr({x: x(0) + 2, y: 18}).text(said[0]);
      if (d.undetected_time !== null) svg.append("circle").attr({class: "mark late" + kind, cx: x(d.undetected_time), cy: 14, r: 4.5});
      if (d.latency !== null) svg.append("circle").attr({class: "mark" + kind, cx: x(d.latency), cy: 14, r: 6});
      svg.on("mousemove", () => tip(d, d3.event)).on("mouseleave", () => tip(null));
    });
  }

  return {plane, latencies};
})();
