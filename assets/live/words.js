// Everything that is text or a form value, brought up to date some eight times a second, apart from the pictures.
import { setText } from "./dom.js";
import { setRich } from "./layout.js";
import { format, grouped } from "./numbers.js";
import { mapNote, STATUS, verdict } from "./text.js";

export class Words {
  constructor(painter) {
    this.painter = painter;
    this.spoken = []; // the last verdict of each panel that was read aloud
    this.news = [];
  }

  /** Bring everything that is text or a form value up to date with the shown time. */
  say(time) {
    const { lab } = this.painter;
    this.news = [];
    const { model } = lab;
    const step = time === null ? -1 : Math.floor(time + 1e-6);
    const scrubbing = lab.scrubStep !== null;
    if (model.panels.length) lab.curves.readout(this.painter.curveState(step), step, scrubbing);
    lab.scrub.show(model.newest, Math.max(0, step), scrubbing, model.events());
    lab.controls.offerMaps(model.planes, lab.settings.map);
    lab.controls.showPlaying(model.finished ? "finished" : model.playing ? "playing" : "paused");
    lab.legend.show(
      lab.theme,
      lab.themeVersion,
      lab.settings.color,
      model.hello?.class_names ?? [],
      model.hello?.num_prototypes ?? 0,
      lab.memory.selected,
      lab.settings.forces,
    );
    const statuses = lab.panelParts.map((part, p) => this.panelWords(part, p, time, scrubbing));
    lab.counters.statuses = statuses;
    lab.counters.map = this.painter.morphTo;
    setRich(
      lab.why,
      step < 0
        ? "the explanation appears here as the run goes on."
        : model.whyAt(step) || "nothing to explain yet; watch the prototypes.",
    );
    lab.extension?.words?.(time, time === null ? [] : this.painter.brackets(time));
    if (this.news.length) setText(lab.live, this.news.join(" "));
    this.statusLine();
    lab.root.dataset.step = String(step);
    lab.root.dataset.newest = String(model.newest);
    lab.root.dataset.status = statuses.join(" ");
    lab.root.dataset.state = lab.trouble ? "lost" : model.status.state;
  }

  panelWords(part, p, time, scrubbing) {
    const { lab } = this.painter;
    const { model } = lab;
    const found = model.panels[p]?.bracket(time ?? -1);
    const ready = Boolean(found) && time !== null;
    part.cover.hidden = ready;
    for (const name of ["epsilon", "temperature"]) part.sliders[name].follow(ready ? lab.latest(p, name) : NaN);
    if (!ready) {
      setText(part.cover.firstChild, lab.trouble ?? model.status.text);
      const progress = model.status.progress;
      const [, bar, cancel] = part.cover.children;
      if (Number.isFinite(progress)) bar.value = progress;
      else bar.removeAttribute("value");
      bar.hidden = model.status.state === "error" || Boolean(lab.trouble);
      cancel.hidden = p > 0 || model.status.state !== "preparing" || Boolean(lab.trouble);
      return "";
    }
    const frame = found[2] >= 1 ? found[1] : found[0];
    const status = STATUS[frame.status] ?? "unresolved";
    const metric = (name) => model.metric(frame, name);
    const said =
      lab.extension?.verdict?.(frame, metric, p) ??
      verdict(status, frame.statusStep, metric, model.hello.num_prototypes);
    setText(part.mark, said.mark);
    setText(part.word, said.word);
    setText(part.detail, said.detail);
    const chosen = this.painter.morphTo;
    const kind = chosen === "umap" && !frame.tokens.umap ? "pca" : chosen;
    const [epsilon, temperature] = ["epsilon", "temperature"].map((name) => format(metric(name)));
    const step = `step ${Math.floor(time + 1e-6)}${scrubbing ? ", recorded" : ""}`;
    setText(part.tag, `${step} · ε ${epsilon}${part.sliders.temperature.node.hidden ? "" : ` · T ${temperature}`}`);
    setText(part.note, mapNote(kind, lab.settings.map, model.maps[kind], frame.offMap, model.maps.umap));
    part.node.dataset.step = String(frame.step);
    part.node.dataset.status = status;
    const label = `Map of ${model.labels[p]} at step ${frame.step}: ${said.word}, ${said.detail}`;
    if (part.canvas.getAttribute("aria-label") !== label) part.canvas.setAttribute("aria-label", label);
    if (!scrubbing && this.spoken[p] !== said.word) {
      if (this.spoken[p] !== undefined || status !== "unresolved") {
        this.news.push(`${model.labels[p]}: ${said.word}. ${said.detail}.`);
      }
      this.spoken[p] = said.word;
    }
    return status;
  }

  statusLine() {
    const { lab } = this.painter;
    const { model } = lab;
    const { state, text } = model.status;
    const alarming = lab.trouble || ["reconnecting", "worker_lost", "error"].includes(state);
    lab.banner.hidden = !alarming || model.newest < 0;
    setText(lab.banner, lab.trouble ?? text);
    setText(lab.foot.firstChild, lab.trouble ?? text);
    const hello = model.hello;
    const nouns = lab.extension?.nouns ?? { tokens: "tokens", documents: "documents" };
    const parts = hello
      ? [
          hello.source,
          model.planes.length
            ? `${grouped(hello.num_tokens)} of ${grouped(hello.num_documents)} objects shown, all of them train`
            : `${grouped(hello.num_tokens)} ${nouns.tokens} of ${grouped(hello.num_documents)} ${nouns.documents} shown`,
          hello.device_note || hello.device,
          ...(hello.notes ?? []),
        ]
      : [];
    setText(lab.foot.lastChild, parts.filter(Boolean).join(" · "));
  }
}
