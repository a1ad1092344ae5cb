internal import CarpoolSystem

/// The cached path access of a client: the result of comparing its view of the machine with the daemon's.
struct CachedPathAccess {
    /// When the connection was accepted, by the clock of the start times of processes.
    let accepted = MonotonicTime.uptime()
    /// The last result, and the turn of the loop in which it was determined.
    var access: (value: PathAccess, turn: Int)?
}
