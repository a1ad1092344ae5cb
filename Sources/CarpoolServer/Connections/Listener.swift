internal import CarpoolSystem
internal import Glibc

/// The listening socket: accepts peers.
final class Listener: ReadinessHandler {
    private let fd: FileDescriptor
    private let loop: EventLoop
    private let accept: (consuming FileDescriptor) -> Void
    /// Called when the process has no descriptor left for a peer.
    var onExhausted: () -> Void = {}
    /// Whether peers are accepted now; asked before each.
    var accepts: () -> Bool = { true }
    private lazy var pause = Timer { [unowned self] in listen() }

    /// Peers accepted per turn, so that many of them do not block open connections.
    private static let peersPerTurn = 64
    /// How long it waits before it tries again to accept peers.
    private static let pauseMilliseconds = 100

    init(fd: consuming FileDescriptor, loop: EventLoop, accept: @escaping (consuming FileDescriptor) -> Void) {
        self.fd = fd
        self.loop = loop
        self.accept = accept
        listen()
    }

    /// Takes no more peers.
    func close() {
        loop.cancel(pause)
        loop.forget(fd.raw)
    }

    private func listen() { loop.setInterest(.readable, for: fd.raw, handler: self) }

    func descriptorIsReady(_ fd: Int32, _ readiness: Readiness) {
        for _ in 0..<Listener.peersPerTurn {
            guard accepts() else { return rest() }
            switch UnixSocket.accept(fd) {
            case .accepted(let peer): accept(peer)
            case .wouldBlock: return
            case .failed(let code):
                // A peer that has disconnected already is ignored; without descriptors the backlog waits until some are
                // closed.
                guard code == EMFILE || code == ENFILE || code == ENOMEM else { continue }
                onExhausted()
                return rest()
            }
        }
    }

    /// Accepts no peer for a while; they wait in the backlog.
    private func rest() {
        loop.setInterest([], for: fd.raw, handler: self)
        loop.arm(pause, afterMilliseconds: Listener.pauseMilliseconds)
    }
}
