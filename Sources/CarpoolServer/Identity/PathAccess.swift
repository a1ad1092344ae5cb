internal import CarpoolRPC
internal import CarpoolSystem

/// Whether the daemon opens paths for a client: only if the client could open the same files under the same names.
enum PathAccess: Equatable {
    case granted
    /// Its user is not the daemon's.
    case otherUser
    /// Its view of the machine differs in this part: it is in a container or a sandbox, or has other rights.
    case otherView(ProcessView.Part)

    /// Refuses a path of such a client, before the file system is used.
    func check(_ path: String) throws(RPCError) {
        switch self {
        case .granted: return
        case .otherUser: throw .notOwner(path: path)
        case .otherView(.shortage): throw .shortage()
        case .otherView(let part): throw .otherView(path: path, differs: part.rawValue)
        }
    }
}

/// Compares the view of a client's process (namespaces, root, credentials) with the daemon's own.
final class ProcessViewComparison {
    private let owner: UInt32
    /// Read again until it is known.
    private var own: ProcessView?

    init(owner: UInt32) {
        self.owner = owner
        own = ProcessView.own()
    }

    /// Whether paths are opened for the peer.
    func pathAccess(_ socket: Int32, _ peer: PeerCredentials, connectedBefore: UInt64) -> PathAccess {
        guard peer.uid == owner else { return .otherUser }
        switch views(socket, peer, connectedBefore) {
        case .success(let (own, other)): return own.difference(from: other).map { .otherView($0) } ?? .granted
        case .failure(let unknown): return .otherView(unknown.part)
        }
    }

    /// The first namespace or root in which the peer differs from the daemon; `nil` if there is none.
    func sandboxDifference(_ socket: Int32, _ peer: PeerCredentials, connectedBefore: UInt64) -> ProcessView.Part? {
        switch views(socket, peer, connectedBefore) {
        case .success(let (own, other)): return own.sandboxDifference(of: other)
        case .failure(let unknown): return unknown.part
        }
    }

    private struct Unknown: Error { let part: ProcessView.Part }

    private func views(
        _ socket: Int32, _ peer: PeerCredentials, _ connectedBefore: UInt64
    ) -> Result<(own: ProcessView, other: ProcessView), Unknown> {
        let shortages = Shortage.count
        if own == nil { own = ProcessView.own() }
        guard let own, let other = ProcessView.ofPeer(at: socket, peer, connectedBefore: connectedBefore) else {
            return .failure(Unknown(part: Shortage.count == shortages ? .unknown : .shortage))
        }
        return .success((own, other))
    }
}
