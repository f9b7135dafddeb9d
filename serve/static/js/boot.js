// Begins the page again where one of its scripts did not come: a lost connection must not leave an empty page.
{
  const key = "ragweave.tries";
  const tries = Number(sessionStorage.getItem(key)) || 0;
  const isPage = ({ target }) => target.type === "module";
  window.addEventListener("load", (event) => isPage(event) && sessionStorage.removeItem(key), true);
  window.addEventListener("error", (event) => {
    if (!isPage(event)) return;
    sessionStorage.setItem(key, tries + 1);
    setTimeout(() => window.location.reload(), Math.min(500 * 2 ** tries, 10_000));
  }, true);
}
