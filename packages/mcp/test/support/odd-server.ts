/** Servers that misbehave, in one way at a time. */
import { fileURLToPath } from 'node:url'
import { defineServer, type ServerConfig, type ServerOptions } from '@toolwell/mcp'

const program = fileURLToPath(new URL('odd-server.mjs', import.meta.url))

export interface Manners {
  readonly log?: string
  /** Says this on standard error and exits. */
  readonly diesAtStart?: string
  /** Exits at start while this file exists. */
  readonly diesWhile?: string
  readonly garbage?: boolean
  /** Starts a helper process, which outlives it. */
  readonly helper?: boolean
  /** Ends neither with its input nor on a signal. */
  readonly stubborn?: boolean
  readonly flood?: boolean
  /** Says every so many milliseconds that its list has changed. */
  readonly storm?: number
  /** One line without an end. */
  readonly endless?: boolean
  /** Never answers initialize. */
  readonly mute?: boolean
  /** The same while this file exists. */
  readonly muteWhile?: string
  readonly muteList?: boolean
  /** Lists its tools once this file is there. */
  readonly listsOnce?: string
  readonly noList?: boolean
  readonly diesOnProbe?: boolean
  readonly ignoresProbe?: boolean
  readonly count?: number
  readonly page?: number
  /** Always names the same next page. */
  readonly circle?: boolean
  readonly shuffles?: boolean
  /** While this file exists, `echo` is described in another way. */
  readonly changesWhile?: string
  readonly ttlMs?: number
  readonly delay?: number
  /** Answers calls only once this file exists. */
  readonly answersOnce?: string
  /** Exits at every so manieth call. */
  readonly diesEvery?: number
  readonly title?: string
  /** A file with more of these: a config's own texts may be hidden where a server says them. */
  readonly from?: string
  /** Here and in tools, `{cwd}` is the folder that it runs in. */
  readonly instructions?: string
  /** Lists what this file holds. */
  readonly toolsFrom?: string
  /** The same, without reading it. */
  readonly rawFrom?: string
  readonly tools?: readonly object[]
  /** Lists the prompts, resources and templates that this file holds. */
  readonly offersFrom?: string
  /** Also lists tools that report its folder, the caller's data and its state. */
  readonly more?: boolean
}

/** `mark` is on the command line, for tests that count processes. */
export function oddServer(
  name: string,
  manners: Manners = {},
  options: ServerOptions = {},
  mark = name,
): ServerConfig {
  return defineServer(
    name,
    { command: process.execPath, args: [program, JSON.stringify(manners), mark] },
    options,
  )
}

export function describedTool(name: string, more: object = {}): object {
  return { name, description: `Does ${name}.`, inputSchema: { type: 'object', properties: {} }, ...more }
}
