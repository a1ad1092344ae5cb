/// The events that a descriptor's owner waits for.
public struct Interest: OptionSet, Sendable {
    /// The set as bits.
    public let rawValue: UInt8
    /// Makes a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Bytes to read, or a peer to accept.
    public static let readable = Interest(rawValue: 1)
    /// Bytes can be written, or a connection is made.
    public static let writable = Interest(rawValue: 2)
    /// Nothing but the end of the connection, which the kernel reports in any case: for a peer that has shut down its
    /// half.
    public static let hangup = Interest(rawValue: 4)
}

/// The events that epoll reported for a descriptor.
public struct Readiness: OptionSet, Sendable {
    /// The set as bits.
    public let rawValue: UInt8
    /// Makes a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Bytes or an end of file can be read, or a peer accepted.
    public static let readable = Readiness(rawValue: 1)
    /// Bytes can be written.
    public static let writable = Readiness(rawValue: 2)
    /// The descriptor has failed, or both halves of the connection are closed (EPOLLERR, EPOLLHUP).
    public static let failed = Readiness(rawValue: 4)
    /// The kernel refuses to watch the descriptor (``EventLoop/refusalCode``), so that nothing else is reported for it.
    /// Reported alone, and again while it still refuses.
    public static let unwatched = Readiness(rawValue: 8)
}

/// The change of registration that epoll needs.
enum InterestChange: Equatable {
    case none
    case add(Interest)
    case modify(Interest)
    case remove
}

/// The registration of each descriptor in epoll, and its owner's interest: a value, so that lazy updates can be
/// tested without a kernel.
///
/// Losing interest costs no system call: the registration stays until the kernel reports an unwanted event. libcurl
/// removes its interest after every transfer, so a busy connection saves two calls per request.
struct InterestTable {
    struct Slot {
        var registered: Interest = []
        var wanted: Interest = []
        /// Incremented when the descriptor is forgotten, so that an event of an earlier file with the same number is
        /// recognized as stale.
        var generation: UInt32 = 0
        var handler: (any ReadinessHandler)?
    }

    private var slots: [Slot] = []

    /// Maximum number of slots: as many as the process may have descriptors.
    private static let maximumSlots = 1 << 20

    /// Records an owner's interest; `nil` if the number cannot be a descriptor.
    mutating func want(_ interest: Interest, fd: Int, handler: any ReadinessHandler) -> InterestChange? {
        guard fd >= 0, fd < InterestTable.maximumSlots else { return nil }
        while slots.count <= fd { slots.append(Slot()) }
        slots[fd].wanted = interest
        slots[fd].handler = handler
        let registered = slots[fd].registered
        if interest.isEmpty || interest == registered { return InterestChange.none }
        slots[fd].registered = interest
        return registered.isEmpty ? .add(interest) : .modify(interest)
    }

    /// Forgets a descriptor before it is closed.
    mutating func forget(fd: Int) -> InterestChange {
        guard slots.indices.contains(fd) else { return .none }
        let registered = slots[fd].registered
        slots[fd] = Slot(generation: slots[fd].generation &+ 1)
        return registered.isEmpty ? .none : .remove
    }

    /// Notes that the kernel has refused the last change, so that it is not taken for a registration.
    mutating func registrationWasRefused(fd: Int) {
        if slots.indices.contains(fd) { slots[fd].registered = [] }
    }

    /// The registration that an owner still waits for; `nil` if there is none.
    mutating func registration(fd: Int) -> InterestChange? {
        guard slots.indices.contains(fd), slots[fd].registered.isEmpty, !slots[fd].wanted.isEmpty else { return nil }
        slots[fd].registered = slots[fd].wanted
        return .add(slots[fd].wanted)
    }

    /// Whether it is registered, and was not forgotten since it had this generation.
    func isRegistered(fd: Int, generation: UInt32) -> Bool {
        slots.indices.contains(fd) && slots[fd].generation == generation && !slots[fd].registered.isEmpty
    }

    /// The handler of a descriptor; `nil` if nothing waits for it.
    func handler(fd: Int) -> (any ReadinessHandler)? { slots.indices.contains(fd) ? slots[fd].handler : nil }

    func generation(fd: Int) -> UInt32 { slots.indices.contains(fd) ? slots[fd].generation : 0 }

    /// The handler of an event, and whether the registration has outlived its interest.
    mutating func event(fd: Int, generation: UInt32) -> (handler: (any ReadinessHandler)?, change: InterestChange) {
        guard slots.indices.contains(fd), slots[fd].generation == generation else { return (nil, .none) }
        guard slots[fd].wanted.isEmpty else { return (slots[fd].handler, .none) }
        slots[fd].registered = []
        return (slots[fd].handler, .remove)
    }
}
