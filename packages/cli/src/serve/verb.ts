/** `toolwell serve`: runs the gateway, or connects one stdio client to it. */
import { databaseFlag, findDatabase } from '../shared/database.js'
import { folderFlag, gatewayFolder } from '../shared/gateway.js'
import { usageProblem } from '../shared/problem.js'
import { serverFlags } from '../shared/servers/flags.js'
import { requireTerminal } from '../shared/terminal.js'
import { defineVerb } from '../shared/verb.js'

export const serve = defineVerb({
  name: 'serve',
  summary: 'Run one MCP server in front of all your servers, for every client.',
  usage: [
    '[--port PORT] [--config FILE] [--otlp URL] [--database URL [--host ADDRESS]]',
    '--stdio [--client CLIENT] [--token NAME] [--profile NAME] [--all]',
    '--trust FOLDER',
  ],
  flags: {
    stdio: {
      type: 'boolean',
      description:
        'Serve one client over standard input and output, through the running gateway. Starts the gateway if none is running.',
    },
    profile: serverFlags.profile,
    all: {
      type: 'boolean',
      description: 'With --stdio: list every tool, for clients that defer tools themselves.',
    },
    client: {
      type: 'string',
      valueHint: 'CLIENT',
      description:
        'With --stdio: the name of the client, as in `toolwell connect`. Tools that its permission rules deny are hidden.',
    },
    token: {
      type: 'string',
      valueHint: 'NAME',
      description:
        'With --stdio: the name of a token (`toolwell token add`). Its rights limit this client. After you revoke it, the gateway refuses the client.',
    },
    // Set by `connect` if a server has another name in toolwell.json, or a list of tools.
    own: { type: 'string' },
    port: {
      type: 'string',
      valueHint: 'PORT',
      description: 'The port. Default 7411; 0 for any free port.',
    },
    host: {
      type: 'string',
      valueHint: 'ADDRESS',
      description:
        'The address to listen on. 0.0.0.0 also serves other machines, which need a token of `toolwell token add`. Default 127.0.0.1.',
    },
    database: databaseFlag,
    config: {
      ...serverFlags.config,
      description:
        "The config for every client: toolwell.json, or the config of another client. Default: your toolwell.json, and the trusted one of a client's folder.",
    },
    otlp: {
      type: 'string',
      valueHint: 'URL',
      description:
        'Send a span for each request to this OpenTelemetry collector, for example http://localhost:4318. Without this flag, nothing is sent, even if OTEL_ variables are set.',
    },
    folder: folderFlag,
    trust: {
      type: 'string',
      valueHint: 'FOLDER',
      description: 'Let the gateway use the current toolwell.json of this project, then exit.',
    },
    events: {
      type: 'boolean',
      description: 'Print a line for each client and call. This is the default on a terminal.',
    },
    json: { type: 'boolean', description: 'Print the address and every event as lines of JSON.' },
    // Set by --stdio when it starts a gateway, which then stops when it has no clients.
    'by-bridge': { type: 'boolean' },
  },
  notes: [
    'HTTP clients use http://127.0.0.1:PORT/mcp (four tools: find, run, run read-only, read results), /mcp/all (every tool) or /mcp/PROFILE,\nwith the header "Authorization: Bearer TOKEN". Print the token with `toolwell token`. Stdio clients start\n`toolwell serve --stdio` and need no token.',
    'Your own config applies to every client. The toolwell.json of a project applies to clients in that folder after you\ntrust it with --trust, so a cloned repository cannot start servers by itself. --trust needs a terminal.',
    'Without a config the gateway has no servers. Create a config with `toolwell connect`. A server starts when one of its\ntools is called for the first time. The gateway reloads a changed config. Each user has one gateway. If a stdio client\nstarted it, it stops ten minutes after the last client.',
    'With --database, several gateways share tokens, approvals, logins, the log of calls and long results. A load balancer may send\neach request to any of them. See docs/guides/replicas.md.',
  ],
  examples: [
    { line: 'toolwell serve', about: 'run the gateway until Ctrl-C' },
    { line: 'toolwell serve --stdio --profile work', about: 'the command for the MCP config of a client' },
    {
      line: 'toolwell serve --port 8123 --config .mcp.json',
      about: 'use another port and the config of another client',
    },
  ],
  exits: {
    0: 'The gateway was stopped, or the client disconnected.',
    1: 'A gateway is already running.',
    2: 'Wrong flags, a missing config file, or an unusable port or folder.',
  },
  async run(flags, terminal) {
    const { stdio, all, profile, client, own, token, port, config, host, otlp } = flags
    const folder = gatewayFolder(flags.folder, terminal)
    if (flags.trust !== undefined) {
      requireTerminal(terminal)
      const { runTrust } = await import('./run-serve.js')
      return runTrust(flags.trust, folder, terminal)
    }
    if (stdio) {
      const wrong = ['port', 'config', 'host', 'database', 'otlp'].filter((name) => flags[name] !== undefined)
      if (wrong.length > 0)
        throw usageProblem(
          '--stdio connects to the running gateway, which has its own port, config, storage and collector.',
          `Remove ${wrong.map((name) => `--${name}`).join(' and ')}.`,
        )
      const { runStdio } = await import('./run-stdio.js')
      return runStdio({ folder, profile, all: all === true, client, own, token })
    }
    if (profile !== undefined || all || client !== undefined || token !== undefined)
      throw usageProblem(
        '--profile, --all, --client and --token need --stdio.',
        'HTTP clients choose a profile by the path: /mcp/PROFILE or /mcp/all.',
      )
    if (host !== undefined && !HOSTS.includes(host))
      throw usageProblem(
        `--host ${JSON.stringify(host)} is not supported.`,
        'Give 0.0.0.0 for every address of this machine, or :: for IPv6 too.',
      )
    const { runServe } = await import('./run-serve.js')
    return runServe(
      {
        folder,
        port: readPort(port),
        host,
        config,
        otlp: readOtlp(otlp),
        // The gateway of stdio clients belongs to one user of one machine.
        database: flags['by-bridge'] ? undefined : findDatabase(flags.database, terminal),
        isJson: flags.json === true,
        showsAll: flags.events === true || terminal.output.isTerminal,
        byBridge: flags['by-bridge'] === true,
      },
      terminal,
    )
  },
})

function readOtlp(text: string | undefined): URL | undefined {
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  // The address would be printed with every lost span.
  if (url && url.username + url.password !== '')
    throw usageProblem(
      '--otlp takes no user name and no password.',
      'Run a collector on this machine that adds them, and give its address.',
    )
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw usageProblem(
    `--otlp ${JSON.stringify(text)} is not an address.`,
    'Give the HTTP address of a collector, for example http://localhost:4318.',
  )
}
/** On other addresses, the commands of this machine would not find the gateway. */
const HOSTS = ['127.0.0.1', '0.0.0.0', '::']

function readPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw usageProblem(
      `--port ${JSON.stringify(text)} is not a valid port.`,
      'Give a number from 0 to 65535.',
    )
  return port
}
