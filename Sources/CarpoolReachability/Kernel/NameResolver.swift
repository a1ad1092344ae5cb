internal import CLinux
public import CarpoolSystem
internal import Glibc

/// Resolves names as other programs do (getaddrinfo(3)), without blocking the loop.
///
/// The C library waits on a thread for each look-up, which reports the end through a pipe, and uses nothing else of
/// this object.
public final class NameResolver: ReadinessHandler {
    /// Why a name has no addresses.
    public enum Failure: String, Error, Sendable {
        /// There is no such name, or it has no addresses.
        case cannotFindHost = "cannot_find_host"
        /// No server has answered.
        case lookupFailed = "dns_lookup_failed"
        /// Too many look-ups are running or waiting, of all users or of one.
        case tooMany = "too_many_lookups"
        /// The process or the machine has no descriptor, memory or thread for the look-up.
        case shortage = "resource_unavailable"

        /// Whether it says something about the name: otherwise the name was not looked up.
        public var isAboutName: Bool {
            switch self {
            case .cannotFindHost, .lookupFailed: true
            case .tooMany, .shortage: false
            }
        }
    }

    /// Called with the addresses of a name, in the order of getaddrinfo(3), or with the reason why there are none.
    public typealias Completion = (Result<[IPAddress], Failure>) -> Void

    private struct Lookup {
        let name: String
        let user: UInt32
        let completion: Completion
        /// The number of shortages before it.
        let shortages = Shortage.count
    }

    private let loop: EventLoop
    private var readEnd: FileDescriptor?
    /// Stays open for the life of the process: the C library may write to it after this object was freed.
    private var writeEnd: Int32?
    /// The running look-ups, by the handles of the shim.
    private var running: [UnsafeMutableRawPointer: Lookup] = [:]
    private var waiting: [Lookup] = []

    /// Maximum number of running look-ups: each uses a thread.
    private static let maximumRunning = 8
    /// Maximum number of running look-ups of one user: an unanswered one takes half a minute, and the rest are for
    /// other users.
    private static let maximumRunningPerUser = 6
    /// Maximum number of waiting look-ups: the result of one behind so many would be too late.
    private static let maximumWaiting = 256
    /// Maximum number of waiting look-ups of one user.
    private static let maximumWaitingPerUser = 128
    /// Maximum number of addresses of one name.
    private static let maximumAddresses = 32

    /// Creates a resolver.
    public init(loop: EventLoop) { self.loop = loop }

    /// Resolves a name for a user. The completion is called once, on the loop; immediately for an address.
    public func resolve(_ name: String, for user: UInt32, _ completion: @escaping Completion) {
        if let address = IPAddress(name) { return completion(.success([address])) }
        let lookup = Lookup(name: name, user: user, completion: completion)
        if mayBegin(lookup) { return begin(lookup) }
        let ofUser = waiting.count { $0.user == user }
        guard waiting.count < NameResolver.maximumWaiting, ofUser < NameResolver.maximumWaitingPerUser else {
            return completion(.failure(.tooMany))
        }
        waiting.append(lookup)
    }

    private func mayBegin(_ lookup: Lookup) -> Bool {
        let ofUser = running.values.count { $0.user == lookup.user }
        return running.count < NameResolver.maximumRunning && ofUser < NameResolver.maximumRunningPerUser
    }

    private func begin(_ lookup: Lookup) {
        guard let pipe = pipe(), let handle = CLinux_resolve(lookup.name, pipe) else {
            return lookup.completion(.failure(Shortage.since(lookup.shortages) == nil ? .lookupFailed : .shortage))
        }
        running[handle] = lookup
    }

    /// The writing end of the pipe, which is created for the first look-up.
    private func pipe() -> Int32? {
        if let writeEnd { return writeEnd }
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else {
            Shortage.noteIfShort(errno)
            return nil
        }
        for end in ends { CLinux_set_close_on_exec(end, 1) }
        CLinux_set_nonblocking(ends[0])
        readEnd = FileDescriptor(owning: ends[0])
        writeEnd = ends[1]
        loop.setInterest(.readable, for: ends[0], handler: self)
        return ends[1]
    }

    /// Called by the loop when a look-up has ended.
    public func descriptorIsReady(_ fd: Int32, _ readiness: Readiness) {
        var handles = [UnsafeMutableRawPointer?](repeating: nil, count: NameResolver.maximumRunning)
        let size = MemoryLayout<UnsafeMutableRawPointer?>.size
        guard case .bytes(let count) = handles.withUnsafeMutableBytes({ Bytes.read(fd, into: $0) }) else { return }
        for handle in handles[..<(count / size)] {
            // Values from the pipe that are not handles of running look-ups are ignored.
            guard let handle, let lookup = running.removeValue(forKey: handle) else { continue }
            lookup.completion(NameResolver.take(handle, shortages: lookup.shortages))
        }
        while let next = waiting.firstIndex(where: mayBegin) { begin(waiting.remove(at: next)) }
    }

    private static func take(
        _ lookup: UnsafeMutableRawPointer, shortages: Int
    ) -> Result<[IPAddress], Failure> {
        var lengths = [UInt8](repeating: 0, count: maximumAddresses)
        var bytes = [UInt8](repeating: 0, count: 16 * maximumAddresses)
        let count = Int(CLinux_resolve_take(lookup, &lengths, &bytes, Int32(maximumAddresses)))
        guard count >= 0 else {
            if count == Int(EAI_MEMORY) { return .failure(.shortage) }
            guard count == Int(EAI_AGAIN) || count == Int(EAI_SYSTEM) else { return .failure(.cannotFindHost) }
            return .failure(Shortage.since(shortages) == nil ? .lookupFailed : .shortage)
        }
        let addresses = (0..<count).compactMap { IPAddress(bytes: bytes[(16 * $0)..<(16 * $0 + Int(lengths[$0]))]) }
        return addresses.isEmpty ? .failure(.cannotFindHost) : .success(addresses)
    }
}
