/** How a server is started or reached, as it is remembered and pinned: program, package and version, switches, address. No secret, and the same in another folder or on another machine. */
import { existsSync } from 'node:fs'
import { basename, dirname, relative, resolve } from 'node:path'
import { startRedactor } from './redact.js'
import type { ServerConfig } from './server-config.js'
import { HIDDEN, showUrl, showWords } from './show-word.js'
import { isAbsolutePath } from './translate-entry.js'

export function startOf(server: Pick<ServerConfig, 'endpoint' | 'file' | 'secrets'>): string {
  return startRedactor(server)(shownStart(server))
}

function shownStart({ endpoint, file }: Pick<ServerConfig, 'endpoint' | 'file'>): string {
  if (endpoint.type !== 'stdio') return showUrl(endpoint.url).text
  const { command, args, cwd } = endpoint
  const folders = [cwd, ...(file === undefined ? [] : [dirname(file)])]
  const [program = '', ...words] = showWords(command, args, cwd).map(({ text }) => text)
  const inside = (path: string) => {
    const near = folders
      .map((folder) => relative(folder, resolve(cwd, path)))
      .filter((each) => !each.startsWith('..') && !isAbsolutePath(each))
    return near.sort((a, b) => a.length - b.length)[0]
  }
  /** A path inside the project is the same for everybody who has it; others differ from machine to machine. */
  const portable = (word: string): string => {
    const [, name = '', value = word] = /^(-{0,2}[\w.-]+=)(.*)$/s.exec(word) ?? []
    const isPlace =
      isAbsolutePath(value) ||
      /^(?:~|\.{1,2})[\\/]/.test(value) ||
      (/[\\/]/.test(value) && existsSync(resolve(cwd, value)))
    if (!isPlace) return word
    const near = inside(value)
    return `${name}${near === undefined ? HIDDEN : `./${near.replaceAll('\\', '/')}`}`
  }
  const own =
    isAbsolutePath(program) || /[\\/]/.test(program) ? (inside(program) ?? basename(program)) : program
  return [own.replace(/\.(?:exe|cmd)$/i, ''), ...words.map(portable)].join(' ')
}
