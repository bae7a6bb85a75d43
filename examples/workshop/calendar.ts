/** The calendar server: events, invitations and free time. */
import type { Tool } from '@toolwell/core'
import { createCalendar } from './calendar-store.ts'
import { choice, flag, integer, list, object, prose, text } from './schema.ts'
import type { Store } from './store.ts'

const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const moment = (description: string) =>
  text(description, { format: 'date-time', examples: ['2026-03-09T14:00:00+01:00'] })
const eventId = text('Id of the event, as list_events returns it.', { pattern: '^event-[0-9]+$' })
const email = (description: string) => text(description, { format: 'email' })
const showsAs = choice(['busy', 'free'], 'Whether the time counts as taken when others look for free time.', {
  default: 'busy',
})
const window = {
  from: moment('Beginning of the window. Write the offset from UTC.'),
  to: moment('End of the window, at most 400 days later.'),
}
const location = object(
  {
    kind: choice(['room', 'address', 'online', 'phone'], 'What sort of place it is.'),
    name: text('Name of the room or of the place.'),
    address: text('Postal address, on one line.'),
    join_url: text('Address to join online.', { format: 'uri' }),
    phone: text('Number to dial, with country code.', { pattern: '^[+0-9 ]+$' }),
  },
  ['kind'],
  { description: 'Where it takes place.' },
)
const attendees = (description: string) =>
  list(
    object(
      {
        email: email('Address of the person.'),
        name: text('Name to show.'),
        optional: flag('Whether it can go ahead without this person.', false),
      },
      ['email'],
    ),
    description,
    { maxItems: 100 },
  )

