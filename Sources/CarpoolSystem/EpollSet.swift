internal import CLinux
internal import Glibc

/// The kernel's set of registered descriptors (epoll(7)). Registrations that the kernel has refused are tried again,
/// because a descriptor without one is never ready.
struct EpollSet {
    let raw: Int32
    /// The refused registrations.
    private var refused: [Int32: Refusal] = [:]

    /// A registration that the kernel has refused: how often it was tried, and the last `errno`.
    private struct Refusal {
        var tries: Int
        var code: Int32
    }

    /// The time after which a refused registration is tried again.
    static let retryMilliseconds = 100
    /// How often a registration is tried before its owner is notified. One that is not refused for a shortage is not
    /// tried again: the descriptor cannot be watched.
    private static let mostTries = 20

    init() throws(SystemError) {
        raw = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard raw >= 0 else { throw .last("epoll_create1") }
    }

    func close() { Glibc.close(raw) }

    /// Whether a registration was refused and has to be tried again.
    var hasRefused: Bool { !refused.isEmpty }

    /// Applies a change. Returns `false` if the kernel has refused the registration.
    mutating func apply(_ change: InterestChange, _ fd: Int32, generation: UInt32) -> Bool {
        var event = epoll_event()
        event.data.u64 = UInt64(UInt32(bitPattern: fd)) | UInt64(generation) << 32
        let result: Int32
        switch change {
        case .none: return true
        case .remove:
            forget(fd)
            epoll_ctl(raw, EPOLL_CTL_DEL, fd, &event)
            return true
        case .add(let interest):
            event.events = EpollSet.mask(interest)
            result = control(EPOLL_CTL_ADD, fd, &event, or: EPOLL_CTL_MOD, for: EEXIST)
        case .modify(let interest):
            event.events = EpollSet.mask(interest)
            result = control(EPOLL_CTL_MOD, fd, &event, or: EPOLL_CTL_ADD, for: ENOENT)
        }
        if result == 0 {
            forget(fd)
            return true
        }
        return refuse(fd, errno)
    }

    private func control(
        _ operation: Int32, _ fd: Int32, _ event: inout epoll_event, or other: Int32, for code: Int32
    ) -> Int32 {
        let result = epoll_ctl(raw, operation, fd, &event)
        return result != 0 && errno == code ? epoll_ctl(raw, other, fd, &event) : result
    }

    private mutating func refuse(_ fd: Int32, _ code: Int32) -> Bool {
        // ENOSPC: the user has registered as many descriptors as fs.epoll.max_user_watches allows.
        let code = code == ENOSPC ? ENOMEM : code
        Shortage.noteIfShort(code)
        refused[fd] = Refusal(tries: (refused[fd]?.tries ?? 0) + 1, code: code)
        return false
    }

    /// Removes a registration, which is made again after a while.
    mutating func suspend(_ fd: Int32) {
        var event = epoll_event()
        epoll_ctl(raw, EPOLL_CTL_DEL, fd, &event)
        refused[fd] = Refusal(tries: 0, code: 0)
    }

    /// The descriptors whose registration was refused.
    var refusedDescriptors: [Int32] { Array(refused.keys) }

    /// The `errno` with which the kernel has refused a registration so often that its owner is to be notified; `nil` if
    /// it has not.
    mutating func lastingRefusal(of fd: Int32) -> Int32? {
        guard let refusal = refused[fd], refusal.tries >= EpollSet.mostTries else { return nil }
        if !Shortage.isShortage(refusal.code) { refused[fd] = nil }
        return refusal.code
    }

    /// Forgets a descriptor that nothing waits for any more.
    mutating func forget(_ fd: Int32) { if hasRefused { refused[fd] = nil } }

    private static func mask(_ interest: Interest) -> UInt32 {
        (interest.contains(.readable) ? EPOLLIN.rawValue : 0) | (interest.contains(.writable) ? EPOLLOUT.rawValue : 0)
    }
}
