// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Draws a plan log. Foreign strings only ever go through .text() and attributes.
"use strict";

(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const {visible, count, plural, percent} = words;
  const states = [["excluded", "out", "out of service"], ["on_probation", "trial", "on probation: a few attempts"],
    ["last_resort", "slow", "slow, used where waiting would take longer"], ["away", "away", "absent, or being drained"]];
  const stateOf = (s) => states.find((t) => t[0] === s.state) || states[3];
  const select = (id) => d3.select(document.getElementById(id));

  // ---- numbers ----
  const isDate = data.from > 631152000 && data.to < 7258118400;
  const span = Math.max(data.to - data.from, 1e-9);
  const clock = d3.time.format.utc(span > 172800 ? "%e %b %H:%M" : span > 600 ? "%H:%M" : "%H:%M:%S");
  const moment = (t) => isDate ? clock(new Date(t * 1000)).trim() : `${+t.toPrecision(8)}`;
  function lengthOf(s) {
    if (!isDate) return `${+s.toPrecision(3)}`;
    const [name, unit] = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]].find((u) => s >= u[1]) || ["ms", .001];
    return `${+(s / unit).toPrecision(3)} ${name}`;
  }
  const factor = (x) => `${x.toFixed(2)}×`;

  // ---- the tip ----
  const tip = document.getElementById("tip");
  function tell(nodes, write) {
    const show = function (d) {
      d3.select(tip).html("").call(write, d);
      tip.hidden = false;
      const box = this.getBoundingClientRect();
      tips.place(tip, d3.event && d3.event.clientX !== undefined ? d3.event : {clientX: box.left, clientY: box.bottom});
    };
    const hide = () => { tip.hidden = true; };
    nodes.on("mousemove", show).on("focus", show).on("mouseleave", hide).on("blur", hide);
  }

  // ---- frames ----
  const left = Math.min(170, 30 + 7.2 * (d3.max(data.nodes, (n) => Math.min(n.node.length, 20)) || 4)), right = 14;
  const width = () => Math.max(280, document.getElementById("nodes").clientWidth);
  const x = d3.scale.linear().domain([data.from, data.from + span]);
  function frame(id, height, label) {
    const svg = select(id).html("").append("svg").attr({width: width(), height, role: "img", "aria-label": label});
    x.range([left, width() - right]);
    return svg;
  }
  function timeAxis(svg, y) {
    const wanted = Math.max(2, Math.floor((width() - left) / 110));
    x.ticks(wanted).forEach((t) => {
      svg.append("line").attr({class: "grid", x1: x(t), x2: x(t), y1: 0, y2: y});
      svg.append("text").attr({x: x(t), y: y + 16, "text-anchor": "middle"}).text(moment(t));
    });
    data.restarts.forEach((t) => svg.append("line").attr({class: "restart", x1: x(t), x2: x(t), y1: 0, y2: y}));
  }
  function valueAxis(svg, y) {
    y.ticks(4).forEach((v) => {
      svg.append("line").attr({class: "grid", x1: left, x2: width() - right, y1: y(v), y2: y(v)});
      svg.append("text").attr({x: left - 8, y: y(v) + 4, "text-anchor": "end"}).text(lengthOf(v));
    });
  }

  // ---- what came out ----
  const out = data.nodes.filter((n) => n.spans.some((s) => s.state === "excluded"));
  const served = d3.sum(out, (n) => d3.sum(n.spans, (s) => s.state === "excluded" ? s.to - s.from : 0));
  const races = data.races, ran = races.won + races.lost;

  function head() {
    document.title = visible(data.title);
    select("title").text(visible(data.title));
    select("facts").text(`${plural(data.plans, "plan")} · ${plural(data.fleet, "node")} · ${moment(data.from)} to ${moment(data.to)}` +
      (isDate ? " UTC" : "") + (data.shadow ? " · shadow mode: nothing was done" : ""));
    const would = data.shadow ? "would have been" : (out.length === 1 ? "was" : "were");
    select("verdict").text(out.length ? `${count(out.length)} of ${plural(data.fleet, "node")} ${would} out of service` :
      `No node ${data.shadow ? "would have been" : "was"} taken out of service`);
    const says = [];
    if (out.length) says.push(`${data.shadow ? "They would have been out together" : "Together"} for ${lengthOf(served)}, ${percent(served / (span * Math.max(data.fleet, 1)))} of all node time.`);
    says.push(ran ? `${count(races.won)} of ${count(ran)} copies ended first and won ${lengthOf(races.time_won)} in all.` :
      data.shadow ? "In shadow mode no copy runs, so that none can win time." : "No copy ran to win time.");
    select("remark").text(says.join(" "));
  }

  function nodes() {
    const rows = data.nodes.slice().sort((a, b) =>
      d3.sum(b.spans, (s) => s.to - s.from) - d3.sum(a.spans, (s) => s.to - s.from)).slice(0, 200);
    select("nodes-text").text(rows.length ? `The ${plural(data.fleet - rows.length, "other node")} ` +
      `${data.fleet - rows.length === 1 ? "was" : "were"} healthy all the time.` + (data.not_shown ? " More changes than can be shown are left out." : "") :
      "All nodes were healthy all the time.");
    select("nodes-key").html("").selectAll("span").data(rows.length ? states : []).enter().append("span").each(function (s) {
      d3.select(this).append("svg").attr({width: 30, height: 12, "aria-hidden": true})
        .append("rect").attr({class: `span ${s[0]}`, x: 1, y: 1, width: 28, height: 10, rx: 2});
      d3.select(this).append("b").text(`${s[1]}: `);
      d3.select(this).append("span").text(s[2]);
    });
    const height = 22, svg = frame("nodes", rows.length * height + 26, "Node states over time, as in the table below");
    const defs = svg.append("defs");
    defs.append("pattern").attr({id: "stripes", width: 6, height: 6, patternUnits: "userSpaceOnUse"})
      .append("path").attr("d", "M-1,7 l8,-8 M-1,1 l2,-2 M5,7 l2,-2");
    defs.append("pattern").attr({id: "dots", width: 5, height: 5, patternUnits: "userSpaceOnUse"})
      .append("circle").attr({cx: 2.5, cy: 2.5, r: 1.3});
    timeAxis(svg, rows.length * height);
    rows.forEach((n, i) => {
      const name = visible(n.node);
      svg.append("text").attr({class: "name", x: left - 8, y: i * height + 15, "text-anchor": "end"})
        .text(name.length > 20 ? `${name.slice(0, 9)}…${name.slice(-9)}` : name);
      tell(svg.selectAll(`.n${i}`).data(n.spans).enter().append("rect").attr({class: (s) => `span ${stateOf(s)[0]}`,
        x: (s) => x(s.from), width: (s) => Math.max(1.5, x(s.to) - x(s.from)), y: i * height + 4, height: height - 8, rx: 2, tabindex: 0}),
      (t, s) => {
        t.append("b").text(`${name}: ${s.state.replace(/_/g, " ")}`);
        t.append("p").text(`${moment(s.from)} to ${moment(s.to)} (${lengthOf(s.to - s.from)})`);
        t.append("p").text(visible(s.reason));
      });
      n.spans.filter((s) => x(s.to) - x(s.from) > 40).forEach((s) => svg.append("text").attr({class: `word ${stateOf(s)[0]}`,
        x: (x(s.from) + x(s.to)) / 2, y: i * height + 14.5, "text-anchor": "middle"}).text(stateOf(s)[1]));
    });
  }

  // The same in words, for readers who cannot point at it: on paper, on a phone, by ear.
  function why() {
    const all = d3.merge(data.nodes.map((n) => n.spans.map((s) => [n, s]))).sort((a, b) => a[1].from - b[1].from);
    const most = 300, shown = all.slice(0, most);
    ["why-title", "why-text", "why-scroll"].forEach((id) => select(id).attr("hidden", all.length ? null : ""));
    select("why-text").text(all.length > most ? `The first ${count(most)} of ${count(all.length)}.` : "");
    const columns = [["node", ([n]) => visible(n.node)], ["state", ([, s]) => stateOf(s)[2].split(/[:,]/)[0]], ["from", ([, s]) => moment(s.from)],
      ["for", ([, s]) => lengthOf(s.to - s.from)], ["why", ([, s]) => visible(s.reason)]];
    const table = select("why");
    const look = (name) => ({state: "words", why: "words why"})[name] || null;
    table.append("thead").append("tr").selectAll("th").data(columns).enter().append("th")
      .attr({scope: "col", class: (c) => look(c[0])}).text((c) => c[0]);
    table.append("tbody").selectAll("tr").data(shown).enter().append("tr").selectAll("td")
      .data((d) => columns.map((c) => [c[0], c[1](d)])).enter().append("td")
      .attr("class", (d) => look(d[0])).text((d) => d[1]);
  }

  function times() {
    const height = 240, svg = frame("times", height + 60, "Times of tasks");
    const told = data.moments.filter((m) => m.ended > 0);
    const y = d3.scale.linear().domain([0, d3.max(told, (m) => m.longest) || 1]).range([height, 8]).nice();
    timeAxis(svg, height + 34);
    valueAxis(svg, y);
    const line = (f) => d3.svg.line().x((m) => x(m.at)).y((m) => y(f(m)))(told);
    if (told.length) {
      svg.append("path").attr({class: "longest", d: line((m) => m.longest)});
      svg.append("path").attr({class: "mean", d: line((m) => m.mean)});
    }
    const most = d3.max(data.moments, (m) => m.out) || 1;
    svg.append("text").attr({x: left - 8, y: height + 28, "text-anchor": "end"}).text("out");
    svg.selectAll(".out").data(data.moments.filter((m) => m.out > 0)).enter().append("rect").attr({class: "out",
      x: (m) => x(m.at), y: (m) => height + 30 - 18 * m.out / most, height: (m) => 18 * m.out / most,
      width: Math.max(1, (width() - left) / Math.max(data.moments.length, 1))});
  }

  function jobs() {
    select("jobs-section").attr("hidden", data.jobs.length ? null : "");
    if (!data.jobs.length) return;
    const t = data.job_times, text = (name, of) => `${plural(of.jobs, "job")} ${name}: median ${lengthOf(of.median)}, one in a hundred above ${lengthOf(of.high)}.`;
    select("jobs-text").text(text(data.shadow ? "that would have been acted on" : "acted on", t.treated) + (t.left_alone.jobs ? ` ${text("left alone (rings)", t.left_alone)}` : "") +
      (data.jobs_seen > data.jobs.length ? ` A sample of ${count(data.jobs_seen)}.` : ""));
    const height = 220, svg = frame("jobs", height + 26, "Times of jobs");
    const y = d3.scale.linear().domain([0, d3.max(data.jobs, (j) => j.took) || 1]).range([height, 8]).nice();
    timeAxis(svg, height);
    valueAxis(svg, y);
    svg.selectAll("circle").data(data.jobs).enter().append("circle").attr({class: (j) => j.left_alone ? "job alone" : "job",
      cx: (j) => x(Math.max(data.from, j.start)), cy: (j) => y(j.took), r: 3.2});
  }

  function late() {
    const names = {node: "its node", input: "more input", crowd: "the crowd on its node", kind: "its whole job", itself: "itself"};
    const causes = Object.entries(data.late).sort((a, b) => b[1] - a[1]);
    const all = d3.sum(causes, (c) => c[1]);
    select("late-text").attr("hidden", all ? null : "").text(`${plural(all, "task")} ran late. The likeliest cause: ` +
      causes.map(([by, n]) => `${names[by]} ${count(n)} times`).join(", ") + ".");
  }

  function copies() {
    const probes = races.probes ? ` ${plural(races.probes, "other")} tried a node on probation.` : "";
    select("copies-text").text((ran ? `${count(races.won)} of ${count(ran)} ended first. What a copy won is how much longer the original was expected to take when the copy ended, by what the plan knew.` :
      data.shadow ? "In shadow mode copies are planned and not run." : "No task that had a copy has ended.") + probes);
    select("copies-scroll").attr("hidden", ran ? null : "");
    const columns = [["job", (c) => visible(c.job)], ["task", (c) => visible(c.task)], ["from", (c) => visible(c.node)], ["to", (c) => visible(c.to)],
      ["planned", (c) => moment(c.planned)], ["first", (c) => c.winner], ["won", (c) => c.winner === "copy" ? lengthOf(c.won) : ""]];
    const rows = data.copies.slice().sort((a, b) => b.won - a.won).slice(0, 500), table = select("copies").html("");
    table.append("thead").append("tr").selectAll("th").data(columns).enter().append("th").attr("scope", "col").text((c) => c[0]);
    const body = table.append("tbody");
    rows.forEach((c) => { body.append("tr").selectAll("td").data(columns).enter().append("td").text((k) => k[1](c)); });
  }

  function pairs(id, list) {
    const dl = select(id).html("");
    list.forEach(([term, text]) => { dl.append("dt").text(term); dl.append("dd").text(text); });
  }
  function rest() {
    const known = (data.effects || []).map((e) => [e.action, (e.high === null ? "not known yet" :
      `${factor(e.value)} (${factor(e.low)} to ${factor(e.high)})`) + `, ${count(e.treated)} treated, ${count(e.alone)} left alone` + (e.stopped ? ", stopped" : "")]);
    if (data.shadow) known.length = 0; // nothing was done that could have had one
    pairs("effects", known.length ? known : [["nothing yet", data.shadow ? "shadow mode: no action has had an effect" : "no action of which the effect could be seen"]]);
    pairs("records", Object.keys(data.counts || {}).map((k) => [k.replace(/_/g, " "), count(data.counts[k])])
      .concat(Object.keys(data.notes).map((k) => [`plans that note ${k.replace(/_/g, " ")}`, count(data.notes[k])]))
      .concat(data.restarts.length ? [["starts of the program after the first", count(data.restarts.length)]] : [])
      .concat(data.bad_lines ? [["lines of the log left out", count(data.bad_lines)]] : []));
  }

  function draw() { nodes(); times(); jobs(); }
  head();
  draw();
  why();
  copies();
  late();
  rest();
  pictures.keep(draw);
})();