export function createCalendarTools(store: Store): Tool[] {
  const calendar = createCalendar(store)
  return [
    {
      name: 'create_event',
      description: prose(
        'Put an event into a calendar and invite people to it.',
        'Start and end carry their offset from UTC; the end is not part of the event. By default an',
        'overlap with what the attendees have already is reported but allowed: use find_free_time',
        'beforehand, or on_conflict "refuse". A recurring event is one event with a rule; list_events',
        'spells out its occurrences.',
      ),
      inputSchema: object(
        {
          title: text('What the event is called in the calendar.', { minLength: 1, maxLength: 200 }),
          start: moment('When it begins.'),
          end: moment('When it ends; later than start.'),
          calendar: text('Name of the calendar that holds it.', { default: 'work', maxLength: 40 }),
          description: text('Agenda and preparation, in plain text.', { maxLength: 8000 }),
          location,
          attendees: attendees('Whom to invite. Include the organiser, so that their time counts as taken.'),
          recurrence: object(
            {
              frequency: choice(['daily', 'weekly', 'monthly'], 'The unit that interval counts.'),
              interval: integer('Every how many units it takes place.', {
                minimum: 1,
                maximum: 52,
                default: 1,
              }),
              weekdays: list(
                choice(weekdays, 'A day of the week.'),
                'For weekly events: on which days. Default: the weekday of start.',
                { uniqueItems: true },
              ),
              count: integer('How often it takes place in all. Give this or until, not both.', {
                minimum: 1,
                maximum: 500,
              }),
              until: text('Last day on which it may take place.', { format: 'date' }),
            },
            ['frequency'],
            { description: 'How it repeats. Leave out for a single event.' },
          ),
          reminders: list(
            object(
              {
                minutes_before: integer('How long before the start.', { minimum: 0, maximum: 40320 }),
                method: choice(['notification', 'mail'], 'How people are reminded.', {
                  default: 'notification',
                }),
              },
              ['minutes_before'],
            ),
            'When attendees are reminded.',
            { maxItems: 5 },
          ),
          shows_as: showsAs,
          visibility: choice(
            ['default', 'public', 'private'],
            'private hides title and description from people who are not invited.',
            { default: 'default' },
          ),
          tentative: flag('Mark it as not settled yet.', false),
          on_conflict: choice(['warn', 'refuse'], 'What to do when an attendee is busy at that time.', {
            default: 'warn',
          }),
        },
        ['title', 'start', 'end'],
      ),
      annotations: { title: 'Create event', readOnlyHint: false, destructiveHint: false },
      domain: 'scheduling',
      aliases: ['schedule_meeting'],
      searchHint: 'appointment book invite recurring meeting',
      execute: calendar.createEvent,
    },
    {
      name: 'list_events',
      description: prose(
        'List what takes place within a window of time, earliest first.',
        'An event that only partly lies in the window is listed too. Recurring events appear once per',
        'occurrence.',
      ),
      inputSchema: object(
        {
          ...window,
          calendar: text('Only events of this calendar.'),
          attendee: email('Only events to which this person is invited.'),
          contains: text('Only events with this text in title or description, in any case.', {
            minLength: 2,
          }),
          expand_recurring: flag('List every occurrence. Off: a recurring event appears once.', true),
          include_cancelled: flag('Also list cancelled events.', false),
          detail: choice(
            ['summary', 'full'],
            'summary: id, title, times and status. full: everything stored.',
            {
              default: 'summary',
            },
          ),
          limit: integer('Most entries to return.', { minimum: 1, maximum: 500, default: 50 }),
        },
        ['from', 'to'],
      ),
      annotations: { title: 'List events', readOnlyHint: true },
      domain: 'scheduling',
      searchHint: 'agenda schedule meetings week',
      execute: calendar.listEvents,
    },
    {
      name: 'update_event',
      description: prose(
        'Change an event or the people invited to it.',
        'Moving the start moves the end along unless a new end is given, and resets the answers of all',
        'attendees. A change to a recurring event concerns all its occurrences.',
      ),
      inputSchema: object(
        {
          id: eventId,
          set: object(
            {
              title: text('New title.', { minLength: 1, maxLength: 200 }),
              description: text('New description, instead of the old one.'),
              start: moment('New start.'),
              end: moment('New end.'),
              location,
              shows_as: showsAs,
              tentative: flag('Whether it is still to be settled.', false),
            },
            [],
            { description: 'Fields and their new values; others stay.' },
          ),
          add_attendees: attendees('People to invite as well.'),
          remove_attendees: list(email('Address of a person.'), 'People to take off the list.'),
        },
        ['id'],
      ),
      annotations: { title: 'Update event', readOnlyHint: false, idempotentHint: true },
      domain: 'scheduling',
      aliases: ['reschedule_event'],
      searchHint: 'move meeting postpone invite more people',
      execute: calendar.updateEvent,
    },
    {
      name: 'cancel_event',
      description: prose(
        'Cancel an event, or one occurrence of a recurring event.',
        'The event stays stored as cancelled and can be listed, but no tool brings it back.',
      ),
      inputSchema: object(
        {
          id: eventId,
          occurrence_start: moment('Start of the one occurrence to cancel. Leave out to cancel everything.'),
          reason: text('A sentence for the attendees.', { maxLength: 500 }),
          notify_attendees: flag(
            'Send every attendee a notice. Occurrences are cancelled without one.',
            true,
          ),
        },
        ['id'],
      ),
      annotations: { title: 'Cancel event', readOnlyHint: false, destructiveHint: true },
      domain: 'scheduling',
      aliases: ['delete_event'],
      searchHint: 'call off meeting remove appointment',
      execute: calendar.cancelEvent,
    },
    {
      name: 'respond_to_event',
      description: prose(
        'Answer an invitation on behalf of an attendee.',
        'A later answer replaces an earlier one. Someone who declined counts as free at that time.',
      ),
      inputSchema: object(
        {
          id: eventId,
          attendee: email('Who answers; has to be invited.'),
          response: choice(['accepted', 'tentative', 'declined'], 'The answer.'),
          comment: text('A sentence for the organiser.', { maxLength: 500 }),
          proposed_start: moment('Another start this person suggests.'),
        },
        ['id', 'attendee', 'response'],
      ),
      annotations: {
        title: 'Respond to event',
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
      },
      domain: 'scheduling',
      searchHint: 'rsvp accept decline invitation',
      execute: calendar.respondToEvent,
    },
    {
      name: 'find_free_time',
      description: prose(
        'Find times at which a group of people is free for a given length.',
        'Looks at busy events of all calendars; declined and cancelled ones do not count. Everyone in',
        'attendees must be free, while optional attendees only influence the order. Times are tried at',
        'multiples of step_minutes and returned in UTC. Nothing is booked: pass a slot to create_event.',
      ),
      inputSchema: object(
        {
          attendees: list(email('Address of a person.'), 'People who have to be there.', {
            minItems: 1,
            maxItems: 50,
          }),
          optional_attendees: list(email('Address of a person.'), 'People who may miss it.', {
            maxItems: 50,
          }),
          duration_minutes: integer('Length that is needed.', { minimum: 5, maximum: 1440 }),
          ...window,
          working_hours: object(
            {
              from: text('Earliest start in a day.', {
                pattern: '^[0-2][0-9]:[0-5][0-9]$',
                default: '09:00',
              }),
              to: text('Latest end in a day.', { pattern: '^[0-2][0-9]:[0-5][0-9]$', default: '17:00' }),
              utc_offset_minutes: integer(
                'Offset of these hours from UTC; 60 for central Europe in winter.',
                {
                  minimum: -720,
                  maximum: 840,
                  default: 0,
                },
              ),
              weekdays: list(choice(weekdays, 'A day.'), 'Days to consider. Default: Monday to Friday.', {
                uniqueItems: true,
              }),
            },
            [],
            { description: 'When in the week a slot may lie.' },
          ),
          gap_minutes: integer('Free time to leave before and after.', {
            minimum: 0,
            maximum: 120,
            default: 0,
          }),
          step_minutes: integer('Distance between the starts that are tried.', {
            enum: [5, 10, 15, 30, 60],
            default: 30,
          }),
          prefer: choice(['earliest', 'latest', 'most_attendees'], 'Which slots come first.', {
            default: 'earliest',
          }),
          limit: integer('Most slots to return.', { minimum: 1, maximum: 50, default: 5 }),
        },
        ['attendees', 'duration_minutes', 'from', 'to'],
      ),
      annotations: { title: 'Find free time', readOnlyHint: true },
      domain: 'scheduling',
      searchHint: 'availability slot when can we meet',
      execute: calendar.findFreeTime,
    },
    {
      name: 'export_calendar',
      description: prose(
        'Write the events of a window to an iCalendar file in the workspace.',
        'Recurring events are written once, at their first occurrence. An existing file is replaced.',
      ),
      inputSchema: object(
        {
          ...window,
          path: text('Where to write, relative to the workspace folder.', {
            default: 'calendar.ics',
            pattern: '\\.ics$',
          }),
          calendars: list(text('Name of a calendar.'), 'Only these calendars. Default: all.'),
          include_descriptions: flag('Write descriptions too.', true),
          include_private: flag('Write private events too.', false),
        },
        ['from', 'to'],
      ),
      annotations: {
        title: 'Export calendar',
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
      },
      domain: 'scheduling',
      searchHint: 'ics ical download',
      execute: calendar.exportCalendar,
    },
  ]
}
