/** `toolwell status`: what the gateway that runs is doing. */
import { folderArgument, folderFlag, gatewayFolder } from '../shared/gateway/flags.js'
import { npmStartFolder } from '../shared/npm-start.js'
import { Problem } from '../shared/problem.js'
import { defineVerb } from '../shared/verb.js'

export const status = defineVerb({
  name: 'status',
  summary: 'Show the gateway that runs: clients, servers, processes, memory, tokens saved.',
  usage: ['[--folder FOLDER] [--json]'],
  flags: {
    folder: folderFlag,
    json: { type: 'boolean', description: 'The answer as JSON.' },
  },
  examples: [
    { line: 'toolwell status', about: 'at a glance' },
    { line: 'toolwell status --json', about: 'for a program' },
  ],
  exits: { 0: 'It is running.', 1: 'None is.', 2: 'Wrong flags, or it does not answer.' },
  async run(flags, terminal) {
    const { askDaemon, findDaemon } = await import('@toolwell/gateway/bridge')
    const { output } = terminal
    const folder = gatewayFolder(flags.folder, terminal)
    const found = await findDaemon(folder)
    if (found.kind === 'none') {
      const started = npmStartFolder(terminal.program)
      const isOther = flags.folder === undefined && (await findDaemon(started)).kind !== 'none'
      const other = isOther
        ? `npm start runs one of its own: ${terminal.name} status${folderArgument(started, terminal.env)}\n`
        : ''
      await output.write(
        flags.json
          ? '{"running":false}\n'
          : `No gateway is running. Start it with: ${terminal.name} serve${folderArgument(folder, terminal.env)}\n${other}`,
      )
      return 1
    }
    if (found.kind === 'silent')
      throw new Problem(
        `The gateway (process ${found.file.pid}) does not answer.`,
        `End its process with: ${terminal.name} stop --force${folderArgument(folder, terminal.env)}`,
        { reason: 'silent' },
      )
    const report = await askDaemon(found, 'GET', '/status')
    if (flags.json) {
      await output.write(`${JSON.stringify({ running: true, ...found.file, ...(report as object) })}\n`)
      return 0
    }
    const { statusText } = await import('./text.js')
    const { trustedProjects } = await import('@toolwell/mcp/internal')
    const trusted = trustedProjects(folder)
    await output.write(
      statusText(report, found.file, {
        name: terminal.name,
        at: folderArgument(folder, terminal.env),
        hasChanged: (file) => trusted.look(file)?.hasChanged === true,
      }),
    )
    return 0
  },
})
