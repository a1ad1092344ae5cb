/// Waits for a network change after which a host may be reachable. It lives until then, or until it is ended.
final class PathWait {
    private let host: String
    private let connectivity: any Connectivity
    private let body: () -> Void
    private var number: Int?

    /// Calls the body once, after the next change with which there may be a path to the host; never from the
    /// initializer.
    init(for host: String, _ connectivity: any Connectivity, body: @escaping () -> Void) {
        self.host = host
        self.connectivity = connectivity
        self.body = body
        number = connectivity.whenChanged { self.checkPath() }
    }

    private func checkPath() {
        guard connectivity.path(to: host, isFresh: false).isWorthTrying else { return }
        end()
        body()
    }

    /// Ends the wait.
    func end() {
        guard let number else { return }
        self.number = nil
        connectivity.removeObserver(number)
    }
}
