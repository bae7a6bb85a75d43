/**
 * Shows command lines and addresses without secrets. A word is hidden unless it is known to be harmless: an existing path, a
 * package, a port, a switch, a usual word.
 */

import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, resolve } from 'node:path'

export const HIDDEN = '***'

export interface Shown {
  readonly text: string
  /** The hidden parts. */
  readonly hidden: readonly string[]
}

const asIs = (text: string): Shown => ({ text, hidden: [] })
const hide = (text: string): Shown => ({ text: HIDDEN, hidden: [text] })

/** Usual words of command lines, which reveal nothing about the user. */
export const USUAL: ReadonlySet<string> = new Set(
  `true false yes no on off stdio http https sse tcp streamable-http streamableHttp x run exec dlx tool start serve server mcp mcp-remote
  mcp-server localhost 127.0.0.1 0.0.0.0 ::1 host bridge always missing never latest next debug info warn warning error silent verbose
  trace json text production development test main dev env export node npx npm pnpm yarn bun bunx deno uv uvx pipx python python3 docker
  podman sh bash zsh cmd powershell pwsh java ruby php go cargo dotnet exec set && || ; | - -- . ..`.split(
    /\s+/,
  ),
)

const PACKAGE = /^(?:(?:npm|jsr):)?(?:@[a-z0-9][\w.-]*\/)?[a-z0-9][a-z0-9._/-]*(?:[@:][\w.^~*-]+)?$/i
const SCOPED = /^(?:(?:npm|jsr):)?@[a-z0-9][\w.-]*\/[a-z0-9][\w.-]*(?:@[\w.^~*-]+)?$/i
/** Names of switches, variables and headers that hold secrets. */
export const SECRET_NAME =
  /(?:key|token|secret|passw(?:or)?d|pwd|pass(?:phrase)?|pin|otp|auth|credential|bearer|pat|cookie|session|jwt|dsn|sig(?:nature)?|seed|salt|mnemonic)s?$/i
const FLAG = /^--?[A-Za-z][A-Za-z]{0,19}(?:[-_.][A-Za-z0-9]{1,15}){0,5}$/
/** Switches with one dash. In other words that begin with a dash, the letters after the first may be a value. */
const ONE_DASH =
  /^-(?:[A-Za-z]|jar|it|rm|cp|server|client|NoProfile|ExecutionPolicy|File|Command|(?:api-?|access-?|auth-?)?(?:key|token)|pass|password|secret|auth)$/i
export const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i
const REFERENCE = /^\$\{(env|file|cmd):[^{}]*\}$|^\$\{[A-Za-z_]\w*\}$/

/** Shows a program and its arguments. */
export function showLine(command: string, args: readonly string[], cwd: string): Shown {
  return together(showWords(command, args, cwd), ' ')
}

/** Shows a program and its arguments, word by word. */
export function showWords(command: string, args: readonly string[], cwd: string): Shown[] {
  const names = namesRun(command, args)
  const shown = args.map((word, at) =>
    names.has(at) && PACKAGE.test(word) && !isOpaque(word)
      ? asIs(word)
      : showWord(word, args[at - 1] ?? '', cwd),
  )
  return [showProgram(command, cwd), ...shown]
}

/** Shows a program name, a path, or a whole command line in one string. */
function showProgram(command: string, cwd: string): Shown {
  if (existsSync(resolve(cwd, command)) || (/^[\w.@+~:\\/-]+$/.test(command) && !isOpaque(command)))
    return asIs(command)
  if (/\s/.test(command)) return showText(command, cwd)
  return command.includes('/') || command.includes('\\') ? showPath(command, cwd) : showWord(command, '', cwd)
}

function showWord(word: string, before: string, cwd: string): Shown {
  if (SECRET_NAME.test(before) && before.startsWith('-') && !FLAG.test(word)) return hide(word)
  if (isHarmless(word, cwd)) return asIs(word)
  const [, kind] = REFERENCE.exec(word) ?? []
  if (REFERENCE.test(word)) return asIs(kind === 'cmd' ? '${cmd:…}' : word)
  if (SCHEME.test(word)) return showUrl(word)
  if (/^-\w/.test(word) && !word.startsWith('--') && !word.includes('=')) {
    if (ONE_DASH.test(word)) return asIs(word)
    return { text: `${word.slice(0, 2)}${HIDDEN}`, hidden: [word.slice(2)] }
  }
  if (FLAG.test(word) && !isOpaque(word)) return asIs(word)
  // NAME=value, --flag=value, -Dname=value: show the name, and treat the value as a word.
  const [, name = '', value = ''] = /^(-{0,2}[A-Za-z][\w.-]{0,40})=(.*)$/s.exec(word) ?? []
  if (isName(name)) {
    const inner = showWord(value, name.startsWith('-') ? name : `-${name}`, cwd)
    return {
      text: `${name}=${inner.text}`,
      hidden: [...inner.hidden, ...(inner.hidden.length > 0 ? [value] : [])],
    }
  }
  // A header.
  const [, header = '', rest = ''] = /^([A-Za-z][A-Za-z-]{0,40}):\s*(.+)$/s.exec(word) ?? []
  if (header !== '' && /^(?:-H|--header)/i.test(before))
    return { text: `${header}: ${HIDDEN}`, hidden: [rest] }
  if (/\s/.test(word) && before === '-c') return showText(word, cwd)
  return isPath(word) ? showPath(word, cwd) : hide(word)
}

