// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Draws pictures again when their width changes: with the window, and for paper, which is narrower than most screens.
"use strict";

const pictures = (() => {
  let onPaper = false;
  function keep(draw) {
    let width = innerWidth, wait;
    addEventListener("resize", () => {
      if (innerWidth === width) return;
      width = innerWidth;
      clearTimeout(wait);
      wait = setTimeout(draw, 100);
    });
    const print = (paper) => () => {
      onPaper = paper;
      document.body.style.maxWidth = paper ? "42rem" : "";
      draw();
    };
    addEventListener("beforeprint", print(true));
    addEventListener("afterprint", print(false));
  }
  return {keep, onPaper: () => onPaper};
})();
