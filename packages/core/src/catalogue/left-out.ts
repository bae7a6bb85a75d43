/** What a source lists and cannot be used. It is no tool, but it is known: nobody should look for it in vain. */
import { foldName, toolId } from '../base/names.js'
import type { Finding } from '../tool/source.js'
import { createEntry, type Entry } from './entry.js'

/** An entry of a list that whoever made the source could not read as a tool. */
export interface UnusableTool {
  readonly name: string
  readonly description?: string
  /** What is wrong, as a sentence behind its name: "has no inputSchema". The model reads it, so it must not hold what a server says. */
  readonly problem: string
}

export interface LeftOut {
  /** As a search ranks it and a policy is asked about it. Its id is that of no tool. */
  readonly entry: Entry
  readonly problem: string
  readonly finding: Finding
}

/** No tool has an id with this character in it. */
const APART = '\u0000'

export function isLeftOutId(id: string): boolean {
  return id.includes(APART)
}

export function leaveOut(
  source: string,
  wireName: string,
  { name, description = '', problem }: UnusableTool,
  finding: Finding,
  index: number,
): LeftOut {
  const id = `${toolId(source, name)}${APART}${index}`
  const tool = { name, description, inputSchema: {} }
  return { entry: createEntry(id, wireName, source, tool, false), problem, finding }
}

/** Whether somebody who asks for this name means it. */
export function isCalled({ entry }: LeftOut, asked: string): boolean {
  const { source, tool, wireName } = entry
  const folded = foldName(asked)
  return [tool.name, wireName, toolId(source, tool.name), `${source} ${tool.name}`].some(
    (each) => foldName(each) === folded,
  )
}
