import { playSeed } from './play.ts'

playSeed('sf')
