/** Calls by project and client over time, and a list with filters. */
import type { CallsAnswer, WorkAnswer, WorkSlot } from '@toolwell/gateway/api'
import { useEffect, useState } from 'preact/hooks'
import { CallTable } from './calls.js'
import { Chart } from './chart-box.js'
import { count, plural, short, shortFolder, visible } from './format.js'
import { attempt, get, revisions, session, useAnswer } from './gateway.js'
import { pathTo, place, setQuery } from './router.js'
import { type Column, Table } from './table.js'
import { Answer, Choices, Data, Empty, Filter, Page } from './ui.js'

const HOUR = 3_600_000
const OUTCOMES = [
  ['ok', 'ok'],
  ['error', 'failed'],
  ['refused', 'refused'],
] as const

interface Group extends Omit<WorkSlot, 'start'> {}

const columns: readonly Column<Group>[] = [
  {
    key: 'project',
    title: 'Project',
    cell: ({ project }) => (
      <span title={visible(project)}>
        {project === '' ? <span class="quiet">no folder</span> : visible(shortFolder(project))}
      </span>
    ),
    sortBy: ({ project }) => project,
  },
  {
    key: 'client',
    title: 'Client',
    width: 12,
    cell: ({ client }) => <Data text={client} />,
    sortBy: ({ client }) => client,
  },
  {
    key: 'calls',
    title: 'Calls',
    width: 6,
    isNumber: true,
    cell: ({ calls }) => count(calls),
    sortBy: ({ calls }) => calls,
  },
  {
    key: 'errors',
    title: 'Failed',
    width: 6,
    isNumber: true,
    cell: ({ errors }) => <span class={errors > 0 ? 'bad' : 'quiet'}>{count(errors)}</span>,
    sortBy: ({ errors }) => errors,
  },
  {
    key: 'refused',
    title: 'Refused',
    width: 6,
    isNumber: true,
    room: 'extra',
    cell: ({ refused }) => <span class={refused > 0 ? 'warn' : 'quiet'}>{count(refused)}</span>,
    sortBy: ({ refused }) => refused,
  },
  {
    key: 'searches',
    title: 'Searches',
    width: 7,
    isNumber: true,
    room: 'extra',
    cell: ({ searches }) => count(searches),
    sortBy: ({ searches }) => searches,
  },
  {
    key: 'tokens',
    title: 'Result tokens',
    width: 9,
    isNumber: true,
    cell: ({ tokensOut }) => short(tokensOut),
    sortBy: ({ tokensOut }) => tokensOut,
  },
]

export function Work() {
  const { query } = place.value
  const unit = query.get('unit') === 'day' ? 'day' : 'hour'
  const [client, project] = [query.get('client') ?? '', query.get('project') ?? '']
  const filter = new URLSearchParams({ unit, ...(client && { client }), ...(project && { project }) })
  const work = useAnswer<WorkAnswer>(`work?${filter}`, revisions.calls.value)
  return (
    <Page
      title="Work"
      about="Calls by project and client. Clients without calls are not listed."
      aside={
        <Choices
          label="Period"
          value={unit}
          options={[
            ['hour', '48 hours'],
            ['day', '90 days'],
          ]}
          onChange={(value) => setQuery({ unit: value === 'day' ? value : undefined })}
        />
      }
    >
      <Answer from={work}>
        {(answer) =>
          answer.clients.length === 0 ? (
            <Empty title="No calls yet">
              When an agent calls a tool, this page shows the calls of each project over time. Connect a
              client to <code>{session.value?.address}</code> first.
            </Empty>
          ) : (
            <Overview answer={answer} />
          )
        }
      </Answer>
    </Page>
  )
}

