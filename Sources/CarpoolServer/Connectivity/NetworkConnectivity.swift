internal import CarpoolSession

/// What the daemon's sessions know of the network.
final class NetworkConnectivity: Connectivity {
    private var observers = ConnectivityObservers()
    private(set) var losses = 0
    private(set) var changes = 0

    func path(to host: String, isFresh: Bool) -> NetworkPath { NetworkPath(.unknown) }

    func whenChanged(_ body: @escaping () -> Void) -> Int { observers.add(body) }

    func forget(change number: Int) { observers.remove(number) }
}
