// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Fills the page from the data. Foreign strings only ever go through .text() and attributes.
"use strict";

(() => {
  const {visible, count, plural, percent} = words;
  const data = JSON.parse(document.getElementById("data").textContent,
    (key, value) => ["node", "job", "file"].includes(key) && typeof value === "string" ? visible(value) : value);
  const byId = (id) => d3.select(document.getElementById(id));
  const signed = figures.signed;
  const usual = data.options.normalizer === "ratio" ? 1 : 0;
  const confidence = percent(data.options.confidence);
  const directions = {faster: "faster than siblings", slower: "slower"};
  const pageSize = 40;
  const color = figures.levelColors(data.levels);

  const verdictOf = new Map();
  data.decision.blacklisted.forEach((v) => verdictOf.set(v.id, ["avoid", v]));
  data.decision.spared.forEach((v) => verdictOf.set(v.id, ["spared", v]));
  data.nodes.forEach((d) => {
    [d.verdict, d.why] = verdictOf.get(d.id) || [null, null];
    if (d.box) d.box = {low: d.box[0], q1: d.box[1], median: d.box[2], q3: d.box[3], high: d.box[4], outliers: d.outliers};
  });
  const ranked = data.nodes.filter((d) => d.level !== null);
  const x = ranked.length ? d3.scale.linear() : null;

  function writeCauses() {
    const {causes} = data;
    document.getElementById("causes").hidden = !causes;
    if (!causes) return;
    const about = (x) => `${(100 * x).toFixed(x < 0.00005 || x >= 0.0995 ? 0 : x < 0.00995 ? 2 : 1)} %`;
    const names = {node: "slow nodes", input: "more input", crowd: "crowded nodes", itself: "bad luck"};
    byId("causes-text").text(`${count(causes.late)} of ${plural(causes.tasks, "task")} took at least 1.5 times as long as ` +
      `usual in their job, and lost ${about(causes.share_of_time)} of all task time. The thin line is the 95 % interval.`);
    const rows = byId("causes-table").selectAll("tr").data(Object.entries(causes.by)).enter().append("tr");
    const width = 360;
    rows.append("th").attr("scope", "row").text(([by]) => names[by]);
    const bars = rows.append("td").append("svg").attr({class: "lost", width: width + 2, height: 18, role: "presentation"});
    bars.append("rect").attr({x: 0, y: 3, height: 12, width: ([, s]) => width * s.share});
    bars.append("line").attr({x1: ([, s]) => width * s.low, x2: ([, s]) => width * s.high, y1: 9, y2: 9});
    rows.append("td").text(([, s]) => `${about(s.share)} (${about(s.low)} to ${about(s.high)})`);
  }

  function writeHeader() {
    const name = data.file.replace(/^.*[/]/, "") || data.file;
    document.title = `Slow nodes: ${name}`;
    byId("title").text(name).attr("title", data.file);
    byId("facts").text([plural(data.records.seen, "attempt"), plural(data.jobs.usable + data.jobs.degenerate_count, "job"),
      plural(data.nodes.length + data.nodes_without_success, "node"), `${confidence} confidence`].join(" · "));
  }

  function writeVerdicts(list, verdicts, kind, most) {
    const items = list.selectAll("li").data(verdicts.slice(0, most)).enter().append("li").attr("class", "verdict " + kind);
    items.append("b").text((v) => v.node);
    items.append("p").text((v) => v.why + ".");
    if (kind === "spared") items.append("p").attr("class", "because").text((v) => `Kept: ${v.spared_because}.`);
    if (verdicts.length <= most) return;
    list.append("li").attr("class", "rest").append("button").attr("type", "button")
      .text(`Show all ${count(verdicts.length)}`)
      .on("click", () => { list.selectAll("*").remove(); writeVerdicts(list, verdicts, kind, Infinity); });
  }

  function writeDecision() {
    const {blacklisted, spared, remark} = data.decision;
    const all = data.nodes.length;
    byId("verdict").text(blacklisted.length ? `Avoid ${count(blacklisted.length)} of ${plural(all, "node")}` : "Avoid no node");
    let text = blacklisted.length ? "Give them no more work, starting with the first." : "";
    if (blacklisted.length === 1) text = "Give it no more work.";
    if (!blacklisted.length && !spared.length)
      text = remark ? remark.charAt(0).toUpperCase() + remark.slice(1) + "." : "No node is significantly slow.";
    if (data.timeline) text += " This judges the history as a whole; below is what would have been decided over time.";
    byId("remark").text(text);
    writeVerdicts(byId("avoided"), blacklisted, "avoid", 6);
    document.getElementById("avoided").hidden = !blacklisted.length;
    document.getElementById("spared-part").hidden = !spared.length;
    byId("spared-title").text(`Weak, but kept in service by a limit: ${plural(spared.length, "node")}`);
    writeVerdicts(byId("spared"), spared, "spared", 6);
  }

  // The line a node's interval, or mean, has to lie beyond to be weak, where the policy has one.
  const first = data.decision.blacklisted.concat(data.decision.spared)[0];
  const onAxis = ["dominated", "median_mad", "leave_top_k_out", "mean_plus_sigmas"];
  const threshold = first && onAxis.includes(first.rule) ? first.threshold : null;

  function writeFigureText() {
    const unit = {ratio: "times the median of its siblings", robust: "robust deviations from the median of its siblings"};
    let text = `Every task is measured against its siblings in the same job; a score is its time in ` +
      (unit[data.options.normalizer] || "standard deviations from their mean") +
      `, so ${usual} is usual and more is slower. Levels: nodes in one level cannot be told apart, and level 0 is the weakest.`;
    if (threshold !== null)
      text += ` Weak is a node whose ${first.rule === "dominated" ? "whole thick bar" : "mean"} lies right of the dashed line.`;
    if (!ranked.length) text = "No node has enough scores to be ranked.";
    byId("figure-text").text(text);
  }

  // What is shown: a window on the nodes that pass search and filter.
  const state = {zoom: false, search: "", filter: "all", from: 0, sort: null, descending: false, tableRows: 100};
  function passes(d) {
    if (state.search && !d.node.toLowerCase().includes(state.search)) return false;
    if (state.filter === "all") return true;
    if (state.filter === "unranked") return d.level === null;
    return state.filter === d.verdict || state.filter === `level ${d.level}`;
  }

  function showTip(d, event) {
    const tip = byId("tip"), element = tip.node();
    element.hidden = !d;
    if (!d) return;
    tip.selectAll("*").remove();
    tip.append("b").text(d.node);
    const list = tip.append("dl");
    const pair = (name, value) => { list.append("dt").text(name); list.append("dd").text(value); };
    if (d.verdict) pair("decision", d.verdict === "avoid" ? "avoid" : `spared: ${d.why.spared_by}`);
    pair("level", `${d.level} of 0 to ${data.levels - 1}`);
    pair("scores", count(d.n));
    pair("mean", figures.number(d.mean));
    pair(`${confidence} interval`, `${figures.number(d.low)} to ${figures.number(d.high)}`);
    pair("deviation", figures.number(d.sd));
    pair("median", figures.number(d.box.median));
    pair("middle half", `${figures.number(d.box.q1)} to ${figures.number(d.box.q3)}`);
    tips.place(element, event);
  }
  function tipAtElement(d, element) {
    const box = element.getBoundingClientRect();
    showTip(d, {clientX: box.left + box.width / 3, clientY: box.bottom - 10});
  }

  function describe(d) {
    const verdict = {avoid: "to be avoided, ", spared: "weak but spared, "}[d.verdict] || "";
    return `${d.node}: ${verdict}level ${d.level}, mean ${signed(d.mean)}, ${confidence} interval ` +
      `${signed(d.low)} to ${signed(d.high)}, ${plural(d.n, "score")}`;
  }

  const levelWords = (level) => level === 0 ? (data.levels === 1 ? "none can be told apart" : "the weakest")
    : level === data.levels - 1 ? "the strongest" : "";

  function drawRow(item, d, plot) {
    const name = item.append("div").attr("class", "name");
    name.append("span").attr("title", d.node).text(d.node);
    if (d.verdict) name.append("span").attr("class", "badge " + d.verdict).text(d.verdict === "avoid" ? "AVOID" : "SPARED");
    const svg = item.append("svg").attr({class: "box", width: plot, height: 32, "aria-hidden": true});
    figures.gridLines(svg, x, 32, usual, threshold);
    figures.drawBox(svg, d, x, 32, !state.zoom);
    item.append("div").attr("class", "n").text(count(d.n));
  }

  function drawRows() {
    const matching = ranked.filter(passes);
    state.from = Math.max(0, Math.min(state.from, matching.length - pageSize));
    const shown = matching.slice(state.from, state.from + pageSize);
    const rows = byId("rows");
    rows.selectAll("*").remove();
    byId("axis").style("display", shown.length ? null : "none");
    if (!shown.length) rows.append("p").attr("class", "empty").text("No ranked node matches.");
    const axis = byId("axis");
    if (axis.select(".at").empty()) {
      axis.append("div").attr("class", "at");
      axis.append("div").attr("class", "n").text("scores");
    }
    const plot = Math.max(120, axis.select(".at").node().clientWidth);
    if (x) {
      x.range([10, plot - 10]).domain((state.zoom ? figures.domainOfMeans : figures.domainOf)(ranked, usual));
      figures.drawAxis(axis.select(".at"), x, plot, directions);
      figures.drawLegend(byId("legend"), byId("legend").node().clientWidth, confidence);
    }
    d3.nest().key((d) => d.level).entries(shown).forEach((group) => {
      const level = +group.key, all = ranked.filter((d) => d.level === level).length;
      const part = rows.append("div").attr({class: "tinted", style: color(level)});
      const title = part.append("h3").attr("class", "level-title").text(`Level ${level}`);
      title.append("span").text([plural(all, "node"), levelWords(level)].filter(Boolean).join(", "));
      const items = part.append("ul").attr("class", "rows").selectAll("li").data(group.values).enter().append("li")
        .attr({class: (d) => `row ${d.verdict || ""}`, tabindex: 0, "aria-label": describe})
        .on("mousemove", (d) => showTip(d, d3.event)).on("mouseleave", () => showTip(null))
        .on("focus", function (d) { if (this.matches(":focus-visible")) tipAtElement(d, this); }).on("blur", () => showTip(null));
      items.each(function (d) { drawRow(d3.select(this), d, plot); });
    });
    writePager(matching, shown);
  }

  function writePager(matching, shown) {
    const more = matching.length > pageSize;
    document.getElementById("pager").hidden = !more;
    const atStart = state.from === 0, atEnd = state.from + pageSize >= matching.length;
    ["first", "previous"].forEach((id) => { document.getElementById(id).disabled = atStart; });
    ["next", "last"].forEach((id) => { document.getElementById(id).disabled = atEnd; });
    byId("shown").text(more ? `${count(state.from + 1)} to ${count(state.from + shown.length)} of ${plural(matching.length, "node")}`
                            : shown.length === ranked.length ? "" : plural(shown.length, "node"));
    if (fleet && shown.length) fleet.select(ranked.indexOf(shown[0]), ranked.indexOf(shown[shown.length - 1]) + 1);
  }

  const fleet = ranked.length > pageSize ? figures.overview(byId("overview"), ranked, {
    usual, color,
    hover: showTip,
    move: (i) => {
      const matching = ranked.filter(passes);
      let place = d3.bisector((d) => ranked.indexOf(d)).left(matching, i);
      state.from = Math.min(place, matching.length) - pageSize / 2;
      drawRows();
    },
  }) : null;

  const timeline = data.timeline && timelineView.show(data.timeline, {plural, signed, usual});

  function draw() {
    if (timeline) timeline.draw();
    if (fleet) {
      document.getElementById("overview-part").hidden = false;
      fleet.draw(0, pageSize);
    }
    drawRows();
  }

  const columns = [
    {name: "Node", value: (d) => d.node, text: (d) => d.node},
    {name: "Decision", value: (d) => d.verdict, text: (d) => d.verdict || "keep"},
    {name: "Level", value: (d) => d.level, text: (d) => d.level === null ? "unranked" : d.level},
    {name: "Scores", value: (d) => d.n, text: (d) => count(d.n)},
    {name: "Mean", value: (d) => d.mean, text: (d) => d.mean === null ? "" : signed(d.mean)},
    {name: "Deviation", value: (d) => d.sd, text: (d) => d.sd === null ? "" : figures.number(d.sd)},
    {name: "From", value: (d) => d.low, text: (d) => d.low === null ? "" : signed(d.low)},
    {name: "To", value: (d) => d.high, text: (d) => d.high === null ? "" : signed(d.high)},
  ];

  function drawTable() {
    const table = byId("table");
    if (table.select("thead").empty()) {
      table.append("thead").append("tr").selectAll("th").data(columns).enter().append("th").attr("scope", "col")
        .append("button").attr("type", "button").text((c) => c.name).on("click", (c) => {
          state.descending = state.sort === c && !state.descending;
          state.sort = c;
          drawTable();
        });
      table.append("tbody");
    }
    table.selectAll("th").attr("aria-sort", (c) => c !== state.sort ? null : state.descending ? "descending" : "ascending");
    let list = data.nodes.filter(passes);
    if (state.sort) {
      const direction = state.descending ? -1 : 1, value = state.sort.value;
      const missing = (v) => v === null || v === undefined;
      list = list.slice().sort((a, b) => missing(value(a)) - missing(value(b)) ||
        direction * (d3.ascending(value(a), value(b))));
    }
    const body = table.select("tbody");
    body.selectAll("tr").remove();
    const rows = body.selectAll("tr").data(list.slice(0, state.tableRows)).enter().append("tr")
      .attr("class", (d) => d.verdict || "");
    rows.selectAll("td").data((d) => columns.map((c) => [c, d])).enter().append("td").each(function ([c, d]) {
      const cell = d3.select(this);
      if (c.name === "Decision" && d.verdict)
        cell.append("span").attr("class", "badge " + d.verdict).text(d.verdict === "avoid" ? "AVOID" : "SPARED");
      else if (c.name === "Level" && d.level !== null)
        cell.append("span").attr({class: "tinted badge level", style: color(d.level)}).text(d.level);
      else cell.text(c.text(d));
    });
    const more = document.getElementById("more");
    more.hidden = list.length <= state.tableRows;
    more.textContent = `Show all ${count(list.length)}`;
  }

  function writeRecords() {
    const r = data.records, at = byId("records");
    const parts = [["used", r.scored, "measured"], ["degenerate", r.used - r.scored, "in jobs that cannot be compared"],
      ["failed", r.failed, "failed"], ["killed", r.killed, "killed"],
      ["superseded", r.superseded, "done before by another attempt"], ["rejected", r.rejected, "rejected"]].filter((p) => p[1] > 0);
    at.append("div").attr({class: "bar", "aria-hidden": true}).selectAll("i").data(parts).enter().append("i")
      .attr("class", (p) => "r-" + p[0]).style("flex", (p) => `${p[1]} 1 0`);
    const key = at.append("ul").attr("class", "key").selectAll("li").data(parts).enter().append("li");
    key.append("i").attr("class", (p) => "r-" + p[0]);
    key.append("b").text((p) => count(p[1]));
    key.append("span").text((p) => " " + p[2]);
    Object.keys(r.rejected_by_reason).forEach((reason) => {
      const {count: n, first_lines: lines} = r.rejected_by_reason[reason];
      at.append("p").text(`Rejected for ${reason.replace(/_/g, " ")}: ${count(n)}` +
        (lines ? ` (first lines: ${lines.join(", ")})` : "") + ".");
    });
    at.append("p").text(`${plural(data.jobs.usable, "job")} compared, ${count(data.jobs.degenerate_count)} left out.`);
    if (!data.jobs.degenerate_count) return;
    const details = at.append("details");
    const listed = data.jobs.degenerate;
    details.append("summary").text(listed.length < data.jobs.degenerate_count
      ? `The first ${count(listed.length)} jobs left out` : "The jobs left out");
    const reasons = {insufficient_evidence: "too few tasks", no_spread: "all equally long"};
    details.append("ul").selectAll("li").data(listed).enter().append("li")
      .text((j) => `${j.job}: ${plural(j.attempts, "attempt")}, ${reasons[j.reason] || j.reason}`);
  }

  function writeMethod() {
    const o = data.options, g = o.limits, list = byId("method");
    const limits = [];
    if (g.max_fraction !== null) limits.push(`at most ${percent(g.max_fraction)} of the slots`);
    if (g.max_nodes !== null) limits.push(`at most ${plural(g.max_nodes, "node")}`);
    if (g.min_healthy !== null) limits.push(`at least ${count(g.min_healthy)} slots stay`);
    if (g.domain !== null) limits.push(`one node stays in each failure domain (${g.domain})`);
    if (g.fail_open !== null) limits.push(`none if more than ${percent(g.fail_open)} look weak`);
    [["Preset", o.preset], ["Normalizer", o.normalizer], ["Smallest job", plural(o.min_tasks, "task")],
      ["Confidence", confidence], ["Deviation", o.deviation], ["Edge rule", o.edge],
      ["Attempts that count", o.counted.replace("_", " ")], ["Which nodes are weak", o.select],
      ["Limits", limits.join("; ") || "none"]].concat(!data.forecast ? [] :
      [["Which will be weak", `${data.forecast.model}, from p = ${data.forecast.least}`]]).concat(!data.timeline ? [] :
      [["Windows", `${o.window}, every ${o.slide}`], ["For how long", o.exclusions]]).forEach(([name, value]) => {
      list.append("dt").text(name);
      list.append("dd").text(value);
    });
    byId("colophon").text(`Made by straggle-rank ${data.straggle}. Drawn with D3, whose license is in the source of this page.`);
  }

  function listen() {
    const options = ["all"].concat(data.decision.blacklisted.length ? ["avoid"] : [], data.decision.spared.length ? ["spared"] : [],
      d3.range(data.levels).map((l) => `level ${l}`), data.nodes.length > ranked.length ? ["unranked"] : []);
    byId("filter").selectAll("option").data(options).enter().append("option").attr("value", (o) => o)
      .text((o) => ({all: "All nodes", avoid: "To be avoided", spared: "Spared", unranked: "Unranked"})[o] || o.replace("l", "L"));
    const change = (f) => () => { f(); state.from = 0; drawRows(); drawTable(); };
    byId("search").on("input", change(() => { state.search = document.getElementById("search").value.trim().toLowerCase(); }));
    byId("filter").on("change", change(() => { state.filter = document.getElementById("filter").value; }));
    byId("zoom").on("change", () => { state.zoom = document.getElementById("zoom").checked; drawRows(); });
    const turn = (id, f) => byId(id).on("click", () => { state.from = f(); drawRows(); });
    turn("first", () => 0);
    turn("previous", () => state.from - pageSize);
    turn("next", () => state.from + pageSize);
    turn("last", () => Infinity);
    byId("more").on("click", () => { state.tableRows = Infinity; drawTable(); });
    pictures.keep(draw);
  }

  writeHeader();
  writeDecision();
  writeFigureText();
  listen();
  draw();
  drawTable();
  writeCauses();
  writeRecords();
  writeMethod();
})();
