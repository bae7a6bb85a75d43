/** The private folder of the gateway, as a flag. */
import { resolve } from 'node:path'
import { defaultGatewayFolder, shellWord } from '@toolwell/gateway/bridge'
import type { Terminal } from '../terminal.js'

export const folderFlag = {
  type: 'string',
  valueHint: 'FOLDER',
  description:
    'The private folder of the gateway, with its token and log. Each folder has one gateway. Default: in your state folder.',
} as const

export function gatewayFolder(given: string | undefined, { env, folder }: Terminal): string {
  return given === undefined ? defaultGatewayFolder(env) : resolve(folder, given)
}

/** The `--folder` argument that a command needs to reach this gateway. Empty for the default folder. */
export function folderArgument(folder: string, env: Terminal['env']): string {
  return folder === defaultGatewayFolder(env) ? '' : ` --folder ${shellWord(folder)}`
}
