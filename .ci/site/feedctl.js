// What scrolls by itself can be reached by the keyboard. The theme wraps tables when it starts, so look again then.
const reachable = () =>
    document.querySelectorAll("pre > code, .md-typeset__scrollwrap").forEach((element) => (element.tabIndex = 0));
new MutationObserver(reachable).observe(document.documentElement, { childList: true, subtree: true });
reachable();
