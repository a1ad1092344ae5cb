// Preloaded into the suite's server: it listens on loopback only, and says on which port.

import net from 'node:net'

const listen = net.Server.prototype.listen

net.Server.prototype.listen = function (port) {
  this.once('listening', () => process.send({ port: this.address().port }))
  return listen.call(this, port, '127.0.0.1')
}
