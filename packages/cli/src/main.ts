/** Connects the command to the process: streams, signals, exit code. */
import { isatty } from 'node:tty'
import { fileURLToPath } from 'node:url'
import { runToolwell } from './command.js'
import { currentFolder } from './serve/run-stdio.js'
import { Problem } from './shared/problem.js'
import { type Output, OutputClosed } from './shared/terminal.js'
import { findCommandName, version } from './shared/this-command.js'

function createOutput(stream: NodeJS.WriteStream): Output {
  let failure: NodeJS.ErrnoException | undefined
  let wake = () => {}
  stream.on('error', (error) => {
    failure = error
    wake()
  })
  stream.on('drain', () => wake())
  return {
    isTerminal: stream.isTTY === true,
    // Some terminals report 0.
    columns: stream.isTTY ? stream.columns || undefined : undefined,
    async write(text) {
      try {
        if (!failure && !stream.write(text))
          await new Promise<void>((resolve) => {
            wake = resolve
          })
      } catch (error) {
        // Writes to files are synchronous and throw.
        failure = error as NodeJS.ErrnoException
      }
      if (failure?.code === 'EPIPE' || failure?.code === 'EOF') throw new OutputClosed()
      if (failure)
        throw new Problem(`The output could not be written: ${failure.message}.`, 'Check its destination.')
    },
  }
}

/** Ignores a repeated signal for one second, because terminal and parent may both send it. After that, a signal ends the process. */
function onInterrupt(listener: (signal: NodeJS.Signals) => void): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  let isAsked = false
  const onSignal = (signal: NodeJS.Signals) => {
    if (isAsked) return
    isAsked = true
    setTimeout(stop, 1000).unref()
    listener(signal)
  }
  const stop = () => {
    for (const signal of signals) process.off(signal, onSignal)
  }
  for (const signal of signals) process.on(signal, onSignal)
  return stop
}

const program = [process.execPath, fileURLToPath(new URL('../bin/toolwell.mjs', import.meta.url))] as const
process.exitCode = await runToolwell(
  process.argv.slice(2),
  {
    // A getter, because an open standard input would keep the process alive.
    get input() {
      return process.stdin
    },
    isInputTerminal: isatty(0),
    output: createOutput(process.stdout),
    errors: createOutput(process.stderr),
    env: process.env,
    get folder() {
      const folder = currentFolder(process)
      if (folder !== undefined) return folder
      throw new Problem('The current folder no longer exists.', 'Change to an existing folder and try again.')
    },
    program,
    get name() {
      return findCommandName(program, process.env)
    },
    now: () => performance.now(),
    onInterrupt,
  },
  { version: version() },
)
