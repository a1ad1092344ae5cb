internal import CarpoolSystem

/// Whether the daemon that answers is the one that holds the lock, so that it may be ended.
enum StopTarget: Equatable {
    /// The lock names the process that answers.
    case confirmed
    /// No daemon holds the lock: the one that answers has its lock elsewhere, as with a socket that the caller names in
    /// another way than the daemon.
    case unlocked
    /// The holder is not written yet, or not any more: a daemon starts or ends.
    case changing
    /// Another process holds the lock.
    case other(pid: Int64)

    /// - Parameters:
    ///   - lock: the state of the lock of the socket that was connected to.
    ///   - reported: the pid that the daemon itself reports.
    init(_ lock: LockState, reported: Int64) {
        switch lock {
        case .free: self = .unlocked
        case .held(nil): self = .changing
        case .held(let holder?):
            self = Int64(holder.pid) == reported ? .confirmed : .other(pid: Int64(holder.pid))
        }
    }
}
