/** Reads JSON with comments and trailing commas, and reports problems with their lines. */

import {
  createScanner,
  findNodeAtLocation,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser'

export type Path = readonly (string | number)[]

export interface ConfigDocument {
  readonly file: string
  /** Plain data; undefined if the text is not a JSON object. */
  readonly value: Readonly<Record<string, unknown>> | undefined
  readonly problems: readonly ConfigProblem[]
  lineOf(path: Path): number | undefined
}

/** Texts for the parser's error codes. */
const WORDS: Readonly<Record<string, string>> = {
  InvalidSymbol: 'there is an unexpected character or word',
  InvalidNumberFormat: 'a number is malformed',
  PropertyNameExpected: 'a key in double quotes is missing',
  ValueExpected: 'a value is missing',
  ColonExpected: 'a colon is missing',
  CommaExpected: 'a comma is missing',
  CloseBraceExpected: 'a closing } is missing',
  CloseBracketExpected: 'a closing ] is missing',
  EndOfFileExpected: 'there is text after the end of the object',
  InvalidCommentToken: 'a comment is malformed',
  UnexpectedEndOfComment: 'a comment has no end',
  UnexpectedEndOfString: 'a text has no closing quote',
  UnexpectedEndOfNumber: 'a number has no end',
  InvalidUnicode: 'a \\u is not followed by four digits',
  InvalidEscapeCharacter: 'a single backslash must be written twice',
  InvalidCharacter: 'a character must be escaped with a backslash',
}

/** Larger files are not configs. */
const MOST_CHARACTERS = 4 * 1024 * 1024

/** Deeper files could overflow the stack of a recursive parser. */
const DEEPEST = 500

function isTooDeep(text: string): boolean {
  const scanner = createScanner(text, true)
  let depth = 0
  while (scanner.getPosition() < text.length) {
    scanner.scan()
    // A string with one bracket in it is longer, because of its quotes.
    const token = scanner.getTokenLength() === 1 ? text[scanner.getTokenOffset()] : ''
    if (token === '[' || token === '{') depth++
    if (token === ']' || token === '}') depth--
    if (depth > DEEPEST) return true
  }
  return false
}

/** `most`: larger limit for clients that keep other data in the same file. */
export function readDocument(text: string, file: string, { most = MOST_CHARACTERS } = {}): ConfigDocument {
  const bare = text.replace(/^\uFEFF/, '')
  const failed = (line: number | undefined, message: string, fix: string): ConfigDocument => ({
    file,
    value: undefined,
    problems: [{ file, path: '', line, message, fix, severity: 'error' }],
    lineOf: () => undefined,
  })
  if (bare.length > most)
    return failed(
      undefined,
      `the file is larger than ${most / 1024 / 1024} MB, which is too large for a config`,
      'Give the path of a config file',
    )
  if (bare.trim() === '')
    return failed(1, 'the file is empty', 'Write { "mcpServers": { } }, or remove the file')
  if (isTooDeep(bare))
    return failed(
      undefined,
      `the file is nested more than ${DEEPEST} levels deep`,
      'Give the path of a config file',
    )
  const errors: ParseError[] = []
  const root = parseTree(bare, errors, { allowTrailingComma: true, disallowComments: false })
  const [error] = errors
  if (error) {
    const line = lineAt(bare, error.offset)
    return failed(
      line,
      `this is not JSON: ${WORDS[printParseErrorCode(error.error)] ?? 'it cannot be read'}`,
      `Correct line ${line}; comments and trailing commas are allowed, single quotes and bare words are not`,
    )
  }
  if (root?.type !== 'object')
    return failed(1, 'the file does not contain an object', 'Write { "mcpServers": { } }')
  const problems = duplicates(root, bare, file)
  return {
    file,
    value: dataOf(root) as Record<string, unknown>,
    problems,
    lineOf(path) {
      // If the value is missing, use the line of the nearest parent.
      for (let length = path.length; length >= 0; length--) {
        const node = findNodeAtLocation(root, path.slice(0, length) as (string | number)[])
        if (node) return lineAt(bare, node.parent?.type === 'property' ? node.parent.offset : node.offset)
      }
      return 1
    },
  }
}

export function createProblem(
  document: ConfigDocument,
  path: Path,
  message: string,
  fix: string,
): ConfigProblem {
  return {
    file: document.file,
    path: pathText(path),
    line: document.lineOf(path),
    message,
    fix,
    severity: 'error',
  }
}

export function pathText(path: Path): string {
  return path
    .map((part, index) =>
      typeof part === 'number'
        ? `[${part}]`
        : /^[\w-]+$/.test(part)
          ? `${index === 0 ? '' : '.'}${part}`
          : `[${JSON.stringify(part)}]`,
    )
    .join('')
}

/** Builds objects from entries, so that a server named `__proto__` is a key and not a prototype. */
function dataOf(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map(dataOf)
  if (node.type !== 'object') return node.value
  const entries = (node.children ?? []).flatMap(({ children: [key, value] = [] }) =>
    key && value ? [[String(key.value), dataOf(value)] as const] : [],
  )
  return Object.fromEntries(entries)
}

function duplicates(node: Node, text: string, file: string, path: Path = []): ConfigProblem[] {
  if (node.type === 'array')
    return (node.children ?? []).flatMap((child, index) => duplicates(child, text, file, [...path, index]))
  if (node.type !== 'object') return []
  const seen = new Set<string>()
  return (node.children ?? []).flatMap(({ offset, children: [key, value] = [] }) => {
    if (!key || !value) return []
    const name = String(key.value)
    const own = [...path, name]
    const twice: ConfigProblem[] = seen.has(name)
      ? [
          {
            file,
            path: pathText(own),
            line: lineAt(text, offset),
            message: `${JSON.stringify(name)} appears twice, and the last one counts`,
            fix: 'Remove one of the two, or rename it',
            severity: 'warning',
          },
        ]
      : []
    seen.add(name)
    return [...twice, ...duplicates(value, text, file, own)]
  })
}

function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++
  return line
}

/** A problem in a config file, as data: one problem never hides the other servers. */
export interface ConfigProblem {
  readonly file: string
  /** JSON path such as `mcpServers.github.args[1]`; empty for the whole file. */
  readonly path: string
  /** Counted from 1; undefined if the file could not be read. */
  readonly line: number | undefined
  readonly message: string
  readonly fix: string
  /** The server that cannot be used because of this problem. */
  readonly server?: string
  /** After a warning, everything still works. */
  readonly severity: 'error' | 'warning'
}

export function describeProblem(problem: ConfigProblem): string {
  const place = problem.line === undefined ? problem.file : `${problem.file}:${problem.line}`
  const path = problem.path === '' ? '' : ` ${problem.path}`
  return `${place}${path}: ${sentence(problem.message)} ${sentence(problem.fix)}`
}

function sentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`
}
