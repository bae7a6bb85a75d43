/**
 * Finds prohibitions: a text that forbids a tool, or compares with it, does not need the tool to be visible.
 *
 * A negation counts only if it governs the use of the name; in doubt the text forbids nothing. English, German, French and Chinese.
 */

/** Returns a function that checks a name by its start and end in the text. */
export function findProhibitions(text: string): (index: number, end: number) => boolean {
  const lines = splitLines(text)
  return (index, end) => {
    const line = findLine(lines, index)
    const from = Math.max(line.start, index - CLAUSE)
    const before = text.slice(from, index).replace(from === line.start ? ITEM : '', '')
    const ends = [...before.matchAll(/[.!?;](?=\s|$)|[。！？；，]/g)].at(-1)
    const clause = ends ? before.slice(ends.index + 1) : before
    const rest = text.slice(end, end + CLAUSE).split(/[\n;。！？；]|[.!?](?:\s|$)/)[0] ?? ''
    const after = rest.replace(/^[`"'“”‘’*>)\]]+/, '')
    // A heading applies to the first sentence of each list item.
    if (line.forbidden && from === line.start && !ends && isItem(clause)) return true
    if (forbidsBefore(clause) && !startsNewClause(clause, after)) return true
    return forbidsAfter(clause, after) || isComparison(clause)
  }
}

/** Characters read on each side of a name. */
const CLAUSE = 200
const ITEM = /^\s*(?:[-*+•‣–]|\d+[.)])\s+/
/** Marks that turn a line into a heading. */
const HEADING = /^(?:#+\s+|[-*+•‣–]\s+|\d+[.)]\s+)?[*_]*|[:：\s*_]+$/gu
const LEADING_USE = /^(?:us(?:e|ing)|call(?:ing)?|run(?:ning)?|invok(?:e|ing)|execut(?:e|ing))\s+/i

interface Line {
  readonly start: number
  /** A list item below a heading that forbids the items. */
  readonly forbidden: boolean
}

/** Finds list items and the heading above them. A heading ends in a colon or starts with #; any other line ends the list. */
function splitLines(text: string): Line[] {
  const lines: Line[] = []
  let above: { readonly indent: number; readonly forbids: boolean }[] = []
  let start = 0
  for (const line of text.split('\n')) {
    const words = line.trim()
    const isItem = ITEM.test(line) || /^[`"']?[\p{L}\p{N}_./:-]*[\p{L}\p{N}_][`"']?,?$/u.test(words)
    const indent = isItem ? line.length - line.trimStart().length : -1
    if (words !== '') above = isItem ? above.filter((each) => each.indent < indent) : []
    lines.push({ start, forbidden: isItem && (above.at(-1)?.forbids ?? false) })
    const heading = words.length <= CLAUSE && /^#|[:：][*_]*$/.test(words)
    if (heading) above = [...above, { indent, forbids: forbidsBelow(words.replace(HEADING, '')) }]
    start += line.length + 1
  }
  return lines
}

function findLine(lines: readonly Line[], index: number): Line {
  let low = 0
  let high = lines.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((lines[middle]?.start ?? 0) <= index) low = middle
    else high = middle - 1
  }
  return lines[low] ?? { start: 0, forbidden: false }
}

const NOT = String.raw`(?:\b(?:not|never|cannot|dont)|n['’]t)\b`
const USE = String.raw`(?:us(?:e|es|ed|ing)|call(?:s|ed|ing)?|run(?:s|ning)?|invok(?:e|es|ed|ing)|execut(?:e|es|ed|ing)|load(?:ing)?|touch(?:ing)?|reach(?:ing)?\s+for|rely(?:ing)?\s+on|resort(?:ing)?\s+to)\b`
const MEANWHILE = String.raw`(?:[\s,*_]+(?:ever|also|again|just|simply|directly|yet|even|be|under\s+any\s+circumstances?|(?:allowed|permitted|supposed|try|attempt|need|have|want)\s+to|yourself|manually|automatically))*`
const BANNED = String.raw`(?:forbidden|prohibited|banned|disallowed|off[\s-]limits)`

/** «never call», «not allowed to use», «avoid running». */
const FORBIDS_USE = new RegExp(
  String.raw`(?:${NOT}${MEANWHILE}|\bno\s+(?:need\s+to|longer)|\b(?:under|in)\s+no\s+(?:circumstances?|case)(?:\s+(?:should|may|must|can)\s+you)?|\b(?:avoid|stop|quit|refrain(?:ing)?\s+from)|\b${BANNED}\s+(?:to|from))[\s,*_]+${USE}`,
  'gi',
)
/** «Avoid X», «this, not X», «forbidden: X», «you have no X». */
const FORBIDS_NAME = new RegExp(
  String.raw`(?:(?:\b(?:avoid|not|never|(?:ha(?:ve|s)|is|are)\s+no|no\s+access\s+to)|(?:\bnot|n['’]t)\s+have(?:\s+access\s+to)?)\s+(?:(?:the|a|any|your)\s+)?|\b${BANNED}(?:\s+\w+){0,2}(?:\s+(?:is|are))?\s*:\s*(?:[^\s,]+\s*(?:,|or|and)\s+)*)["'“‘${'`'}*(]*$`,
  'i',
)
/** Headings that forbid the list below: «Never:», «Forbidden tools:», «Things to avoid:». */
const FORBIDS_LIST = new RegExp(
  String.raw`${NOT}${MEANWHILE}(?:\s+(?:do|use|call|run|invoke)(?:\s+(?:these|this|those|any|of|the|following|things))*)?$|^\W*(?:avoid|don['’]ts)$|\b${BANNED}(?:\s+\w+){0,2}(?:\s+are)?$|\b(?:things|tools)\s+to\s+avoid$|(?:^|\s)(?:禁止使用|禁用|不要使用|请勿使用|不得使用|请勿|禁止).{0,8}$|(?:^|\s)(?:verbotene?|interdits?|interdites?)(?:\s+\p{L}+)?$`,
  'iu',
)
/** After one of these words, the text is no longer about the object of the verb. */
const TURNS =
  /\b(?:without|before|until|unless|but|except|only|other|than|for|to|if|when|whenever|then|because|since|so|while|by|after|once|where|instead|which|that|via|through|with|from|in|on|at|as)\b|[–—→;(]|(?<!\b(?:or|nor)\s+)\b(?:use|call|run|invoke|ask|try|prefer|see)\b/i

/** Checks whether the words between «use» and a name make the name the object: articles, and other names in a list. */
function isObject(words: string): boolean {
  if (TURNS.test(words.replace(/\bsuch\s+as\b/gi, ''))) return false
  const afterColon = /^(.*?):/s.exec(words)
  if (
    afterColon &&
    !/^\s*$|(?:tools?|functions?|commands?|following|these|those|them)\s*$/i.test(afterColon[1] ?? '')
  )
    return false
  return words.split(/[,:/、]|\b(?:or|nor|and)\b/i).every((part) => part.trim().split(/\s+/).length <= 4)
}

/** Checks whether a list item is a name, several names, or the use of one. */
function isItem(clause: string): boolean {
  const used = clause.replace(LEADING_USE, '')
  if (used !== clause) return isObject(used)
  return (
    isObject(clause) && /(?:^|[,/、]|\b(?:or|nor|and)\s)\s*(?:(?:the|any|your)\s+)?["'“‘`*]*$/i.test(clause)
  )
}

/** «Do not use memory, X is better»: the name starts a new clause. */
function startsNewClause(clause: string, after: string): boolean {
  return /,\s*["'“‘`*]*$/.test(clause) && /^\s+(?:is|are|has|have|does|will|can|must|should)\b/i.test(after)
}

/** «If you do not call X …», «not using X …»: describes a mistake, not a prohibition. */
const CONDITION = /\b(?:if|unless|when|whenever|until|wenn|falls|si|quand|lorsque)\b[^,]*$/i

function forbidsBefore(clause: string): boolean {
  const last = [...clause.matchAll(FORBIDS_USE)].at(-1)
  if (last) {
    if (CONDITION.test(clause.slice(0, last.index)) || /^not\s+\w+ing$/i.test(last[0])) return false
    return isObject(clause.slice(last.index + last[0].length))
  }
  if (CONDITION.test(clause)) return false
  return FORBIDS_NAME.test(clause) || OTHERS_BEFORE.some((pattern) => pattern.test(clause))
}

function forbidsBelow(heading: string): boolean {
  if (CONDITION.test(heading)) return false
  return FORBIDS_LIST.test(heading) || forbidsBefore(heading)
}

const QUOTE = '["\'“‘«`*(]*'
/** Words for the kind of tool before the name, in the other languages. */
const KIND = String.raw`(?:(?:das|die|den|dem|le|la|les|l['’]|un|une)\s*)?(?:(?:tool|werkzeug|outil|funktion|fonction)\s+)?`
const OTHERS_BEFORE = [
  // 不要使用 X, 请勿调用 X
  /(?:不要|请勿|請勿|切勿|勿|严禁|嚴禁|禁止|不得|不应该?|不允许|不可以?|不能|不准|不许|不許|别|別|避免|停止)(?:再|直接|去|在此)?(?:使用|调用|調用|运行|運行|执行|執行|用)?\s*["'“‘「`*]*$/u,
  // Verwende niemals X, vermeide X
  new RegExp(
    String.raw`\b(?:verwende|benutze|nutze|rufe?|führe|starte)(?:n|t)?(?:\s+sie)?(?:\s+bitte)?\s+(?:nie|niemals|nicht|kein\w*|auf\s+keinen\s+fall)\s+${KIND}${QUOTE}$`,
    'iu',
  ),
  new RegExp(String.raw`\bweder\s+${KIND}(?:\S+\s+noch\s+${KIND})?${QUOTE}$`, 'iu'),
  new RegExp(String.raw`\bvermeide(?:n\s+sie)?\s+${KIND}${QUOTE}$`, 'iu'),
  // N'utilise jamais X, ne pas appeler X, évite d'utiliser X
  new RegExp(
    String.raw`\bn(?:e\s+|['’])(?:utilis|appel|invoqu|exécut|lanc|emploi|employ)\p{L}*\s+(?:pas|jamais|plus)\s+${KIND}${QUOTE}$`,
    'iu',
  ),
  new RegExp(
    String.raw`(?:\bne\s+(?:\p{L}+\s+)?(?:pas|jamais|plus)\s+|\b(?:interdit|interdiction)\s+(?:de\s+|d['’])|(?<!\p{L})évite[rz]?\s+(?:de\s+|d['’]))(?:utiliser|appeler|invoquer|exécuter|lancer|employer)\s+${KIND}${QUOTE}$`,
    'iu',
  ),
  new RegExp(String.raw`(?<!\p{L})évite[rz]?\s+${KIND}${QUOTE}$`, 'iu'),
]

/** More names of the same list between this name and the prohibition. */
const MORE = String.raw`(?:\s+(?:tools?|functions?|werkzeuge?))?(?:\s*(?:,|and|or|und|oder|et|ou|和|、)\s*[^\s,]+){0,6}`
const AFTER = [
  new RegExp(
    String.raw`^${MORE}\s+(?:(?:is|are)\s+(?:strictly\s+)?(?:${BANNED}|disabled|unavailable|deprecated|obsolete|not\s+(?:available|allowed|permitted|to\s+be\s+(?:used|called|run|invoked)))|(?:(?:must|should|shall|may|can)\s*(?:not|never)|cannot|(?:must|should|ca)n['’]t)(?:\s+ever)?\s+be\s+(?:used|called|run|invoked|executed))\b(?!.*\b(?:without|before|until|unless|but|except|only)\b)`,
    'i',
  ),
  new RegExp(
    String.raw`^${MORE}\s+(?:(?:ist|sind)\s+(?:streng\s+)?(?:verboten|untersagt|gesperrt|tabu|nicht\s+erlaubt)|(?:darf|dürfen|soll|sollen|sollte|sollten)\s+(?:nicht|nie|niemals)\s+(?:verwendet|benutzt|genutzt|aufgerufen|ausgeführt)|nicht\s+(?:verwenden|benutzen|nutzen|aufrufen|ausführen))(?!\p{L})`,
    'iu',
  ),
  new RegExp(
    String.raw`^${MORE}\s+(?:(?:est|sont)\s+(?:strictement\s+)?interdite?s?|ne\s+(?:doit|doivent|peut|peuvent)\s+(?:pas|jamais)\s+être\s+(?:utilisé|appelé|exécuté|invoqué))`,
    'iu',
  ),
  /^\s*(?:工具)?\s*(?:已|被|已被)?(?:禁用|禁止|不可用|(?:不得|不要|不能|不可|不允许|不应该?|请勿|切勿)(?:被)?(?:使用|调用|执行|运行))/u,
]

function forbidsAfter(clause: string, after: string): boolean {
  if (CONDITION.test(clause)) return false
  if (AFTER.some((pattern) => pattern.test(after))) return true
  // Benutze X nicht; rufe X niemals auf. Niemals X verwenden.
  const orders =
    /\b(?:verwende|benutze|nutze|rufe?|führe|starte)(?:n|t)?(?:\s+sie)?(?:\s+bitte)?\s+(?:\S+\s+){0,3}\S*$/iu
  if (orders.test(clause) && /^\s+(?:\p{L}+\s+)?(?:nicht|nie|niemals)(?:\s+(?:auf|aus))?\s*$/iu.test(after))
    return true
  const never = /(?:^|[\s,])(?:nie|niemals|nicht|kein\w*|auf\s+keinen\s+fall)\s+(?:\S+\s+){0,2}\S*$/iu
  return (
    never.test(clause) &&
    !/\bnicht\s*,/i.test(clause) &&
    /^\s+(?:zu\s+)?(?:verwenden|benutzen|nutzen|aufrufen|ausführen)\b/iu.test(after)
  )
}

const COMPARES =
  /\b(?:instead\s+of|rather\s+than|unlike|than|over|without|replaces|similar\s+to)\s+(?:\w+\s+){0,3}[`"'“‘*]*$/i

/** «Prefer Y over X», but not if it is negated: «never without X». */
function isComparison(clause: string): boolean {
  return (
    COMPARES.test(clause) && !/\b(?:not|never|no|cannot|avoid|forbidden|prohibited)\b|n['’]t\b/i.test(clause)
  )
}
