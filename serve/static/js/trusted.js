// The only addresses of scripts that this page ever makes: its own, by name.

const OWN = ["/static/vendor/temml.js", "/sw.js"];
const check = (url) => {
  if (!OWN.includes(url)) throw new TypeError(url);
  return url;
};
const policy = window.trustedTypes?.createPolicy("ragweave", { createScriptURL: check });

/** The address of one of our scripts, in the form that the browser takes. */
export const trusted = (url) => (policy ? policy.createScriptURL(url) : check(url));

/** Load a script that is no module; rejects where it does not come. */
export const script = (url) =>
  new Promise((resolve, reject) => {
    const element = document.createElement("script");
    element.src = trusted(url);
    element.addEventListener("load", resolve);
    element.addEventListener("error", reject);
    document.head.append(element);
  });
