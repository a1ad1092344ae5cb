import CarpoolSession

/// A network whose state a test sets.
final class ScriptedConnectivity: Connectivity {
    var isOffline: Bool { !usual.isUsable }
    private(set) var losses = 0
    private(set) var changes = 0
    private var observers = ConnectivityObservers()
    private var paths: [String: NetworkPath] = [:]
    private var usual = NetworkPath(.satisfied)
    /// How often it was evaluated again.
    private(set) var freshLooks = 0

    /// How many requests wait for it.
    var waiting: Int { observers.count }

    func path(to host: String, isFresh: Bool) -> NetworkPath {
        if isFresh { freshLooks += 1 }
        return paths[host] ?? usual
    }

    func whenChanged(_ body: @escaping () -> Void) -> Int { observers.add(body) }
    func removeObserver(_ number: Int) { observers.remove(number) }

    // MARK: What the test sets

    /// The network is lost.
    func lose(reason: String = "no_carrier") {
        usual = .none(reason)
        losses += 1
        change()
    }

    /// The network returns.
    func comeBack() {
        usual = NetworkPath(.satisfied)
        change()
    }

    /// The route to one host changes.
    func set(_ path: NetworkPath?, to host: String) {
        paths[host] = path
        change()
    }

    private func change() {
        changes += 1
        for number in observers.numbers { observers[number]?() }
    }
}

extension NetworkPath {
    /// No route at all.
    static func none(_ reason: String) -> NetworkPath {
        var path = NetworkPath(.unsatisfied, reason: reason)
        path.supportsIPv4 = false
        path.supportsIPv6 = false
        path.supportsDNS = false
        return path
    }
}
