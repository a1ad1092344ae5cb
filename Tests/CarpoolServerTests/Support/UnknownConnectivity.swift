import CarpoolSession

/// A network whose state is unknown.
final class UnknownConnectivity: Connectivity {
    let isOffline = false
    let losses = 0
    let changes = 0

    func path(to host: String, isFresh: Bool) -> NetworkPath { NetworkPath(.unknown) }
    func whenChanged(_ body: @escaping () -> Void) -> Int { 0 }
    func removeObserver(_ number: Int) {}
}
