/**
 * Which contents are one reply. The chats of the official client keep a content for each piece of a stream, while servers
 * take every content for a turn of its own and want all calls of a reply in one, directly before their responses.
 */
import { normaliseParts } from './normalise.js'
import { type GoogleContent, type GoogleFunctionCall, type GoogleFunctionResponse, partsOf } from './types.js'

const joined = new WeakSet<GoogleContent>()

/**
 * Contents of the model that follow each other are one from the first whose calls are answered behind the last. The others
 * stay apart: a host went on after a text, or after an interrupted call, and the place between the two is still a place.
 */
export function joinReplies(contents: readonly GoogleContent[]): readonly GoogleContent[] {
  const groups: GoogleContent[] = []
  let index = 0
  while (index < contents.length) {
    const start = index
    while (isOfModel(contents[index])) index++
    const run = contents.slice(start, index)
    const first = firstAnswered(run, responsesFrom(contents, index))
    groups.push(...run.slice(0, first), ...inOne(run.slice(first)))
    if (index === start) groups.push(contents[index++] as GoogleContent)
  }
  return groups
}

/** Whether a content was put together here. */
export function isJoined(content: GoogleContent): boolean {
  return joined.has(content)
}

function inOne(run: readonly GoogleContent[]): readonly GoogleContent[] {
  const [first, ...others] = run
  if (!first || others.length === 0) return run
  const reply = { ...first, parts: normaliseParts({ parts: run.flatMap(normaliseParts) }) }
  joined.add(reply)
  return [reply]
}

/** From the end: where calls have no ids, responses belong to the latest of their name. */
function firstAnswered(run: readonly GoogleContent[], responses: GoogleFunctionResponse[]): number {
  let first = run.length
  for (const [index, content] of [...run.entries()].reverse())
    for (const { functionCall: call } of normaliseParts(content)) {
      const answer = call ? responses.findIndex((response) => fits(response, call)) : -1
      if (answer < 0) continue
      responses.splice(answer, 1)
      first = index
    }
  return first
}

function fits(response: GoogleFunctionResponse, call: GoogleFunctionCall): boolean {
  return response.id && call.id ? response.id === call.id : response.name === call.name
}

/** Up to the next content of the model. */
function responsesFrom(contents: readonly GoogleContent[], start: number): GoogleFunctionResponse[] {
  const end = contents.findIndex((content, index) => index >= start && isOfModel(content))
  return contents
    .slice(start, end < 0 ? undefined : end)
    .flatMap((content) => normaliseParts(content).flatMap((part) => part.functionResponse ?? []))
}

/** A response among its parts belongs to a call of the same content. */
function isOfModel(content: GoogleContent | undefined): boolean {
  return content?.role === 'model' && !partsOf(content).some((part) => part?.functionResponse)
}
