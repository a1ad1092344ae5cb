internal import CarpoolSystem
internal import Glibc

/// The listening socket: accepts peers.
final class Listener: ReadinessHandler {
    private let fd: FileDescriptor
    private let loop: EventLoop
    private let accept: (consuming FileDescriptor) -> Void
    /// Called when the process has no descriptor left for a peer.
    var onExhausted: () -> Void = {}
    /// Refuses a peer, because no descriptor has become free for it.
    var refuse: (consuming FileDescriptor, _ code: Int32) -> Void = { _, _ in }
    /// Since when no peer can be accepted.
    private var shortSince: MonotonicTime?
    /// Descriptors that are closed for peers that are refused: without any the peers would wait in silence.
    private var spares: [Int32] = []
    /// Whether peers are accepted now; asked before each.
    var accepts: () -> Bool = { true }
    private lazy var pause = Timer { [unowned self] in
        takeSpares()
        listen()
    }

    /// Peers accepted per turn, so that many of them do not block open connections.
    private static let peersPerTurn = 64
    /// How long it waits before it tries again to accept peers.
    private static let pauseMilliseconds = 100
    /// How long peers wait for a descriptor before they are refused: idle connections to origins, which are closed for
    /// them, take up to two seconds.
    private static let patienceMilliseconds = 4_000
    private static let spareCount = 4

    init(fd: consuming FileDescriptor, loop: EventLoop, accept: @escaping (consuming FileDescriptor) -> Void) {
        self.fd = fd
        self.loop = loop
        self.accept = accept
        takeSpares()
        listen()
    }

    /// Takes no more peers.
    func close() {
        loop.cancel(pause)
        loop.forget(fd.raw)
        for spare in spares { Glibc.close(spare) }
        spares = []
    }

    private func takeSpares() {
        while spares.count < Listener.spareCount, let spare = try? FileDescriptor.duplicate(of: fd.raw).release() {
            spares.append(spare)
        }
    }

    private func listen() { loop.setInterest(.readable, for: fd.raw, handler: self) }

    func descriptorIsReady(_ fd: Int32, _ readiness: Readiness) {
        for _ in 0..<Listener.peersPerTurn {
            guard accepts() else { return rest() }
            switch UnixSocket.accept(fd) {
            case .accepted(let peer):
                shortSince = nil
                if spares.count < Listener.spareCount { takeSpares() }
                accept(peer)
            case .wouldBlock:
                shortSince = nil
                return
            case .failed(let code):
                // A peer that has disconnected already is ignored.
                guard Shortage.isShortage(code) else { continue }
                onExhausted()
                guard refuseNext(code) else { return rest() }
            }
        }
    }

    /// Refuses one peer with a spare descriptor, if peers have waited long enough. The next peer is accepted if it can
    /// be: the shortage may have ended meanwhile.
    private func refuseNext(_ code: Int32) -> Bool {
        let since = shortSince ?? loop.now
        shortSince = since
        guard since.advanced(milliseconds: Listener.patienceMilliseconds) <= loop.now, let spare = spares.popLast()
        else { return false }
        Glibc.close(spare)
        guard case .accepted(let peer) = UnixSocket.accept(fd.raw) else { return false }
        refuse(peer, code)
        return true
    }

    /// Accepts no peer for a while; they wait in the backlog.
    private func rest() {
        loop.setInterest([], for: fd.raw, handler: self)
        loop.arm(pause, afterMilliseconds: Listener.pauseMilliseconds)
    }
}
