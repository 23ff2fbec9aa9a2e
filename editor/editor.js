// `<json-editor>` around a textarea: CodeMirror instead of the plain field, for as long as this script is there. The
// textarea stays the truth: it gets what is typed and says so by `input` events, so the page knows nothing of this.
//
// The editor lives in a shadow root, where CodeMirror's styles are adopted style sheets: the page's policy forbids
// inline ones.
import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json, jsonParseLinter } from "@codemirror/lang-json";
import { HighlightStyle, bracketMatching, foldGutter, foldKeymap, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { forceLinting, lintGutter, lintKeymap, linter } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--accent)" },
  { tag: tags.string, color: "var(--committed)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--edited)" },
  { tag: tags.invalid, color: "var(--crashed)" },
]);

const look = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--panel)", fontSize: "12px", maxHeight: "62vh" },
  // The page draws the ring around all of it.
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "19px", overflow: "auto", minHeight: "var(--json-height, 320px)" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--dim)", border: "none" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent) 8%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 26%, transparent)",
  },
  ".cm-panels, .cm-tooltip": { backgroundColor: "var(--raise)", color: "var(--text)", border: "1px solid var(--line)" },
  ".cm-textfield, .cm-button": { backgroundColor: "var(--bg)", backgroundImage: "none", color: "var(--text)", borderColor: "var(--ring)" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--crashed)" },
});

const syntax = jsonParseLinter();

/** What is typed over a selection: Chromium would keep the look of what was there by an inline style, which the page's policy forbids. */
function replaced(event, view) {
  const plain = event.inputType === "insertText" && event.data !== null && !event.isComposing;
  if (!plain || view.state.readOnly || view.state.selection.main.empty) return false;
  event.preventDefault();
  view.dispatch({ ...view.state.replaceSelection(event.data), userEvent: "input.type", scrollIntoView: true });
  return true;
}

class JsonEditor extends HTMLElement {
  static observedAttributes = ["problems"];

  connectedCallback() {
    const field = this.querySelector("textarea");
    if (!field || this.view) return;
    this.field = field;
    const told = () => this.told();
    const state = EditorState.create({
      doc: field.value,
      extensions: [
        lineNumbers(),
        foldGutter(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        EditorState.tabSize.of(2),
        EditorState.readOnly.of(field.readOnly),
        json(),
        syntaxHighlighting(colours),
        look,
        lintGutter(),
        linter((view) => [...(view.state.doc.length ? syntax(view) : []), ...told()]),
        EditorView.domEventHandlers({ beforeinput: replaced }),
        // A place in the order of tabs, also for tools that know no editable content: the keyboard scrolls from there.
        EditorView.contentAttributes.of({ "aria-label": field.getAttribute("aria-label") ?? "JSON", "aria-multiline": "true", tabindex: "0" }),
        EditorView.updateListener.of((update) => update.docChanged && this.typed()),
        // Tab moves on, as everywhere else: it is not bound.
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...lintKeymap].filter((it) => it.key !== "Mod-Enter")),
      ],
    });
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    this.view = new EditorView({ state, parent: root, root });
    // What the page puts into the field, such as a draft, comes into the editor too.
    this.asked = () => this.take();
    field.addEventListener("json-editor:take", this.asked);
    this.take();
    this.dataset.ready = "";
  }

  disconnectedCallback() {
    this.field?.removeEventListener("json-editor:take", this.asked);
    this.view?.destroy();
    this.view = undefined;
  }

  attributeChangedCallback() {
    if (this.view) forceLinting(this.view);
  }

  focus() {
    (this.view ?? this.field)?.focus();
  }

  /** What the page says is wrong, one per line: `LINE:what`. */
  told() {
    const doc = this.view.state.doc;
    return (this.getAttribute("problems") ?? "").split("\n").flatMap((text) => {
      const [, line, message] = /^(\d+):(.*)$/.exec(text) ?? [];
      if (!line) return [];
      const at = doc.line(Math.min(Math.max(Number(line), 1), doc.lines));
      return [{ from: at.from, to: at.to, severity: "error", message }];
    });
  }

  typed() {
    this.field.value = this.view.state.doc.toString();
    this.field.dispatchEvent(new Event("input", { bubbles: true }));
  }

  take() {
    const text = this.view.state.doc.toString();
    if (text !== this.field.value) this.view.dispatch({ changes: { from: 0, to: text.length, insert: this.field.value } });
  }
}

customElements.define("json-editor", JsonEditor);
