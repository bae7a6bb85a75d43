/** `toolwell serve --trust FOLDER`: the config of a project may start its servers from now on, as it is now. */
import { realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { trustedProjects } from '@toolwell/gateway'
import { Problem } from '../shared/problem.js'
import type { Terminal } from '../shared/terminal.js'

export async function runTrust(
  project: string,
  folder: string,
  { output, folder: here }: Terminal,
): Promise<0> {
  const path = join(resolve(here, project), 'toolwell.json')
  if (!trustedProjects(folder).add(path))
    throw new Problem(
      `There is no file ${path} that can be read.`,
      'Give the folder of a project that has one.',
    )
  await output.write(`The gateway uses ${path} as it is now. A change has to be trusted again.\n`)
  // A client may come to the folder by another name.
  const real = realpathSync(path)
  if (real !== path) trustedProjects(folder).add(real)
  return 0
}
