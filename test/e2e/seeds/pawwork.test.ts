import { playSeed } from './play.ts'

playSeed('pawwork')
