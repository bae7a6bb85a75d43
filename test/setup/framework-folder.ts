/** Folders with the packages of a framework: outside the lockfile, and installed once per machine. */

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const INSTALL_LIMIT_MS = 300_000

/** The folder with these packages (`name@version`) in its `node_modules`. */
export function installed(packages: readonly string[]): string {
  const all = join(tmpdir(), 'toolwell-frameworks')
  const name = createHash('sha256')
    .update([...packages, process.platform, process.arch].join('\n'))
    .digest('hex')
  const folder = join(all, name.slice(0, 16))
  if (existsSync(folder)) return folder
  mkdirSync(all, { recursive: true })
  // Renamed when complete, so that an interrupted run leaves nothing that looks installed.
  const draft = mkdtempSync(join(all, 'draft-'))
  // Tests that give up the rights of root run programs from here.
  chmodSync(draft, 0o755)
  writeFileSync(join(draft, 'package.json'), '{ "private": true, "type": "module" }')
  const words = ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages]
  const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^npm_|^NODE_OPT/i.test(key)))
  const { status, stdout, stderr } = spawnSync('npm', words, {
    cwd: draft,
    env,
    shell: process.platform === 'win32',
    encoding: 'utf8',
    // If versions conflict, npm may search forever.
    timeout: INSTALL_LIMIT_MS,
  })
  if (status !== 0) {
    rmSync(draft, { recursive: true, force: true })
    const how = status === null ? `did not end within ${INSTALL_LIMIT_MS / 1000} seconds` : 'failed'
    throw new Error(`npm ${words.join(' ')} ${how}: ${stdout}\n${stderr}`)
  }
  try {
    renameSync(draft, folder)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    // Another run was faster.
    if (!existsSync(folder)) throw error
  }
  return folder
}

/** Creates a folder below it, for programs that import those packages and the build of this clone. */
export function programFolder(folder: string, files: Readonly<Record<string, string>>): string {
  const made = mkdtempSync(join(folder, 'run-'))
  mkdirSync(join(made, 'node_modules/@toolwell'), { recursive: true })
  for (const name of ['core', 'testing'])
    symlinkSync(join(root, 'packages', name), join(made, 'node_modules/@toolwell', name), 'junction')
  for (const [name, text] of Object.entries(files)) writeFileSync(join(made, name), text)
  return made
}
