/** Runs the command in this process, with streams that keep what was written and files that are gone after the test. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defaultTrustFolder, trustedProjects } from '@toolwell/mcp/internal'
import { onTestFinished } from 'vitest'
import { runToolwell } from '../../src/command.js'
import { type Output, OutputClosed, type Terminal } from '../../src/shared/terminal.js'
import type { Verb } from '../../src/shared/verb.js'

/** As the installed command names it. */
export const script = fileURLToPath(new URL('../../bin/toolwell.mjs', import.meta.url))

export interface Run {
  readonly code: number
  readonly output: string
  readonly errors: string
}

export interface Setting {
  readonly folder?: string
  readonly input?: AsyncIterable<Uint8Array> | string
  readonly env?: Terminal['env']
  /** Which streams are screens, and how wide. Standard input follows standard output. */
  readonly screen?: { readonly input?: boolean; readonly output?: number; readonly errors?: number }
  readonly now?: () => number
  /** Node and the script, if not the usual ones. */
  readonly program?: Terminal['program']
  /** The command name, if not the usual one. */
  readonly name?: string
  /** The reader of standard output goes away after this many pieces. */
  readonly closesAfter?: number
  /** The user has not trusted the toolwell.json of the folder. */
  readonly isUntrusted?: true
  readonly verbs?: readonly Verb[]
  readonly version?: string
  /** Receives each piece of standard output when it is written. */
  readonly onOutput?: (text: string) => void
  /** The same for standard error. */
  readonly onErrors?: (text: string) => void
}

export async function toolwell(words: readonly string[], setting: Setting = {}): Promise<Run> {
  const { folder = tmpdir(), env = {}, screen = {}, now = () => 0, input = '' } = setting
  const texts = { output: '', errors: '' }
  let pieces = 0
  const outputOf = (name: 'output' | 'errors'): Output => ({
    isTerminal: screen[name] !== undefined,
    columns: screen[name],
    async write(text) {
      if (name === 'output') {
        if (pieces === setting.closesAfter) throw new OutputClosed()
        pieces += 1
        setting.onOutput?.(text)
      } else setting.onErrors?.(text)
      texts[name] += text
    },
  })
  const terminal: Terminal = {
    input: typeof input === 'string' ? bytesOf([input]) : input,
    isInputTerminal: screen.input ?? screen.output !== undefined,
    output: outputOf('output'),
    errors: outputOf('errors'),
    env,
    folder,
    program: setting.program ?? [process.execPath, script],
    name: setting.name ?? 'toolwell',
    now,
  }
  if (!setting.isUntrusted) trustFolder(words, folder, env)
  const { verbs, version } = setting
  const code = await runToolwell(words, terminal, {
    ...(verbs ? { verbs } : {}),
    ...(version ? { version } : {}),
  })
  return { code, ...texts }
}

/** Trusts the current toolwell.json of a folder for verbs that use it, but never in the folders of the real user. */
export function trustFolder([verb = '']: readonly string[], folder: string, env: Terminal['env']): void {
  const path = join(folder, 'toolwell.json')
  const isUsing = ['search', 'inspect', 'doctor', 'lock', 'approve', 'login', 'logout', 'logs'].includes(verb)
  if (isUsing && env.XDG_STATE_HOME && existsSync(path)) trustedProjects(defaultTrustFolder(env)).add(path)
}

export async function* bytesOf(texts: Iterable<string>): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield new TextEncoder().encode(text)
}

/** A folder with these files. A value that is not text is written as JSON; a list as JSONL. */
export function folderWith(files: Readonly<Record<string, unknown>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolwell-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, contentOf(content))
  }
  return folder
}

function contentOf(content: unknown): string | Uint8Array {
  if (typeof content === 'string' || content instanceof Uint8Array) return content
  return Array.isArray(content)
    ? content.map((line) => `${JSON.stringify(line)}\n`).join('')
    : JSON.stringify(content)
}

export const issueTools = [
  { id: 1, name: 'create_issue', description: 'Opens a new issue in a repository.', server: 'forge' },
  { id: 'close', name: 'close_issue', description: 'Closes an issue.', server: 'forge' },
  {
    name: 'weather_today',
    description: 'Tells the weather of a city.',
    server: 'sky',
    inputSchema: { type: 'object', properties: { city: { type: 'string', description: 'Where' } } },
  },
  { name: 'send_letter', description: 'Writes a letter and takes it to the post office.' },
]
