internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSystem

/// The services that a connection uses.
final class ConnectionServices {
    let loop: EventLoop
    let worker: Worker
    let configuration: LiveConfiguration
    let publisher: EventPublisher
    let reachability: ReachabilityService
    let callbacks: CallbackBroker
    let requests: RequestService
    let memory: ConnectionMemory
    let buffers = SharedBuffers()
    /// Compares the clients' view of files and networks with the daemon's.
    private(set) lazy var viewComparison = ProcessViewComparison(owner: configuration.access.owner)
    /// Set once the handlers are there, which use the connections.
    var dispatcher = Dispatcher(catalogue: Catalogue(methods: []), handlers: [:])

    init(
        loop: EventLoop, worker: Worker, configuration: LiveConfiguration, publisher: EventPublisher,
        reachability: ReachabilityService, callbacks: CallbackBroker, requests: RequestService, memory: ConnectionMemory
    ) {
        self.loop = loop
        self.worker = worker
        self.configuration = configuration
        self.publisher = publisher
        self.reachability = reachability
        self.callbacks = callbacks
        self.requests = requests
        self.memory = memory
    }

    /// The maxima in force.
    var limits: Limits { configuration.limits }
}
