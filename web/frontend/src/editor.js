// CodeMirror, with our colours. Tab indents; Esc then Tab leaves, as does Ctrl-M (Shift-Alt-M on a Mac) then Tab.
import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, Prec } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.bool, tags.null, tags.self], color: "var(--code-keyword)" },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.definition(tags.className), tags.meta], color: "var(--code-name)" },
  { tag: [tags.string, tags.docString], color: "var(--code-text)" },
  { tag: tags.number, color: "var(--code-number)" },
  { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
  { tag: tags.invalid, textDecoration: "underline wavy var(--bad)" },
]);

const LOOK = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--raised)", fontSize: ".875rem" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--ink)", padding: ".5rem 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)", borderLeftWidth: "2px" },
  ".cm-gutters": { backgroundColor: "var(--raised)", color: "var(--muted)", border: "none" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 .6rem 0 .9rem" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "light-dark(rgb(0 0 0 / .035), rgb(255 255 255 / .045))" },
  ".cm-activeLineGutter": { color: "var(--ink)" },
  "& .cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    backgroundColor: "light-dark(#cfe3ec, #2b4957)",
  },
  ".cm-selectionMatch": { backgroundColor: "light-dark(#e8e3cf, #3a3a2a)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-wash)", outline: "1px solid var(--edge)" },
  ".cm-panels": { backgroundColor: "var(--sunk)", color: "var(--ink)" },
  ".cm-panels.cm-panels-bottom": { borderTop: "1px solid var(--line)" },
  ".cm-textfield, .cm-button": { backgroundImage: "none", backgroundColor: "var(--raised)", border: "1px solid var(--edge)" },
  ".cm-searchMatch": { backgroundColor: "var(--odd-wash)", outline: "1px solid var(--odd)" },
});

export function makeEditor({ parent, text, nonce, onChange, keys }) {
  const extensions = [
    EditorView.cspNonce.of(nonce),
    Prec.highest(keymap.of(keys)),
    lineNumbers(),
    history(),
    drawSelection(),
    EditorState.allowMultipleSelections.of(true),
    indentUnit.of("    "),
    EditorState.tabSize.of(4),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    highlightSelectionMatches(),
    python(),
    syntaxHighlighting(COLOURS),
    LOOK,
    keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, indentWithTab]),
    EditorView.contentAttributes.of({ "aria-label": "Your code, solution.py", "aria-describedby": "hint" }),
    EditorView.updateListener.of((update) => update.docChanged && onChange(update.state.doc.toString())),
  ];
  return new EditorView({ parent, state: EditorState.create({ doc: text, extensions }) });
}

export function replaceText(view, text) {
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, selection: { anchor: 0 } });
}
