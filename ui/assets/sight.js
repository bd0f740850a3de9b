// What has just come is brought into sight, once for each token, and held there until it stands still. Whoever scrolls or types meanwhile is left alone.
((token, key, block) => {
  const seen = (window.footpathSeen ??= new Set());
  if (seen.has(token)) return;
  seen.add(token);
  window.footpathSight = token;
  const begun = performance.now();
  const leave = new AbortController();
  for (const one of ["wheel", "touchstart", "pointerdown", "keydown"]) addEventListener(one, () => leave.abort(), { capture: true, passive: true, signal: leave.signal });
  let at = NaN;
  let since = begun;
  const hold = () => {
    const now = performance.now();
    if (leave.signal.aborted || window.footpathSight !== token) return;
    const found = document.querySelector(`.st-key-${key}`);
    found?.scrollIntoView({ block, behavior: "instant" });
    const top = Math.round(found?.getBoundingClientRect().top ?? NaN);
    if (top !== at) since = now;
    at = top;
    now - begun < 8000 && now - since < 700 ? setTimeout(hold, 60) : leave.abort();
  };
  hold();
})
