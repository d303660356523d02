// Entry of the live view: Streamlit calls `mount` at first and again at every change of data or theme.
import { Lab } from "./lab.js";

const instances = new WeakMap(); // parent element -> Lab
let sheet = null;

async function loadSheet(root, version) {
  if (!sheet) {
    const answer = await fetch(`${root}assets/live/live.css?v=${version}`);
    const made = new CSSStyleSheet();
    made.replaceSync(await answer.text());
    sheet = made;
  }
  return sheet;
}

/**
 * Show the live view in `component.parentElement`. root: URL that ends in "/ddcl/".
 * Returns the clean-up; only that of the latest call on a living instance takes it down.
 */
export async function mount(component, root) {
  const { parentElement: parent, data } = component;
  const styles = await loadSheet(root, data.version);
  const scope = parent.getRootNode();
  if (!scope.adoptedStyleSheets.includes(styles)) scope.adoptedStyleSheets = [...scope.adoptedStyleSheets, styles];
  const extra = data.extension ? (await import(`./${data.extension}.js`)).Extension : null;
  let lab = instances.get(parent);
  if (lab && !lab.destroyed && lab.key === data.key) lab.update(data, component.setStateValue);
  else {
    lab?.destroy();
    lab = new Lab(parent, data, root, component.setStateValue, extra);
    instances.set(parent, lab);
  }
  const generation = ++lab.generation;
  return () => {
    if (lab.generation === generation) lab.destroy();
  };
}
