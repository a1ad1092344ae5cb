/// The daemon's lifecycle, as its handlers control it.
protocol DaemonControl: AnyObject {
    /// Whether new requests are taken.
    var isServing: Bool { get }
    /// Whether the daemon waits for the active requests before it ends.
    var isDraining: Bool { get }
    /// The name of the state.
    var stateName: String { get }
    /// Refuses new requests, waits for the active ones, then ends. A second call ends at once.
    func drain(milliseconds: Int?)
    /// Ends at once.
    func stop()
    /// Reads the configuration again.
    func reload(then: @escaping (Result<ConfigurationReload, ServerError>) -> Void)
}
