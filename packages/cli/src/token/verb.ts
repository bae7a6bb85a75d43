/** `toolwell token`: what clients on HTTP send to the gateway. */
import { folderFlag, gatewayFolder } from '../shared/gateway/folder.js'
import { Problem } from '../shared/problem.js'
import { defineVerb } from '../shared/verb.js'

export const token = defineVerb({
  name: 'token',
  summary: 'Print the token of the gateway, or replace it.',
  usage: ['[--new]'],
  flags: {
    new: { type: 'boolean', description: 'Make a new one. The old one is worth nothing from then on.' },
    folder: folderFlag,
    json: { type: 'boolean', description: 'The answer as JSON.' },
  },
  notes: [
    'The token stays the same until it is replaced, also over restarts. Clients over stdio do not need it: they read it\nfrom the file themselves. A gateway that runs takes a new one at once; clients over stdio that are\nconnected stay connected until they or the gateway end (toolwell stop).',
  ],
  examples: [
    { line: 'toolwell token', about: 'the token' },
    { line: 'toolwell token --new', about: 'another one; clients on HTTP have to be given it' },
  ],
  exits: { 0: 'Printed.', 2: 'Wrong flags, or a folder that cannot be used.' },
  async run(flags, terminal) {
    const folder = gatewayFolder(flags.folder, terminal)
    const { FolderProblem, preparePrivateFolder, readToken, replaceToken, tokenFileIn } = await import(
      '@toolwell/gateway/bridge'
    )
    try {
      preparePrivateFolder(folder)
      const text = flags.new ? replaceToken(folder) : readToken(folder)
      const answer = flags.json ? JSON.stringify({ token: text, file: tokenFileIn(folder) }) : text
      await terminal.output.write(`${answer}\n`)
      return 0
    } catch (error) {
      if (error instanceof FolderProblem) throw new Problem(error.message, '', { reason: 'folder' })
      throw error
    }
  },
})
