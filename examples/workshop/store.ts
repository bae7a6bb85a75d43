/** The files of one workspace. Every path a tool is given goes through here, and none leaves the folder. */
import { lstat, mkdir, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Tool } from '@toolwell/core'

export interface Store {
  /** The absolute path of a workspace-relative one; throws when it would leave the workspace. */
  resolve(relative: string): Promise<string>
  exists(relative: string): Promise<boolean>
  readBytes(relative: string): Promise<Buffer>
  readText(relative: string): Promise<string>
  write(relative: string, content: string | Uint8Array): Promise<void>
  remove(relative: string): Promise<void>
  /** The value of a JSON file this workshop wrote itself, or the fallback where there is none yet. */
  readJson<Value>(relative: string, fallback: Value): Promise<Value>
  writeJson(relative: string, value: unknown): Promise<void>
  /** All files below a folder, relative to it, sorted; hidden ones only when asked for. */
  listFiles(relative: string, options?: { hidden?: boolean }): Promise<string[]>
}

export function createStore(folder: string): Store {
  const root = path.resolve(folder)

  async function resolve(relative: string): Promise<string> {
    const refused = new Error(
      `Path "${relative}" is outside the workspace. Use a path relative to its folder, without "..".`,
    )
    const absolute = path.resolve(root, relative)
    if (!isInside(root, absolute) || relative.includes('\0')) throw refused
    // A link inside the workspace may point out of it: the nearest part that exists decides.
    const realRoot = await realpath(root)
    for (let current = absolute; isInside(root, current); current = path.dirname(current)) {
      const real = await realpath(current).catch(() => undefined)
      if (real !== undefined && isInside(realRoot, real)) return absolute
      if (real !== undefined || (await lstat(current).catch(() => undefined))) throw refused
    }
    throw refused
  }

  async function exists(relative: string): Promise<boolean> {
    return (await stat(await resolve(relative)).catch(() => undefined)) !== undefined
  }

  async function readBytes(relative: string): Promise<Buffer> {
    const absolute = await resolve(relative)
    const found = await stat(absolute).catch(() => undefined)
    if (!found) throw new Error(`There is no file "${relative}". List the folder to see what exists.`)
    if (!found.isFile()) throw new Error(`"${relative}" is a folder. Give the path of a file.`)
    return readFile(absolute)
  }

  async function write(relative: string, content: string | Uint8Array): Promise<void> {
    const absolute = await resolve(relative)
    await mkdir(path.dirname(absolute), { recursive: true })
    await writeFile(absolute, content)
  }

  async function listFiles(relative: string, options: { hidden?: boolean } = {}): Promise<string[]> {
    const found: string[] = []
    const visit = async (absolute: string, prefix: string): Promise<void> => {
      for (const entry of await readdir(absolute, { withFileTypes: true }).catch(() => [])) {
        if (entry.name.startsWith('.') && options.hidden !== true) continue
        if (entry.isDirectory()) await visit(path.join(absolute, entry.name), `${prefix}${entry.name}/`)
        else if (entry.isFile()) found.push(prefix + entry.name)
      }
    }
    await visit(await resolve(relative), '')
    return found.sort()
  }

  return {
    resolve,
    exists,
    readBytes,
    readText: async (relative) => (await readBytes(relative)).toString('utf8'),
    write,
    remove: async (relative) => rm(await resolve(relative), { recursive: true, force: true }),
    readJson: async (relative, fallback) =>
      (await exists(relative)) ? JSON.parse((await readBytes(relative)).toString('utf8')) : fallback,
    writeJson: (relative, value) => write(relative, `${JSON.stringify(value, null, 2)}\n`),
    listFiles,
  }
}

function isInside(root: string, absolute: string): boolean {
  return absolute === root || absolute.startsWith(root.endsWith(path.sep) ? root : root + path.sep)
}

/** Whether a path matches a glob of `*`, `**` and `?`. A glob without a slash matches the file name alone. */
export function matchesGlob(file: string, glob: string): boolean {
  const source = glob.replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*\*\/|\*\*|\*|\?/g, (wildcard) => {
    if (wildcard === '**/') return '(?:.*/)?'
    if (wildcard === '**') return '.*'
    return wildcard === '*' ? '[^/]*' : '[^/]'
  })
  return new RegExp(`^${source}$`).test(glob.includes('/') ? file : path.posix.basename(file))
}

/** Runs calls one after another: two calls of one turn must not both take issue number 7. */
export function createTurns(): (tool: Tool) => Tool {
  let last: Promise<unknown> = Promise.resolve()
  return (tool) => {
    const { execute } = tool
    if (!execute) return tool
    return {
      ...tool,
      execute: (input, context) => {
        const turn = last.then(() => {
          context.signal?.throwIfAborted()
          return execute(input, context)
        })
        last = turn.catch(() => undefined)
        return turn
      },
    }
  }
}
