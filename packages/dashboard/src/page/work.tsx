/** Calls by project and client over time, and a list with filters. */
import type { CallsAnswer, WorkAnswer, WorkSlot } from '@toolwell/gateway/api'
import { useEffect, useState } from 'preact/hooks'
import { CallTable } from './calls.js'
import { Chart } from './chart-box.js'
import { addUp, count, lastFolder, plural, short, visible } from './format.js'
import { attempt, get, revisions, session, useAnswer } from './gateway.js'
import { pathTo, place, queryFilter, setQuery } from './router.js'
import { type Column, numberColumn, Table, textColumn } from './table.js'
import { Answer, Button, Choices, Empty, Filter, Page, Section } from './ui.js'

const HOUR = 3_600_000
const PERIODS = [
  ['hour', '48 hours'],
  ['day', '90 days'],
] as const
const OUTCOMES = [
  ['ok', 'ok'],
  ['error', 'failed'],
  ['refused', 'refused'],
] as const

type Group = Omit<WorkSlot, 'start'>

const columns: readonly Column<Group>[] = [
  textColumn('project', 'Project', ({ project }) => project, {
    cell: ({ project }) => (
      <span title={visible(project)}>
        {project === '' ? <span class="quiet">no folder</span> : visible(lastFolder(project))}
      </span>
    ),
  }),
  textColumn('client', 'Client', ({ client }) => client, { width: 12 }),
  numberColumn('calls', 'Calls', 6, ({ calls }) => calls),
  numberColumn('errors', 'Failed', 6, ({ errors }) => errors, {
    show: (errors) => <span class="bad">{count(errors)}</span>,
  }),
  numberColumn('refused', 'Refused', 6, ({ refused }) => refused, {
    room: 'extra',
    show: (refused) => <span class="warn">{count(refused)}</span>,
  }),
  numberColumn('searches', 'Searches', 7, ({ searches }) => searches, { room: 'extra' }),
  numberColumn('tokens', 'Result tokens', 9, ({ tokensOut }) => tokensOut, { show: short }),
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
          options={PERIODS}
          onChange={(value) => setQuery({ unit: value === 'day' ? value : undefined })}
        />
      }
    >
      <Answer from={work}>
        {(answer) =>
          answer.clients.length > 0 ? (
            <Overview answer={answer} />
          ) : (
            <Empty title="No calls yet">
              When an agent calls a tool, this page shows the calls of each project over time. Connect a
              client to <code>{session.value?.address}</code> first.
            </Empty>
          )
        }
      </Answer>
    </Page>
  )
}

function Overview({ answer }: { answer: WorkAnswer }) {
  const { unit, slots } = answer
  const [step, most, period] = unit === 'hour' ? [HOUR, 48, '48 hours'] : [24 * HOUR, 90, '90 days']
  const newest = Math.floor(Date.now() / step) * step
  const times = Array.from({ length: most }, (_, index) => newest - (most - 1 - index) * step)
  const byTime = Map.groupBy(slots, ({ start }) => Math.floor(start / step) * step)
  const sums = times.map((time) => addUp(byTime.get(time) ?? [], 'calls', 'errors'))
  const groups = groupSlots(slots)
  return (
    <>
      <Chart
        label={`${plural(addUp(sums, 'calls').calls, 'call')} in the last ${period}`}
        unit={unit}
        times={times}
        series={[
          { label: 'calls', values: sums.map(({ calls }) => calls), color: '--chart' },
          { label: 'failed', values: sums.map(({ errors }) => errors), color: '--bad-dot' },
        ]}
        describe={(index) => `${plural(sums[index]?.calls ?? 0, 'call')}, ${sums[index]?.errors ?? 0} failed`}
      />
      <div class="filters">
        <Filter label="Project" options={answer.projects.filter(Boolean)} {...queryFilter('project')} />
        <Filter label="Client" options={answer.clients} {...queryFilter('client')} />
        <Filter label="Server" options={answer.servers} {...queryFilter('server')} />
        <Filter label="Outcome" options={OUTCOMES} {...queryFilter('outcome')} />
        <input
          type="search"
          placeholder="Tool"
          aria-label="Tool"
          value={place.value.query.get('tool') ?? ''}
          onChange={(event) => setQuery({ tool: event.currentTarget.value.trim() })}
        />
      </div>
      {groups.length > 0 && (
        <Section title="Projects and clients">
          <Table
            label="Projects and clients"
            columns={columns}
            rows={groups}
            keyOf={({ project, client }) => `${project}\n${client}`}
            sort={{ key: 'calls', isDescending: true }}
            onOpen={({ project, client }) => setQuery({ project, client })}
          />
        </Section>
      )}
      <CallList />
    </>
  )
}

const groupSlots = (slots: readonly WorkSlot[]): Group[] =>
  [...Map.groupBy(slots, ({ project, client }) => `${project}\n${client}`).values()]
    .map((own) => ({
      ...(own[0] as WorkSlot),
      ...addUp(own, 'calls', 'errors', 'refused', 'searches', 'tokensOut'),
    }))
    .filter(({ calls, refused }) => calls + refused > 0)

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
    <Section title="Calls">
      <Answer from={first}>
        {({ calls }) => {
          const pages = [calls, ...more.map((page) => page.calls)].flat()
          const all = [...new Map(pages.map((call) => [call.id, call])).values()]
          return all.length > 0 ? (
            <>
              <CallTable label="Calls" calls={all} />
              {before !== undefined && <Button onClick={load}>Show older calls</Button>}
            </>
          ) : (
            <Empty title="No matching calls">
              This list has the latest 2,000 calls since the gateway started.{' '}
              <a href={pathTo('work')}>Show all calls</a>
            </Empty>
          )
        }}
      </Answer>
    </Section>
  )
}
