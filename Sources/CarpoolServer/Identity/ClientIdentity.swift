internal import CarpoolHTTP
internal import CarpoolSystem
internal import Glibc

/// The identity of a client beyond one connection: for quotas, fairness, idempotency keys and the scope `mine`.
///
/// A client is its user and the name from `client.hello`. Without a name all processes of one session (setsid(2): a
/// terminal, a service, a cron job) of a user are one client, so that a script with a hundred processes is one client,
/// and two scripts are two.
///
/// It never changes: `client.hello` with a name replaces the connection's identity. So derived values are computed
/// once.
final class ClientIdentity: Hashable, Sendable {
    /// The part that distinguishes the clients of one user.
    enum Name: Hashable {
        /// The name that the client gave.
        case given(String)
        /// The session id of the process that connected.
        case session(Int32)
        /// The executable of a process whose session cannot be read.
        case program(String)

        fileprivate var text: String {
            switch self {
            case .given(let name): "name:\(name)"
            case .session(let number): "session:\(number)"
            case .program(let name): "program:\(name)"
            }
        }
    }

    let uid: UInt32
    let name: Name
    /// Its share when connections are divided.
    let share: TransferShare
    /// The account of its jobs on the worker.
    let workerShare: WorkerShare

    init(uid: UInt32, name: Name) {
        self.uid = uid
        self.name = name
        var hasher = Hasher()
        hasher.combine(uid)
        hasher.combine(name)
        share = TransferShare(user: uid, client: hasher.finalize())
        workerShare = WorkerShare(user: uid, client: name.text)
    }

    /// A client that has given a name.
    convenience init(uid: UInt32, name: String) { self.init(uid: uid, name: .given(name)) }

    /// A client that has not given a name: its session, else its executable.
    convenience init(unnamed peer: PeerCredentials) {
        let session = ClientIdentity.session(ofProcess: peer.pid).map(Name.session)
        self.init(uid: peer.uid, name: session ?? .program(ClientIdentity.programName(ofProcess: peer.pid)))
    }

    /// As people read it: `name:nightly`, `session:4711` or `program:nc`.
    var text: String { workerShare.client }

    static func == (a: ClientIdentity, b: ClientIdentity) -> Bool {
        a === b || a.share == b.share && a.uid == b.uid && a.name == b.name
    }

    func hash(into hasher: inout Hasher) { hasher.combine(share.client) }

    /// The session id of a process (getsid(2)); `nil` if the process has ended, or is in a process namespace that is
    /// hidden from the daemon.
    static func session(ofProcess pid: Int32) -> Int32? {
        // 0 would ask for the daemon's own session.
        guard pid > 0 else { return nil }
        let session = getsid(pid)
        return session > 0 ? session : nil
    }

    /// The name of a process as the kernel knows it (proc(5), `comm`): 15 bytes at most; `unknown` if the process has
    /// ended.
    static func programName(ofProcess pid: Int32) -> String {
        guard let file = try? FileDescriptor.open("/proc/\(pid)/comm", 0) else { return "unknown" }
        var buffer = [UInt8](repeating: 0, count: 64)
        guard case .bytes(let count) = buffer.withUnsafeMutableBytes({ Bytes.read(file.raw, into: $0) }) else {
            return "unknown"
        }
        return String(decoding: buffer[..<count].prefix { $0 != 0x0A }, as: UTF8.self)
    }
}
