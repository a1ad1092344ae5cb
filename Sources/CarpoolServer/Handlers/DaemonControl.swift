/// The daemon's life, as its handlers control it.
protocol DaemonControl: AnyObject {
    /// Whether new requests are taken.
    var isServing: Bool { get }
    /// Whether the daemon waits for the requests under way, to end then.
    var isDraining: Bool { get }
    /// The name of the state.
    var stateName: String { get }
    /// Refuses new requests, waits for those under way, then ends. A second call ends at once.
    func drain(milliseconds: Int?)
    /// Ends at once.
    func stop()
    /// Reads the configuration again.
    func reload(then: @escaping (Result<ConfigurationReload, ServerError>) -> Void)
}
