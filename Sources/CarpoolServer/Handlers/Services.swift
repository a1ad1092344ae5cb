internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolSession
internal import CarpoolSystem

/// The services that the handlers are made of. Each group of handlers takes those that it uses.
struct Services {
    let loop: EventLoop
    let worker: Worker
    let log: Log
    let options: ServerOptions
    let configuration: LiveConfiguration
    let transport: CurlTransport
    let spool: Spool
    let publisher: EventPublisher
    let reachability: ReachabilityService
    let callbacks: CallbackBroker
    let callFiles: CallFileService
    let sessions: SessionService
    let requests: RequestService
    let streams: StreamService
    let subscriptions: SubscriptionService
    let identity: DaemonIdentity
    /// The table has connections, which have the handlers.
    unowned let connections: ConnectionTable
    unowned let control: any DaemonControl
    /// The OpenRPC document.
    let document: () -> [UInt8]
}
