/** Draws bars over time with uPlot. */
import UPlot from 'uplot'
import type { ChartProps } from './chart-box.js'
import { short } from './format.js'

const HEIGHT = 168
/** The least distance of two labels in seconds, their form, and one row. */
const DAYS = [86_400, '{D} {MMM}', null, null, null, null, null, null, 1]
const HOURS = [3600, '{HH}:{mm}', null, null, '\n{D} {MMM}', null, null, null, 1]

/** Returns a function that removes the chart. */
export function drawChart(
  box: HTMLElement,
  { unit, times, series }: ChartProps,
  onHover: (index: number | undefined) => void,
): () => void {
  const style = getComputedStyle(box)
  const color = (name: string) => {
    // The browser resolves light-dark() only for real properties.
    box.style.color = `var(${name})`
    const { color: resolved } = getComputedStyle(box)
    box.style.color = ''
    return resolved
  }
  const font = `${Number.parseFloat(style.fontSize) * 0.88}px ${style.fontFamily}`
  const paths = UPlot.paths.bars?.({ size: [0.72, 28], radius: 0.15 })
  const step = unit === 'day' ? 86_400 : 3600
  const axis = { stroke: color('--text-3'), font, ticks: { show: false } }
  const plot = new UPlot(
    {
      width: box.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      padding: [8, 8, 0, 0],
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      ...(unit === 'day'
        ? { tzDate: (seconds: number) => UPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') }
        : {}),
      scales: {
        x: { range: (_, least, most) => [least - step / 2, most + step / 2] },
        y: { range: (_, __, most) => [0, Math.max(4, most * 1.1)] },
      },
      axes: [
        {
          ...axis,
          size: unit === 'day' ? 28 : 44,
          grid: { show: false },
          values: unit === 'day' ? [DAYS] : [DAYS, HOURS],
        },
        {
          ...axis,
          size: 48,
          grid: { stroke: color('--line'), width: 1 },
          values: (_, splits) => splits.map((value) => (Number.isInteger(value) ? short(value) : '')),
        },
      ],
      series: [
        {},
        ...series.map(({ color: name }) => ({
          fill: color(name),
          stroke: color(name),
          width: 0,
          ...(paths && { paths }),
          points: { show: false },
        })),
      ],
      hooks: { setCursor: [({ cursor }) => onHover(cursor.idx ?? undefined)] },
    },
    [times.map((time) => time / 1000), ...series.map(({ values }) => [...values])],
    box,
  )
  const observer = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: HEIGHT }))
  observer.observe(box)
  return () => {
    observer.disconnect()
    plot.destroy()
  }
}
