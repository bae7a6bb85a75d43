/** Events of the calendar server, in `.calendar/events.json`. Moments are kept as they were written. */
import { clock } from './clock.ts'
import {
  flagIn,
  type Input,
  numberIn,
  objectIn,
  objectsIn,
  optionalNumber,
  optionalText,
  textIn,
  textsIn,
} from './input.ts'
import type { Store } from './store.ts'

interface Attendee {
  email: string
  name?: string | undefined
  optional: boolean
  response: string
  comment?: string | undefined
  proposed_start?: string | undefined
}

interface Event {
  id: string
  calendar: string
  title: string
  description: string
  start: string
  end: string
  status: 'confirmed' | 'tentative' | 'cancelled'
  shows_as: string
  visibility: string
  location?: Input | undefined
  attendees: Attendee[]
  recurrence?: Input | undefined
  reminders: Input[]
  /** Starts of occurrences that were cancelled on their own. */
  skipped: string[]
}

interface Span {
  start: number
  end: number
}

const minute = 60_000
const day = 24 * 60 * minute
const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
const file = '.calendar/events.json'
const stamp = (time: number) => new Date(time).toISOString().replace('.000Z', 'Z')

function timeOf(moment: string): number {
  const time = Date.parse(moment)
  if (Number.isNaN(time) || !/(Z|[+-]\d\d:\d\d)$/.test(moment))
    throw new Error(`"${moment}" is not a moment. Write it with an offset, like 2026-03-02T09:00:00Z.`)
  return time
}

