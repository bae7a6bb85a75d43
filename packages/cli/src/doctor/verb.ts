/** `toolwell doctor`: finds problems of servers and tools, and how to fix them. */
import { randomUUID } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Problem } from '../shared/problem.js'
import { fileProblem } from '../shared/read-lines.js'
import { readTimeout, serverFlags } from '../shared/servers/flags.js'
import { painter, type Terminal } from '../shared/terminal.js'
import { defineVerb, type ExitCode } from '../shared/verb.js'
import type { Diagnosis } from './report.js'

const SLOW = 5

export const doctor = defineVerb({
  name: 'doctor',
  summary: 'Find problems of servers and their tools, and how to fix them.',
  usage: ['[--config FILE] [flags]'],
  flags: {
    config: serverFlags.config,
    profile: serverFlags.profile,
    system: {
      type: 'string',
      valueHint: 'FILE',
      description: 'The system prompt of your agent, to check whether it asks for hidden tools.',
    },
    slow: {
      type: 'string',
      valueHint: 'SECONDS',
      description: `Report servers that take longer to list their tools. Default ${SLOW}.`,
    },
    sarif: {
      type: 'string',
      valueHint: 'FILE',
      description: 'Also write the result as SARIF 2.1.0 to this file.',
    },
    json: { type: 'boolean', description: 'Print the result as JSON.' },
    timeout: serverFlags.timeout,
  },
  notes: ['Starts and lists every server.'],
  examples: [
    { line: 'toolwell doctor', about: 'check your servers, and those of this folder' },
    {
      line: 'toolwell doctor --config .vscode/mcp.json --sarif doctor.sarif',
      about: 'write SARIF for a code host, in CI',
    },
    { line: 'toolwell doctor --system prompt.md', about: 'also check the system prompt of your agent' },
  ],
  exits: {
    0: 'No errors. There may be warnings and notes.',
    1: 'There are errors.',
    2: 'Wrong flags, no config, or no usable server.',
  },
  async run(flags, terminal) {
    const timeout = readTimeout(flags.timeout)
    const slow = readTimeout(flags.slow ?? String(SLOW), '--slow')
    const system = flags.system === undefined ? '' : await readText(flags.system, '--system', terminal)
    const { withServers } = await import('../shared/servers/with-servers.js')
    const { diagnose } = await import('./diagnose.js')
    const { config, profile, sarif } = flags
    const { output, env, folder } = terminal
    const write = async (
      diagnoses: readonly Diagnosis[],
      servers: number,
      tools: number,
    ): Promise<ExitCode> => {
      const isSick = diagnoses.some(({ level }) => level === 'error')
      await output.write(
        flags.json
          ? `${JSON.stringify({ isHealthy: !isSick, servers, tools, diagnoses }, null, 2)}\n`
          : (await import('./report.js')).doctorText(diagnoses, tools, servers, painter(output, env)),
      )
      return isSick ? 1 : 0
    }
    try {
      return await withServers(
        { config, profile, timeout, refresh: true, isQuiet: true },
        terminal,
        async (open) => {
          const diagnoses = await diagnose(open, { system, slow, profile }, terminal)
          if (sarif !== undefined) {
            const { createSarif } = await import('./report.js')
            // The config of the folder is the last one.
            const file = open.config.files.at(-1) ?? 'toolwell.json'
            await writeWhole(resolve(folder, sarif), createSarif(diagnoses, folder, resolve(folder, file)))
          }
          return write(diagnoses, open.config.servers.length, open.well.catalogue.size)
        },
      )
    } catch (error) {
      // Without servers, a client may still fail to start Toolwell.
      const isWithout = error instanceof Problem && ['no-config', 'no-servers'].includes(error.reason)
      const found = isWithout ? (await import('./check-clients.js')).checkClients(terminal) : []
      if (found.length === 0) throw error
      return write(found, 0, 0)
    }
  },
})

async function readText(path: string, flag: string, { folder }: Terminal): Promise<string> {
  return readFile(resolve(folder, path), 'utf8').catch((error) => {
    throw fileProblem(error, path, flag)
  })
}

/** Writes atomically. */
async function writeWhole(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomUUID()}.tmp`
  try {
    await writeFile(draft, text)
    await rename(draft, file)
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => undefined)
    const { code = '' } = cause as NodeJS.ErrnoException
    throw new Problem(
      `${file} cannot be written (${code}).`,
      'Check that the folder exists and is writable.',
      { cause },
    )
  }
}
