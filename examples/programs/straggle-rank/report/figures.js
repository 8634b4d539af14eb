// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Draws box plots and the overview of the fleet. Foreign strings only ever go through .text() and attributes.
"use strict";

const figures = (() => {
  // Two decimals with a true minus, never a negative zero.
  const number = (v) => d3.format(",.2f")(Math.abs(v) < .005 ? 0 : v).replace("-", "\u2212");
  const signed = (v) => (v >= .005 ? "+" : "") + number(v);

  // One color per level for each color scheme, weak to strong.
  function levelColors(levels) {
    const scale = (colors) => {
      const at = d3.scale.linear().domain([0, .5, 1]).range(colors).interpolate(d3.interpolateHcl);
      return (level) => at(levels < 2 ? 1 : level / (levels - 1));
    };
    const light = scale(["#b3311c", "#7d6a10", "#1c6680"]), dark = scale(["#ff8b6b", "#d8bb55", "#74c1dc"]);
    return (level) => `--light:${light(level)};--dark:${dark(level)}`;
  }

  const sorted = (values) => values.slice().sort(d3.ascending);

  // The means and their intervals alone, which are much narrower than the scores.
  function domainOfMeans(nodes, usual) {
    const rare = nodes.length > 40 ? .03 : 0, means = nodes.map((d) => d.mean);
    const low = Math.min(d3.quantile(sorted(nodes.map((d) => d.low)), rare), d3.min(means), usual);
    const high = Math.max(d3.quantile(sorted(nodes.map((d) => d.high)), 1 - rare), d3.max(means), usual);
    const margin = (high - low) * .05 || 1;
    return [low - margin, high + margin];
  }

  // What is worth the width: the whiskers (of a large fleet nearly all), most outliers if they are not too
  // far off, every mean, and the usual value.
  function domainOf(nodes, usual) {
    const rare = nodes.length > 40 ? .03 : 0;
    const lows = sorted(nodes.map((d) => d.box.low)), highs = sorted(nodes.map((d) => d.box.high));
    const means = nodes.map((d) => d.mean);
    let low = Math.min(d3.quantile(lows, rare), d3.min(means), usual);
    let high = Math.max(d3.quantile(highs, 1 - rare), d3.max(means), usual);
    const reach = (high - low) * .5, outliers = sorted(d3.merge(nodes.map((d) => d.box.outliers)));
    if (outliers.length) {
      low = Math.min(low, Math.max(low - reach, d3.quantile(outliers, .02)));
      high = Math.max(high, Math.min(high + reach, d3.quantile(outliers, .98)));
    }
    const margin = (high - low) * .03 || 1;
    return [low - margin, high + margin];
  }

  function drawBox(svg, d, x, height, arrows) {
    const middle = height / 2, [from, to] = x.range();
    const clamp = (v) => Math.max(from, Math.min(to, x(v)));
    const line = (name, x1, x2, y1, y2) => svg.append("line")
      .attr({class: name, x1, x2, y1: y1 === undefined ? middle : y1, y2: y2 === undefined ? middle : y2});
    line("whisker", clamp(d.box.low), clamp(d.box.q1));
    line("whisker", clamp(d.box.q3), clamp(d.box.high));
    for (const end of [d.box.low, d.box.high])
      if (x(end) >= from && x(end) <= to) line("whisker", x(end), x(end), middle - 4, middle + 4);
    svg.append("rect").attr({x: clamp(d.box.q1), width: Math.max(1, clamp(d.box.q3) - clamp(d.box.q1)),
                             y: middle - 8, height: 16, rx: 2});
    line("median", clamp(d.box.median), clamp(d.box.median), middle - 8, middle + 8);
    for (const o of d.box.outliers)
      if (x(o) >= from && x(o) <= to) svg.append("circle").attr({class: "outlier", cx: x(o), cy: middle, r: 2});
    line("interval", clamp(d.low), clamp(d.high));
    if (arrows) beyond(svg, d, x, middle);
    svg.append("circle").attr({class: "mean", cx: clamp(d.mean), cy: middle, r: 4});
  }

  // An arrow where something lies outside the picture, a faint one if only outliers do.
  function beyond(svg, d, x, middle) {
    const [from, to] = x.range(), main = [d.low, d.high, d.box.low, d.box.high];
    const arrow = (outside, path) => {
      if (main.some(outside) || d.box.outliers.some(outside))
        svg.append("path").attr({class: main.some(outside) ? "beyond" : "beyond faint", d: path});
    };
    arrow((v) => x(v) < from - 1, `M${from - 8},${middle}l6,-4v8z`);
    arrow((v) => x(v) > to + 1, `M${to + 8},${middle}l-6,-4v8z`);
  }

  function gridLines(svg, x, height, usual, threshold) {
    svg.selectAll("line.grid").data(x.ticks(6)).enter().append("line")
      .attr({class: "grid", y1: 0, y2: height}).attr("x1", x).attr("x2", x);
    const vertical = (name, at) => svg.append("line").attr({class: name, x1: x(at), x2: x(at), y1: 0, y2: height});
    vertical("usual", usual);
    if (threshold !== null && x(threshold) >= x.range()[0] && x(threshold) <= x.range()[1])
      vertical("threshold", threshold);
  }

  function drawAxis(element, x, width, words) {
    element.selectAll("*").remove();
    const svg = element.append("svg").attr({width, height: 42});
    svg.append("text").attr({x: 0, y: 12}).text(`← ${words.faster}`);
    svg.append("text").attr({x: width, y: 12, "text-anchor": "end"}).text(`${words.slower} →`);
    const ticks = x.ticks(width < 400 ? 4 : 8), format = x.tickFormat(8);
    svg.selectAll("g").data(ticks).enter().append("g").attr("transform", (t) => `translate(${x(t)},0)`)
      .each(function (t) {
        const g = d3.select(this);
        g.append("line").attr({class: "grid", y1: 36, y2: 42});
        g.append("text").attr({y: 32, "text-anchor": "middle"}).text(format(t));
      });
  }

  // The parts of a row, named.
  function drawLegend(element, width, confidence) {
    element.selectAll("*").remove();
    if (width < 560) {
      element.append("p").attr("class", "muted").style({margin: "0 0 .4rem", "font-size": ".85rem"})
        .text(`Box: the middle half of the scores. Whiskers: the rest, dots: outliers. Line: median. ` +
              `Ring and thick bar: mean and its ${confidence} interval.`);
      return;
    }
    const svg = element.append("svg").attr({width, height: 70, class: "box"});
    const x = d3.scale.linear().domain([0, 10]).range([width / 2 - 230, width / 2 + 230]);
    const g = svg.append("g").attr("transform", "translate(0,22)");
    drawBox(g, {mean: 5.4, low: 4.7, high: 6.1,
                box: {low: 1.2, q1: 3.2, median: 4.95, q3: 7.2, high: 8.6, outliers: [9.5, 9.9]}}, x, 24, false);
    const label = (at, y, anchor, text, tick) => {
      svg.append("text").attr({x: x(at), y, "text-anchor": anchor}).text(text);
      if (tick) svg.append("line").attr({class: "usual", x1: x(at), x2: x(at), y1: tick[0], y2: tick[1]});
    };
    label(1.2, 62, "middle", "lowest within 1.5 boxes", [42, 50]);
    label(3.2, 12, "middle", "quartile", [17, 25]);
    label(4.95, 12, "middle", "median", [17, 25]);
    label(7.2, 12, "middle", "quartile", [17, 25]);
    label(5.4, 62, "middle", `mean and its ${confidence} interval`, [40, 50]);
    label(9.7, 62, "middle", "outliers", [40, 50]);
  }

  // All nodes side by side, and a window on them that can be dragged.
  function overview(element, nodes, options) {
    const height = 170, margin = {left: 36, right: 8, top: 16, bottom: 18};
    let x, y, window_;

    function draw(from, to) {
      const width = element.node().clientWidth;
      element.selectAll("*").remove();
      x = d3.scale.linear().domain([0, nodes.length]).range([margin.left, width - margin.right]);
      const values = sorted(nodes.map((d) => d.low)), tops = sorted(nodes.map((d) => d.high));
      y = d3.scale.linear().clamp(true).range([height - margin.bottom, margin.top])
        .domain([d3.quantile(values, .05), Math.max(d3.quantile(tops, .95), d3.max(nodes, (d) => d.mean))]).nice();
      const svg = element.append("svg").attr({width, height, class: "overview", role: "img",
        "aria-label": `Confidence intervals of ${nodes.length} nodes, weakest first; the table below has the numbers.`});
      svg.selectAll("g.tick").data(y.ticks(4)).enter().append("g").each(function (t) {
        const g = d3.select(this);
        g.append("line").attr({class: t === options.usual ? "usual" : "grid", x1: margin.left, x2: width - margin.right,
                               y1: y(t), y2: y(t)});
        g.append("text").attr({x: margin.left - 6, y: y(t) + 4, "text-anchor": "end"}).text(y.tickFormat(4)(t));
      });
      const step = x(1) - x(0);
      d3.nest().key((d) => d.level).entries(nodes.map((d, i) => Object.assign({i}, d))).forEach((level) => {
        const g = svg.append("g").attr({class: "tinted", style: options.color(+level.key)});
        const path = (f) => level.values.map((d) => f(d, x(d.i + .5))).join("");
        g.append("path").attr({class: "interval", d: path((d, at) => `M${at.toFixed(1)},${y(d.low).toFixed(1)}V${y(d.high).toFixed(1)}`)})
          .style("stroke-width", Math.max(.6, Math.min(4, step * .7)));
        const r = Math.max(.8, Math.min(3, step * .6));
        g.append("path").attr({class: "mean", d: path((d, at) => `M${(at - r).toFixed(1)},${y(d.mean).toFixed(1)}a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0`)});
      });
      nodes.forEach((d, i) => {
        if (d.verdict) svg.append("path").attr({class: "mark " + d.verdict, d: `M${x(i + .5) - 3},3h6l-3,5z`});
      });
      svg.append("text").attr({x: margin.left, y: height - 3}).text("weakest");
      svg.append("text").attr({x: width - margin.right, y: height - 3, "text-anchor": "end"}).text("strongest");
      window_ = svg.append("rect").attr({class: "window", y: margin.top - 4, height: height - margin.bottom - margin.top + 8, rx: 3});
      select(from, to);
      svg.append("rect").attr({x: margin.left, width: Math.max(0, width - margin.left - margin.right), y: 0, height,
                               fill: "transparent"}).style("cursor", "ew-resize")
        .on("mousemove", function () { options.hover(nodes[at(this)], d3.event); })
        .on("mouseleave", () => options.hover(null))
        .call(d3.behavior.drag().on("drag", function () { options.move(at(this)); }))
        .on("click", function () { options.move(at(this)); });
    }
    const at = (surface) => Math.max(0, Math.min(nodes.length - 1, Math.floor(x.invert(d3.mouse(surface)[0]))));
    function select(from, to) {
      window_.attr({x: x(from), width: Math.max(3, x(to) - x(from))});
    }
    return {draw, select};
  }

  return {number, signed, levelColors, domainOf, domainOfMeans, drawBox, gridLines, drawAxis, drawLegend, overview};
})();
