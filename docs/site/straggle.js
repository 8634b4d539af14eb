// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// The search box: names.js holds [name, what it is, page] of everything there is to be found.
const search = document.getElementById("search");
const found = document.getElementById("found");

function rank(name, words) {
    const lower = name.toLowerCase();
    if (lower === words) return 0;
    if (lower.startsWith(words)) return 1;
    const at = lower.search("(^|[^a-z0-9])" + words.replace(/[^a-z0-9]/g, "."));
    return at >= 0 ? 2 : lower.includes(words) ? 3 : 4;
}

search.addEventListener("input", () => {
    const words = search.value.trim().toLowerCase();
    const hits = words === "" ? [] : names.map((entry, place) => [rank(entry[0], words), place, entry]);
    const best = hits.filter(hit => hit[0] < 4).sort((a, b) => a[0] - b[0] || a[1] - b[1]).slice(0, 12);
    found.replaceChildren(...best.map(([, , [name, kind, page]]) => {
        const item = document.createElement("li"), link = document.createElement("a"), note = document.createElement("small");
        link.href = page;
        link.textContent = name;
        note.textContent = kind;
        link.append(note);
        item.append(link);
        return item;
    }));
    found.hidden = best.length === 0;
});
search.addEventListener("keydown", event => {
    const first = found.querySelector("a");
    if (event.key === "Enter" && first) location.href = first.href;
    if (event.key === "Escape") search.value = "", found.hidden = true;
});
document.addEventListener("keydown", event => {
    if (event.key === "/" && document.activeElement !== search) event.preventDefault(), search.focus();
});

// The menu is open where there is room for it beside the text.
const wide = matchMedia("(min-width: 64rem)");
const fit = () => { document.getElementById("menu").open = wide.matches; };
wide.addEventListener("change", fit);
fit();

// What is wider than its place says that it scrolls.
const mark = () => {
    for (const box of document.querySelectorAll(".wide, .image, .fragment"))
        box.classList.toggle("scrolls", box.scrollWidth > box.clientWidth + 1);
};
addEventListener("resize", mark);
addEventListener("load", mark);
