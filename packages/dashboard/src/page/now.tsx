/** The start page: what needs the user first, then live calls. */
import type { Attention, ClientRow, LoginAnswer, NowAnswer } from '@toolwell/gateway/api'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { CallTable } from './calls.js'
import { count, duration, exactTime, plural, shortFolder, visible } from './format.js'
import {
  attempt,
  attention,
  calls,
  clock,
  counts,
  post,
  revisions,
  session,
  toast,
  useAnswer,
} from './gateway.js'
import { pathTo } from './router.js'
import { Ago, Answer, Copy, Data, Empty, Page } from './ui.js'

export function Now() {
  const opened = session.value
  if (!opened) return null
  const hasServers = opened.sets.some(({ servers }) => servers > 0)
  return (
    <Page
      title="Now"
      about="Problems and approvals that need you, and the calls of your agents."
      aside={<Counts startedAt={opened.startedAt} />}
    >
      {attention.value.length > 0 && <Needs />}
      {hasServers ? <Stream /> : <FirstServer />}
      <Clients />
    </Page>
  )
}

const Counts = ({ startedAt }: { startedAt: number }) => {
  const { calls: ran, errors, refused, searches } = counts.value
  return (
    <dl class="figures">
      <Figure label="calls">{count(ran)}</Figure>
      <Figure label="failed">{errors > 0 ? <span class="bad">{count(errors)}</span> : 0}</Figure>
      {refused > 0 && <Figure label="refused">{count(refused)}</Figure>}
      <Figure label="searches">{count(searches)}</Figure>
      <Figure label="uptime">
        <span title={exactTime(startedAt)}>{duration(clock.value - startedAt)}</span>
      </Figure>
    </dl>
  )
}

export const Figure = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <div>
    <dt>{label}</dt>
    <dd>{children}</dd>
  </div>
)

function FirstServer() {
  const [set] = session.value?.sets ?? []
  const file = set?.missing[0] ?? set?.files[0]
  return (
    <Empty title="No servers yet">
      Calls of your agents appear here. Add a server to <code>{file ?? 'toolwell.json'}</code>, or import the
      servers of your clients: <code>{session.value?.command} import</code>
    </Empty>
  )
}

