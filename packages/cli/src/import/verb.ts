/** `toolwell import`: copies the servers of other clients into toolwell.json, after a preview. */
import { platform } from 'node:os'
import { resolve } from 'node:path'
import { nearest } from '@toolwell/core/internal'
import { CLIENTS, clientFiles, findHome } from '../shared/clients/clients.js'
import { isProjectFile } from '../shared/clients/rule-source.js'
import { Problem, usageProblem } from '../shared/problem.js'
import { askYes, isInteractive, painter, requireTerminal } from '../shared/terminal.js'
import { defineVerb } from '../shared/verb.js'

export const importVerb = defineVerb({
  name: 'import',
  summary: 'Import the servers of other clients into toolwell.json.',
  usage: ['[--from CLIENT] [--to FILE] [--yes]'],
  insteadOfWords: 'To import from one client, write --from CLIENT.',
  flags: {
    from: {
      type: 'string',
      valueHint: 'CLIENT',
      description: `Import from this client only: ${CLIENTS.join(', ')}.`,
    },
    to: {
      type: 'string',
      valueHint: 'FILE',
      description: 'The file to write. Default: toolwell.json in this folder.',
    },
    yes: { type: 'boolean', alias: 'y', description: 'Write without asking.' },
    json: { type: 'boolean', description: 'Print the result as JSON. Asks nothing.' },
  },
  notes: [
    'Reads the configs of these clients in this folder and in your home folder. Does not change their files or existing\nentries, and starts no server. Copies the values of environment variables and headers, but never shows them.',
  ],
  examples: [
    { line: 'toolwell import', about: 'show a preview, and ask' },
    { line: 'toolwell import --from cursor --yes', about: 'import the servers of Cursor' },
    { line: 'toolwell import --to ~/.config/toolwell/toolwell.json', about: 'import for all your folders' },
  ],
  exits: {
    0: 'The servers were imported, or all of them exist already.',
    1: 'Nothing was written, because the answer was not yes.',
    2: 'Wrong flags, no servers found, or an unreadable or unwritable file. Nothing was changed.',
  },
  async run(flags, terminal) {
    const { output, errors, env, folder } = terminal
    const only = flags.from
    if (only !== undefined && !CLIENTS.some((client) => client === only)) {
      const [meant] = nearest(only, CLIENTS, 1)
      throw usageProblem(
        `--from ${JSON.stringify(only)} is not a known client.`,
        meant ? `Did you mean ${meant}?` : `Known: ${CLIENTS.join(', ')}.`,
      )
    }
    const home = findHome(env)
    const files = clientFiles({ home, folder, platform: platform(), env }).filter(
      ({ client }) => only === undefined || client === only,
    )
    const { readClient } = await import('../shared/clients/read-client.js')
    const { createGatewayCheck } = await import('../shared/clients/toolwell-entry.js')
    const { readSwitches } = await import('../shared/clients/disabled-servers.js')
    const { readTarget, addServers, writeTarget } = await import('./plan.js')
    const { planImport } = await import('./plan.js')
    const { previewJson, previewText } = await import('./text.js')
    const { loadConfig } = await import('@toolwell/mcp')
    const target = readTarget(resolve(folder, (flags.to ?? 'toolwell.json').replace(/^~(?=[\\/])/, home)))
    const known = {
      isOff: readSwitches({ home, folder, env }),
      isGateway: await createGatewayCheck(terminal),
    }
    const found = files.flatMap((file) =>
      resolve(file.file) === target.file ? [] : (readClient(file, folder, known) ?? []),
    )
    if (found.length === 0)
      throw new Problem(
        `No servers of other clients found. Looked for:\n${files.map(({ file }) => `  ${file}`).join('\n')}\n`,
        'Add servers to "mcpServers" in toolwell.json.',
        { reason: 'nothing-found' },
      )
    const plan = planImport(found, target.servers)
    const text = addServers(target, plan.add)
    const config = loadConfig({ files: [{ path: target.file, text }], env, workspaceFolder: folder })
    const read = new Map(config.servers.map((server) => [server.name, server]))
    const preview = { target: target.file, found, plan, read, problems: config.problems }
    const isJson = flags.json === true
    if (!isJson) await output.write(previewText(preview, { home, folder }, painter(output, env)))
    const isWanted =
      plan.add.length === 0 ||
      flags.yes === true ||
      (!isJson && (await askYes(question(plan.add.length, target.file), terminal)))
    const isWritten = isWanted && plan.add.length > 0
    const isForeign = ({ file }: { readonly file: string }) => isProjectFile(file, { folder, home })
    // The project may come from a stranger, and other folders trust this config without a question.
    if (isWritten && !isForeign(target) && plan.add.some(({ from }) => from.some(isForeign)))
      requireTerminal(
        terminal,
        'Importing servers of this project for other folders',
        ' Or import them into toolwell.json in this folder.',
      )
    if (isWritten) await writeTarget(target, text)
    if (isJson) await output.write(previewJson(preview, isWritten))
    else if (isWritten) {
      const hasValues = plan.add.some(({ entry }) => entry.env !== undefined || entry.headers !== undefined)
      await output.write(
        `\nWritten to ${target.file}.${hasValues ? ' It contains values of environment variables or headers: keep it out of version control, or replace the values by variables.' : ''} List the servers with: ${terminal.name} inspect\n`,
      )
    }
    if (!isWanted)
      await errors.write(
        `toolwell: Nothing was written.${isJson || !isInteractive(terminal) ? ' To write it, add --yes.' : ''}\n`,
      )
    return isWanted ? 0 : 1
  },
})

const question = (number: number, file: string) =>
  `\nWrite ${number === 1 ? 'this server' : `these ${number} servers`} to ${file}?`
