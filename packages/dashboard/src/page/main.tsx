/** Starts the page: navigation, theme, keys and messages around the six pages. */
import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { count, visible } from './format.js'
import {
  announcement,
  attempt,
  attention,
  connection,
  keepCsrfToken,
  listen,
  loadAll,
  revisions,
  session,
  toast,
} from './gateway.js'
import { Now } from './now.js'
import { goTo, pathTo, place, watchAddress } from './router.js'
import { Savings } from './savings.js'
import { SearchLab } from './search-lab.js'
import { Servers } from './servers.js'
import { applyTheme, nextTheme, theme } from './theme.js'
import { Tools } from './tools.js'
import { Button, Dialog, Empty, Icon } from './ui.js'
import { Work } from './work.js'

const PAGES = [
  { page: 'now', title: 'Now', View: Now },
  { page: 'work', title: 'Work', View: Work },
  { page: 'tools', title: 'Tools', View: Tools },
  { page: 'servers', title: 'Servers', View: Servers },
  { page: 'search', title: 'Search lab', View: SearchLab },
  { page: 'savings', title: 'Savings', View: Savings },
] as const

const KEYS: readonly (readonly [string, string])[] = [
  ['1 … 6', 'Open a page'],
  ['/', 'Go to the search field'],
  ['t', 'Switch the theme: system, light or dark'],
  ['?', 'Show these shortcuts'],
  ['↑ ↓ Page Home End', 'Move in a table'],
  ['Enter', 'Open a row'],
  ['Space, Shift + ↓', 'Select rows'],
  ['Ctrl + A', 'Select all rows'],
  ['Escape', 'Close, or clear the selection'],
]
const KEYS_OFF = 'toolwell-keys-off'

function App() {
  const [hasHelp, setHelp] = useState(false)
  const { page } = place.value
  const shown = PAGES.find((each) => each.page === page)
  useEffect(() => {
    document.title = `${shown?.title ?? 'Not found'} · Toolwell`
  }, [shown])
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement
      const isTyping = target.matches('input:not([type=checkbox]), select, textarea')
      if (isTyping && event.key === 'Escape') target.blur()
      if (
        isTyping ||
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        document.querySelector('dialog[open]')
      )
        return
      if (event.key !== '?' && localStorage.getItem(KEYS_OFF)) return
      const to = PAGES[Number(event.key) - 1]
      if (to) goTo(pathTo(to.page))
      else if (event.key === '/')
        (
          document.querySelector<HTMLElement>('[data-search]') ??
          document.querySelector<HTMLElement>('input[type=search]')
        )?.focus()
      else if (event.key === 't') nextTheme()
      else if (event.key === '?') setHelp(true)
      else return
      event.preventDefault()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  if (connection.value === 'ended') return <Ended />
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="side">
        <a class="brand" href={pathTo('now')}>
          <img src="/dashboard/icon.svg" alt="" width="20" height="20" />
          Toolwell
        </a>
        <nav aria-label="Pages">
          <ul>
            {PAGES.map(({ page: name, title }) => (
              <li key={name}>
                <a href={pathTo(name)} aria-current={name === page ? 'page' : undefined}>
                  <Icon name={name} />
                  {title}
                  {name === 'now' && attention.value.length > 0 && (
                    <span class="badge">
                      {count(attention.value.length)}
                      <span class="reader"> waiting for you</span>
                    </span>
                  )}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="side-foot">
          <Button class="plain" onClick={nextTheme} title="Switch the theme: system, light or dark (t)">
            <Icon name={theme.value} />
            <span class="wide">{{ system: 'System', light: 'Light', dark: 'Dark' }[theme.value]}</span>
            <span class="reader"> theme</span>
          </Button>
          <Button class="plain" onClick={() => setHelp(true)}>
            <kbd>?</kbd> <span class="wide">Shortcuts</span>
          </Button>
          <span class="quiet wide">{session.value && `Version ${session.value.version}`}</span>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {connection.value === 'lost' && (
          <p class="problem" role="alert">
            The gateway does not answer. This page tries again every two seconds. Until then it shows older
            data.
          </p>
        )}
        {session.value &&
          (shown ? (
            <shown.View />
          ) : (
            <Empty title="There is no such page">
              <a href={pathTo('now')}>Go to the first page</a>
            </Empty>
          ))}
      </main>
      <Message />
      <div class="reader" role="status">
        {announcement.value}
      </div>
      {hasHelp && <Keys onClose={() => setHelp(false)} />}
    </>
  )
}

const Ended = () => (
  <main id="main" class="ended">
    <Empty title="This browser no longer has access">
      The gateway was restarted, or you did not use this page for a day. Get a new link in a terminal:
      <code class="command">{session.value?.linkCommand ?? 'toolwell dashboard'}</code>
    </Empty>
  </main>
)

function Message() {
  const shown = toast.value
  const close = () => {
    toast.value = undefined
  }
  useEffect(() => {
    if (!shown || shown.isProblem) return
    const timer = setTimeout(close, 12_000)
    return () => clearTimeout(timer)
  }, [shown])
  const undo = async () => {
    close()
    const isDone = await attempt(async () => shown?.undo?.())
    if (!isDone) return
    revisions.tools.value++
    revisions.servers.value++
    toast.value = { text: 'Undone.' }
  }
  return (
    <div class="toasts" role={shown?.isProblem ? 'alert' : 'status'}>
      {shown && (
        <div class={shown.isProblem ? 'toast bad' : 'toast'}>
          <span>{visible(shown.text)}</span>
          {shown.opened && (
            <a class="button" href={shown.opened} target="_blank" rel="noreferrer">
              Open it again
            </a>
          )}
          {shown.undo && <Button onClick={undo}>Undo</Button>}
          <Button class="plain" aria-label="Close the message" onClick={close}>
            <Icon name="close" />
          </Button>
        </div>
      )}
    </div>
  )
}

function Keys({ onClose }: { onClose: () => void }) {
  const [isOff, setOff] = useState(localStorage.getItem(KEYS_OFF) !== null)
  const change = () => {
    if (isOff) localStorage.removeItem(KEYS_OFF)
    else localStorage.setItem(KEYS_OFF, '1')
    setOff(!isOff)
  }
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="keys">
        {KEYS.map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <label>
        <input type="checkbox" checked={!isOff} onChange={change} /> Use shortcuts of a single key
      </label>
    </Dialog>
  )
}

applyTheme()
watchAddress()
keepCsrfToken()
void attempt(loadAll).then(listen)
const root = document.getElementById('page')
if (root) render(<App />, root)
