/** Workspace tools: files, search, shell, web. None accesses a file outside the workspace, not even through a link. */
import { spawn } from 'node:child_process'
import { mkdir, readdir, readFile, realpath, stat, writeFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { defineTool, type Tool } from '@toolwell/core'

const text = { type: 'string' } as const
const some = { type: 'string', minLength: 1 } as const
const path = { type: 'string', description: 'A path in the workspace' } as const
const line = { type: 'integer', minimum: 1 } as const

/** A schema with only these arguments. */
export function takes<const Properties extends object, const Names extends readonly (keyof Properties)[]>(
  properties: Properties,
  required: Names,
) {
  return { type: 'object', properties, required, additionalProperties: false } as const
}

const UNSEARCHED = new Set(['.git', 'node_modules'])
const MOST_FILES = 20_000
const MOST_HITS = 200
const LARGEST_SEARCHED = 1024 * 1024
const TIMEOUT = 120_000
/** Toolwell stores long results; this limit protects memory. */
const MOST_OUTPUT = 10 * 1024 * 1024

export function workspaceTools(workspace: string): Tool[] {
  const at = (given: string) => within(workspace, given)
  return [
    defineTool({
      name: 'read',
      description: 'Reads a text file, or `limit` lines of it from line `offset` on.',
      inputSchema: takes({ path, offset: line, limit: line }, ['path']),
      async execute({ path: given, offset = 1, limit }) {
        const lines = (await readFile(await at(given), 'utf8')).split('\n').slice(offset - 1)
        return lines.slice(0, limit ?? lines.length).join('\n')
      },
    }),
    defineTool({
      name: 'write',
      description: 'Writes a file, replacing what was there.',
      inputSchema: takes({ path, content: text }, ['path', 'content']),
      async execute({ path: given, content }) {
        const file = await at(given)
        await mkdir(dirname(file), { recursive: true })
        await writeFile(file, content)
        return `Wrote ${content.length} characters to ${given}.`
      },
    }),
    defineTool({
      name: 'edit',
      description: 'Replaces a text that occurs exactly once in a file.',
      inputSchema: takes({ path, old: some, new: text }, ['path', 'old', 'new']),
      async execute({ path: given, old, new: fresh }) {
        const file = await at(given)
        const parts = (await readFile(file, 'utf8')).split(old)
        if (parts.length !== 2) throw new Error(`the text occurs ${parts.length - 1} times, not once`)
        await writeFile(file, parts.join(fresh))
        return `Edited ${given}.`
      },
    }),
    defineTool({
      name: 'glob',
      description: 'Lists files whose path fits a pattern such as src/**/*.ts.',
      inputSchema: takes({ pattern: some }, ['pattern']),
      async execute({ pattern }) {
        const found = (await walk(workspace)).filter((file) => globPattern(pattern).test(file))
        return found.join('\n') || 'No file fits.'
      },
    }),
    defineTool({
      name: 'grep',
      description:
        'Finds lines that match a regular expression, in all files or in those that fit a pattern.',
      inputSchema: takes({ expression: some, files: some }, ['expression']),
      async execute({ expression, files = '**' }) {
        const hits: string[] = []
        for (const file of (await walk(workspace)).filter((each) => globPattern(files).test(each))) {
          const lines = await linesOf(join(workspace, file), new RegExp(expression))
          hits.push(...lines.map((each) => `${file}:${each}`))
          if (hits.length >= MOST_HITS) return [...hits.slice(0, MOST_HITS), 'There are more.'].join('\n')
        }
        return hits.join('\n') || 'No line matches.'
      },
    }),
    defineTool({
      name: 'bash',
      description: 'Runs a command in the workspace with sh, and gives what it prints.',
      inputSchema: takes({ command: some }, ['command']),
      timeout: TIMEOUT,
      execute: ({ command }, { signal }) => runCommand(workspace, command, signal),
    }),
    defineTool({
      name: 'web_fetch',
      description: 'Gets a page of the web as text.',
      inputSchema: takes({ url: some }, ['url']),
      async execute({ url }, { signal }) {
        const response = await fetch(url, signal ? { signal } : {})
        if (!response.ok) throw new Error(`${url} answered ${response.status}`)
        return response.text()
      },
    }),
  ]
}

/** The signal or the timeout ends the command and all its processes. */
function runCommand(cwd: string, command: string, signal: AbortSignal | undefined): Promise<string> {
  return new Promise((settle, fail) => {
    const child = spawn('sh', ['-c', command], { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const take = (chunk: Buffer) => {
      output += chunk.toString('utf8').slice(0, Math.max(0, MOST_OUTPUT - output.length))
    }
    // The process may have ended before its streams close.
    const stop = () => child.pid && child.exitCode === null && process.kill(-child.pid, 'SIGKILL')
    signal?.addEventListener('abort', stop)
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    child.once('error', fail)
    child.once('close', (code) => {
      signal?.removeEventListener('abort', stop)
      if (code === 0) settle(output)
      else fail(new Error(`${code === null ? 'it was stopped' : `exit code ${code}`}\n${output}`))
    })
  })
}

/** The real path of a file, or of where it would be created. */
async function within(workspace: string, given: string): Promise<string> {
  const root = await realpath(workspace).catch(() => {
    throw new Error(`the workspace ${workspace} is gone`)
  })
  let there = resolve(root, given)
  let rest = ''
  for (;;) {
    const real = await realpath(there).catch(() => undefined)
    if (real !== undefined) {
      const way = relative(root, join(real, rest))
      const leaves = way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)
      if (leaves) throw new Error(`${given} is outside the workspace`)
      return join(real, rest)
    }
    rest = join(relative(dirname(there), there), rest)
    there = dirname(there)
  }
}

/** File paths with forward slashes. */
async function walk(root: string, folder = '', found: string[] = []): Promise<string[]> {
  for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
    if (found.length >= MOST_FILES) break
    const inside = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory() && !UNSEARCHED.has(entry.name)) await walk(root, inside, found)
    else if (entry.isFile()) found.push(inside)
  }
  return found
}

async function linesOf(file: string, expression: RegExp): Promise<string[]> {
  if ((await stat(file)).size > LARGEST_SEARCHED) return []
  const whole = await readFile(file, 'utf8')
  if (whole.includes('\0')) return []
  return whole.split('\n').flatMap((each, index) => (expression.test(each) ? [`${index + 1}: ${each}`] : []))
}

/** `**` matches folders, `*` any characters of a name. */
function globPattern(glob: string): RegExp {
  const parts = glob.split(/(\*\*\/?|\*)/).map((part) => {
    if (part === '**/') return '(?:.*/)?'
    if (part === '**') return '.*'
    return part === '*' ? '[^/]*' : part.replace(/[.+?^${}()|[\]\\]/g, '\\$&')
  })
  return new RegExp(`^${parts.join('')}$`)
}
