/// The state of the network for a session: whether there is a path to a host, and when that changes. Everything happens
/// on the session's loop.
///
/// It explains failures, and reports when a retry is worthwhile; it never blocks a request that does not wait for
/// connectivity.
public protocol Connectivity: AnyObject {
    /// Returns the path to a host, as the kernel knows it; nothing is sent, and no name is resolved.
    /// - Parameters:
    ///   - host: as in a URL: a name, an IPv4 address, or an IPv6 address in brackets.
    ///   - isFresh: whether the devices are queried for changes that the kernel has not reported yet; otherwise the
    ///     known state is used.
    func path(to host: String, isFresh: Bool) -> NetworkPath

    /// Whether there is no default route, so that there may be no path to a host; read for every request.
    var isOffline: Bool { get }

    /// How often the default route or an address was lost since the start.
    var losses: Int { get }

    /// The number of changes since the start.
    var changes: Int { get }

    /// Calls the body after every change; bodies are called in the order in which they were added. Returns a number for
    /// ``removeObserver(_:)``.
    func whenChanged(_ body: @escaping () -> Void) -> Int

    /// Removes a body. Does nothing if the number is unknown.
    func removeObserver(_ number: Int)
}
