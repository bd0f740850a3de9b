// Whoever has no mouse scrolls a wide table by keys: for that it must be reachable by Tab.
if (!window.footpathScrollers) {
  const mark = () => {
    for (const one of document.querySelectorAll('[data-testid="stTable"], [data-testid="stTable"] div')) {
      const scrolls = one.scrollWidth > one.clientWidth && getComputedStyle(one).overflowX !== "visible";
      if (scrolls !== one.hasAttribute("tabindex")) scrolls ? one.setAttribute("tabindex", "0") : one.removeAttribute("tabindex");
    }
  };
  let planned = 0;
  const soon = () => { cancelAnimationFrame(planned); planned = requestAnimationFrame(mark); };
  window.footpathScrollers = new MutationObserver(soon);
  window.footpathScrollers.observe(document.body, { childList: true, subtree: true });
  addEventListener("resize", soon);
  soon();
}
