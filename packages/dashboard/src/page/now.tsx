/** The start page: what needs the user first, then live calls. */
import type { Attention, ClientRow, LoginAnswer, NowAnswer } from '@toolwell/gateway/api'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { CallTable } from './calls.js'
import { count, duration, exactTime, plural, short, shortFolder, visible } from './format.js'
import {
  attempt,
  attention,
  calls,
  clock,
  configFile,
  post,
  revisions,
  session,
  toast,
  useAnswer,
} from './gateway.js'
import { pathTo } from './router.js'
import { Ago, Button, Copy, Empty, Page, Section } from './ui.js'

export function Now() {
  const changes = revisions.calls.value + revisions.searches.value
  const { data } = useAnswer<NowAnswer>('now', Math.floor(clock.value / 10_000) + changes)
  const opened = session.value
  if (!opened) return null
  const hasServers = opened.sets.some(({ servers }) => servers > 0)
  return (
    <Page
      title="Now"
      about="What waits for you, and the calls of your agents."
      aside={data && <Counts {...data} startedAt={opened.startedAt} />}
    >
      {attention.value.length > 0 && <Needs items={attention.value} />}
      {hasServers ? <Stream /> : <FirstServer />}
      {data && data.clients.length > 0 && <Clients clients={data.clients} />}
    </Page>
  )
}

const Counts = ({ counts, saved = 0, startedAt }: NowAnswer & { readonly startedAt: number }) => {
  const { calls: ran, errors, refused, searches } = counts
  const figures = [
    [
      saved < 0 ? 'lost' : 'saved',
      saved !== 0 && (
        <a class={saved < 0 ? 'bad' : ''} href={pathTo('savings')} title="In the last 30 days, estimated">
          {short(Math.abs(saved))} tokens
        </a>
      ),
    ],
    [ran === 1 ? 'call' : 'calls', count(ran)],
    ['failed', <span class={errors > 0 ? 'bad' : ''}>{count(errors)}</span>],
    ['refused', count(refused)],
    [searches === 1 ? 'search' : 'searches', count(searches)],
    ['uptime', <span title={exactTime(startedAt)}>{duration(clock.value - startedAt)}</span>],
  ] as const
  return (
    <dl class="figures">
      {figures.map(
        ([label, figure]) =>
          figure !== false && (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{figure}</dd>
            </div>
          ),
      )}
    </dl>
  )
}

const FirstServer = () => (
  <Empty title="No servers yet">
    Calls of your agents appear here. Add a server to <code>{configFile()}</code>, or import the servers of
    your clients: <code>{session.value?.command} import</code>
  </Empty>
)

type Group = readonly [Attention, ...Attention[]]

/** Failures first. Definitions of one server are one item, because the user reviews them together. */
function Needs({ items }: { items: readonly Attention[] }) {
  const groups = Map.groupBy(items, (item) =>
    item.kind === 'definition' ? `definition ${item.set} ${item.server}` : item.id,
  )
  const needs = [...groups].map(([key, group]) => ({ key, ...describe(group as unknown as Group) }))
  return (
    <Section title="Needs you">
      <ul class="needs">
        {[...needs.filter(({ isBad }) => isBad), ...needs.filter(({ isBad }) => !isBad)].map(
          ({ key, isBad, title, text, action }) => (
            <li key={key} class={isBad ? 'bad' : 'warn'}>
              <div>
                <strong>{visible(title)}</strong>
                <p>{text}</p>
              </div>
              {action}
            </li>
          ),
        )}
      </ul>
    </Section>
  )
}

interface Need {
  readonly isBad?: boolean
  /** With the names that servers chose. */
  readonly title: string
  readonly text: ComponentChildren
  readonly action?: ComponentChildren
}