export function createCalendar(store: Store) {
  const all = () => store.readJson<Event[]>(file, [])

  async function load(id: string): Promise<Event> {
    const event = (await all()).find((candidate) => candidate.id === id)
    if (!event) throw new Error(`There is no event "${id}". Find its id with list_events.`)
    return event
  }

  async function save(event: Event): Promise<Event> {
    if (timeOf(event.end) <= timeOf(event.start))
      throw new Error('The end must come after the start. Correct start or end.')
    const events = await all()
    const known = events.some(({ id }) => id === event.id)
    await store.writeJson(
      file,
      known ? events.map((old) => (old.id === event.id ? event : old)) : [...events, event],
    )
    return event
  }

  async function busyTimes(emails: string[], window: Span): Promise<(Span & { event: Event })[]> {
    const events = (await all()).filter((event) => event.status !== 'cancelled' && event.shows_as === 'busy')
    return events
      .filter(({ attendees }) =>
        attendees.some(({ email, response }) => emails.includes(email) && response !== 'declined'),
      )
      .flatMap((event) => occurrencesOf(event, window).map((span) => ({ ...span, event })))
  }

  return {
    async createEvent(input: Input) {
      const attendees = attendeesIn(input)
      const [start, end] = [textIn(input, 'start'), textIn(input, 'end')]
      const window = { start: timeOf(start), end: timeOf(end) }
      const clashes = await busyTimes(
        attendees.map(({ email }) => email),
        window,
      )
      if (clashes.length > 0 && textIn(input, 'on_conflict', 'warn') === 'refuse')
        throw new Error(`It overlaps with "${clashes[0]?.event.title}". Pick a time from find_free_time.`)
      const event = await save({
        id: `event-${(await all()).length + 1}`,
        calendar: textIn(input, 'calendar', 'work'),
        title: textIn(input, 'title'),
        description: textIn(input, 'description', ''),
        start,
        end,
        status: flagIn(input, 'tentative', false) ? 'tentative' : 'confirmed',
        shows_as: textIn(input, 'shows_as', 'busy'),
        visibility: textIn(input, 'visibility', 'default'),
        location: 'location' in input ? objectIn(input, 'location') : undefined,
        attendees,
        recurrence: 'recurrence' in input ? objectIn(input, 'recurrence') : undefined,
        reminders: objectsIn(input, 'reminders'),
        skipped: [],
      })
      return {
        ...event,
        conflicts: clashes.map((clash) => ({ id: clash.event.id, title: clash.event.title })),
      }
    },

    async listEvents(input: Input) {
      const window = windowIn(input)
      const [calendar, attendee] = [optionalText(input, 'calendar'), optionalText(input, 'attendee')]
      const words = optionalText(input, 'contains')?.toLowerCase()
      const found = (await all())
        .filter((event) => event.status !== 'cancelled' || flagIn(input, 'include_cancelled', false))
        .filter((event) => calendar === undefined || event.calendar === calendar)
        .filter((event) => attendee === undefined || event.attendees.some(({ email }) => email === attendee))
        .filter(
          (event) =>
            words === undefined || `${event.title}\n${event.description}`.toLowerCase().includes(words),
        )
        .flatMap((event) => {
          const spans = occurrencesOf(event, window)
          return flagIn(input, 'expand_recurring', true)
            ? spans.map((span) => ({ span, event }))
            : spans.slice(0, 1).map((span) => ({ span, event }))
        })
        .sort((a, b) => a.span.start - b.span.start)
      const detailed = textIn(input, 'detail', 'summary') === 'full'
      const events = found.slice(0, numberIn(input, 'limit', 50)).map(({ span, event }) => ({
        ...(detailed ? event : { id: event.id, title: event.title, status: event.status }),
        start: stamp(span.start),
        end: stamp(span.end),
      }))
      return { total: found.length, events }
    },

    async updateEvent(input: Input) {
      const event = await load(textIn(input, 'id'))
      const set = objectIn(input, 'set')
      const length = timeOf(event.end) - timeOf(event.start)
      const start = textIn(set, 'start', event.start)
      const movedEnd = start === event.start ? event.end : stamp(timeOf(start) + length)
      const removed = textsIn(input, 'remove_attendees')
      const added = attendeesIn({ attendees: input.add_attendees })
      const kept = event.attendees.filter(
        ({ email }) => !removed.includes(email) && !added.some((one) => one.email === email),
      )
      const moved = start !== event.start
      return save({
        ...event,
        title: textIn(set, 'title', event.title),
        description: textIn(set, 'description', event.description),
        start,
        end: textIn(set, 'end', movedEnd),
        shows_as: textIn(set, 'shows_as', event.shows_as),
        status: flagIn(set, 'tentative', event.status === 'tentative') ? 'tentative' : 'confirmed',
        location: 'location' in set ? objectIn(set, 'location') : event.location,
        attendees: [...kept.map((one) => (moved ? { ...one, response: 'pending' } : one)), ...added],
      })
    },

    async cancelEvent(input: Input) {
      const event = await load(textIn(input, 'id'))
      const occurrence = optionalText(input, 'occurrence_start')
      if (occurrence !== undefined) {
        const start = timeOf(occurrence)
        if (!occurrencesOf(event, { start, end: start + 1 }).some((span) => span.start === start))
          throw new Error(
            `"${event.id}" has no occurrence at ${occurrence}. See list_events for the exact starts.`,
          )
        await save({ ...event, skipped: [...event.skipped, stamp(start)] })
        return { id: event.id, cancelled: 'occurrence', at: stamp(start) }
      }
      await save({ ...event, status: 'cancelled' })
      const told = flagIn(input, 'notify_attendees', true) ? event.attendees.map(({ email }) => email) : []
      for (const email of told)
        await store.write(
          `.calendar/notices/${event.id}-${email.replace(/[^a-z0-9]+/gi, '-')}.txt`,
          `${event.title} on ${event.start} is cancelled. ${textIn(input, 'reason', '')}\n`,
        )
      return { id: event.id, cancelled: 'event', notified: told }
    },

    async respondToEvent(input: Input) {
      const event = await load(textIn(input, 'id'))
      const email = textIn(input, 'attendee')
      if (!event.attendees.some((one) => one.email === email))
        throw new Error(`${email} is not invited to "${event.id}". Add them with update_event first.`)
      const answer = {
        response: textIn(input, 'response'),
        comment: optionalText(input, 'comment'),
        proposed_start: optionalText(input, 'proposed_start'),
      }
      const attendees = event.attendees.map((one) => (one.email === email ? { ...one, ...answer } : one))
      return { id: event.id, attendees: (await save({ ...event, attendees })).attendees }
    },

    async findFreeTime(input: Input) {
      const window = windowIn(input)
      const length = numberIn(input, 'duration_minutes') * minute
      const gap = numberIn(input, 'gap_minutes', 0) * minute
      const step = numberIn(input, 'step_minutes', 30) * minute
      const hours = objectIn(input, 'working_hours')
      const [opens, closes] = [
        clockTimeOf(textIn(hours, 'from', '09:00')),
        clockTimeOf(textIn(hours, 'to', '17:00')),
      ]
      const offset = numberIn(hours, 'utc_offset_minutes', 0) * minute
      const days = 'weekdays' in hours ? textsIn(hours, 'weekdays') : weekdays.slice(1, 6)
      const busy = await busyTimes(textsIn(input, 'attendees'), {
        start: window.start - day,
        end: window.end + day,
      })
      const optional = await busyTimes(textsIn(input, 'optional_attendees'), window)
      const overlapping = (spans: Span[], start: number) =>
        spans.filter((span) => span.start < start + length + gap && span.end > start - gap).length
      const slots: { start: string; end: string; missing_optional: number }[] = []
      for (let start = Math.ceil(window.start / step) * step; start + length <= window.end; start += step) {
        const local = start + offset
        const timeOfDay = ((local % day) + day) % day
        if (!days.includes(weekdays[new Date(local).getUTCDay()] ?? '')) continue
        if (timeOfDay < opens || timeOfDay + length > closes || overlapping(busy, start) > 0) continue
        slots.push({
          start: stamp(start),
          end: stamp(start + length),
          missing_optional: overlapping(optional, start),
        })
      }
      if (textIn(input, 'prefer', 'earliest') === 'most_attendees')
        slots.sort((a, b) => a.missing_optional - b.missing_optional)
      if (textIn(input, 'prefer', 'earliest') === 'latest') slots.reverse()
      return { total: slots.length, slots: slots.slice(0, numberIn(input, 'limit', 5)) }
    },

    async exportCalendar(input: Input) {
      const window = windowIn(input)
      const calendars = textsIn(input, 'calendars')
      const events = (await all())
        .filter((event) => event.status !== 'cancelled' && occurrencesOf(event, window).length > 0)
        .filter((event) => calendars.length === 0 || calendars.includes(event.calendar))
        .filter((event) => event.visibility !== 'private' || flagIn(input, 'include_private', false))
      const path = textIn(input, 'path', 'calendar.ics')
      const compact = (moment: string) => stamp(timeOf(moment)).replace(/[-:]/g, '')
      const escaped = (value: string) => value.replace(/[\\;,]/g, '\\$&').replace(/\n/g, '\\n')
      const body = events.flatMap((event) => [
        'BEGIN:VEVENT',
        `UID:${event.id}@workshop`,
        `DTSTAMP:${compact(clock.now())}`,
        `DTSTART:${compact(event.start)}`,
        `DTEND:${compact(event.end)}`,
        `SUMMARY:${escaped(event.title)}`,
        ...(flagIn(input, 'include_descriptions', true) ? [`DESCRIPTION:${escaped(event.description)}`] : []),
        'END:VEVENT',
      ])
      const rows = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//workshop//EN', ...body, 'END:VCALENDAR', '']
      await store.write(path, rows.join('\r\n'))
      return { path, events: events.length }
    },
  }
}

