// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Numbers and foreign names as people may see them.
"use strict";

const words = (() => {
  // Control characters and those that turn the direction of writing become visible; so does a blank name.
  const visible = (name) => name.trim() === "" ? `"${name}"` :
    name.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/g, "\ufffd");
  const count = d3.format(",");
  const plural = (n, noun) => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;
  const percent = (x) => `${+(x * 100).toPrecision(4)} %`;
  return {visible, count, plural, percent};
})();