/** Definitions of one server are one item: the user reviews them together. */
function groupItems(items: readonly Attention[]): readonly (readonly [Attention, ...Attention[]])[] {
  const groups = new Map<string, [Attention, ...Attention[]]>()
  for (const item of items) {
    const key = item.kind === 'definition' ? `definition ${item.set} ${item.server}` : item.id
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return [...groups.values()]
}

const rank = (group: Parameters<typeof describe>[0]) => (describe(group).tone === 'bad' ? 0 : 1)

function Needs() {
  // Failures first.
  const groups = [...groupItems(attention.value)].sort((one, other) => rank(one) - rank(other))
  return (
    <section aria-labelledby="needs">
      <h2 id="needs">Needs you</h2>
      <ul class="needs">
        {groups.map((group) => (
          <Need key={group[0].id} group={group} />
        ))}
      </ul>
    </section>
  )
}

interface Described {
  readonly tone: 'bad' | 'warn'
  readonly title: ComponentChildren
  readonly text: ComponentChildren
  readonly action?: ComponentChildren
}

function Need({ group }: { group: readonly [Attention, ...Attention[]] }) {
  const { tone, title, text, action } = describe(group)
  return (
    <li class={tone}>
      <div>
        <strong>{title}</strong>
        <p>{text}</p>
      </div>
      {action}
    </li>
  )
}

const linkTo = (set: string, server: string, text: string) => (
  <a class="button" href={pathTo('servers', { set, server })}>
    {text}
    <span class="reader"> {visible(server)}</span>
  </a>
)

function describe([item, ...more]: readonly [Attention, ...Attention[]]): Described {
  switch (item.kind) {
    case 'definition': {
      const all = [item, ...more].filter((each) => each.kind === 'definition')
      const isPoisoned = all.some((each) => each.isPoisoned)
      const names = all.flatMap(({ tool }) => (tool === undefined ? [] : [tool]))
      const what = { added: 'is new', changed: 'changed', removed: 'was removed' }[item.change]
      return {
        tone: isPoisoned ? 'bad' : 'warn',
        title:
          all.length > 1 ? (
            <>
              {count(all.length)} definitions of <Data text={item.server} /> wait for approval
            </>
          ) : (
            <>
              <Data text={item.tool === undefined ? item.server : `${item.server}/${item.tool}`} /> {what} and
              waits for approval
            </>
          ),
        text: (
          <>
            {isPoisoned && <b>It may contain instructions for your agent. </b>}
            <Data
              text={
                all.length > 1 ? names.slice(0, 8).join(', ') + (names.length > 8 ? ' …' : '') : item.reason
              }
            />
          </>
        ),
        action: linkTo(item.set, item.server, 'Review'),
      }
    }
    case 'commands':
      return {
        tone: 'warn',
        title: (
          <>
            The entry of <Data text={item.server} /> runs {plural(item.commands.length, 'command')} that you
            have not approved
          </>
        ),
        text: <code>{visible(item.commands.join(' · '))}</code>,
        action: linkTo(item.set, item.server, 'Review'),
      }
    case 'login':
      return {
        tone: 'warn',
        title: (
          <>
            <Data text={item.server} /> needs a sign-in
          </>
        ),
        text: <Data text={item.reason} />,
        action: <SignIn set={item.set} server={item.server} />,
      }
    case 'failed':
      return {
        tone: 'bad',
        title: (
          <>
            <Data text={item.server} /> failed
          </>
        ),
        text: (
          <>
            <Data text={item.reason} /> <span class="fix">{visible(item.fix)}</span>
          </>
        ),
        action: linkTo(item.set, item.server, 'Open'),
      }
    case 'config':
      return {
        tone: 'bad',
        title: (
          <>
            Problem in the config{item.server !== undefined && ' of '}
            <Data text={item.server ?? ''} />
          </>
        ),
        text: <Data text={item.problem} />,
      }
    case 'untrusted':
      return {
        tone: 'warn',
        title: (
          <>
            <Data text={shortFolder(item.folder)} /> has its own config, which you have not trusted
          </>
        ),
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
        tone: 'bad',
        title: `${plural(item.count, item.what === 'calls' ? 'record' : 'long result')} could not be written`,
        text: <Data text={item.reason} />,
      }
  }
}

export function SignIn({ set, server }: { set: string; server: string }) {
  const signIn = () =>
    attempt(async () => {
      const { address } = await post<LoginAnswer>('servers/login', { set, server })
      if (!/^https?:/.test(address)) throw new Error(`${address} is not a web address.`)
      open(address, '_blank', 'noopener')
      toast.value = { text: 'Sign in on the page that opened. This page then updates by itself.' }
    })
  return (
    <button type="button" class="primary" onClick={signIn}>
      Sign in<span class="reader"> to {visible(server)}</span>
    </button>
  )
}

function Stream() {
  const [paused, setPaused] = useState<typeof calls.value>()
  const shown = paused ?? calls.value
  const waiting = paused ? calls.value.findIndex(({ id }) => id === paused[0]?.id) : 0
  return (
    <section aria-labelledby="live">
      <div class="section-head">
        <h2 id="live">Live calls</h2>
        {shown.length > 0 && (
          <button type="button" onClick={() => setPaused(paused ? undefined : calls.value)}>
            {paused ? `Continue${waiting > 0 ? ` (${waiting} new)` : ''}` : 'Pause'}
          </button>
        )}
      </div>
      {shown.length > 0 ? (
        <CallTable label="Live calls" calls={shown.slice(0, 50)} />
      ) : (
        <Empty title="No calls yet">
          Each call of a tool appears here as it happens. Connect a client to{' '}
          <code>{session.value?.address}</code>, or run <code>{session.value?.command} connect</code>.
        </Empty>
      )}
    </section>
  )
}

function Clients() {
  const [minute, setMinute] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => setMinute((now) => now + 1), 10_000)
    return () => clearInterval(timer)
  }, [])
  const now = useAnswer<NowAnswer>('now', minute + revisions.calls.value)
  return (
    <Answer from={now}>
      {({ clients }) =>
        clients.length > 0 && (
          <section aria-labelledby="clients">
            <h2 id="clients">Clients</h2>
            <ul class="clients">
              {clients.map((client) => (
                <Client
                  key={`${client.name} ${client.endpoint} ${client.project} ${client.joinedAt}`}
                  client={client}
                />
              ))}
            </ul>
          </section>
        )
      }
    </Answer>
  )
}

const Client = ({
  client: { name, kind, endpoint, project, calls: ran, searches, lastSeen },
}: {
  client: ClientRow
}) => (
  <li>
    <strong>
      <Data text={name} />
    </strong>
    <span class="quiet" title={visible(project)}>
      {project === '' ? endpoint : visible(shortFolder(project))} · {kind === 'stdio' ? 'stdio' : 'HTTP'}
    </span>
    <span class="quiet">
      {plural(ran, 'call')}, {plural(searches, 'search')} · <Ago time={lastSeen} />
    </span>
  </li>
)
