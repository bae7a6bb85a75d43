/** The flags that all verbs around the gateway have. */
import { resolve } from 'node:path'
import { defaultGatewayFolder, shellWord } from '@toolwell/gateway/bridge'
import type { Terminal } from '../terminal.js'

export const folderFlag = {
  type: 'string',
  valueHint: 'FOLDER',
  description:
    'The private folder of the gateway: its token, its log. One gateway runs on each. Default: in your folder for state.',
} as const

export function gatewayFolder(given: string | undefined, { env, folder }: Terminal): string {
  return given === undefined ? defaultGatewayFolder(env) : resolve(folder, given)
}

/** What a command needs beside its own words to reach the gateway on this folder: nothing where it is the usual one. */
export function folderArgument(folder: string, env: Terminal['env']): string {
  return folder === defaultGatewayFolder(env) ? '' : ` --folder ${shellWord(folder)}`
}
