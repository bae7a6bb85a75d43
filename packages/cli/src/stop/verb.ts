/** `toolwell stop`: stops the running gateway. */
import { folderArgument, folderFlag, gatewayFolder } from '../shared/gateway.js'
import { Problem } from '../shared/problem.js'
import { withStatus } from '../shared/progress.js'
import { defineVerb } from '../shared/verb.js'

export const stop = defineVerb({
  name: 'stop',
  summary: 'Stop the gateway and its servers.',
  usage: ['[--force]'],
  flags: {
    force: { type: 'boolean', description: 'Kill the process if it does not answer.' },
    folder: folderFlag,
    json: { type: 'boolean', description: 'Print the result as JSON.' },
  },
  notes: [
    'Running calls are interrupted, and their answers say so. A connected stdio client starts the gateway again with its next request.',
  ],
  examples: [{ line: 'toolwell stop', about: 'stop the gateway and every server it started' }],
  exits: {
    0: 'The gateway stopped.',
    1: 'No gateway was running.',
    2: 'Wrong flags, or the gateway did not stop.',
  },
  async run(flags, terminal) {
    const { askDaemon, endDaemon, findDaemon, isDaemon } = await import('@toolwell/gateway/bridge')
    const folder = gatewayFolder(flags.folder, terminal)
    const { output } = terminal
    const print = (value: object, text: string) =>
      output.write(flags.json ? `${JSON.stringify(value)}\n` : `${text}\n`)
    const found = await findDaemon(folder)
    if (found.kind === 'none') {
      const { stranger } = found
      if (stranger === undefined) await print({ stopped: false, reason: 'none' }, 'No gateway is running.')
      else
        await print(
          { stopped: false, reason: 'none', stranger },
          `No gateway is running. Its file names process ${stranger}, which is another program and was not stopped.`,
        )
      return 1
    }
    const { file } = found
    const { pid } = file
    if (found.kind === 'silent' && !flags.force)
      throw new Problem(
        `The gateway (process ${pid}) does not answer.`,
        `Kill it with: ${terminal.name} stop --force${folderArgument(folder, terminal.env)}`,
        { reason: 'silent' },
      )
    if (found.kind === 'running') await askDaemon(found, 'POST', '/stop')
    else await endDaemon(folder, file)
    const until = Date.now() + 15_000
    await withStatus(
      () => `Waiting for process ${pid} to end …`,
      terminal,
      async () => {
        while ((await isDaemon(file)) && Date.now() < until)
          await new Promise((resolve) => setTimeout(resolve, 50))
      },
    )
    if (await isDaemon(file)) {
      if (!flags.force)
        throw new Problem(
          `The gateway (process ${pid}) has not stopped.`,
          `Kill it with: ${terminal.name} stop --force${folderArgument(folder, terminal.env)}`,
          {
            reason: 'late',
          },
        )
      await endDaemon(folder, file)
    }
    await print({ stopped: true, pid }, `The gateway (process ${pid}) has stopped.`)
    return 0
  },
})
