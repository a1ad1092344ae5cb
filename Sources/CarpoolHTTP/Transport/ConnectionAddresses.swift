internal import CCurl
public import CarpoolSystem

/// How the host of a URL is reached, in place of the addresses that its name resolves to. Equal if the members are.
///
/// An immutable object, because every copy of a request's options has a reference to it. `@unchecked Sendable` because
/// of libcurl's lists, which nothing changes once they are made.
public final class ConnectionAddresses: Hashable, @unchecked Sendable {
    /// A family of addresses.
    public enum Family: String, Sendable {
        /// IPv4 alone.
        case ipv4
        /// IPv6 alone.
        case ipv6
    }

    /// The addresses of hosts, in place of the resolver's; the last entry for a host and port counts.
    public let resolve: [HostAddresses]
    /// The hosts and ports to which connections are made, in place of the URL's; the first entry that matches counts.
    public let connectTo: [HostReplacement]
    /// The network interface that connections use; `nil` for the routing table's.
    public let interface: String?
    /// The local address that connections use, a literal; `nil` for the kernel's choice.
    public let localAddress: String?
    /// The family of addresses that is used; `nil` for both.
    public let family: Family?
    /// The Unix socket to which every connection is made, whatever the URL's host; `nil` for none.
    public let socket: UnixSocketOrigin?

    /// The lists as libcurl reads them; they live as long as this object.
    let resolveList: UnsafeMutablePointer<curl_slist>?
    let connectToList: UnsafeMutablePointer<curl_slist>?

    /// Makes addresses; by default, the resolver's.
    public init(
        resolve: [HostAddresses] = [], connectTo: [HostReplacement] = [], interface: String? = nil,
        localAddress: String? = nil, family: Family? = nil, socket: UnixSocketOrigin? = nil
    ) {
        self.resolve = resolve
        self.connectTo = connectTo
        self.interface = interface
        self.localAddress = localAddress
        self.family = family
        self.socket = socket
        resolveList = ConnectionAddresses.list(resolve.map(\.text))
        connectToList = ConnectionAddresses.list(connectTo.map(\.text))
    }

    deinit {
        curl_slist_free_all(resolveList)
        curl_slist_free_all(connectToList)
    }

    private static func list(_ texts: [String]) -> UnsafeMutablePointer<curl_slist>? {
        texts.reduce(nil) { list, text in curl_slist_append(list, text) ?? list }
    }

    /// An IP address in its usual form, without brackets; `nil` if the text is something else.
    public static func address(_ text: String) -> String? { AuthorityText.address(text) }

    /// Whether nothing is set.
    public var isEmpty: Bool {
        resolve.isEmpty && connectTo.isEmpty && interface == nil && localAddress == nil && family == nil
            && socket == nil
    }

    /// The entry that says where connections for an origin go; `nil` if none does.
    func replacement(of origin: Origin) -> HostReplacement? {
        connectTo.first { entry in
            (entry.host ?? origin.host) == origin.host && (entry.port ?? origin.port) == origin.port
                && (entry.targetHost != nil || entry.targetPort != nil)
        }
    }

    /// Whether all members are equal.
    public static func == (a: ConnectionAddresses, b: ConnectionAddresses) -> Bool {
        a === b
            || a.resolve == b.resolve && a.connectTo == b.connectTo && a.interface == b.interface
                && a.localAddress == b.localAddress && a.family == b.family && a.socket == b.socket
    }

    /// Hashes all members.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(resolve)
        hasher.combine(connectTo)
        hasher.combine(interface)
        hasher.combine(localAddress)
        hasher.combine(family)
        hasher.combine(socket)
    }
}

/// The server at the other end of a Unix socket.
public enum UnixSocketOrigin: Hashable, Sendable {
    /// The socket at this path, which is looked up for each request.
    case path(String)
    /// A connected stream socket, for one connection.
    case connected(ConnectedSocket)

    /// The name of the peer in records.
    public var description: String {
        switch self {
        case .path(let path): "unix:\(path)"
        case .connected: "unix:"
        }
    }
}

/// A connected stream socket that a caller has passed. Equal only to itself.
///
/// `@unchecked Sendable` because only the transport's loop uses it.
public final class ConnectedSocket: Hashable, @unchecked Sendable {
    /// `nil` once it has become a connection, since what follows on another one would not reach the same peer; and once
    /// it was closed.
    private var file: WorkerFile?
    private let worker: WorkerAccess

    /// Takes over a socket.
    /// - Parameter worker: reads and writes it.
    public init(_ file: WorkerFile, worker: WorkerAccess) {
        self.file = file
        self.worker = worker
    }

    /// Starts a connection, once; `nil` if it was started before, or there are no more descriptors.
    func connect(_ loop: EventLoop) -> (relay: SocketRelay, descriptor: Int32)? {
        guard let file, let started = SocketRelay.start(file, loop: loop, worker: worker) else { return nil }
        self.file = nil
        return started
    }

    /// Closes it, unless it has become a connection, which is closed with its request.
    public func close() { file = nil }

    /// Whether it is the same socket.
    public static func == (a: ConnectedSocket, b: ConnectedSocket) -> Bool { a === b }

    /// The socket's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
