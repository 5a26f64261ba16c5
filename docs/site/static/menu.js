// Shows the versions of the site that lie next to this one. ../versions.js, a level above the pages
// of this version, lists them: a script, since pages from file:// may read no other files.
document.addEventListener("DOMContentLoaded", () => {
  const place = document.querySelector(".sidebar-sticky, .sphinxsidebar");
  if (!place || typeof SOCIETIES_VERSIONS === "undefined") return;
  const menu = document.createElement("select");
  menu.setAttribute("aria-label", "version of the site");
  menu.id = "versions";
  menu.style.margin = "1rem";
  const root = document.documentElement.dataset.content_root || "./";
  const here = new URL(root, location.href).pathname.split("/").slice(-2)[0];
  for (const version of SOCIETIES_VERSIONS) {
    const one = new Option(`version ${version}`, version, false, version === here);
    menu.add(one);
  }
  menu.addEventListener("change", () => {
    location.href = new URL(`${root}../${menu.value}/index.html`, location.href).href;
  });
  place.append(menu);
});