/** Shows a command line in one string. */
function showText(text: string, cwd: string): Shown {
  const words = text.split(/\s+/).filter((word) => word !== '')
  const { text: shown, hidden } = together(
    words.map((word, at) =>
      /["'`]/.test(word) ? showQuoted(word) : showWord(word, words[at - 1] ?? '', cwd),
    ),
    ' ',
  )
  // Ordinary words of a script may occur in any message.
  const bare = hidden
    .flatMap((each) => [each, each.replace(/^["'`]+|["'`;,]+$/g, '')])
    .filter((each) => !/^\W*[A-Za-z]{1,14}\W*$/.test(each))
  return { text: shown, hidden: [...bare, ...(hidden.length > 0 ? [text] : [])] }
}

function showQuoted(word: string): Shown {
  const at = word.indexOf('=')
  const name = word.slice(0, Math.max(at, 0))
  return isName(name) ? { text: `${name}=${HIDDEN}`, hidden: [word.slice(at + 1)] } : hide(word)
}

/** Name of a switch, a variable or a setting: `--api-key`, `API_KEY`, `api.key`. Not a key that is padded with `=`. */
function isName(text: string): boolean {
  return (
    /^(?:-{1,2}[A-Za-z][\w.-]*|[A-Z][A-Z0-9_]*|[a-z]+(?:[._-][a-z]+)*|[A-Z]?[a-z]+(?:[A-Z][a-z]+){0,3})$/.test(
      text,
    ) &&
    text.length <= 40 &&
    !isOpaque(text)
  )
}

/** Shows the existing part of a path. */
export function showPath(path: string, cwd: string): Shown {
  const parts = path.split(/(?<=[\\/])/)
  let known = 0
  while (known < parts.length && existsSync(placeOf(parts.slice(0, known + 1).join(''), cwd))) known++
  const rest = parts.slice(known)
  if (rest.length === 0) return asIs(path)
  const hidden = rest.map((part) => part.replace(/[\\/]$/, '')).filter((part) => !USUAL.has(part))
  return { text: `${parts.slice(0, known).join('')}${HIDDEN}`, hidden: [...hidden, rest.join('')] }
}

/** Shows an address of any scheme without user, password, opaque parts of host and path, query values and fragment. */
export function showUrl(url: string): Shown {
  const hidden: string[] = []
  const out = (text: string) => {
    if (text === '') return ''
    hidden.push(text, decoded(text))
    return HIDDEN
  }
  const [, scheme = '', authority = '', path = '', query = '', fragment = ''] =
    /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/is.exec(url) ?? []
  if (scheme === '') return hide(url)
  const at = authority.lastIndexOf('@')
  const user = at < 0 ? '' : authority.slice(0, at)
  for (const part of user.split(':')) if (part !== '') hidden.push(part, decoded(part))
  const host = authority
    .slice(at + 1)
    .split('.')
    .map((label) => (isOpaque(label) ? out(label) : label))
    .join('.')
  const segments = path
    .split('/')
    .map((part) => (part === '' || isPlainSegment(part) ? part : out(part)))
    .join('/')
  const values = query
    .slice(1)
    .split('&')
    .map((pair) => {
      const is = pair.indexOf('=')
      return is < 0
        ? out(pair)
        : `${isOpaque(pair.slice(0, is)) ? out(pair.slice(0, is)) : pair.slice(0, is)}=${out(pair.slice(is + 1)) || ''}`
    })
    .join('&')
  return {
    text: `${scheme}${at < 0 ? '' : `${HIDDEN}@`}${host}${segments}${query === '' ? '' : `?${values}`}${fragment === '' ? '' : `#${out(fragment.slice(1))}`}`,
    hidden,
  }
}

/** Plain words without digits, and versions. */
function isPlainSegment(part: string): boolean {
  return (
    (/^[a-z]{1,14}(?:[-_.][a-z]{1,14})?$/i.test(part) && !isOpaque(part)) ||
    /^v?\d{1,2}(?:\.\d{1,2}){0,2}$/.test(part) ||
    REFERENCE.test(part)
  )
}

/** Known to be harmless: a port, a scoped package, an existing file, a usual word. */
export function isHarmless(word: string, cwd: string): boolean {
  if (word === '' || USUAL.has(word) || /^\d{1,5}$/.test(word)) return true
  if (SCOPED.test(word) && !isOpaque(word)) return true
  const mayBeFile = isPath(word) || /^[\w.-]+\.[a-z]{1,5}$/i.test(word)
  return mayBeFile && word.length < 4096 && existsSync(placeOf(word, cwd))
}

export const isPath = (word: string) =>
  /^(?:~?[\\/]|\.{1,2}[\\/]|[A-Za-z]:[\\/])/.test(word) || /^[\w.-]+[\\/]/.test(word)
const placeOf = (path: string, cwd: string) => resolve(cwd, path.replace(/^~(?=[\\/]|$)/, homedir()))

function together(parts: readonly Shown[], between: string): Shown {
  return { text: parts.map(({ text }) => text).join(between), hidden: parts.flatMap(({ hidden }) => hidden) }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const RUNNERS = /^(?:npx|npm|pnpm|pnpx|yarn|bun|bunx|uvx?|pipx|docker|podman|deno)$/
/** Words between a runner and the package that it runs. */
const VERBS: ReadonlySet<string> = new Set(['run', 'exec', 'dlx', 'x', 'tool', 'start', '--'])
/** Switches without a value. */
const ALONE =
  /^(?:-y|--yes|-i|-t|-it|-q|--rm|--init|--quiet|--interactive|--tty|-A|--allow-\w+|--isolated|--no-\w[\w-]*)$/
/** Switches whose value is a package. */
const BEFORE_PACKAGE = /^(?:--from|--with|--package|-p)$/

/** Indexes in `args` of packages, images and modules, whose names may be shown. Later words belong to the program. */
function namesRun(command: string, args: readonly string[]): ReadonlySet<number> {
  const program = basename(command.replaceAll('\\', '/'))
    .replace(/\.(?:exe|cmd)$/i, '')
    .toLowerCase()
  // Windows: cmd /c npx …
  const [flag = '', inner = '', ...rest] = args
  if (program === 'cmd' && flag.toLowerCase() === '/c')
    return new Set([...namesRun(inner, rest)].map((at) => at + 2))
  if (/^python[\d.]*$/.test(program)) {
    const module = args.findIndex((word, at) => args[at - 1] === '-m' && /^[a-z_]\w*(?:\.\w+)*$/i.test(word))
    return new Set(
      module < 0 || args.slice(0, module - 1).some((word) => !word.startsWith('-')) ? [] : [module],
    )
  }
  if (!RUNNERS.test(program)) return new Set()
  // For containers, -p publishes a port.
  const isContainer = program === 'docker' || program === 'podman'
  const names = new Set<number>()
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? ''
    if (VERBS.has(word) || ALONE.test(word) || /^-[^=]*=/.test(word)) continue
    if (!word.startsWith('-')) return names.add(at)
    at++
    if (BEFORE_PACKAGE.test(word) && !isContainer) names.add(at)
  }
  return names
}

/** Does a text look machine-made (a key, a token, a hash)? It is long, mixes letters and digits, or has letters in an unusual order. */
export function isOpaque(text: string): boolean {
  return text.split(/[-_./@:=]/).some((piece) => {
    const turns = piece.match(/[A-Za-z](?=\d)|\d(?=[A-Za-z])/g)?.length ?? 0
    return (
      piece.length > 24 ||
      (piece.length >= 6 && turns >= 2) ||
      (piece.length >= 12 && /\d/.test(piece)) ||
      (piece.length >= 8 && /^[A-Za-z]+$/.test(piece) && isJumbled(piece))
    )
  })
}

/** The 200 most frequent letter pairs of English. 95 % of random strings have too few of them, but hardly any package name. */
const PAIRS: ReadonlySet<string> = new Set(
  `th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co me de hi ri ro ic ne ea ra ce
  li ch ll be ma si om ur ca el ta la ns di fo ho pe ec pr no ct us ac ot il tr ly nc et ut ss so rs un lo wa ge ie wh ee wi em
  ad ol rt po we na ul ni ts mo ow pa im mi ai sh ir su id os iv ia am fi ci vi pl ig tu ev ld ry mp fe bl ab gh ty op wo sa ay
  ex ke fr oo av ag if ap gr od bo sp rd do uc bu ei ov by rm ep tt oc fa ef cu rn sc gi da yo cr cl du ga qu ue ff ba ey ls va
  um pp ua up lu go ht ru ug ds lt pi rc rr eg au ck ew mu br bi pt ak pu ui rg ib tl ny ki rk ys`.split(
    /\s+/,
  ),
)

/** More than two capitals inside a word, or mostly unusual letter pairs. */
function isJumbled(letters: string): boolean {
  if ((letters.match(/[a-z](?=[A-Z])/g)?.length ?? 0) > 2) return true
  const small = letters.toLowerCase()
  let usual = 0
  for (let at = 1; at < small.length; at++) if (PAIRS.has(small.slice(at - 1, at + 1))) usual++
  return usual / (small.length - 1) < 0.55
}
