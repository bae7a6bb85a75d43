/** Finds the clients on this machine, and the file of each that gets the entry. */
import { existsSync, readFileSync } from 'node:fs'
import { nearest } from '@toolwell/core/internal'
import { CLIENTS, type Places, type UserFile, userFiles } from '../shared/clients/clients.js'
import { parseClient, valueAt } from '../shared/clients/read-client.js'
import { findShape } from '../shared/clients/shapes.js'
import { Problem, usageProblem } from '../shared/problem.js'

/** `named`: only these clients. Throws if one of them is not installed. */
export function findTargets(places: Places, named: readonly string[]): UserFile[] {
  checkNames(named)
  const all = userFiles(places).filter(
    ({ shape, file }) => shape !== 'vscode-settings' && !/[\\/]mcpServers[\\/][^\\/]+$/.test(file),
  )
  const meant = all.filter(({ client }) => named.length === 0 || named.includes(client))
  const found = meant.filter(({ file, marker }) => existsSync(file) || existsSync(marker))
  const missing = named.find((name) => !found.some(({ client }) => client === name))
  const looked = (files: readonly UserFile[]) => files.map(({ file }) => `  ${file}`).join('\n')
  if (missing !== undefined) {
    const own = all.filter(({ client }) => client === missing)
    throw new Problem(
      `${own[0]?.label ?? missing} was not found on this machine. Looked for:\n${looked(own)}\n`,
      'Start the client once so that it creates its folder, then try again.',
      { reason: 'nothing-found' },
    )
  }
  if (found.length === 0)
    throw new Problem(
      `No client was found on this machine. Looked for:\n${looked(all)}\n`,
      'Start your client once so that it creates its folder, then try again.',
      { reason: 'nothing-found' },
    )
  // Of several possible files of a client, prefer one with servers, then an existing one.
  return found.filter((each) => {
    const twins = found.filter((other) => other.client === each.client && other.marker === each.marker)
    const best = twins.find(hasServers) ?? twins.find(({ file }) => existsSync(file)) ?? twins[0]
    return best === each
  })
}

export function checkNames(named: readonly string[]): void {
  for (const name of named) {
    if (CLIENTS.some((client) => client === name)) continue
    const [meant] = nearest(name, CLIENTS, 1)
    throw usageProblem(
      `Unknown client ${JSON.stringify(name)}.`,
      meant ? `Did you mean ${meant}?` : `Known: ${CLIENTS.join(', ')}.`,
    )
  }
}

function hasServers({ file, shape: name }: UserFile): boolean {
  const shape = findShape(name)
  try {
    const found = parseClient(readFileSync(file, 'utf8'), shape.format, file)
    return 'value' in found && shape.tables.some((path) => valueAt(found.value, path) !== undefined)
  } catch {
    return false
  }
}