function describe([item, ...more]: Group): Need {
  switch (item.kind) {
    case 'definition': {
      const all = [item, ...more].filter((each) => each.kind === 'definition')
      const isBad = all.some((each) => each.isPoisoned)
      const names = all.flatMap(({ tool }) => tool ?? []).slice(0, 8)
      const what = { added: 'is new', changed: 'changed', removed: 'was removed' }[item.change]
      return {
        isBad,
        title:
          all.length > 1
            ? `${count(all.length)} definitions of ${item.server} wait for approval`
            : `${[item.server, ...names].join('/')} ${what} and waits for approval`,
        text: (
          <>
            {isBad && <b>It may contain instructions for your agent. </b>}
            {all.length > 1
              ? visible(names.join(', ') + (names.length < all.length ? ' …' : ''))
              : isBad
                ? visible(item.reason)
                : 'Agents cannot find or call it until you approve it.'}
          </>
        ),
        action: linkTo(item, 'Review'),
      }
    }
    case 'commands':
      return {
        title: `The entry of ${item.server} runs ${plural(item.commands.length, 'command')} that you have not approved`,
        text: <code>{visible(item.commands.join(' · '))}</code>,
        action: linkTo(item, 'Review'),
      }
    case 'login':
      return {
        title: `${item.server} needs a sign-in`,
        text: visible(item.reason),
        action: <SignIn {...item} />,
      }
    case 'failed':
      return {
        isBad: true,
        title: `${item.server} failed`,
        text: (
          <>
            {visible(item.reason)} <span class="fix">{visible(item.fix)}</span>
          </>
        ),
        action: linkTo(item, 'Open'),
      }
    case 'config':
      return {
        isBad: true,
        title: `Problem in the config${item.server === undefined ? '' : ` of ${item.server}`}`,
        text: visible(item.problem),
      }
    case 'untrusted':
      return {
        title: `${shortFolder(item.folder)} has its own config, which you have not trusted`,
        text: (
          <>
            The gateway skips <code>{visible(item.file)}</code>. To use it, run:{' '}
            <code>{visible(item.command)}</code>
          </>
        ),
        action: <Copy text={item.command}>Copy command</Copy>,
      }
    case 'lost':
      return {
        isBad: true,
        title: `${plural(item.count, item.what === 'calls' ? 'record' : 'long result')} could not be written`,
        text: visible(item.reason),
      }
  }
}

const linkTo = ({ set, server }: { set: string; server: string }, text: string) => (
  <a class="button" href={pathTo('servers', { set, server })}>
    {text}
    <span class="reader"> {visible(server)}</span>
  </a>
)

export function SignIn({ set, server }: { set: string; server: string }) {
  const signIn = () =>
    attempt(async () => {
      const { address } = await post<LoginAnswer>('servers/login', { set, server })
      if (!/^https?:/.test(address)) throw new Error(`${address} is not a web address.`)
      open(address, '_blank', 'noopener')
      toast.value = {
        text: 'Sign in on the page that opened. This page then updates by itself.',
        opened: address,
      }
    })
  return (
    <Button class="primary" onClick={signIn}>
      Sign in<span class="reader"> to {visible(server)}</span>
    </Button>
  )
}

function Stream() {
  const [paused, setPaused] = useState<typeof calls.value>()
  const shown = paused ?? calls.value
  const waiting = paused ? calls.value.findIndex(({ id }) => id === paused[0]?.id) : 0
  return (
    <Section
      title="Live calls"
      aside={
        shown.length > 0 && (
          <Button onClick={() => setPaused(paused ? undefined : calls.value)}>
            {paused ? `Continue${waiting > 0 ? ` (${waiting} new)` : ''}` : 'Pause'}
          </Button>
        )
      }
    >
      {shown.length > 0 ? (
        <CallTable label="Live calls" calls={shown.slice(0, 50)} />
      ) : (
        <Empty title="No calls yet">
          Each call of a tool appears here as it happens. Connect a client to{' '}
          <code>{session.value?.address}</code>
          {/* That command connects clients to the usual gateway. */}
          {!session.value?.linkCommand.includes('--folder') && (
            <>
              , or run <code>{session.value?.command} connect</code>
            </>
          )}
          .
        </Empty>
      )}
    </Section>
  )
}

const Clients = ({ clients }: Pick<NowAnswer, 'clients'>) => (
  <Section title="Clients">
    <ul class="clients">
      {clients.map((client) => (
        <Client key={`${client.name} ${client.endpoint} ${client.joinedAt}`} {...client} />
      ))}
    </ul>
  </Section>
)

const Client = ({ name, kind, endpoint, project, calls: ran, searches, lastSeen }: ClientRow) => (
  <li>
    <strong>{visible(name)}</strong>
    <span class="quiet" title={visible(project)}>
      {project === '' ? endpoint : visible(shortFolder(project))} · {kind === 'stdio' ? 'stdio' : 'HTTP'}
    </span>
    <span class="quiet">
      {plural(ran, 'call')}, {plural(searches, 'search')} · <Ago time={lastSeen} />
    </span>
  </li>
)
