/** Loaded before the command: the process is killed at its n-th renaming of a file, before that is done, or right after. */

/** Loaded before the command: the process is killed at its n-th renaming of a file, before that is done, or right after. */
import fs, { appendFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const [number, moment] = (process.env.KILL_AT ?? '0 before').split(' ')
let count = 0

function step(when) {
  if (when === 'before') {
    count += 1
    if (process.env.KILL_LOG) appendFileSync(process.env.KILL_LOG, '.')
  }
  if (count === Number(number) && when === moment) process.kill(process.pid, 'SIGKILL')
}

const { renameSync } = fs
fs.renameSync = (...args) => {
  step('before')
  renameSync(...args)
  step('after')
}
const { rename } = fs.promises
fs.promises.rename = async (...args) => {
  step('before')
  await rename(...args)
  step('after')
}
syncBuiltinESMExports()
