// A connection to the daemon: one JSON text a line, answers in any order.

import net from 'node:net'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export class Wire {
  #waiting = new Map()
  #next = 1

  static async connect (path) {
    const wire = new Wire()
    wire.socket = net.connect(path)
    await once(wire.socket, 'connect')
    createInterface({ input: wire.socket }).on('line', line => wire.#receive(JSON.parse(line)))
    wire.socket.on('close', () => wire.#end())
    wire.socket.on('error', () => {})
    return wire
  }

  /** Make a call; returns its id and the promise of its result. */
  begin (method, params) {
    const id = this.#next++
    const result = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
    this.socket.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }) + '\n')
    return { id, result }
  }

  call (method, params) {
    return this.begin(method, params).result
  }

  close () {
    this.socket.destroy()
  }

  #receive (message) {
    const call = this.#waiting.get(message.id)
    if (call === undefined || 'method' in message) return
    this.#waiting.delete(message.id)
    if (message.error === undefined) call.resolve(message.result)
    else call.reject(new Error(`${message.error.message} ${JSON.stringify(message.error.data ?? {})}`))
  }

  #end () {
    for (const { reject } of this.#waiting.values()) reject(new Error('the daemon closed the connection'))
    this.#waiting.clear()
  }
}
