// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Fills the page from the data. Foreign strings only ever go through .text() and attributes.
"use strict";

(() => {
  const {visible, count, plural, percent} = words;
  const data = JSON.parse(document.getElementById("data").textContent,
    (key, value) => ["detector", "history", "progress"].includes(key) && typeof value === "string" ? visible(value) : value);
  const byId = (id) => d3.select(document.getElementById(id));
  const number = d3.format(".2f");
  const share = (x) => x === null ? "\u2013" : percent(Math.round(x * 1000) / 1000);
  const times = (x) => x === null ? "\u2013" : number(x);

  // The best first, as in the table of the program.
  const quality = (d) => d.f1_in_time === null ? -1 : d.f1_in_time;
  const detectors = data.detectors.map((d) => Object.assign({name: d.detector}, d)).sort((a, b) => quality(b) - quality(a));
  detectors.forEach((d, i) => { d.number = i + 1; });
  const best = detectors.length && quality(detectors[0]) > 0 ? detectors[0] : null;
  if (best) best.best = true;
  const stragglers = detectors.length ? detectors[0].stragglers : 0;

  function writeHeader() {
    const name = data.history.replace(/^.*[/]/, "") || data.history;
    document.title = `Straggler detectors: ${name}`;
    byId("title").text(name).attr("title", data.history);
    byId("facts").text([plural(data.tasks.judged - data.tasks.undecided, "task"), plural(data.jobs, "job"), plural(data.nodes, "node"),
      plural(stragglers, "straggler"), plural(detectors.length, "detector")].join(" · "));
  }

  function writeVerdict() {
    let text = "No task took long enough to be a straggler; what was named was named by mistake.";
    byId("verdict").text("There was no straggler to find");
    if (best) {
      byId("verdict").text(`${best.name} did best`);
      text = `It named ${share(best.recall)} of the stragglers, after ${times(best.latency)} times their usual time on average; ` +
        `${share(best.precision_in_time)} of those it named were stragglers with enough time left for a copy to win.`;
    } else if (stragglers) {
      byId("verdict").text("No detector named a straggler in time");
      text = "Either there is too little to go by, or these rules wait for longer than the tasks take.";
    }
    if (data.progress === null) text += " No progress is known of this history: only rules that go by elapsed time can say much.";
    byId("remark").text(text);
  }

  function showTip(d, event) {
    const tip = byId("tip"), element = tip.node();
    element.hidden = !d;
    if (!d) return;
    tip.selectAll("*").remove();
    tip.append("b").text(d.name);
    const list = tip.append("dl");
    [["named", count(d.detected)], ["of them stragglers", count(d.caught)], ["too late", count(d.fakes)], ["precision", share(d.precision)],
      ["in time", share(d.precision_in_time)], ["recall", share(d.recall)], ["F1 in time", share(d.f1_in_time)], ["latency", times(d.latency)]]
      .forEach(([name, value]) => { list.append("dt").text(name); list.append("dd").text(value); });
    tips.place(element, event);
  }

  function drawPlane() {
    const strict = document.getElementById("in-time").checked;
    const precision = strict ? "precision_in_time" : "precision", recall = strict ? "recall_in_time" : "recall";
    const isThere = (d) => d[precision] !== null && d[recall] !== null;
    byId("plane-text").text("Up: fewer tasks named by mistake. To the right: more of the stragglers found. Along a line F1 is the same. " + (strict ?
      "Naming one with less than its usual time left is a mistake too, since a copy could not have won: nothing is gained by waiting until it is certain." :
      "A straggler counts as found whenever it was named, be it at the last moment."));
    figures.plane(byId("plane"), byId("plane-key"),
      detectors.filter(isThere).map((d) => Object.assign({}, d, {x: d[recall], y: d[precision]})), showTip);
    const absent = detectors.filter((d) => !isThere(d)).map((d) => d.name);
    byId("plane-rest").text(!absent.length ? "" :
      `Not in the picture, since ${stragglers ? "they named no task" : "there are no stragglers"}: ${absent.join(", ")}.`);
  }
  function drawLatency() {
    const value = (d) => d.latency === null ? 1e99 : d.latency;
    figures.latencies(byId("latency"), detectors.slice().sort((a, b) => value(a) - value(b) || a.number - b.number), showTip);
  }
  function draw() {
    drawPlane();
    drawLatency();
  }

  const columns = [["Detector", "name"], ["Precision", "precision", share], ["in time", "precision_in_time", share], ["Recall", "recall", share],
    ["F1", "f1", share], ["in time", "f1_in_time", share], ["Latency", "latency", times], ["Missed took", "undetected_time", times],
    ["Too late", "fake_ratio", share], ["Named", "detected", count], ["Stragglers", "stragglers", count], ["Tasks", "tasks", count]];
  const sorting = {key: "f1_in_time", descending: true};
  function compare(a, b) {
    const x = a[sorting.key], y = b[sorting.key];
    if (x === null || y === null) return (x === null) - (y === null) || a.number - b.number; // nothing comes last
    return (sorting.descending ? d3.descending : d3.ascending)(x, y) || a.number - b.number;
  }
  function drawTable() {
    const table = byId("table");
    table.selectAll("*").remove();
    const head = table.append("thead").append("tr").selectAll("th").data(columns).enter().append("th")
      .attr({scope: "col", "aria-sort": (c) => c[1] !== sorting.key ? null : sorting.descending ? "descending" : "ascending"});
    head.append("button").attr("type", "button").text((c) => c[0]).on("click", (c) => {
      sorting.descending = sorting.key === c[1] ? !sorting.descending : c[1] !== "name";
      sorting.key = c[1];
      drawTable();
    });
    const rows = table.append("tbody").selectAll("tr").data(detectors.slice().sort(compare)).enter().append("tr")
      .attr("class", (d) => d.best ? "best" : null);
    columns.forEach(([, key, format]) => rows.append("td").text((d) => format ? format(d[key]) : d[key]));
  }

  function writeRecords() {
    const at = byId("records"), t = data.tasks;
    const write = (noun, r) => {
      at.append("p").text(`${plural(r.seen, noun)} read, ${count(r.used)} used.`);
      Object.keys(r.rejected_by_reason).forEach((reason) => {
        const {count: n, first_lines: lines} = r.rejected_by_reason[reason];
        at.append("p").attr("class", "muted").text(`Rejected for ${reason.replace(/_/g, " ")}: ${count(n)}` +
          (lines ? ` (first lines: ${lines.join(", ")})` : "") + ".");
      });
    };
    write("attempt", data.attempts);
    if (data.progress !== null) write("report", data.reports);
    at.append("p").text(`${plural(t.seen, "task")}, ${count(t.judged - t.undecided)} of them judged.`);
    [["never_finished", "never finished"], ["original_failed", "failed while a copy ran, which went on"],
      ["usual_unknown", "in jobs with too few finished tasks to say what is usual"],
      ["undecided", "overtaken by a copy, and unknown what they would have taken"]].forEach(([key, what]) => {
      if (t[key]) at.append("p").attr("class", "muted").text(`Left out: ${count(t[key])} ${what}.`);
    });
  }

  function writeMethod() {
    const o = data.options, list = byId("method");
    [["Straggler", `a task that took longer than ${o.threshold} \u00d7 ${o.usual_text}`],
      ["Looks", `${count(data.looks)}, ${o.looks_text}`],
      ["Shown", "running tasks with their last report, the times of finished tasks, and how many tasks the job has; nothing of the future"],
      ["Named", "the first time a detector names a task while the attempt that is judged runs"],
      ["Latency", "from the start of a straggler until it is named, over its usual time; the mean"],
      ["Too late", "with less than the usual time left: a copy could not have won"],
      ["Inputs", o.inputs ? "passed to the detectors" : "not passed to the detectors"]].forEach(([name, value]) => {
      list.append("dt").text(name);
      list.append("dd").text(value);
    });
    byId("colophon").text(`Made by straggle-replay ${data.straggle}. Drawn with D3, whose license is in the source of this page.`);
  }

  writeHeader();
  writeVerdict();
  draw();
  drawTable();
  writeRecords();
  writeMethod();
  byId("in-time").on("change", drawPlane);
  pictures.keep(draw);
})();