function windowIn(input: Input): Span {
  const window = { start: timeOf(textIn(input, 'from')), end: timeOf(textIn(input, 'to')) }
  if (window.end - window.start > 400 * day)
    throw new Error('The window is longer than 400 days. Ask for a shorter one.')
  return window
}

function clockTimeOf(written: string): number {
  const [hours = '', minutes = ''] = written.split(':')
  return (Number(hours) * 60 + Number(minutes)) * minute
}

function attendeesIn(input: Input): Attendee[] {
  return objectsIn(input, 'attendees').map((one) => ({
    email: textIn(one, 'email'),
    name: optionalText(one, 'name'),
    optional: flagIn(one, 'optional', false),
    response: 'pending',
  }))
}

/** The occurrences that overlap the window. An endless event is followed to the window's end. */
function occurrencesOf(event: Event, window: Span): Span[] {
  const [first, length] = [timeOf(event.start), timeOf(event.end) - timeOf(event.start)]
  const overlaps = (start: number) => start < window.end && start + length > window.start
  const rule = event.recurrence
  if (!rule) return overlaps(first) ? [{ start: first, end: first + length }] : []
  const interval = numberIn(rule, 'interval', 1)
  const until = optionalText(rule, 'until')
  const last = Math.min(window.end, until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until) + day)
  const count = optionalNumber(rule, 'count') ?? Number.POSITIVE_INFINITY
  const spans: Span[] = []
  let seen = 0
  for (let start = first; start < last && seen < count; start += day) {
    if (!recursOn(start, first, rule, interval)) continue
    seen++
    if (overlaps(start) && !event.skipped.includes(stamp(start))) spans.push({ start, end: start + length })
  }
  return spans
}

function recursOn(start: number, first: number, rule: Input, interval: number): boolean {
  const [date, origin] = [new Date(start), new Date(first)]
  const frequency = textIn(rule, 'frequency')
  if (frequency === 'daily') return Math.round((start - first) / day) % interval === 0
  if (frequency === 'monthly') {
    const months =
      (date.getUTCFullYear() - origin.getUTCFullYear()) * 12 + date.getUTCMonth() - origin.getUTCMonth()
    return months % interval === 0 && date.getUTCDate() === origin.getUTCDate()
  }
  const named = textsIn(rule, 'weekdays')
  const days = named.length > 0 ? named : [weekdays[origin.getUTCDay()]]
  const weeks = Math.floor((start - first + origin.getUTCDay() * day) / (7 * day))
  return weeks % interval === 0 && days.includes(weekdays[date.getUTCDay()])
}
