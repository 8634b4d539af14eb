// Copyright the straggle authors. Distributed under the Boost Software License, Version 1.0.
// (See accompanying file LICENSE or https://www.boost.org/LICENSE_1_0.txt)

// Where a tip stands: beside the pointer, and never beyond the edge of the window.
"use strict";

const tips = (() => {
  function place(element, event) {
    const box = element.getBoundingClientRect(), gap = 14;
    let left = event.clientX + gap, top = event.clientY + gap;
    if (left + box.width > innerWidth - 8) left = Math.max(8, event.clientX - gap - box.width);
    if (top + box.height > innerHeight - 8) top = Math.max(8, event.clientY - gap - box.height);
    element.style.left = `${left}px`;
    element.style.top = `${top}px`;
  }
  return {place};
})();