function Overview({ answer }: { answer: WorkAnswer }) {
  const { query } = place.value
  const { unit, slots } = answer
  const step = unit === 'hour' ? HOUR : 24 * HOUR
  const newest = Math.floor(Date.now() / step) * step
  const times = Array.from(
    { length: unit === 'hour' ? 48 : 90 },
    (_, index, all = unit === 'hour' ? 48 : 90) => newest - (all - 1 - index) * step,
  )
  const sumAt = (time: number, key: 'calls' | 'errors') =>
    slots.reduce((sum, slot) => sum + (Math.floor(slot.start / step) * step === time ? slot[key] : 0), 0)
  const [ran, failed] = [
    times.map((time) => sumAt(time, 'calls')),
    times.map((time) => sumAt(time, 'errors')),
  ]
  const groups = groupSlots(slots)
  const filter = (key: string) => ({
    value: query.get(key) ?? '',
    onChange: (value: string) => setQuery({ [key]: value }),
  })
  const total = ran.reduce((sum, each) => sum + each, 0)
  return (
    <>
      <Chart
        label={`${plural(total, 'call')} in the last ${unit === 'hour' ? '48 hours' : '90 days'}`}
        unit={unit}
        times={times}
        series={[
          { label: 'calls', values: ran, color: '--chart' },
          { label: 'failed', values: failed, color: '--bad-dot' },
        ]}
        describe={(index) => `${plural(ran[index] ?? 0, 'call')}, ${count(failed[index] ?? 0)} failed`}
      />
      <div class="filters">
        <Filter label="Project" options={answer.projects.filter(Boolean)} {...filter('project')} />
        <Filter label="Client" options={answer.clients} {...filter('client')} />
        <Filter label="Server" options={answer.servers} {...filter('server')} />
        <Filter label="Outcome" options={OUTCOMES} {...filter('outcome')} />
        <input
          type="search"
          placeholder="Tool"
          aria-label="Tool"
          value={query.get('tool') ?? ''}
          onChange={(event) => setQuery({ tool: event.currentTarget.value.trim() })}
        />
      </div>
      {groups.length > 0 && (
        <section aria-labelledby="groups">
          <h2 id="groups">Projects and clients</h2>
          <Groups groups={groups} />
        </section>
      )}
      <CallList />
    </>
  )
}

function Groups({ groups }: { groups: readonly Group[] }) {
  const [sort, setSort] = useState({ key: 'calls', isDescending: true })
  return (
    <Table
      label="Projects and clients"
      columns={columns}
      rows={groups}
      keyOf={({ project, client }) => `${project}\n${client}`}
      sort={sort}
      onSort={setSort}
      onOpen={({ project, client }) => setQuery({ project, client })}
    />
  )
}

function groupSlots(slots: readonly WorkSlot[]): Group[] {
  const groups = new Map<string, Group>()
  for (const { start: _, ...slot } of slots) {
    const key = `${slot.project}\n${slot.client}`
    const known = groups.get(key)
    groups.set(
      key,
      known
        ? {
            ...known,
            calls: known.calls + slot.calls,
            errors: known.errors + slot.errors,
            refused: known.refused + slot.refused,
            searches: known.searches + slot.searches,
            tokensOut: known.tokensOut + slot.tokensOut,
          }
        : slot,
    )
  }
  return [...groups.values()].filter(({ calls, refused }) => calls + refused > 0)
}

function CallList() {
  const { query } = place.value
  const filter = new URLSearchParams()
  for (const key of ['project', 'client', 'server', 'tool', 'outcome']) {
    const value = query.get(key)
    if (value) filter.set(key, value)
  }
  const path = `calls?limit=100&${filter}`
  const first = useAnswer<CallsAnswer>(path, revisions.calls.value)
  const [more, setMore] = useState<readonly CallsAnswer[]>([])
  useEffect(() => setMore([]), [path])
  const before = more.length > 0 ? more.at(-1)?.before : first.data?.before
  const load = () =>
    attempt(async () => {
      const next = await get<CallsAnswer>(`${path}&before=${before}`)
      setMore([...more, next])
    })
  return (
    <section aria-labelledby="calls">
      <h2 id="calls">Calls</h2>
      <Answer from={first}>
        {({ calls }) => {
          const all = [
            ...new Map(
              [calls, ...more.map((page) => page.calls)].flat().map((call) => [call.id, call]),
            ).values(),
          ]
          if (all.length === 0)
            return (
              <Empty title="No matching calls">
                The latest 2,000 calls are kept with their details.{' '}
                <a href={pathTo('work')}>Show all calls</a>
              </Empty>
            )
          return (
            <>
              <CallTable label="Calls" calls={all} />
              {before !== undefined && (
                <button type="button" onClick={load}>
                  Show older calls
                </button>
              )}
            </>
          )
        }}
      </Answer>
    </section>
  )
}
