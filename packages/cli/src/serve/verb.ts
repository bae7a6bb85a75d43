/** `toolwell serve`: the gateway in the foreground, or one stdio client's way to the one that runs. */
import { folderFlag, gatewayFolder } from '../shared/gateway/folder.js'
import { usageProblem } from '../shared/problem.js'
import { serverFlags } from '../shared/servers/flags.js'
import { defineVerb } from '../shared/verb.js'

export const serve = defineVerb({
  name: 'serve',
  summary: 'One MCP server in front of all your servers, for every client.',
  usage: ['[--port PORT] [--config FILE]', '--stdio [--profile NAME] [--all]', '--trust FOLDER'],
  flags: {
    stdio: {
      type: 'boolean',
      description:
        'Serve one client over standard input and output, through the gateway that runs. Starts it where none does.',
    },
    profile: serverFlags.profile,
    all: {
      type: 'boolean',
      description: 'With --stdio: list every tool, for clients that defer by themselves.',
    },
    port: {
      type: 'string',
      valueHint: 'PORT',
      description: 'The port on 127.0.0.1. Default 7411; 0: any that is free.',
    },
    config: {
      ...serverFlags.config,
      description:
        "The servers, for every client: toolwell.json, or the config of another client. Default: your own, and that of a client's folder where it is trusted.",
    },
    folder: folderFlag,
    trust: {
      type: 'string',
      valueHint: 'FOLDER',
      description: 'Let the gateway use the toolwell.json of this project, as it is now. Nothing is served.',
    },
    events: {
      type: 'boolean',
      description:
        'Print clients and calls as they come, a line each. On a terminal they are printed anyway.',
    },
    json: { type: 'boolean', description: 'Where it listens, and every event, as lines of JSON.' },
    // For --stdio itself: it stops when no client is left.
    'by-bridge': { type: 'boolean' },
  },
  notes: [
    'Clients on HTTP use http://127.0.0.1:PORT/mcp (three tools: search, read, call), /mcp/all (every tool) or\n/mcp/PROFILE, with the header "Authorization: Bearer TOKEN"; `toolwell token` prints it. Clients over stdio start\n`toolwell serve --stdio` and need no token in their config.',
    'Your own config counts for every client. The toolwell.json of a project counts for clients in that folder once you\nhave said so with --trust: a folder that came from somewhere else starts nothing by itself.',
    'Without a config it runs with no servers, and says so: toolwell connect makes one.\nNo server is started before one of its tools is called. A config that changes is read again. One gateway runs for\neach user; one that a stdio client started stops ten minutes after the last client.',
  ],
  examples: [
    { line: 'toolwell serve', about: 'the gateway, until Ctrl-C' },
    { line: 'toolwell serve --stdio --profile work', about: 'what a client starts, as its MCP server' },
    {
      line: 'toolwell serve --port 8123 --config .mcp.json',
      about: 'another port, the servers of another client',
    },
  ],
  exits: {
    0: 'It was stopped, or the client is gone.',
    1: 'Another gateway runs already.',
    2: 'Wrong flags, a file behind --config that is not there, a port or a folder that cannot be used.',
  },
  async run(flags, terminal) {
    const { stdio, all, profile, port, config } = flags
    const folder = gatewayFolder(flags.folder, terminal)
    if (flags.trust !== undefined) {
      const { runTrust } = await import('./run-serve.js')
      return runTrust(flags.trust, folder, terminal)
    }
    if (stdio) {
      if (port !== undefined || config !== undefined)
        throw usageProblem(
          '--stdio goes to the gateway that runs, which has its own port and config.',
          'Leave out --port and --config.',
        )
      const { runStdio } = await import('./run-stdio.js')
      return runStdio({ folder, profile, all: all === true })
    }
    if (profile !== undefined || all)
      throw usageProblem(
        '--profile and --all are for --stdio.',
        'Clients on HTTP choose by the path: /mcp/PROFILE, /mcp/all.',
      )
    const { runServe } = await import('./run-serve.js')
    return runServe(
      {
        folder,
        port: readPort(port),
        config,
        isJson: flags.json === true,
        showsAll: flags.events === true || terminal.output.isTerminal,
        byBridge: flags['by-bridge'] === true,
      },
      terminal,
    )
  },
})

function readPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw usageProblem(`--port ${JSON.stringify(text)} is not a port.`, 'Give a number from 0 to 65535.')
  return port
}
